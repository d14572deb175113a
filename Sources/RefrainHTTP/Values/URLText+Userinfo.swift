extension URLText {
    /// Removes a possible user and password from text that is not a valid URL.
    ///
    /// Removes everything between the scheme and the last `@`, because malformed text has no definite boundaries.
    static func withoutUserinfo(_ text: String) -> String {
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let start = text.utf8[scheme.endIndex...].starts(with: "://".utf8) ? scheme + "://" : ""
        return start + text[text.utf8.index(after: at)...]
    }

    /// Removes users and passwords from the URLs within a text, such as a field's value.
    package static func withoutUserinfo(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            result.append(byte)
            guard byte == UInt8(ascii: "/"), rest.first == UInt8(ascii: "/") else { continue }
            result.append(rest.removeFirst())
            let authority = rest.prefix { $0 > 0x20 && !"/?#\"<>".utf8.contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
