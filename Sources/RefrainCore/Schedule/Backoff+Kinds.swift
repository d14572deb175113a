extension Backoff {
    /// The default schedule of this package: exponential from 0.5 s, factor 2, full jitter, at most 30 s, 3 tries.
    ///
    /// Half a second lets a restarting process come back; full jitter spreads clients best (AWS, 2015); two
    /// repetitions recover most transient failures, and more mostly add load.
    public static let standard: Backoff = {
        var backoff = Backoff(unchecked: .exponential(from: .milliseconds(500), factor: 2), maximumNumberOfAttempts: 3)
        backoff.jitter = .full
        backoff.cap = .seconds(30)
        return backoff
    }()

    /// A schedule that never tries again.
    public static let never = Backoff(unchecked: .constant(.zero), maximumNumberOfAttempts: 1)

    /// Tries again without a wait.
    ///
    /// - Throws: ``InvalidArgument`` for fewer than one try.
    public static func immediately(maximumNumberOfAttempts: Int? = 3) throws(InvalidArgument) -> Backoff {
        try Backoff(.constant(.zero), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Waits the same time before each try.
    ///
    /// - Throws: ``InvalidArgument`` for a negative delay or fewer than one try.
    public static func constant(
        delay: Duration,
        maximumNumberOfAttempts: Int? = 3
    ) throws(InvalidArgument) -> Backoff {
        try check(delay, as: "delay")
        return try Backoff(.constant(delay), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Waits `from`, then `increment` longer each time; the increment is `from` unless given.
    ///
    /// - Throws: ``InvalidArgument`` for a negative time or fewer than one try.
    public static func linear(
        from base: Duration,
        increment: Duration? = nil,
        maximumNumberOfAttempts: Int? = 3
    ) throws(InvalidArgument) -> Backoff {
        try check(base, as: "from")
        try check(increment ?? base, as: "increment")
        let kind = Kind.linear(from: base, increment: increment ?? base)
        return try Backoff(kind, maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Waits `from`, then `factor` times as long each time.
    ///
    /// - Throws: ``InvalidArgument`` for a negative time, a factor that is under 1 or not finite, or fewer than one
    ///   try.
    public static func exponential(
        from base: Duration,
        factor: Double = 2,
        maximumNumberOfAttempts: Int? = 3
    ) throws(InvalidArgument) -> Backoff {
        try check(base, as: "from")
        guard factor >= 1, factor.isFinite else {
            throw InvalidArgument("factor", is: factor, expected: "a finite number of at least 1")
        }
        let kind = Kind.exponential(from: base, factor: factor)
        return try Backoff(kind, maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Waits `delay`, then twice as long each time: the spelling of "HTTP in Swift".
    ///
    /// - Throws: ``InvalidArgument`` for a negative delay or fewer than one try.
    public static func exponential(
        delay: Duration,
        maximumNumberOfAttempts: Int? = 3
    ) throws(InvalidArgument) -> Backoff {
        try check(delay, as: "delay")
        let kind = Kind.exponential(from: delay, factor: 2)
        return try Backoff(kind, maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Waits 1, 1, 2, 3, 5, 8 … times `from`.
    ///
    /// - Throws: ``InvalidArgument`` for a negative time or fewer than one try.
    public static func fibonacci(
        from base: Duration,
        maximumNumberOfAttempts: Int? = 3
    ) throws(InvalidArgument) -> Backoff {
        try check(base, as: "from")
        return try Backoff(.fibonacci(from: base), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Waits a random time between `from` and three times the delay before: AWS's "decorrelated jitter".
    ///
    /// It is its own jitter; ``jittered(_:)`` has no effect on it. Cap it, since it has no other bound.
    ///
    /// - Throws: ``InvalidArgument`` for a negative time or fewer than one try.
    public static func decorrelated(
        from base: Duration,
        maximumNumberOfAttempts: Int? = 3
    ) throws(InvalidArgument) -> Backoff {
        try check(base, as: "from")
        return try Backoff(.decorrelated(from: base), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Waits the listed times, one before each retry, and stops when the list is at its end.
    ///
    /// - Throws: ``InvalidArgument`` for a negative time or fewer than one try.
    public static func explicit(
        _ delays: [Duration],
        maximumNumberOfAttempts: Int? = nil
    ) throws(InvalidArgument) -> Backoff {
        for delay in delays { try check(delay, as: "delays") }
        return try Backoff(.explicit(delays), maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    private static func check(_ duration: Duration, as name: String) throws(InvalidArgument) {
        guard duration >= .zero else { throw InvalidArgument(name, is: duration, expected: "zero or more") }
    }
}
