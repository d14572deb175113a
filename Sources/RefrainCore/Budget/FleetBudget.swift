// SPDX-License-Identifier: Apache-2.0
extension RetryBudget {
    /// Makes a budget for processes that share a backend with many others (rule R32).
    ///
    /// In a fleet the limits of each process add up: 10 retries a second in each of 1,000 processes limit nothing. This
    /// budget therefore closes the minimum per second to a retry after a timeout, 429, 503 or an answer that names a
    /// time to come back, where more than 4 of the last 20 outcomes are of these kinds, or where too many of them have
    /// come in a row: more than one where the last is a timeout, more than 3 where it is another. A success ends the
    /// row. Such a retry is paid for by deposits alone and costs four, and a credit below that covers it by chance, so
    /// that all processes together retry a twentieth of their calls. Retries after other failures, such as a lost
    /// connection, may use the minimum at all times.
    ///
    /// ``standard(whenEmpty:clock:random:)`` is the same, except that of the last 20 outcomes only timeouts count, and
    /// 429 not at all. This one is for backends that answer 503 or 429 under load; its price is paid by a process that
    /// is alone: where more than 4 in 20 of its calls are answered so, most of its retries are refused.
    /// Documentation/Storms.md has the figures.
    ///
    /// Values out of range are clamped.
    ///
    /// - Parameters:
    ///   - ratio: the retries that each first attempt deposits, 0 … 1. Defaults to 0.2.
    ///   - minimumRetriesPerSecond: the retries that are allowed per second while overload is rare, 0 … 1,000,000.
    ///     Defaults to 10.
    ///   - window: how long a deposit lasts, 1 s … 1 h. Defaults to 10 s.
    ///   - clock: the monotonic clock.
    ///   - random: the source of chance.
    public static func fleet(
        ratio: Double = 0.2,
        minimumRetriesPerSecond: Int = 10,
        window: Duration = .seconds(10),
        clock: some Clock<Duration> = TimerClock(),
        random: RandomSource = .shared
    ) -> RetryBudget {
        let ratio = clampedRatio(ratio)
        let minimum = clampedMinimum(minimumRetriesPerSecond)
        let budget = FleetBudget(
            SlidingWindowBudget(ratio: ratio, minimumPerSecond: minimum, window: window),
            refusals: .counted
        )
        return RetryBudget(budget, ratio: ratio, minimum: minimum, clock: AnyClock(clock), random: random)
    }

    /// Makes a budget with the defaults: the one that each origin has unless another one is given.
    ///
    /// It deposits a fifth of a retry for each first attempt, and allows 10 retries per second besides. In a fleet of
    /// processes that minimum limits nothing (rule R32), so two kinds of failure have a further condition:
    ///
    /// - After a refusal, which is a 503 or 429 that names no time to come back at, a retry is granted with the chance
    ///   (1 s + its attempt + its delay) ÷ the time that the origin has been failing. The first second of an outage is
    ///   free, and so is a retry that waits as long as the outage has lasted; the longer it lasts, the rarer the rest.
    /// - After a timeout the minimum is closed where the outcome before was a timeout or a refusal as well, or where
    ///   more than 4 of the last 20 outcomes are timeouts. Such a retry is paid for by deposits alone and costs four; a
    ///   credit below that covers it by chance.
    ///
    /// A success ends the time of failing, unless more than 4 of the last 20 outcomes are timeouts; so do five minutes
    /// without a refusal or timeout. A call whose number of attempts the caller has named, such as
    /// `RetryPolicy(retryLimit: 5)`, is exempt from both conditions, one call at a time. A refusal that names its time
    /// waits until the budget covers it. Other failures may use the minimum at all times.
    ///
    /// - Parameters:
    ///   - whenEmpty: what happens to a retry that the budget does not cover. A budget that waits spreads its retries,
    ///     and has none of these conditions.
    ///   - clock: the monotonic clock.
    ///   - random: the source of chance.
    public static func standard(
        whenEmpty: WhenEmpty = .fail,
        clock: some Clock<Duration> = TimerClock(),
        random: RandomSource = .shared
    ) -> RetryBudget {
        guard whenEmpty == .fail else { return RetryBudget(whenEmpty: whenEmpty, clock: clock) }
        let budget = FleetBudget(
            SlidingWindowBudget(ratio: 0.2, minimumPerSecond: 10, window: .seconds(10)),
            refusals: .timed
        )
        return RetryBudget(budget, ratio: 0.2, minimum: 10, clock: AnyClock(clock), random: random)
    }
}

