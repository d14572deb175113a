// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A media type, such as `text/html; charset=utf-8` (RFC 9110 §8.3.1).
package struct MediaType: Hashable, Sendable {
    /// A parameter: its name in lower case, and its value without quotes.
    package struct Parameter: Hashable, Sendable {
        /// The name, in lower case.
        package let name: String
        /// The value, as it was sent.
        package let value: String
    }

    /// The type before the slash, in lower case; `*` in ranges.
    package let type: String
    /// The subtype after it, in lower case; `*` in ranges.
    package let subtype: String
    /// The parameters, in order.
    package let parameters: [Parameter]

    /// Parses one type or range; `nil` if its type or subtype is malformed.
    ///
    /// A malformed parameter is ignored, and the type counts, as in browsers (WHATWG MIME Sniffing §4.4): servers send
    /// `application/json; charset`.
    package init?(_ value: String) {
        var scanner = FieldScanner(value)
        guard let (type, subtype) = scanner.takeEssence() else { return nil }
        guard scanner.isAtEnd || scanner.current == .semicolon else { return nil }
        var parameters: [Parameter] = []
        while scanner.take(.semicolon) {
            let parameter = scanner.takeParameter()
            scanner.skipWhitespace()
            let rest = scanner.take { $0 != .semicolon }
            if let parameter, rest.isEmpty { parameters.append(parameter) }
        }
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// Parses the lines of a `Content-Type` field; returns `nil` if there are none, or if they are malformed or differ.
    package static func parse(fieldValues: [String]) -> MediaType? {
        FieldValues.single(fieldValues).flatMap { MediaType($0) }
    }

    /// The first parameter with a name, given in lower case; `nil` if there is none.
    package subscript(parameter name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// The type and the subtype, without parameters.
    package var essence: String { "\(type)/\(subtype)" }
}

extension MediaType {
    /// Takes a media type up to the end or the next comma; `nil` if anything in it is malformed.
    init?(scanning scanner: inout FieldScanner) {
        guard let (type, subtype) = scanner.takeEssence() else { return nil }
        var parameters: [Parameter] = []
        while scanner.take(.semicolon) {
            scanner.skipWhitespace()
            // Empty parameters are allowed, as in `text/html;`.
            if scanner.isAtEnd || scanner.current == .semicolon || scanner.current == .comma { continue }
            guard let parameter = scanner.takeParameter() else { return nil }
            parameters.append(parameter)
            scanner.skipWhitespace()
        }
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }
}

extension FieldScanner {
    /// Takes a type and a subtype, in lower case, and the whitespace after them.
    fileprivate mutating func takeEssence() -> (type: String, subtype: String)? {
        guard let type = takeToken(), take("/"), let subtype = takeToken() else { return nil }
        skipWhitespace()
        return (type.lowercased(), subtype.lowercased())
    }

    /// Takes a name, the equals sign and a value, after whitespace; `nil` where one is missing.
    ///
    /// The whitespace before a value is none of the grammar's; servers send `text/html; charset= utf-8`.
    fileprivate mutating func takeParameter() -> MediaType.Parameter? {
        skipWhitespace()
        guard let name = takeToken(), take(.equals) else { return nil }
        skipWhitespace()
        guard let value = current == .quote ? takeQuotedString() : takeToken() else { return nil }
        return MediaType.Parameter(name: name.lowercased(), value: value)
    }
}

extension MediaType {
    /// Whether a range such as `image/*` or `*/*` includes this type; ignores parameters.
    public func matches(_ range: MediaType) -> Bool {
        guard range.type != "*" else { return range.subtype == "*" || range.subtype == subtype }
        return range.type == type && (range.subtype == "*" || range.subtype == subtype)
    }

    /// Whether the lines of an `Accept` field allow this type (RFC 9110 §12.5.1).
    ///
    /// The most specific range that includes the type decides; a weight of 0 excludes it. Where none does, one counts
    /// that differs in its parameters alone: servers leave out those that they were asked for. Without a field, or with
    /// a malformed one, every type is allowed.
    public func isAcceptable(accept fieldValues: [String]) -> Bool {
        guard let ranges = Self.ranges(fieldValues), !ranges.isEmpty else { return true }
        var best: (exactness: Int, isAllowed: Bool)?
        for range in ranges where covered(by: range) {
            let isAllowed = !range.isRefused
            if let known = best {
                guard range.exactness >= known.exactness else { continue }
                best = (range.exactness, isAllowed || range.exactness == known.exactness && known.isAllowed)
            } else {
                best = (range.exactness, isAllowed)
            }
        }
        return best?.isAllowed ?? ranges.contains { matches($0) && !$0.isRefused }
    }

    /// The ranges of an `Accept` field; `nil` if one is malformed.
    static func ranges(_ lines: [String]) -> [MediaType]? {
        var ranges: [MediaType] = []
        for line in lines {
            var scanner = FieldScanner(line)
            while !scanner.isAtEnd {
                scanner.skipWhitespace()
                if scanner.take(.comma) { continue }
                guard let range = MediaType(scanning: &scanner) else { return nil }
                ranges.append(range)
                guard scanner.isAtEnd || scanner.take(.comma) else { return nil }
            }
        }
        return ranges
    }

    /// Whether a range of an `Accept` field includes this type and its parameters, except the weight.
    private func covered(by range: MediaType) -> Bool {
        matches(range)
            && range.parameters.allSatisfy { parameter in
                parameter.name == "q" || self[parameter: parameter.name]?.lowercased() == parameter.value.lowercased()
            }
    }

    private var exactness: Int {
        if type == "*" { return 0 }
        if subtype == "*" { return 1 }
        return 2 + parameters.count { $0.name != "q" }
    }

    /// A weight of zero, in any of its spellings: `0`, `0.`, `0.000`.
    private var isRefused: Bool {
        guard let weight = self[parameter: "q"] else { return false }
        return weight.utf8.first == .zero
            && weight.utf8.dropFirst().allSatisfy { $0 == .zero || $0 == UInt8(ascii: ".") }
    }
}

/// The text encodings that every platform supports, by the names that content types have for them.
package enum TextEncoding {
    /// The encoding with a name of the IANA registry or of the WHATWG Encoding Standard, in any case; `nil` for others.
    package static func named(_ name: String) -> String.Encoding? {
        let name = name.lowercased()
        return encodings.first { $0.names.contains(name) }?.encoding
    }

    /// The preferred name of an encoding; `nil` for one that is not in the list.
    package static func name(of encoding: String.Encoding) -> String? {
        encodings.first { $0.encoding == encoding }?.names.first
    }

    private static let encodings: [(encoding: String.Encoding, names: [String])] = [
        (.utf8, ["utf-8", "utf8", "unicode-1-1-utf-8"]),
        (.ascii, ["us-ascii", "ascii", "ansi_x3.4-1968", "iso646-us", "us"]),
        (.isoLatin1, ["iso-8859-1", "iso_8859-1", "iso8859-1", "iso88591", "latin1", "l1", "cp819", "ibm819"]),
        (.windowsCP1252, ["windows-1252", "cp1252", "x-cp1252"]),
        (.utf16, ["utf-16"]), (.utf16BigEndian, ["utf-16be"]), (.utf16LittleEndian, ["utf-16le"]),
        (.utf32, ["utf-32"]), (.utf32BigEndian, ["utf-32be"]), (.utf32LittleEndian, ["utf-32le"]),
    ]
}
