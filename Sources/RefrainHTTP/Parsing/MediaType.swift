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

    /// Parses one type or range; `nil` if it is malformed.
    package init?(_ value: String) {
        var scanner = FieldScanner(value)
        self.init(scanning: &scanner)
        guard scanner.isAtEnd else { return nil }
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
    /// Takes a media type up to the end or the next comma.
    init?(scanning scanner: inout FieldScanner) {
        guard let type = scanner.takeToken(), scanner.take("/"), let subtype = scanner.takeToken() else { return nil }
        var parameters: [Parameter] = []
        scanner.skipWhitespace()
        while scanner.take(.semicolon) {
            scanner.skipWhitespace()
            // Empty parameters are allowed, as in `text/html;`.
            guard let name = scanner.takeToken() else { continue }
            guard scanner.take(.equals) else { return nil }
            let quoted = scanner.current == .quote
            guard let value = quoted ? scanner.takeQuotedString() : scanner.takeToken() else { return nil }
            parameters.append(Parameter(name: name.lowercased(), value: value))
            scanner.skipWhitespace()
        }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = parameters
    }
}
