// SPDX-License-Identifier: Apache-2.0
/// The links of `Link` header fields (RFC 8288 §3).
enum LinkField {
    /// A link: where it leads, and the relation types it has to the page, in lower case.
    struct Link: Hashable {
        let target: String
        let relations: [String]
    }

    /// Reads the lines of the field.
    ///
    /// A malformed line yields the links before the fault. A link with an `anchor` belongs to another page and is left
    /// out; of several `rel` parameters the first counts (§3.3).
    static func parse(fieldValues: [String]) -> [Link] {
        fieldValues.flatMap { line -> [Link] in
            var scanner = FieldScanner(line)
            return scanner.takeLinks()
        }
    }
}

extension FieldScanner {
    fileprivate mutating func takeLinks() -> [LinkField.Link] {
        var links: [LinkField.Link] = []
        while !isAtEnd {
            skipWhitespace()
            if take(.comma) { continue }
            guard take(UInt8(ascii: "<")) else { break }
            let target = take { $0 != UInt8(ascii: ">") }
            guard take(UInt8(ascii: ">")), let parameters = takeLinkParameters() else { break }
            guard !parameters.contains(where: { $0.name == "anchor" }) else { continue }
            let relations = parameters.first { $0.name == "rel" }?.value ?? ""
            links.append(
                LinkField.Link(
                    target: String(decoding: target, as: UTF8.self),
                    relations: relations.lowercased().split(separator: " ").map { String($0) }
                )
            )
        }
        return links
    }

    /// Takes the parameters up to the comma or the end behind them; nil where they are malformed.
    private mutating func takeLinkParameters() -> [(name: String, value: String)]? {
        var parameters: [(name: String, value: String)] = []
        while true {
            skipWhitespace()
            if isAtEnd || take(.comma) { return parameters }
            guard take(UInt8(ascii: ";")) else { return nil }
            skipWhitespace()
            // An empty parameter is allowed where lists end in a semicolon.
            if isAtEnd || current == .comma || current == UInt8(ascii: ";") { continue }
            guard let name = takeToken() else { return nil }
            skipWhitespace()
            var value = ""
            if take(.equals) {
                skipWhitespace()
                guard let taken = current == .quote ? takeQuotedString() : takeUnquotedValue() else { return nil }
                value = taken
            }
            parameters.append((name.lowercased(), value))
        }
    }

    /// Takes a value without quotes up to the semicolon or the comma behind it (RFC 8288, Appendix B.3).
    ///
    /// More than a token: servers send `type=text/html` and `rel=https://example.com/relation`.
    private mutating func takeUnquotedValue() -> String {
        var value = take { $0 != UInt8(ascii: ";") && $0 != .comma }
        while value.last?.isOptionalWhitespace == true { value.removeLast() }
        return String(decoding: value, as: UTF8.self)
    }
}
