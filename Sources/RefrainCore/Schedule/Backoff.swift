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
/// let schedule = Backoff.exponential(from: .milliseconds(100), maxAttempts: 4)
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
    /// budget keeps such a limit (rule R22). It is no part of ``==(_:_:)``: that compares the delays and the number.
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
    func plannedDelay(afterAttempt count: Int) -> Duration? {
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
