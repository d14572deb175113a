extension Backoff {
    /// The default schedule: exponential from 0.5 s, factor 2, full jitter, at most 30 s, 3 attempts (rule R12).
    ///
    /// Half a second is long enough for a process to restart. Full jitter spreads clients best (Marc Brooker,
    /// "Exponential Backoff And Jitter", 2015). Two retries recover most transient failures; more mostly add load.
    public static let standard: Backoff = {
        var backoff = Backoff(.exponential(from: .milliseconds(500), factor: 2), maxAttempts: 3)
        backoff.jitter = .full
        backoff.cap = .seconds(30)
        return backoff
    }()

    /// The schedule of webhooks: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, 8 attempts within 28 hours.
    ///
    /// For a durable queue, which keeps no request in memory during the long waits. A fifth of jitter to either side
    /// spreads the deliveries that one outage has delayed. The delays are those of Svix, which the Standard Webhooks
    /// specification recommends in a similar form.
    public static let webhooks = Backoff.explicit(
        [
            .seconds(5), .seconds(300), .seconds(1800), .seconds(7200), .seconds(18_000), .seconds(36_000),
            .seconds(36_000),
        ]
    ).jittered(.proportional(0.2))

    /// A schedule without retries.
    public static let never = Backoff(.constant(.zero), maxAttempts: 1)

    /// Retries without a delay.
    ///
    /// - Parameter maxAttempts: the number of attempts, the first one included; nil: no limit. A number under 1 counts
    ///   as 1. Defaults to 3, here and in the schedules below.
    public static func immediately(maxAttempts: Int? = 3) -> Backoff {
        Backoff(.constant(.zero), maxAttempts: maxAttempts)
    }

    /// Waits the same time before each retry.
    ///
    /// - Parameters:
    ///   - delay: the time. A negative one counts as zero.
    ///   - maxAttempts: the number of attempts, the first one included; nil: no limit. A number under 1 counts as 1.
    public static func constant(delay: Duration, maxAttempts: Int? = 3) -> Backoff {
        Backoff(.constant(delay), maxAttempts: maxAttempts)
    }

    /// Waits `from` before the first retry, and `increment` longer before each further one.
    ///
    /// - Parameters:
    ///   - base: the first delay. A negative one counts as zero.
    ///   - increment: how much longer each delay is. A negative one counts as zero. Defaults to `from`.
    ///   - maxAttempts: the number of attempts, the first one included; nil: no limit. A number under 1 counts as 1.
    public static func linear(from base: Duration, increment: Duration? = nil, maxAttempts: Int? = 3) -> Backoff {
        Backoff(.linear(from: base, increment: increment ?? base), maxAttempts: maxAttempts)
    }

    /// Waits `from` before the first retry, and `factor` times as long before each further one.
    ///
    /// - Parameters:
    ///   - base: the first delay. A negative one counts as zero.
    ///   - factor: the ratio of two delays. Under 1 and NaN count as 1, infinity as the greatest finite number.
    ///   - maxAttempts: the number of attempts, the first one included; nil: no limit. A number under 1 counts as 1.
    public static func exponential(from base: Duration, factor: Double = 2, maxAttempts: Int? = 3) -> Backoff {
        Backoff(.exponential(from: base, factor: factor), maxAttempts: maxAttempts)
    }

    /// Waits `delay` before the first retry, and twice as long before each further one.
    ///
    /// The same as ``exponential(from:factor:maxAttempts:)`` with a factor of 2, in the spelling of "HTTP in Swift".
    ///
    /// - Parameters:
    ///   - delay: the first delay. A negative one counts as zero.
    ///   - maxAttempts: the number of attempts, the first one included; nil: no limit. A number under 1 counts as 1.
    public static func exponential(delay: Duration, maxAttempts: Int? = 3) -> Backoff {
        Backoff(.exponential(from: delay, factor: 2), maxAttempts: maxAttempts)
    }

    /// Waits 1, 1, 2, 3, 5, 8 … times `from`.
    ///
    /// - Parameters:
    ///   - base: the first delay. A negative one counts as zero.
    ///   - maxAttempts: the number of attempts, the first one included; nil: no limit. A number under 1 counts as 1.
    public static func fibonacci(from base: Duration, maxAttempts: Int? = 3) -> Backoff {
        Backoff(.fibonacci(from: base), maxAttempts: maxAttempts)
    }

    /// Waits a random time between `from` and three times the previous delay ("decorrelated jitter").
    ///
    /// Jitter is part of this schedule; ``jittered(_:)`` does not change it. Use ``capped(at:)``, since it has no other
    /// upper bound.
    ///
    /// - Parameters:
    ///   - base: the shortest delay. A negative one counts as zero.
    ///   - maxAttempts: the number of attempts, the first one included; nil: no limit. A number under 1 counts as 1.
    public static func decorrelated(from base: Duration, maxAttempts: Int? = 3) -> Backoff {
        Backoff(.decorrelated(from: base), maxAttempts: maxAttempts)
    }

    /// Waits the listed times, one before each retry, and stops after the last one.
    ///
    /// - Parameters:
    ///   - delays: the times. A negative one counts as zero.
    ///   - maxAttempts: a further limit on the number of attempts. A number under 1 counts as 1. Defaults to nil: only
    ///     the list limits them.
    public static func explicit(_ delays: [Duration], maxAttempts: Int? = nil) -> Backoff {
        Backoff(.explicit(delays), maxAttempts: maxAttempts)
    }
}

extension Backoff {
    /// Returns this schedule if all its values are in range.
    ///
    /// Use it for values from outside the program. Without it a value out of range counts as the nearest one in range.
    ///
    /// ```swift
    /// let schedule = try Backoff.exponential(from: delay, maxAttempts: count).capped(at: limit).validated()
    /// ```
    ///
    /// - Throws: ``InvalidArgument`` for a negative time, a factor that is under 1 or not finite, a proportion outside
    ///   0 … 1, fewer than one attempt, or a cap below the first delay.
    public func validated() throws(InvalidArgument) -> Backoff {
        switch kind {
        case .constant(let delay):
            try Self.check(delay, as: "delay")
        case .fibonacci(let base), .decorrelated(let base):
            try Self.check(base, as: "from")
        case .linear(let base, let increment):
            try Self.check(base, as: "from")
            try Self.check(increment, as: "increment")
        case .exponential(let base, let factor):
            try Self.check(base, as: "from")
            guard factor >= 1, factor.isFinite else {
                throw InvalidArgument("factor", is: factor, expected: "a finite number of at least 1")
            }
        case .explicit(let delays):
            for delay in delays { try Self.check(delay, as: "delays") }
        }
        if let maxAttempts, maxAttempts < 1 {
            throw InvalidArgument("maxAttempts", is: maxAttempts, expected: "at least 1")
        }
        if case .proportional(let fraction) = jitter, !(0...1).contains(fraction) {
            throw InvalidArgument("jitter", is: fraction, expected: "a proportion from 0 to 1")
        }
        if let cap, cap < firstDelay {
            throw InvalidArgument("cap", is: cap, expected: "at least the schedule's first delay, \(firstDelay)")
        }
        return self
    }

    private static func check(_ duration: Duration, as name: String) throws(InvalidArgument) {
        guard duration >= .zero else { throw InvalidArgument(name, is: duration, expected: "zero or more") }
    }

    /// The delay before the first retry, before jitter and cap.
    private var firstDelay: Duration {
        switch kind {
        case .constant(let delay): delay
        case .linear(let base, _), .exponential(let base, _), .fibonacci(let base), .decorrelated(let base): base
        case .explicit(let delays): delays.min() ?? .zero
        }
    }
}
