internal import Refrain

/// What a server says of a failure, fit for a terminal.
enum ErrorContent {
    /// How much of it is shown, in bytes of UTF-8.
    static let limit = 2000

    /// The text of an answer that failed, each line indented; nil where it is none.
    static func text(_ response: HTTPResponse) -> String? {
        guard let bytes = response.body.bytesInMemory, !bytes.isEmpty else {
            return nil
        }
        let type = response.headers["Content-Type"]?.lowercased() ?? "text/plain"
        let isText = type.hasPrefix("text/") || ["json", "xml", "yaml", "urlencoded"].contains { type.contains($0) }
        // A page for a browser says little in a terminal.
        guard isText, !type.hasPrefix("text/html"), !response.headers.contains("Content-Encoding") else { return nil }
        var end = min(bytes.count, limit)
        // Not within a character.
        while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        guard let text = String(validating: bytes[..<end], as: UTF8.self) else { return nil }
        var lines = text.split(whereSeparator: \.isNewline).map { "  " + Sanitized.line(String($0)) }
        guard !lines.isEmpty else { return nil }
        if end < bytes.count { lines.append("  …") }
        return lines.joined(separator: "\n") + "\n"
    }
}
