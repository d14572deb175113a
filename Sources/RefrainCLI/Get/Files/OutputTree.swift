/// Names the files of many URLs as ``OutputNaming/tree(_:)`` does, and remembers the folder of the last one.
///
/// Most URLs of a list differ from the one before in their last component alone.
struct OutputTree: Sendable {
    /// A URL up to the last slash of its path.
    private var prefix = ""
    /// The path that this is written as, with a slash at its end.
    private var folder = ""

    /// The path of a URL.
    mutating func path(of url: String) -> String {
        if !prefix.isEmpty, url.hasPrefix(prefix) {
            let last = url[url.utf8.index(url.startIndex, offsetBy: prefix.utf8.count)...]
            let path = folder + OutputNaming.file(last)
            if OutputNaming.isOrdinary(last), path.utf8.count <= OutputNaming.maximumPathLength { return path }
        }
        let path = OutputNaming.tree(url)
        remember(url, path)
        return path
    }

    /// Takes the folder of a URL over for those that follow.
    ///
    /// Only of one whose last component has nothing special: what stands before it is then all host and folders.
    private mutating func remember(_ url: String, _ path: String) {
        prefix = ""
        guard let slash = url.utf8.lastIndex(of: UInt8(ascii: "/")),
            let authority = SanitizedURL.authorityStart(of: url), authority <= slash
        else { return }
        let (begin, last) = (url[...slash], url[url.utf8.index(after: slash)...])
        let isPath = !begin.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let file = OutputNaming.file(last)
        guard isPath, OutputNaming.isOrdinary(last), path.utf8.count > file.utf8.count, path.hasSuffix("/" + file)
        else { return }
        prefix = String(begin)
        folder = String(path.dropLast(file.count))
    }
}
