/// A schedule: how long to wait before the next try, and when to stop.
///
/// A back-off is a value without state. It maps the number of tries so far, the delay before and a random source to a
/// delay, or to "stop". Its delays never exceed the cap, are never negative and never overflow, for every number of
/// tries.
///
/// ```swift
/// let schedule = try Backoff.exponential(from: .milliseconds(100), maximumNumberOfAttempts: 4)
///     .jittered(.full)
///     .capped(at: .seconds(20))
/// ```
///
/// The kinds come with no jitter and no cap of their own; ``standard`` has both. Values that make no sense
/// are refused with ``InvalidArgument``.
public struct Backoff: Hashable, Sendable {
    /// The shape of the schedule.
    let kind: Kind
    /// How delays are spread; set by ``jittered(_:)``.
    public internal(set) var jitter = Jitter.none
    /// The longest delay, jitter included; set by ``capped(at:)``.
    public internal(set) var cap: Duration?
    /// The number of tries in all, the first one included; nil: no limit.
    public internal(set) var maximumNumberOfAttempts: Int?

    enum Kind: Hashable, Sendable {
        case constant(Duration)
        case linear(from: Duration, increment: Duration)
        case exponential(from: Duration, factor: Double)
        case fibonacci(from: Duration)
        case decorrelated(from: Duration)
        case explicit([Duration])
    }

    init(_ kind: Kind, maximumNumberOfAttempts: Int?) throws(InvalidArgument) {
        if let maximumNumberOfAttempts, maximumNumberOfAttempts < 1 {
            throw InvalidArgument("maximumNumberOfAttempts", is: maximumNumberOfAttempts, expected: "at least 1")
        }
        self.init(unchecked: kind, maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    init(unchecked kind: Kind, maximumNumberOfAttempts: Int?) {
        self.kind = kind
        self.maximumNumberOfAttempts = maximumNumberOfAttempts
    }

    /// The same schedule with its delays spread by `jitter`.
    ///
    /// - Throws: ``InvalidArgument`` for a proportion outside 0 … 1.
    public func jittered(_ jitter: Jitter) throws(InvalidArgument) -> Backoff {
        if case .proportional(let fraction) = jitter, !(0...1).contains(fraction) {
            throw InvalidArgument("jitter", is: fraction, expected: "a proportion from 0 to 1")
        }
        var copy = self
        copy.jitter = jitter
        return copy
    }

    /// The same schedule with no delay longer than `cap`, jitter included.
    ///
    /// - Throws: ``InvalidArgument`` for a cap below the schedule's first delay.
    public func capped(at cap: Duration) throws(InvalidArgument) -> Backoff {
        let base = firstDelay
        guard cap >= base else {
            throw InvalidArgument("cap", is: cap, expected: "at least the schedule's first delay, \(base)")
        }
        var copy = self
        copy.cap = cap
        return copy
    }

    /// The same schedule with another number of tries in all; nil: no limit.
    ///
    /// - Throws: ``InvalidArgument`` for fewer than one try.
    public func limited(toAttempts attempts: Int?) throws(InvalidArgument) -> Backoff {
        if let attempts, attempts < 1 {
            throw InvalidArgument("attempts", is: attempts, expected: "at least 1")
        }
        var copy = self
        copy.maximumNumberOfAttempts = attempts
        return copy
    }

    /// The wait after the given try, or nil to stop.
    public func delay(after attempt: Attempt, using random: RandomSource = .shared) -> Duration? {
        delay(after: attempt, drawingFrom: random)
    }

    /// The wait after the given try; the shared source is asked for only where a number is drawn and none is given.
    @usableFromInline
    func delay(after attempt: Attempt, drawingFrom random: RandomSource?) -> Duration? {
        if case .constant(.zero) = kind {
            // Nothing spreads or cuts a wait of zero.
            if let maximumNumberOfAttempts, attempt.tries >= maximumNumberOfAttempts { return nil }
            return .zero
        }
        guard let range = delayRange(after: attempt) else { return nil }
        guard range.lowerBound < range.upperBound else { return range.upperBound }
        let low = range.lowerBound.inSeconds
        let spread = range.upperBound.inSeconds - low
        let drawn = Duration.delay(seconds: low + spread * (random ?? .shared).unit())
        // Rounding of the sum must not step over the bounds.
        return min(max(drawn, range.lowerBound), range.upperBound)
    }

    /// The shortest and the longest wait that ``delay(after:using:)`` can answer, or nil where it stops.
    ///
    /// This is what a policy can say about itself without drawing a random number.
    public func delayRange(after attempt: Attempt) -> ClosedRange<Duration>? {
        if let maximumNumberOfAttempts, attempt.tries >= maximumNumberOfAttempts { return nil }
        let limit = (cap ?? .longestDelay).clampedToDelay
        if case .decorrelated(let base) = kind {
            let previous = max(base.inSeconds, attempt.previousDelay.inSeconds)
            let high = min(Duration.delay(seconds: previous * 3), limit)
            return min(base.clampedToDelay, high)...high
        }
        guard let planned = plannedDelay(afterTry: attempt.tries) else { return nil }
        let delay = min(planned.clampedToDelay, limit)
        guard jitter != .none else { return delay...delay }
        // The cap cuts what jitter adds, too; the planned delay is cut first, so that jitter still spreads at the cap.
        let shares = jitter.shares
        let high = shares.upperBound == 1 ? delay : min(.delay(seconds: delay.inSeconds * shares.upperBound), limit)
        return min(.delay(seconds: delay.inSeconds * shares.lowerBound), high)...high
    }
}
