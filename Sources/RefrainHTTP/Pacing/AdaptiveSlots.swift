// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// The slots of one place: how many requests to it are under way at once, found by what they end with.
///
/// The number is that of ``AdaptiveConcurrency``.
final class AdaptiveSlots: Sendable {
    private let slots: ThrottleSlots
    private let concurrency: Locked<AdaptiveConcurrency>
    /// One new request at a time waits together with those that are sent again; the others wait for it, in their order.
    private let newcomers = ThrottleSlots(limit: 1)

    /// - Parameter maximum: the number of slots at most, and at first.
    init(maximum: Int) {
        slots = ThrottleSlots(limit: maximum)
        concurrency = Locked(AdaptiveConcurrency(maximum: maximum))
    }

    /// Waits for a slot; returns false if the task was cancelled or all waits were ended.
    ///
    /// - Parameter isNew: whether no time of the request runs yet, so that it waits behind those whose time does.
    func take(isNew: Bool) async -> Bool {
        guard isNew else { return await slots.take() }
        guard await newcomers.take() else { return false }
        defer { newcomers.refund() }
        return await slots.take()
    }

    /// Gives a slot back.
    ///
    /// - Parameter sign: what the end of its request tells.
    func refund(after sign: AdaptiveConcurrency.Sign = .nothing) {
        concurrency.withLock { concurrency in
            if let limit = concurrency.note(sign, underWay: slots.runningCount) { slots.setLimit(limit) }
        }
        slots.refund()
    }

    /// Ends all waits without a slot.
    func removeAll() {
        newcomers.removeAll()
        slots.removeAll()
    }

    /// Whether nothing goes on, and new slots would be no different.
    var isIdle: Bool { slots.runningCount == 0 && slots.waitingCount == 0 && concurrency.withLock(\.isFull) }
}
