// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A schedule of delays between attempts, with a limit on the number of attempts.
///
/// A back-off is a value without state. It maps the number of attempts so far, the previous delay and a random source
/// to a delay, or to nil to stop. A delay is never negative, never exceeds the cap and never overflows, for every
/// attempt number up to `Int.max` (rule R13).
///
/// ```swift
/// let schedule = Backoff.exponential(
///     from: .milliseconds(100), maxAttempts: 4
/// )
///     .jittered(.full)
///     .capped(at: .seconds(20))
/// ```
///
/// Only ``standard`` has a jitter and a cap of its own. A value out of its range counts as the nearest one in range, as
/// the documentation of the parameter says. For values from outside the program, such as a configuration file,
/// ``validated()`` throws instead.
public struct Backoff: Hashable, Sendable {
    /// The shape of the schedule.
    let kind: Kind
    /// The jitter of the delays.
    ///
    /// Set by ``jittered(_:)``.
    public internal(set) var jitter = Jitter.none
    /// The longest delay, jitter included; nil: no limit.
    ///
    /// Set by ``capped(at:)``.
    public internal(set) var cap: Duration?
    /// The number of attempts, the first one included; nil: no limit.
    ///
    /// Set by ``limited(maxAttempts:)``.
    public internal(set) var maxAttempts: Int?
    /// Whether the caller has named the number of attempts.
    ///
    /// ``limited(maxAttempts:)`` names it, a list of delays, and any number but the default of 3. The standard retry
    /// budget keeps such a limit (rule R22). It is not part of ``==(_:_:)``: that compares the delays and the number.
    package private(set) var isLimitNamed: Bool

    /// The values are as given: out of range, too.
    ///
    /// They are clamped where they are used.
    enum Kind: Hashable, Sendable {
        case constant(Duration)
        case linear(from: Duration, increment: Duration)
        case exponential(from: Duration, factor: Double)
        case fibonacci(from: Duration)
        case decorrelated(from: Duration)
        case explicit([Duration])
    }

    init(_ kind: Kind, maxAttempts: Int?) {
        self.kind = kind
        self.maxAttempts = maxAttempts
        isLimitNamed = if case .explicit = kind { true } else { maxAttempts != nil && maxAttempts != Self.defaultLimit }
    }

    /// The number of attempts where the caller names none.
    private static let defaultLimit = 3

    /// Returns the same schedule with another jitter.
    ///
    /// The fraction of `.proportional` is clamped to 0 … 1; NaN counts as 0.
    public func jittered(_ jitter: Jitter) -> Backoff {
        var copy = self
        copy.jitter = jitter
        return copy
    }

    /// Returns the same schedule with no delay longer than `cap`, jitter included.
    ///
    /// A negative cap counts as zero.
    public func capped(at cap: Duration) -> Backoff {
        var copy = self
        copy.cap = cap
        return copy
    }

    /// Returns the same schedule with another limit on the number of attempts; nil: no limit.
    ///
    /// A number under 1 counts as 1.
    public func limited(maxAttempts: Int?) -> Backoff {
        var copy = self
        copy.maxAttempts = maxAttempts
        if case .explicit = kind {} else { copy.isLimitNamed = maxAttempts != nil }
        return copy
    }

    /// Returns the same schedule with a limit on the number of retries: one attempt more.
    ///
    /// Negative counts as 0.
    @usableFromInline
    package func limited(maxRetryCount: Int) -> Backoff {
        limited(maxAttempts: max(maxRetryCount, 0).addingSaturated(1))
    }

    /// Returns the delay after the given attempt, or nil to stop.
    public func delay(after attempt: Attempt, using random: RandomSource = .shared) -> Duration? {
        delay(after: attempt, sampledFrom: random)
    }

    /// Returns the delay after the given attempt.
    ///
    /// The shared source is read only if a number is needed and `random` is nil.
    @usableFromInline
    func delay(after attempt: Attempt, sampledFrom random: RandomSource?) -> Duration? {
        if case .constant(.zero) = kind {
            // Jitter and cap do not change a delay of zero.
            return isExhausted(after: attempt) ? nil : .zero
        }
        guard let range = delayRange(after: attempt) else { return nil }
        guard range.lowerBound < range.upperBound else { return range.upperBound }
        let low = range.lowerBound.inSeconds
        let spread = range.upperBound.inSeconds - low
        let sample = Duration.delay(seconds: low + spread * (random ?? .shared).unit())
        // Rounding of the sum must not step over the bounds.
        return min(max(sample, range.lowerBound), range.upperBound)
    }

