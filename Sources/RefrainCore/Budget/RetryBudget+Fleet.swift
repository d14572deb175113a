extension RetryBudget {
    /// Makes a budget for processes that share a backend with many others (rule R32).
    ///
    /// In a fleet the limits of each process add up: 10 retries a second in each of 1,000 processes limit nothing. This
    /// budget therefore allows the minimum per second only while overload is rare: up to 4 of the last 20 outcomes are
    /// timeouts, 429, 503, or answers that name a time to come back. Otherwise a retry after such an outcome is paid
    /// for by deposits alone, and a credit below one retry covers it by chance, so that all processes together retry a
    /// fifth of their calls. Retries after other failures, such as a lost connection, may use the minimum at all times.
    ///
    /// ``standard(whenEmpty:clock:random:)`` is the same, except that only timeouts count as overload. This one is for
    /// backends that answer 503 or 429 under load; its price is paid by a process that is alone: where more than 4 in
    /// 20 of its calls are answered so, most of its retries are refused. Documentation/Storms.md has the figures.
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
        clock: AnyClock = AnyClock(TimerClock()),
        random: RandomSource = .shared
    ) -> RetryBudget {
        let ratio = clampedRatio(ratio)
        let minimum = clampedMinimum(minimumRetriesPerSecond)
        let budget = FleetBudget(
            SlidingWindowBudget(ratio: ratio, minimumPerSecond: minimum, window: window),
            overload: [.timeout, .throttled, .unavailable]
        )
        return RetryBudget(budget, ratio: ratio, minimum: minimum, clock: clock, random: random)
    }

    /// Makes a budget with the defaults: the one that each origin has unless another one is given.
    ///
    /// It deposits a fifth of a retry for each first attempt, and allows 10 retries per second besides. A fleet of
    /// processes whose calls time out has no use of that minimum (rule R32): while more than 4 of the last 20 outcomes
    /// of this process are timeouts, a retry after a timeout is paid for by deposits alone, a credit below one by
    /// chance.
    ///
    /// - Parameters:
    ///   - whenEmpty: what happens to a retry that the budget does not cover. A budget that waits spreads its retries;
    ///     its minimum is always there.
    ///   - clock: the monotonic clock.
    ///   - random: the source of chance.
    public static func standard(
        whenEmpty: WhenEmpty = .fail,
        clock: AnyClock = AnyClock(TimerClock()),
        random: RandomSource = .shared
    ) -> RetryBudget {
        guard whenEmpty == .fail else { return RetryBudget(whenEmpty: whenEmpty, clock: clock) }
        let budget = FleetBudget(
            SlidingWindowBudget(ratio: 0.2, minimumPerSecond: 10, window: .seconds(10)),
            overload: [.timeout]
        )
        return RetryBudget(budget, ratio: 0.2, minimum: 10, clock: clock, random: random)
    }
}
