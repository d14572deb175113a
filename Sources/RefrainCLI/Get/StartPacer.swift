internal import Refrain

/// Spaces the beginnings of requests: one wait before a request is made, and none after it.
final class StartPacer: Sendable {
    private let interval: Duration
    private let next = Locked<ContinuousClock.Instant?>(nil)

    init(interval: Duration) { self.interval = interval }

    /// Waits for the turn of a request; returns at once where the task was cancelled.
    func turn() async {
        let now = ContinuousClock.now
        let start = next.withLock { next in
            let start = max(next ?? now, now)
            next = start + interval
            return start
        }
        if start > now { try? await ContinuousClock().sleep(until: start) }
    }
}
