// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// What the answers of a server say is left of one limit, and when there will be more.
///
/// A limit that refills is a bucket: `(limit - remaining) / reset` is its rate, so that the next request waits until it
/// fits and not until the bucket is full. Of another limit nothing comes before the reset.
struct LearntLimit {
    let kind: RateLimitFields.Family.Kind
    /// The whole limit; nil: unknown.
    private let capacity: Double?
    /// The seconds that a unit takes; nil for a limit that does not refill.
    private let perUnit: Double?
    /// When there is as much as the limit again, in seconds.
    private let resetTime: Double
    private let learntTime: Double
    /// What is left at `time`, without what requests that were sent take.
    private var level: Double
    private var time: Double
    /// What the requests take that wait.
    private var reserved = 0.0

    /// - Parameters:
    ///   - limit: what an answer says.
    ///   - sent: what the requests take whose answers have not come; the answer may not count them.
    ///   - earlier: what was known of the same limit, which an answer that was long under way does not raise.
    init?(_ limit: RateLimit, sent: Double, after earlier: LearntLimit?, now: Duration) {
        guard let remaining = limit.remaining.map(Double.init), let reset = limit.reset, remaining >= 0 else {
            return nil
        }
        let seconds = reset.inSeconds
        kind = limit.kind
        capacity = limit.quota.map(Double.init).flatMap { $0 > 0 ? $0 : nil }
        let missing = (capacity ?? 0) - remaining
        // A limit that is full says nothing about its rate.
        perUnit = limit.refills && seconds > 0 ? (missing > 0 ? seconds / missing : earlier?.perUnit) : nil
        (time, learntTime, resetTime) = (now.inSeconds, now.inSeconds, now.inSeconds + seconds)
        level = remaining - sent
        reserved = earlier?.reserved ?? 0
        if var earlier, earlier.isSame(as: self) {
            earlier.advance(to: time)
            level = min(level, earlier.level)
        }
    }

    /// Whether two answers speak of the same bucket, or of the same window.
    private func isSame(as newer: LearntLimit) -> Bool {
        guard capacity == newer.capacity else { return false }
        return perUnit != nil || newer.perUnit != nil || abs(resetTime - newer.resetTime) < 1.5
    }

    /// The units of a request: at least one, since the cost of many is not known, and never more than there can be.
    private func units(_ cost: Double) -> Double {
        min(kind == .requests ? 1 : max(1, cost), capacity ?? .infinity)
    }

    private mutating func advance(to now: Double) {
        guard now > time else { return }
        if let perUnit {
            level = min(capacity ?? .infinity, level + (now - time) / perUnit)
        } else if time < resetTime, now >= resetTime {
            level = capacity.map { min($0, level + $0) } ?? .infinity
        }
        time = now
    }

    /// When a request fits.
    ///
    /// - Parameter isFirst: whether it goes before all that wait.
    mutating func time(for cost: Double, isFirst: Bool, now: Duration) -> Duration {
        let seconds = now.inSeconds
        advance(to: seconds)
        // What is past and does not refill is known no more.
        guard perUnit != nil || seconds < resetTime else { return now }
        let lacking = units(cost) + (isFirst ? 0 : reserved) - level
        // Less is what rounding leaves.
        guard lacking > 1e-6 else { return now }
        guard let perUnit else {
            // After the reset, one after the other instead of all at once.
            let spacing = capacity.map { (resetTime - learntTime) / $0 } ?? 0
            return .delay(seconds: resetTime + lacking * spacing)
        }
        return .delay(seconds: seconds + lacking * perUnit)
    }

    /// Gives a request its units, or takes them back.
    mutating func give(_ cost: Double, isBack: Bool = false) { level += isBack ? units(cost) : -units(cost) }

    /// Notes that a request waits, or does no longer.
    mutating func reserve(_ cost: Double, isBack: Bool = false) {
        reserved = max(0, reserved + (isBack ? -units(cost) : units(cost)))
    }

    /// Whether it would hold no request.
    func isIdle(at now: Duration) -> Bool { now.inSeconds >= resetTime && reserved == 0 }
}