    /// Returns the shortest and the longest delay that ``delay(after:using:)`` can return, or nil where it returns nil.
    public func delayRange(after attempt: Attempt) -> ClosedRange<Duration>? {
        guard !isExhausted(after: attempt) else { return nil }
        let limit = (cap ?? .longestDelay).clampedToDelay
        if case .decorrelated(let base) = kind {
            let previous = max(base.inSeconds, attempt.previousDelay.inSeconds)
            let high = min(Duration.delay(seconds: previous * 3), limit)
            return min(base.clampedToDelay, high)...high
        }
        guard let planned = plannedDelay(afterAttempt: attempt.countedAttempts) else { return nil }
        let delay = min(planned.clampedToDelay, limit)
        guard jitter != .none else { return delay...delay }
        // The planned delay is cut to the cap before jitter, so that jitter still spreads delays at the cap; the upper
        // bound is cut again, since `.proportional` can exceed the planned delay.
        let shares = jitter.shares
        let high = shares.upperBound == 1 ? delay : min(.delay(seconds: delay.inSeconds * shares.upperBound), limit)
        return min(.delay(seconds: delay.inSeconds * shares.lowerBound), high)...high
    }

    private func isExhausted(after attempt: Attempt) -> Bool {
        maxAttempts.map { attempt.countedAttempts >= $0 } ?? false
    }

    /// Whether two schedules have the same delays and the same number of attempts.
    public static func == (left: Backoff, right: Backoff) -> Bool {
        (left.kind, left.jitter, left.cap, left.maxAttempts)
            == (right.kind, right.jitter, right.cap, right.maxAttempts)
    }

    /// Hashes the delays and the number of attempts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(jitter)
        hasher.combine(cap)
        hasher.combine(maxAttempts)
    }
}

/// How a delay is randomized, so that clients that fail together do not retry together.
///
/// The kinds and their names are those of Marc Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
public enum Jitter: Hashable, Sendable {
    /// The delay unchanged.
    case none
    /// Uniform between zero and the delay.
    case full
    /// Uniform between half the delay and the delay.
    case equal
    /// Uniform within a fraction of the delay to either side: 0.2 gives 80 % to 120 %.
    ///
    /// The fraction is clamped to 0 … 1; NaN counts as 0.
    case proportional(Double)

    /// The lowest and the highest share of a delay that this jitter gives.
    var shares: ClosedRange<Double> {
        switch self {
        case .none: return 1...1
        case .full: return 0...1
        case .equal: return 0.5...1
        case .proportional(let given):
            let fraction = given > 0 ? min(given, 1) : 0
            return (1 - fraction)...(1 + fraction)
        }
    }
}

extension Backoff {
    /// Returns the delay after the given attempt, before jitter and cap, or nil at the end of the schedule.
    ///
    /// The result may be negative where the given values are. Products are calculated in floating point, where what is
    /// too large becomes infinite and then `Duration.longestDelay`, so nothing can overflow.
    private func plannedDelay(afterAttempt count: Int) -> Duration? {
        let steps = Double(count - 1)
        switch kind {
        case .constant(let delay), .decorrelated(let delay):
            return delay
        case .linear(let base, let increment):
            let (base, increment) = (base.clampedToDelay, increment.clampedToDelay)
            return .delay(seconds: base.inSeconds + increment.inSeconds * steps)
        case .exponential(let base, let factor):
            guard base > .zero else { return .zero }
            // Also where it is NaN, which compares as false.
            let factor = factor >= 1 ? min(factor, .greatestFiniteMagnitude) : 1
            return .delay(seconds: base.inSeconds * pow(factor, steps))
        case .fibonacci(let base):
            guard base > .zero else { return .zero }
            return .delay(seconds: base.inSeconds * Self.fibonacci(count))
        case .explicit(let delays):
            return delays.indices.contains(count - 1) ? delays[count - 1] : nil
        }
    }

    /// The Fibonacci number with this index (1, 1, 2, 3, 5 …), infinite from index 1,477 on.
    private static func fibonacci(_ index: Int) -> Double {
        var (current, next) = (1.0, 1.0)
        var position = 1
        while position < index, current.isFinite {
            (current, next) = (next, current + next)
            position += 1
        }
        return current
    }
}

extension Backoff {
    /// The default schedule: exponential from 0.5 s, factor 2, full jitter, at most 30 s, 3 attempts (rule R12).
    ///
    /// Half a second is long enough for a process to restart. Full jitter spreads clients best (Marc Brooker,
    /// "Exponential Backoff And Jitter", 2015). Two retries recover most transient failures; more mostly add load.
    public static var standard: Backoff {
        // Made anew, which costs less than a copy of a global value.
        var backoff = Backoff(.exponential(from: .milliseconds(500), factor: 2), maxAttempts: 3)
        backoff.jitter = .full
        backoff.cap = .seconds(30)
        return backoff
    }

    /// The schedule of webhooks: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, 8 attempts in about 28 hours.
    ///
    /// For a durable queue, which keeps no request in memory during the long waits. A fifth of jitter to either side
    /// spreads the deliveries that one outage has delayed. The delays are those of Svix, which the Standard Webhooks
    /// specification recommends in a similar form. The key of a request may end before its last attempt: a queue has a
    /// setting for how long the server keeps it.
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
    /// let schedule = try Backoff
    ///     .exponential(from: delay, maxAttempts: count)
    ///     .capped(at: limit)
    ///     .validated()
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
