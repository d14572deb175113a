// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// An operation that the current code runs within, propagated by a task-local value.
///
/// Child tasks inherit task-local values and may outlive the operation, such as a long-lived worker started during an
/// attempt. The operation therefore records itself whether it is still active.
package final class ActiveOperation: Sendable {
    /// The owner of the operation.
    package let owner: ObjectIdentifier?
    private let hasEnded = Atomic(false)

    package init(of owner: AnyObject? = nil) { self.owner = owner.map { ObjectIdentifier($0) } }

    /// Whether the operation is still active.
    package var isActive: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Marks the operation as ended.
    package func end() { hasEnded.store(true, ordering: .releasing) }
}

extension [ActiveOperation] {
    /// Whether the sequence contains an active operation of this owner.
    package func contains(workOf owner: AnyObject) -> Bool {
        let owner = ObjectIdentifier(owner)
        return contains { $0.owner == owner && $0.isActive }
    }
}
