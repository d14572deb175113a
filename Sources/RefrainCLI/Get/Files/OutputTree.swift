// SPDX-License-Identifier: Apache-2.0
internal import Refrain

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
            let path = OutputNaming.isOrdinary(last) ? folder + OutputNaming.file(last) : nil
            if let path, path.utf8.count <= OutputNaming.maximumPathLength { return path }
        }
        let path = OutputNaming.tree(url)
        remember(url, path)
        return path
    }

    /// Remembers the folder of a URL for the following ones.
    ///
    /// Only if the last component is ordinary, because the text before it is then only host and folders.
    private mutating func remember(_ url: String, _ path: String) {
        prefix = ""
        guard let slash = url.utf8.lastIndex(of: UInt8(ascii: "/")),
            let authority = SanitizedURL.authorityStart(of: url), authority <= slash
        else { return }
        let (begin, last) = (url[...slash], url[url.utf8.index(after: slash)...])
        let isPath = !begin.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        guard isPath, OutputNaming.isOrdinary(last) else { return }
        let file = OutputNaming.file(last)
        guard path.utf8.count > file.utf8.count, path.hasSuffix("/" + file) else { return }
        prefix = String(begin)
        folder = String(path.dropLast(file.count))
    }
}

/// The folders of a run's files: each is created and inspected once, before its first file.
final class OutputFolders: Sendable {
    private let root: String
    private let known = Locked<[String: Bool]>([:])

    /// - Parameter root: the output folder, below which no symbolic link is followed.
    init(_ root: String) { self.root = root }

    /// Creates the missing folders above a file.
    ///
    /// - Returns: whether the folder was empty before its first file. Then it contains nothing of an earlier run, and
    ///   no
    ///   links.
    func prepare(above path: String) throws(SystemError) -> Bool {
        let folder = Directory.above(path)
        if let isFresh = known.withLock({ $0[folder] }) { return isFresh }
        try Directory.prepare(folder, below: root)
        let isFresh = Directory.isEmpty(folder.isEmpty ? "." : folder)
        // The first result counts: another request may have written its file meanwhile.
        return known.withLock { known in
            if let first = known[folder] { return first }
            known[folder] = isFresh
            return isFresh
        }
    }
}

/// The files of this run, so that no response overwrites that of another one.
final class ClaimedPaths: Sendable {
    private let identities = Locked<Set<String>>([])

    /// Claims a file for a body; false if another file has it.
    func claim(_ path: String) -> Bool {
        let identity = Directory.identity(of: path)
        return identities.withLock { $0.insert(identity).inserted }
    }
}
