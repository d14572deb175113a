internal import Synchronization

/// Whoever makes requests of a chain: it hears of their attempts, and its task is the one that they run in.
///
/// It must live while its request is under way, since it is asked what follows a try. Its own task keeps it. An
/// exchange that it shares may outlast that task, and has to keep it then.
package protocol Caller: AnyObject, Sendable {
    /// An attempt was decided on; `attempts` are all of the retry stage's, this one the last.
    func note(_ attempts: [AttemptRecord])

    /// Cancels what the caller's request runs in.
    func cancelTask()
}

/// Whom a request is made for.
///
/// It says nothing of how a request is to be treated: requests that differ in it alone may share an exchange. A class,
/// since every request in mid-chain carries a reference to it.
///
/// The caller keeps what it has sent, and whoever logs requests must not keep the caller. So it is let go of when its
/// call is over. No weak reference: whatever has one is retained and released on a slower path for all of its life.
package final class CallOwner: @unchecked Sendable {
    // @unchecked Sendable: the caller is read only by those who hold it, and emptied by the last one to let go of it.
    private let holds = Atomic(1)
    @exclusivity(unchecked) private var held: (any Caller)?

    /// Makes the owner of the requests of a caller, who is held until it lets go.
    package init(_ caller: any Caller) { held = caller }

    /// The caller, until its call is over.
    package var caller: (any Caller)? {
        guard hold() else { return nil }
        defer { letGo() }
        return held
    }

    /// Has the caller stay, also where its call ends in the meantime, until somebody lets go; false where it is gone.
    package func hold() -> Bool {
        var count = holds.load(ordering: .relaxed)
        while count > 0 {
            let (isDone, found) = holds.weakCompareExchange(expected: count, desired: count + 1, ordering: .acquiring)
            if isDone { return true }
            count = found
        }
        return false
    }

    /// Ends a hold, once for each, and once for that of the caller itself when its call is over.
    package func letGo() {
        guard holds.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        held = nil
    }

    /// Tells the caller of an attempt.
    func note(_ attempts: [AttemptRecord]) { caller?.note(attempts) }
}