/// The arithmetic of a budget that holds in one process and in a fleet (rule R32).
///
/// A minimum of retries per second in each of 10,000 processes limits nothing, and a fifth of a retry for each call
/// never adds up to one in a process that makes few calls. Here the minimum is there for timeouts only while they are
/// rare, and credit below one retry is spent by chance. Where it is closed, a retry costs four: a twentieth of the
/// calls is retried then, and not a fifth. A refusal costs the backend little, so a clock limits what follows it: a
/// counter would stay closed for a caller whose calls are each refused at first, since no success ever ends the row.
struct FleetBudget {
    /// How 503 and 429 are treated.
    enum Refusals {
        /// By the time that the origin has been failing.
        case timed
        /// As timeouts are, but three may come in a row.
        case counted
    }

    /// What covered a retry or why nothing did, how likely that was, and how long the retry waits for it.
    struct Answer {
        var credit: RetryBudget.Credit
        var likelihood = 1.0
        var wait: Int64 = 0
    }

    /// What a retry costs where the minimum is closed, in retries.
    private static let closedCost: Int64 = 4
    /// The time of failing that a retry has for free.
    private static let freeTime: Int64 = 1_000_000_000
    /// After so long without a refusal or timeout the origin counts as well.
    private static let longestSilence: Int64 = 300_000_000_000

    /// The deposits and the minimum.
    var window: SlidingWindowBudget
    private var outcomes = OutcomeHistory()
    private let refusals: Refusals
    /// When the first attempt began that was refused or timed out since the last success; nil: none was.
    private var failingSince: Int64?
    /// When the last refusal or timeout came.
    private var lastSign: Int64 = 0
    /// The call whose named limit is kept; nil once it has ended, because nothing else holds it then.
    private weak var favoured: RetryBudget.Call?

    init(_ window: SlidingWindowBudget, refusals: Refusals) {
        self.window = window
        self.refusals = refusals
    }

    /// Withdraws one retry.
    ///
    /// - Parameters:
    ///   - chance: a number from 0 up to 1.
    ///   - longestWait: how long a retry can wait after a refusal that names its time.
    mutating func withdraw(
        for retry: RetryBudget.WantedRetry,
        now: Int64,
        chance: Double,
        longestWait: Int64 = .max
    ) -> Answer {
        switch (retry.cause, refusals) {
        case (.transient, _):
            // What shows no overload, such as a refused connection, costs the backend next to nothing.
            return Answer(window.cover(now: now))
        case (.timeout, .timed), (_, .counted):
            note(retry, now: now)
            let answer = counted(retry.cause, now: now, chance: chance)
            return answer.credit.isGranted ? answer : favour(retry, now: now) ?? answer
        case (.throttled, .timed) where retry.namesTime:
            let isDeposited = window.depositBalance(now: now) >= SlidingWindowBudget.one
            guard let wait = window.withdraw(now: now, longestWait: longestWait) else { return Answer(.empty) }
            return Answer(credit: isDeposited ? .deposit : .floor, wait: wait)
        case (.throttled, .timed), (.unavailable, .timed):
            note(retry, now: now)
            let answer = timed(retry, now: now, chance: chance)
            return answer.credit.isGranted ? answer : favour(retry, now: now) ?? answer
        }
    }

    /// Notes a refusal or a timeout.
    private mutating func note(_ retry: RetryBudget.WantedRetry, now: Int64) {
        let began = now - retry.duration.delayInNanoseconds
        if began - lastSign > Self.longestSilence { failingSince = nil }
        lastSign = now
        failingSince = failingSince ?? began
        outcomes.noteOverload(isCounted: refusals == .counted || retry.cause == .timeout)
    }

