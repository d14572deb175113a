// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Header fields: names compared without regard to case, in the order given, repeats kept (RFC 9110 §5).
///
/// The container checks nothing. ``HTTPRequest/validated()`` checks a request's fields before anything is sent, so a
/// name or value that would break out of the head never reaches a transport.
public struct HTTPHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// One field line.
    public struct Field: Hashable, Sendable, Codable {
        /// The name, as it was spelled.
        public var name: String
        /// The value, without surrounding white space.
        ///
        /// A value that was received in bytes that are not UTF-8 is read as ISO-8859-1, in which every byte is a
        /// character (RFC 9110 §5.5); ``bytes`` are what was received.
        public var value: String { didSet { isLatin1 = false } }
        /// Whether each character of the value stands for a byte.
        private var isLatin1 = false

        /// The bytes of the value, as they were received; UTF-8 where the value was set.
        public var bytes: [UInt8] {
            // A character beyond one byte cannot be there: only the value as it was read is marked.
            isLatin1 ? value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(value.utf8)
        }

        /// Makes a field line.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Makes a field line of the bytes of its value.
        package init(name: String, bytes: some Collection<UInt8>) {
            self.name = name
            if let text = String(validating: bytes, as: UTF8.self) {
                value = text
            } else {
                value = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
                isLatin1 = true
            }
        }

        private enum CodingKeys: String, CodingKey {
            case name, value
        }
    }

    /// The field lines in their order.
    public private(set) var fields: [Field] = []

    /// Makes an empty set of fields.
    public init() {}

    /// Makes fields from pairs of names and values.
    public init(_ pairs: some Sequence<(String, String)>) {
        fields = pairs.map { Field(name: $0.0, value: $0.1) }
    }

    /// Makes fields from pairs of names and values; a name may occur more than once.
    public init(dictionaryLiteral pairs: (String, String)...) {
        self.init()
        // Most requests have none.
        if !pairs.isEmpty { self = HTTPHeaders(pairs) }
    }

    /// Makes fields from field lines; a name may occur more than once.
    public init(arrayLiteral fields: Field...) { self.fields = fields }

    /// The first value of a name, or nil.
    ///
    /// Setting replaces all fields of that name by one at the position of the first, in the spelling of `name`; setting
    /// nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            guard let newValue else { return remove(name) }
            guard let index = fields.firstIndex(where: { Self.isSame($0.name, name) }) else {
                return add(name, newValue)
            }
            fields[index] = Field(name: name, value: newValue)
            if fields.count > index + 1 {
                let tail = fields[(index + 1)...].filter { !Self.isSame($0.name, name) }
                fields.replaceSubrange((index + 1)..., with: tail)
            }
        }
    }

    /// All values of a name, one per field line.
    public subscript(values name: String) -> [String] {
        var values: [String] = []
        for field in fields where Self.isSame(field.name, name) { values.append(field.value) }
        return values
    }

    /// Whether there is a field of that name.
    public func contains(_ name: String) -> Bool { fields.contains { Self.isSame($0.name, name) } }

    /// Adds a field line after all others, even if the name already occurs.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Adds a field line of the bytes of its value after all others.
    package mutating func add(_ name: String, bytes: some Collection<UInt8>) {
        fields.append(Field(name: name, bytes: bytes))
    }

    /// Adds bytes to the value of the last field line, behind a space.
    package mutating func continueLast(_ bytes: some Collection<UInt8>) {
        guard let last = fields.popLast() else { return }
        fields.append(Field(name: last.name, bytes: (last.value.isEmpty ? [] : last.bytes + [0x20]) + Array(bytes)))
    }

    /// Removes all fields of a name.
    public mutating func remove(_ name: String) {
        fields.removeAll { Self.isSame($0.name, name) }
    }

    /// Sorts the field lines by name, in lower case; lines of one name stay in their order.
    public mutating func sort() {
        fields = fields.enumerated()
            .map { (key: $0.element.name.lowercased(), index: $0.offset, field: $0.element) }
            .sorted { ($0.key, $0.index) < ($1.key, $1.index) }
            .map(\.field)
    }

    /// Reserves capacity for a number of field lines.
    public mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    /// Whether two field names are the same: equal but for the case of ASCII letters.
    public static func isSame(_ left: String, _ right: String) -> Bool {
        // Names of different length, the most common case, need no comparison, and no reference to either of them.
        left.utf8.count == right.utf8.count && hasSameLetters(left, right)
    }

    /// Whether a text can be the name of a field: a token (RFC 9110 §5.1, §5.6.2).
    public static func isValidName(_ name: String) -> Bool { HTTPToken.isValid(name) }

    /// Whether a text can be the value of a field (RFC 9110 §5.5).
    ///
    /// It has no control characters but tabs, and neither begins nor ends with white space. An empty text is valid.
    public static func isValidValue(_ value: String) -> Bool { HTTPToken.isValidFieldValue(value) }

    private static func hasSameLetters(_ left: String, _ right: String) -> Bool {
        let inOnePiece = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right in
                for index in left.indices where !isSame(left[index], right[index]) { return false }
                return true
            }
        }
        return (inOnePiece ?? nil) ?? zip(left.utf8, right.utf8).allSatisfy { isSame($0, $1) }
    }

    private static func isSame(_ left: UInt8, _ right: UInt8) -> Bool {
        left == right || lowercased(left) == lowercased(right)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The index of the first field line.
    public var startIndex: Int { fields.startIndex }
    /// The index after the last field line.
    public var endIndex: Int { fields.endIndex }
    /// The field line at an index.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The field lines in their order, separated by line feeds.
    public var description: String { fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}

extension HTTPHeaders.Field {
    /// `Accept` (RFC 9110 §12.5.1).
    public static func accept(_ value: String) -> Self { Self(name: "Accept", value: value) }

    /// `Accept-Charset` (RFC 9110 §12.5.2).
    public static func acceptCharset(_ value: String) -> Self { Self(name: "Accept-Charset", value: value) }

    /// `Accept-Language` (RFC 9110 §12.5.4).
    public static func acceptLanguage(_ value: String) -> Self { Self(name: "Accept-Language", value: value) }

    /// `Accept-Encoding` (RFC 9110 §12.5.3).
    ///
    /// A transport sets it to the codings that it decodes. If a request has this field, `CurlLoader` sends it
    /// unchanged, and content with an unsupported coding is returned undecoded.
    public static func acceptEncoding(_ value: String) -> Self { Self(name: "Accept-Encoding", value: value) }

    /// `Authorization` with a user and a password, `Basic` (RFC 7617).
    public static func authorization(username: String, password: String) -> Self {
        authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }

    /// `Authorization` with a token, `Bearer` (RFC 6750).
    public static func authorization(bearerToken: String) -> Self { authorization("Bearer \(bearerToken)") }

    /// `Authorization` (RFC 9110 §11.6.2).
    public static func authorization(_ value: String) -> Self { Self(name: "Authorization", value: value) }

    /// `Content-Disposition` (RFC 6266).
    public static func contentDisposition(_ value: String) -> Self { Self(name: "Content-Disposition", value: value) }

    /// `Content-Encoding` (RFC 9110 §8.4).
    public static func contentEncoding(_ value: String) -> Self { Self(name: "Content-Encoding", value: value) }

    /// `Content-Type` (RFC 9110 §8.3).
    public static func contentType(_ value: String) -> Self { Self(name: "Content-Type", value: value) }

    /// `User-Agent` (RFC 9110 §10.1.5).
    public static func userAgent(_ value: String) -> Self { Self(name: "User-Agent", value: value) }

    /// `Sec-WebSocket-Protocol` (RFC 6455 §11.3.4).
    public static func websocketProtocol(_ value: String) -> Self { Self(name: "Sec-WebSocket-Protocol", value: value) }
}

extension HTTPHeaders.Field {
    /// `Accept-Encoding` with the codings that most servers offer: `br;q=1.0, gzip;q=0.9, deflate;q=0.8`.
    public static let defaultAcceptEncoding = acceptEncoding(qualityEncoded(["br", "gzip", "deflate"]))

    /// `Accept-Language` with the user's preferred languages, up to six.
    ///
    /// On Apple platforms they are the system's; elsewhere those of `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG`, or
    /// else `en`.
    public static var defaultAcceptLanguage: Self {
        acceptLanguage(qualityEncoded(Array(preferredLanguages.prefix(6))))
    }

    /// `User-Agent` with the program's name and this library's: `tool (Linux) Refrain`.
    public static var defaultUserAgent: Self { defaultUserAgent(of: CommandLine.arguments.first ?? "") }

    /// The field of the program with a path.
    static func defaultUserAgent(of path: String) -> Self {
        let name = path.split(separator: "/").last ?? ""
        let token = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
        // A value that begins with a space is refused (RFC 9110 §5.5).
        return userAgent("\(token.isEmpty ? "unknown" : token) (\(system)) Refrain")
    }

    private static var system: String {
        #if os(Linux)
        "Linux"
        #elseif os(macOS)
        "macOS"
        #elseif os(iOS)
        "iOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #else
        "Unknown"
        #endif
    }

    private static var preferredLanguages: [String] {
        #if canImport(FoundationEssentials)
        let environment = ProcessInfo.processInfo.environment
        let names = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"]
        let text = names.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let languages = text.split(separator: ":").compactMap { entry -> String? in
            let language = String(entry.prefix { $0 != "." && $0 != "@" }.map { $0 == "_" ? "-" : $0 })
            return language.isEmpty || ["C", "POSIX"].contains(language) ? nil : language
        }
        return languages.isEmpty ? ["en"] : languages
        #else
        return Locale.preferredLanguages
        #endif
    }

    /// Values in falling order of preference: 1.0, then 0.9 and so on.
    private static func qualityEncoded(_ values: [String]) -> String {
        values.prefix(10).enumerated().map { index, value in
            index == 0 ? "\(value);q=1.0" : "\(value);q=0.\(10 - index)"
        }
        .joined(separator: ", ")
    }
}

extension HTTPHeaders {
    /// The fields that Alamofire's sessions send by default: `Accept-Encoding`, `Accept-Language` and `User-Agent`.
    ///
    /// They are not sent unless a request names them. `Accept-Encoding` is the transport's to choose: libcurl's sends
    /// the codings that it undoes in the place of this one.
    public static var `default`: HTTPHeaders {
        [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
    }

    /// Whether `Accept-Encoding` is that of ``default``, which leaves the choice to the transport.
    package var hasDefaultCodings: Bool { self["Accept-Encoding"] == Field.defaultAcceptEncoding.value }
}

extension HTTPHeaders {
    /// Makes fields from a dictionary, sorted by name; of names that differ in case alone, the last one counts.
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) })
    }

    /// Makes fields from field lines; of several with one name, the last one counts, at the position of the first.
    ///
    /// To keep repeats, write an array literal or call ``add(_:_:)``.
    public init(_ fields: [Field]) {
        self.init()
        reserveCapacity(fields.count)
        for field in fields { update(field) }
    }

    /// Sets a field: all lines of that name become this one.
    ///
    /// As in Alamofire; ``add(_:_:)`` adds a further line.
    public mutating func add(name: String, value: String) { self[name] = value }

    /// Sets a field: all lines of that name become this one.
    public mutating func add(_ field: Field) { self[field.name] = field.value }

    /// Sets a field: all lines of that name become this one.
    public mutating func update(name: String, value: String) { self[name] = value }

    /// Sets a field: all lines of that name become this one.
    public mutating func update(_ field: Field) { self[field.name] = field.value }

    /// Removes all fields of a name.
    public mutating func remove(name: String) { remove(name) }

    /// The first value of a name, or nil.
    public func value(for name: String) -> String? { self[name] }

    /// These fields, sorted by name in lower case; lines of one name stay in their order.
    public func sorted() -> HTTPHeaders {
        var copy = self
        copy.sort()
        return copy
    }

    /// The fields by name; the lines of one name are joined by commas (RFC 9110 §5.3).
    public var dictionary: [String: String] {
        var names: [String: String] = [:]
        var values: [String: String] = [:]
        for field in fields {
            let name = names[field.name.lowercased(), default: field.name]
            names[field.name.lowercased()] = name
            values[name] = values[name].map { "\($0), \(field.value)" } ?? field.value
        }
        return values
    }
}

extension HTTPHeaders.Field: CustomStringConvertible {
    /// The field line in wire format.
    public var description: String { "\(name): \(value)" }
}
