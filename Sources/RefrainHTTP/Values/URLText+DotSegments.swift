extension URLText {
    /// The URL without the segments `.` and `..` of its path (RFC 3986 §5.2.4); other text is returned unchanged.
    ///
    /// Foundation removes them from a relative reference that it resolves, but not from an absolute URL.
    package static func withoutDotSegments(_ text: String) -> String {
        let bytes = text.utf8
        guard hasDotAfterSlash(text), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return text }
        let authority = bytes[colon...].dropFirst(3)
        guard let start = authority.firstIndex(where: { "/?#".utf8.contains($0) }), bytes[start] == slash else {
            return text
        }
        let end = bytes[start...].firstIndex { "?#".utf8.contains($0) } ?? bytes.endIndex
        var kept: [Substring] = []
        let segments = text[start..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(segments.indices, segments) {
            guard segment == "." || segment == ".." else {
                kept.append(segment)
                continue
            }
            if segment == ".." { _ = kept.popLast() }
            // The folder that the last one stands for ends in a slash.
            if index == segments.endIndex - 1 { kept.append("") }
        }
        return "\(text[..<start])/\(kept.joined(separator: "/"))\(text[end...])"
    }

    /// Whether any segment begins with a dot, as few do.
    ///
    /// It looks at memory: to go through the text as a collection takes forty times as long.
    private static func hasDotAfterSlash(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var index = 1
            while index < bytes.count {
                if bytes[index] == dot, bytes[index - 1] == slash { return true }
                index += 1
            }
            return false
        }
    }

    private static var slash: UInt8 { UInt8(ascii: "/") }
    private static var dot: UInt8 { UInt8(ascii: ".") }
}
