internal import Refrain

/// The folders of a run's files: each is made, and looked into, before its first file and not for every one.
final class OutputFolders: Sendable {
    private let known = Locked<[String: Bool]>([:])

    /// Makes the folders above a file, where they are missing.
    ///
    /// - Returns: whether the folder was empty before its first file. Then no earlier run has left anything in it, and
    ///   no link leads from there to another place.
    func prepare(above path: String) throws(SystemError) -> Bool {
        let folder = Directory.above(path)
        if let isFresh = known.withLock({ $0[folder] }) { return isFresh }
        try Directory.prepareAbove(path)
        let isFresh = Directory.isEmpty(folder.isEmpty ? "." : folder)
        // The first look counts: another request may have come between, and written its file.
        return known.withLock { known in
            if let first = known[folder] { return first }
            known[folder] = isFresh
            return isFresh
        }
    }
}
