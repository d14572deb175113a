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
