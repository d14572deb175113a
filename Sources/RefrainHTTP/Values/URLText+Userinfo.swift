extension URLText {
    /// Text that was taken for a URL and is none, without whatever may be a user and a password.
    ///
    /// That is all between the scheme and the last `@`: where the text is malformed, nobody can tell where they end.
    static func withoutUserinfo(_ text: String) -> String {
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let start = text.utf8[scheme.endIndex...].starts(with: "://".utf8) ? scheme + "://" : ""
        return start + text[text.utf8.index(after: at)...]
    }

    /// A text with URLs in it, such as a field's value, without their users and passwords.
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
