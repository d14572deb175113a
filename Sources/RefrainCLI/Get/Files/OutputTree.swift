// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Names the files of many URLs as ``OutputNaming/tree(_:)`` does, and remembers their folders.
///
/// Most URLs of a list differ from an earlier one in their last component alone.
struct OutputTree: Sendable {
    /// What each URL up to the last slash of its path is written as, with a slash at its end.
    private var folders: [Substring: String] = [:]
    private static let maximumCount = 10_000

    /// The path of a URL.
    mutating func path(of url: String) -> String {
        guard let start = url.index(afterLast: UInt8(ascii: "/")) else { return OutputNaming.tree(url) }
        let (begin, last) = (url[..<start], url[start...])
        guard OutputNaming.isOrdinary(last) else { return OutputNaming.tree(url) }
        let file = OutputNaming.file(last)
        if let folder = folders[begin], folder.utf8.count + file.utf8.count <= OutputNaming.maximumPathLength {
            return folder + file
        }
        let path = OutputNaming.tree(url)
        // Since the last component is ordinary, the text before it is only host and folders.
        let isPath = !begin.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        guard isPath, let authority = SanitizedURL.authorityStart(of: url), authority < start,
            path.utf8.count > file.utf8.count, path.hasSuffix("/" + file)
        else { return path }
        if folders.count == Self.maximumCount { folders = [:] }
        folders[begin] = String(path.dropLast(file.count))
        return path
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
