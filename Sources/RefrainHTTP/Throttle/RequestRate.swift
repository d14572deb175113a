// SPDX-License-Identifier: Apache-2.0
/// Lets requests start one after another, in order of arrival, with an interval between them.
///
/// One request at a time holds the turn and waits for the interval; the others wait for the turn. A request that is
/// cancelled gives its turn back and uses no interval up.
final class RequestRate: Sendable {
    private let interval: Duration
    private let turns = ThrottleSlots(limit: 1)
    private let waiting = CancellationTokenSource()
    private let next = Locked<Duration?>(nil)

    /// - Parameter requestsPerSecond: under one in a day, and NaN, count as one in a day.
    init(requestsPerSecond: Double) {
        let slowest = 1.0 / 86_400
        interval = .seconds(1 / (requestsPerSecond >= slowest ? requestsPerSecond : slowest))
    }

    /// The number of requests that wait for the turn.
    var waitingCount: Int { turns.waitingCount }

    /// The result of a wait.
    enum Admission {
        case admitted, cancelled, pastDeadline
    }

    /// Waits until the request may start; gives up at once where its deadline comes first.
    func admit(_ request: HTTPRequest, on clocks: RetryClocks) async -> Admission {
        let (hasTurn, isLate) = await request.withinDeadline { [turns] in await turns.take() }
        guard hasTurn else { return isLate ? .pastDeadline : .cancelled }
        defer { turns.refund() }
        let clock = clocks.timer.cancelled(by: waiting.current)
        do {
            let left = try await withRetry(timeout: request.deadline?.remaining, clock: clock) { _ in
                enter(at: clocks.now)
            } decide: { _, delay in
                delay == .zero ? .finish(delay, .succeeded) : .retry(after: delay, .paced, isFree: true)
            }
            return left == .zero ? .admitted : .pastDeadline
        } catch {
            return .cancelled
        }
    }

    /// Begins an interval, or returns how long the present one still lasts.
    private func enter(at now: Duration) -> Duration {
        next.withLock { next in
            if let start = next, start > now { return start - now }
            next = now + interval
            return .zero
        }
    }

    /// Cancels all waiting requests.
    func cancelAll() {
        turns.removeAll()
        waiting.cancel()
    }
}
