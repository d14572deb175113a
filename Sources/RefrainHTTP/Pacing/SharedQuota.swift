// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// One unit of a limit that several processes keep together: the permits that this one has booked.
///
/// Where the store is out of reach the permits go on at the rate divided by the processes that were seen last, and the
/// store is asked again each second, by a task that no request waits for.
final class SharedQuota: Sendable {
    /// What is not spent this long after its turn is lost, so that it is not spent in one burst.
    private static let span = Duration.milliseconds(250)
    private static let pause = Duration.seconds(1)
    /// How long as many processes are counted with as there were before.
    private static let memory = Duration.seconds(5)
    /// How long the store may take to answer, before the requests go on without it.
    private static let patience = Duration.milliseconds(500)

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
        /// When the store, which was out of reach, is asked again; nil: it is within reach.
        var askAgain: Duration?
        /// Whether a call of the store lasts too long.
        var isLate = false
        /// How many members the store has counted last, and when it last counted all of them.
        private var counted = (members: 1, all: Duration.zero)

        /// Notes the number of processes that a store has counted.
        ///
        /// One that is fewer than before is believed after some seconds only: the others may be cut off, or the store
        /// was emptied. These go on with their shares, which are left to them until then.
        mutating func note(members count: Int, now: Duration) {
            counted.members = count
            guard count >= members ?? 0 || now - counted.all > SharedQuota.memory else { return }
            (members, counted.all) = (count, now)
        }

        /// The part of the rate that is left to those that the store knows.
        var part: Double { members.map { min(1, Double(counted.members) / Double($0)) } ?? 1 }
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
    /// Where there are none for longer than it waits, it returns that time at once.
    ///
    /// - Parameters:
    ///   - limit: the longest time that it waits before it asks again.
    ///   - clock: the clock of the wait, which a reset ends.
    func book(
        _ amount: Double,
        within limit: Duration = .longestDelay,
        _ clocks: RetryClocks,
        clock: TokenClock
    ) async -> Answer {
        guard amount > 0 else { return .due(clocks.now) }
        guard await turn.take() else { return .cancelled }
        defer { turn.refund() }
        let answer = try? await withRetry(timeout: nil, clock: clock) { _ in
            await take(amount, within: limit, clocks)
        } decide: { _, answer in
            guard case .later(let wait) = answer, wait <= limit else { return .finish(answer, .succeeded) }
            return .retry(after: wait, .paced, isFree: true)
        }
        return answer ?? .cancelled
    }

    /// Takes permits of those that are booked, or books further ones.
    func take(_ amount: Double, within limit: Duration = .longestDelay, _ clocks: RetryClocks) async -> Answer {
        if let time = spend(amount, now: clocks.now) { return .due(time) }
        let now = clocks.now
        let (members, isAway, debt) = state.withLock { state in
            state.left = min(0, state.left)
            return (state.members, state.isLate || state.askAgain != nil, -state.left)
        }
        if let members, isAway {
            askAgain(clocks)
            return spendShare(amount, of: members, now: now)
        }
        let share = rate / Double(members ?? 1)
        // For those that wait already, and no more than the share of a span; a part of a permit would be lost.
        let count = max(1, min((share * Self.span.inSeconds / amount).rounded(.down), Double(1 + turn.waitingCount)))
        switch await ask(for: amount * count + debt, clocks, isBounded: members != nil) {
        case .success(let grant) where grant.permits > 0:
            return .due(spend(amount, now: now) ?? now.addingSaturated(grant.start))
        case .success(let grant):
            // All that wait are told the same time. They ask twice in a round, and not together: most would be
            // refused again, and the permits of the time between would be lost.
            let round = Duration.delay(seconds: amount * Double(members ?? grant.members) / rate)
            return .later(max(grant.start, min(round * nextSpread(now), limit), .milliseconds(1)))
        case .failure(let error):
            guard let members else { return .unreachable(error) }
            return spendShare(amount, of: members, now: clocks.now)
        case nil: return Task.isCancelled ? .cancelled : await take(amount, within: limit, clocks)
        }
    }

    /// Asks the store for permits, which are then this process's.
    ///
    /// - Parameter isBounded: whether a store that does not answer for a while counts as out of reach until it does.
    /// - Returns: its answer; nil: there was none in time, or the task was cancelled.
    private func ask(
        for wanted: Double,
        _ clocks: RetryClocks,
        isBounded: Bool
    ) async -> Result<QuotaGrant, any Error>? {
        let began = clocks.now
        let rate = rate * state.withLock(\.part)
        let answer = Promise<Result<QuotaGrant, any Error>?>()
        let limit = Task {
            guard isBounded, await clocks.timer.waits(for: Self.patience) else { return }
            state.withLock { state in if answer.fulfill(nil) { state.isLate = true } }
        }
        // A task of its own, since a store may give up more than this call when it is cancelled, such as a connection.
        Task {
            let result: Result<QuotaGrant, any Error>
            do {
                result = .success(try await store.book(key, rate: rate, wanted: wanted, hold: .zero))
            } catch {
                result = .failure(error)
            }
            limit.cancel()
            state.withLock { state in
                state.isLate = false
                switch result {
                case .success(let grant):
                    state.askAgain = nil
                    state.note(members: max(1, grant.members), now: clocks.now)
                    if grant.permits > 0 {
                        (state.next, state.left) = (began.addingSaturated(grant.start), grant.permits + state.left)
                    }
                case .failure: state.askAgain = clocks.now + Self.pause
                }
                answer.fulfill(result)
            }
        }
        return await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.fulfill(nil)
        }
    }

    /// Asks a store that was out of reach whether it is back, once a second.
    private func askAgain(_ clocks: RetryClocks) {
        let now = clocks.now
        let isDue = state.withLock { state in
            guard !state.isLate, let time = state.askAgain, now >= time else { return false }
            state.askAgain = .longestDelay
            return true
        }
        if isDue { Task { await ask(for: 0, clocks, isBounded: false) } }
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

    /// Takes back permits that are not used; those whose time is past for longer than a span are lost.
    func handBack(_ amount: Double, due: Duration, now: Duration) {
        guard now <= due + Self.span else { return }
        state.withLock { state in
            state.next -= .delay(seconds: amount / rate)
            state.left += amount
        }
    }

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

    /// Takes a permit of this process's share, not long before it is due: the store may be back by then.
    private func spendShare(_ amount: Double, of members: Int, now: Duration) -> Answer {
        state.withLock { state in
            let time = max(now, state.next)
            guard time - now <= Self.span else { return .later(time - now - Self.span / 2) }
            state.next = time + .delay(seconds: (amount - state.left) * Double(members) / rate)
            state.left = 0
            return .due(time)
        }
    }
}
