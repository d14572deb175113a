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
            counting: [.timeout, .throttled, .unavailable]
        )
        return RetryBudget(budget, ratio: ratio, minimum: minimum, clock: AnyClock(clock), random: random)
    }

    /// Makes a budget with the defaults: the one that each origin has unless another one is given.
    ///
    /// It deposits a fifth of a retry for each first attempt, and allows 10 retries per second besides. In a fleet of
    /// processes that minimum limits nothing (rule R32). It is therefore closed to a retry after a timeout where the
    /// outcome before was a timeout or a 503 as well, or where more than 4 of the last 20 outcomes are timeouts, and to
    /// one after the fourth 503 in a row, or a later one. Such a retry is paid for by deposits alone and costs four; a
    /// credit below that covers it by chance. A success ends the row. Other failures may use the minimum at all times.
    ///
    /// - Parameters:
    ///   - whenEmpty: what happens to a retry that the budget does not cover. A budget that waits spreads its retries;
    ///     its minimum is always there.
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
            counting: [.timeout]
        )
        return RetryBudget(budget, ratio: 0.2, minimum: 10, clock: AnyClock(clock), random: random)
    }
}
