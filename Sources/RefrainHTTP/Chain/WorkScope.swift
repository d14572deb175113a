internal import Synchronization

/// A piece of work that the present code runs within, as a task-local value tells it.
///
/// Tasks inherit such values, and may live on when the work has long ended: a worker that was started within a try, and
/// serves others for hours. So the work says itself whether it still goes on.
package final class WorkScope: Sendable {
    /// Whose work it is.
    package let owner: ObjectIdentifier?
    private let hasEnded = Atomic(false)

    package init(of owner: AnyObject? = nil) { self.owner = owner.map { ObjectIdentifier($0) } }

    /// Whether the work goes on.
    package var goesOn: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Notes that the work has ended.
    package func end() { hasEnded.store(true, ordering: .releasing) }
}

extension [WorkScope] {
    /// Whether one of these is this owner's, and still goes on.
    package func contains(workOf owner: AnyObject) -> Bool {
        let owner = ObjectIdentifier(owner)
        return contains { $0.owner == owner && $0.goesOn }
    }
}
