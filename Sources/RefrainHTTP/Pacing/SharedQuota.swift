// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// One unit of a limit that several processes keep together: the permits that this one has booked.
///
/// Where the store is out of reach the permits go on at the rate divided by the processes that were seen last, and the
/// store is asked again each second.
final class SharedQuota: Sendable {
    /// What is not spent this long after its turn is lost, so that it is not spent in one burst.
    private static let span = Duration.milliseconds(250)
    private static let pause = Duration.seconds(1)

    /// The answer to a request that wants permits.
    enum Answer {
        /// It has them from this time on.
        case due(Duration)
        /// It is to ask again after this time.
        case later(Duration)
        /// The task was cancelled.
        case cancelled
        /// The store was never reached.
        case unreachable(any Error)
    }

    private struct State {
        /// When the next permit is due, and how many there are; fewer than none where requests have cost more than they
        /// said.
        var next = Duration.zero
        var left = 0.0
        /// The processes that share the limit; nil: the store was not reached yet.
        var members: Int?
        /// Where this process is in a sequence that fills 0 ..< 1 evenly; nil: it was not told to wait yet.
        var spread: Double?
        /// When the store is asked again after a failure.
        var askAgain = Duration.zero
    }

    private let key: String
    private let rate: Double
    private let store: any QuotaStore
    private let state = Locked(State())
    /// One request books at a time; the others wait for it, in their order.
    private let turn = ThrottleSlots(limit: 1)

    init(_ key: String, rate: Double, in store: any QuotaStore) {
        (self.key, self.rate, self.store) = (key, rate, store)
    }

    /// Books permits for a request, which waits behind those that came before where there are none yet.
    ///
    /// - Parameter clock: the clock of the wait, which a reset ends.
    func book(_ amount: Double, _ clocks: RetryClocks, clock: TokenClock) async -> Answer {
        guard amount > 0 else { return .due(clocks.now) }
        guard await turn.take() else { return .cancelled }
        defer { turn.refund() }
        let answer = try? await withRetry(timeout: nil, clock: clock) { _ in
            await take(amount, clocks)
        } decide: { _, answer in
            guard case .later(let wait) = answer else { return .finish(answer, .succeeded) }
            return .retry(after: wait, .paced, isFree: true)
        }
        return answer ?? .cancelled
    }

    /// Takes permits of those that are booked, or books further ones.
    func take(_ amount: Double, _ clocks: RetryClocks) async -> Answer {
        if let time = spend(amount, now: clocks.now) { return .due(time) }
        let now = clocks.now
        let (members, askAgain, debt) = state.withLock { state in
            state.left = min(0, state.left)
            return (state.members, state.askAgain, -state.left)
        }
        if let members, now < askAgain { return .due(spendShare(amount, of: members, now: now)) }
        let share = rate / Double(members ?? 1)
        // For those that wait already, and no more than the share of a span; a part of a permit would be lost.
        let count = max(1, min((share * Self.span.inSeconds / amount).rounded(.down), Double(1 + turn.waitingCount)))
        let wanted = amount * count + debt
        do {
            let grant = try await store.book(key, rate: rate, wanted: wanted, hold: .zero)
            state.withLock { state in
                state.members = max(1, grant.members)
                if grant.permits > 0 { (state.next, state.left) = (now + grant.start, grant.permits + state.left) }
            }
            guard grant.permits > 0 else {
                // All that wait are told the same time. They ask twice in a round, and not together: most would be
                // refused again, and the permits of the time between would be lost.
                let round = Duration.delay(seconds: amount * Double(max(1, grant.members)) / rate)
                return .later(max(grant.start, round * nextSpread(now), .milliseconds(1)))
            }
            return .due(spend(amount, now: now) ?? now + grant.start)
        } catch {
            guard let members else { return .unreachable(error) }
            state.withLock { $0.askAgain = now + Self.pause }
            return .due(spendShare(amount, of: members, now: now))
        }
    }

    /// The next number of the sequence, the multiples of the golden ratio; it begins where the time says, which differs
    /// between processes.
    private func nextSpread(_ now: Duration) -> Double {
        state.withLock { state in
            let bits = UInt64(bitPattern: now.delayInNanoseconds) &* 0x9e37_79b9_7f4a_7c15
            let spread = state.spread ?? Double(bits >> 11) * 0x1p-53
            state.spread = (spread + 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
            return spread
        }
    }

    /// Takes account of what a request has cost beyond what it said.
    func correct(by difference: Double) { state.withLock { $0.left -= difference } }

    /// Tells the other processes that none may send for a while.
    func hold(for delay: Duration) async {
        _ = try? await store.book(key, rate: rate, wanted: 0, hold: delay)
        state.withLock { $0.left = min(0, $0.left) }
    }

    private func spend(_ amount: Double, now: Duration) -> Duration? {
        state.withLock { state in
            // Rounding leaves a little less.
            guard state.left >= amount - 1e-9, now <= state.next + Self.span else { return nil }
            defer {
                state.next += .delay(seconds: amount / rate)
                state.left -= amount
            }
            return max(now, state.next)
        }
    }

    private func spendShare(_ amount: Double, of members: Int, now: Duration) -> Duration {
        state.withLock { state in
            let time = max(now, state.next)
            state.next = time + .delay(seconds: (amount - state.left) * Double(members) / rate)
            state.left = 0
            return time
        }
    }
}
