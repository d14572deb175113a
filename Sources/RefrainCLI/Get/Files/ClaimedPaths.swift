internal import Refrain

/// The files that contents of this run have taken, so that none of them writes over that of another one.
final class ClaimedPaths: Sendable {
    private let identities = Locked<Set<String>>([])

    /// Takes a file for a content; false: another one has it.
    func claim(_ path: String) -> Bool {
        let identity = Directory.identity(of: path)
        return identities.withLock { $0.insert(identity).inserted }
    }
}
