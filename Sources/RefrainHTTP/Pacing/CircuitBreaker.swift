// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// When a ``Pacer`` stops asking a place that keeps refusing, or that cannot be reached.
///
/// It opens where too many requests of a window are refused (429, 503, 529) or find no connection. When its break is
/// over, one request goes as a probe; where that succeeds, a growing share of the requests follows, and where it fails
/// or is lost, another break begins. By default a breaker only observes: ``AttemptRecord/Pacing/circuit`` says which
/// attempts it would have refused, and nothing is refused.
///
/// ```swift
/// let pacer = Pacer(
///     circuitBreaker: CircuitBreaker(
///         breakDuration: .seconds(10), isEnforced: true
///     )
/// )
/// ```
///
/// Source: M. Nygard, *Release It!*, 2nd edition, chapter 5.
public struct CircuitBreaker: Hashable, Sendable {
    /// The share of the requests in ``window`` that fail, at which it opens.
    public private(set) var failureShare: Double
    /// The requests in ``window`` below which it does not open.
    public private(set) var minimumRequests: Int
    /// The time that is looked back on: between half of it and all.
    public private(set) var window: Duration
    /// The longest break; each lasts between half of it and all, by chance.
    public private(set) var breakDuration: Duration
    /// Whether requests are refused, with ``HTTPError/Code/circuitOpen``.
    public private(set) var isEnforced: Bool

    /// Makes the rules of a breaker.
    ///
    /// - Parameters:
    ///   - failureShare: the share of failures at which it opens, from 0.01 to 1. Defaults to a half.
    ///   - minimumRequests: the requests below which it does not open, from 1 on. Defaults to 20.
    ///   - window: the time that is looked back on, from 1 ms on. Defaults to 10 s.
    ///   - breakDuration: the longest break, from 1 ms on; also how long a probe is waited for, and how long the share
    ///     of the requests grows after it. Defaults to 5 s.
    ///   - isEnforced: whether requests are refused. Defaults to false: it only observes.
    public init(
        failureShare: Double = 0.5,
        minimumRequests: Int = 20,
        window: Duration = .seconds(10),
        breakDuration: Duration = .seconds(5),
        isEnforced: Bool = false
    ) {
        self.failureShare = failureShare > 0.01 ? min(1, failureShare) : 0.01
        self.minimumRequests = max(1, minimumRequests)
        self.window = max(window, .milliseconds(1)).clampedToDelay
        self.breakDuration = max(breakDuration, .milliseconds(1)).clampedToDelay
        self.isEnforced = isEnforced
    }
}

/// The circuit breaker of one place.
///
/// A value; its owner has the lock, the clock and the chance.
struct CircuitState {
    /// What is said to a request before it is sent.
    enum Admission {
        case passes
        /// It goes, and what comes of it decides.
        case probes
        /// It is refused until a time.
        case refused(AttemptRecord.Pacing.Circuit, until: Duration)
    }

    /// What a request that was let go has come to.
    enum Outcome {
        case success
        case failure
        /// Nothing that tells of its place: it was cancelled, or its caller has failed.
        case unknown
    }

    private enum Phase {
        case closed
        case open(until: Duration)
        case halfOpen(until: Duration)
        case ramp(from: Duration)
    }

    /// The requests of half a window.
    private struct Counts {
        var half: Int64 = 0
        var failures = 0
        var all = 0
    }

    /// The smallest share of the requests that goes after a probe.
    private static let firstShare = 0.1

    private let rules: CircuitBreaker
    private var phase = Phase.closed
    private var (current, previous) = (Counts(), Counts())

    init(_ rules: CircuitBreaker) { self.rules = rules }

    /// Whether a new state would be no different.
    mutating func isIdle(at now: Duration) -> Bool {
        turnHalves(now)
        guard case .closed = phase else { return false }
        return current.failures + previous.failures == 0
    }

    /// Lets a request go, or not.
    ///
    /// - Parameter chance: a number from 0 to below 1.
    mutating func admit(now: Duration, chance: Double) -> Admission {
        switch phase {
        case .closed:
            return .passes
        case .open(let until) where now < until:
            return .refused(.open, until: until)
        case .halfOpen(let until) where now < until:
            return .refused(.halfOpen, until: until)
        case .open, .halfOpen:
            // A probe that has no outcome by now is lost, and this request is the next one.
            phase = .halfOpen(until: now + rules.breakDuration)
            return .probes
        case .ramp(let from):
            let end = from + rules.breakDuration
            guard now < end else {
                phase = .closed
                return .passes
            }
            let share = max(Self.firstShare, (now - from) / rules.breakDuration)
            return chance < share ? .passes : .refused(.ramp, until: end)
        }
    }

    /// Takes account of a request that was let go.
    mutating func note(_ outcome: Outcome, probed: Bool, now: Duration, chance: Double) {
        turnHalves(now)
        switch phase {
        case .halfOpen where probed:
            guard outcome == .success else { return open(now, chance) }
            phase = .ramp(from: now)
            (current, previous) = (Counts(half: current.half), Counts())
        case .open, .halfOpen:
            // It was sent before.
            break
        case .closed, .ramp:
            guard outcome != .unknown else { return }
            current.all += 1
            guard outcome == .failure else { return }
            current.failures += 1
            let all = current.all + previous.all
            guard all >= rules.minimumRequests,
                Double(current.failures + previous.failures) >= rules.failureShare * Double(all)
            else { return }
            open(now, chance)
        }
    }

    private mutating func open(_ now: Duration, _ chance: Double) {
        phase = .open(until: now + rules.breakDuration * (0.5 + chance / 2))
        (current, previous) = (Counts(half: current.half), Counts())
    }

    private mutating func turnHalves(_ now: Duration) {
        let half = Int64(now.inSeconds / (rules.window.inSeconds / 2))
        guard half != current.half else { return }
        previous = half == current.half + 1 ? current : Counts()
        current = Counts(half: half)
    }
}
