/// The slots of a throttle: the queue, its lock, and the continuations of the waiters.
final class ThrottleSlots: Sendable {
    private let queue: Locked<ThrottleQueue<Waiter>>

    init(limit: Int) { queue = Locked(ThrottleQueue(limit: limit)) }

    var limit: Int { queue.withLock { $0.limit } }
    var waitingCount: Int { queue.withLock { $0.waitingCount } }
    var runningCount: Int { queue.withLock { $0.runningCount } }

    /// Waits for a slot; returns false if the task was cancelled or the queue was emptied.
    func take() async -> Bool {
        guard !Task.isCancelled else { return false }
        if queue.withLock({ $0.takeFreeSlot() }) { return true }
        let waiter = Waiter()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
                let answer: Bool? = queue.withLock { queue in
                    guard !waiter.isCancelled else { return false }
                    guard case .waits(let number) = queue.arrive(waiter) else { return true }
                    waiter.number = number
                    waiter.continuation = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = queue.withLock { queue -> UnsafeContinuation<Bool, Never>? in
                waiter.isCancelled = true
                guard let number = waiter.number, queue.leave(number) != nil else { return nil }
                return waiter.continuation.take()
            }
            continuation?.resume(returning: false)
        }
    }

    /// Frees a slot and admits the first waiter.
    func refund() {
        let admitted = queue.withLock { $0.finish()?.continuation.take() }
        admitted?.resume(returning: true)
    }

    /// Changes the number of slots.
    func setLimit(_ limit: Int) {
        let admitted = queue.withLock { $0.setLimit(limit).compactMap { $0.continuation.take() } }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    /// Ends all waits without a slot.
    func removeAll() {
        let removed = queue.withLock { $0.removeAll().compactMap { $0.continuation.take() } }
        for continuation in removed { continuation.resume(returning: false) }
    }

    /// A request that waits for a slot.
    private final class Waiter: @unchecked Sendable {
        // @unchecked Sendable: accessed only while the queue's lock is held.
        var number: UInt64?
        var continuation: UnsafeContinuation<Bool, Never>?
        var isCancelled = false
    }
}