    /// Covers a retry while signs of overload are rare; later by deposits alone, at four times the cost.
    private mutating func counted(_ cause: RetryBudget.Cause, now: Int64, chance: Double) -> Answer {
        // Two timeouts in a row are rare where timeouts come by accident, and a retry after the second one keeps a
        // server down that is slow. A 503 is cheap: a call may use up its attempts, and the next one may try once more.
        let isOpen = !outcomes.areMany && outcomes.streak <= (cause == .timeout ? 1 : 3)
        if isOpen {
            let credit = window.cover(now: now)
            if credit.isGranted { return Answer(credit) }
        }
        let cost = isOpen ? SlidingWindowBudget.one : SlidingWindowBudget.one * Self.closedCost
        let likelihood = min(Double(window.depositBalance(now: now)) / Double(cost), 1)
        guard window.withdrawDeposits(cost, now: now, chance: chance) else {
            return Answer(credit: isOpen ? .empty : .closed, likelihood: likelihood)
        }
        return Answer(credit: likelihood == 1 ? .deposit : .chance, likelihood: likelihood)
    }

    /// Covers a retry with the chance (1 s + its attempt + its delay) ÷ the time of failing.
    private mutating func timed(_ retry: RetryBudget.WantedRetry, now: Int64, chance: Double) -> Answer {
        let own = Self.freeTime.addingSaturated(retry.duration.delayInNanoseconds)
            .addingSaturated(retry.delay.delayInNanoseconds)
        let failing = now - (failingSince ?? now)
        let likelihood = own >= failing ? 1 : Double(own) / Double(failing)
        guard chance < likelihood else { return Answer(credit: .closed, likelihood: likelihood) }
        let credit = window.cover(now: now)
        guard credit.isGranted else { return Answer(.empty) }
        return Answer(credit: likelihood == 1 ? credit : .chance, likelihood: likelihood)
    }

    /// Covers a retry of a call whose limit the caller named, one call at a time; nil: it is not the turn of this one.
    private mutating func favour(_ retry: RetryBudget.WantedRetry, now: Int64) -> Answer? {
        guard refusals == .timed, let call = retry.call, favoured == nil || favoured === call else { return nil }
        favoured = call
        return Answer(window.cover(now: now))
    }

    mutating func noteSuccess() {
        outcomes.noteSuccess()
        if !outcomes.areMany { failingSince = nil }
    }

    mutating func balance(now: Int64) -> Int64 {
        !outcomes.areMany && outcomes.streak == 0 ? window.balance(now: now) : window.depositBalance(now: now)
    }
}

extension FleetBudget.Answer {
    /// What covered a retry for certain, or failed to.
    fileprivate init(_ credit: RetryBudget.Credit) { self.init(credit: credit, likelihood: credit.isGranted ? 1 : 0) }
}

/// The last outcomes of a process, however long they took to come: one bit each.
struct OutcomeHistory {
    /// How many outcomes are remembered.
    static let length = 20
    /// Up to this many failures among them are rare.
    ///
    /// With independent failures of 5 %, 20 outcomes have more than that in 0.3 % of cases.
    private static let maximumFailures = 4

    private var failures: UInt32 = 0
    /// The signs of overload since the last success.
    private(set) var streak = 0

    /// Notes a sign of overload; one that is counted takes the place of the outcome ``length`` outcomes before it.
    mutating func noteOverload(isCounted: Bool) {
        streak = streak.addingSaturated(1)
        if isCounted { shift(in: 1) }
    }

    mutating func noteSuccess() {
        streak = 0
        shift(in: 0)
    }

    private mutating func shift(in bit: UInt32) {
        failures = (failures << 1 | bit) & (1 << UInt32(Self.length) - 1)
    }

    var areMany: Bool { failures.nonzeroBitCount > Self.maximumFailures }
}
