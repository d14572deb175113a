import Testing

/// What the documentation points at is there.
@Suite("Links")
struct LinkTests {
    @Test("every relative link of the documentation leads to a file")
    func linksResolve() throws {
        var broken: [String] = []
        for file in try SourceTree.markdownFiles() {
            let folder = file.split(separator: "/").dropLast().joined(separator: "/")
            for link in Self.relativeLinks(in: try SourceTree.text(of: file)) {
                let path = Self.normalized((folder.isEmpty ? "" : folder + "/") + link)
                if !SourceTree.exists(path) { broken.append("\(file): \(link)") }
            }
        }
        #expect(broken == [])
    }

    /// The targets of Markdown links that are neither absolute nor anchors, without their own anchors.
    static func relativeLinks(in text: String) -> [String] {
        text.split(separator: "](").dropFirst().compactMap { rest in
            let target = rest.prefix { $0 != ")" && $0 != " " && $0 != "\n" }
            let path = target.prefix { $0 != "#" }
            return path.isEmpty || target.contains("://") || target.hasPrefix("mailto:") ? nil : String(path)
        }
    }

    private static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") {
            if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }
}
