// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// When requests to one place may be sent: a hold, and the limits.
///
/// A value; its owner has the lock and the clock.
///
/// Limits are kept by the generic cell rate algorithm: each unit has a time at which it is due, and a request may be
/// early by the burst. Turns are given on arrival, in order; one that is handed back makes room at the end.
struct PaceState {
    /// A request's turn.
    struct Turn {
        /// When it is.
        fileprivate(set) var time: Duration
        fileprivate let cost: Double
        /// Whether it is the end of a hold, at which the requests that have waited are put in a row.
        fileprivate var isProvisional = false
        /// Whether it counts among those that wait.
        fileprivate var waits = false
    }

    private var requests: Bucket?
    private var cost: Bucket?
    /// Until when nothing is sent.
    private var holdEnd = Duration.zero
    private var holdLength = Duration.zero
    /// When the next request is let go after the hold; they go one after the other for as long as it lasted.
    private var nextRelease = Duration.zero
    /// The refusals that name the hold: as many requests come back.
    private var refusals = 0
    /// The requests that wait for their turn.
    private(set) var waiting = 0

    init(_ limits: Pacer.Limits) {
        requests = limits.requests.map { Bucket(limit: $0, interval: limits.interval) }
        cost = limits.cost.map { Bucket(limit: $0, interval: limits.interval) }
    }

    /// Holds all requests; the later end of several holds counts.
    mutating func hold(for delay: Duration, now: Duration) {
        let end = now.addingSaturated(delay)
        if now >= holdEnd { (refusals, holdLength) = (0, .zero) }
        refusals += 1
        if end > holdEnd {
            (holdEnd, nextRelease) = (end, end)
            holdLength = max(holdLength, delay)
        }
    }

    private var spreadEnd: Duration { holdEnd.addingSaturated(holdLength) }

    /// Whether a new state would be no different: nothing waits or is held, and all units are due.
    func isIdle(at now: Duration) -> Bool {
        waiting == 0 && now >= spreadEnd && [requests, cost].allSatisfy { $0?.isIdle(at: now) ?? true }
    }

    /// Returns the turn of a request, and the time until then; zero: it is sent now.
    ///
    /// - Parameter turn: the turn that it has waited for; nil on its arrival.
    mutating func take(after turn: Turn?, cost amount: Double, now: Duration) -> (Turn, Duration) {
        var next: Turn
        if let turn, !turn.isProvisional, turn.time >= holdEnd || now >= holdEnd {
            next = turn
        } else {
            // It arrives, a hold has ended, or another one has begun.
            if let turn { handBack(turn) }
            next =
                now < holdEnd
                ? Turn(time: holdEnd, cost: 0, isProvisional: true)
                : Turn(time: time(for: amount, now: now), cost: amount)
        }
        // Less than a microsecond is what rounding leaves.
        let wait = next.time - now < .microseconds(1) ? .zero : next.time - now
        if next.waits != (wait > .zero) {
            next.waits.toggle()
            waiting += next.waits ? 1 : -1
        }
        return (next, wait)
    }

    private mutating func time(for amount: Double, now: Duration) -> Duration {
        var time = max(now, requests?.take(1, now: now) ?? now, cost?.take(amount, now: now) ?? now)
        guard now < spreadEnd else { return time }
        time = max(time, nextRelease)
        nextRelease = time.addingSaturated(holdLength / max(refusals, waiting, 8))
        return time
    }

    /// Takes back a turn that is not used.
    mutating func handBack(_ turn: Turn) {
        if !turn.isProvisional {
            requests?.handBack(1)
            cost?.handBack(turn.cost)
        }
        if turn.waits { waiting -= 1 }
    }

    /// Takes account of what a request has cost beyond what it said.
    mutating func correct(by difference: Double) { cost?.handBack(-difference) }

    /// One limit.
    private struct Bucket {
        /// The time that one unit takes, in seconds.
        private let perUnit: Double
        /// How early a unit may be used, in seconds.
        private let tolerance: Double
        /// When the next unit is due, in seconds.
        private var due = 0.0

        init(limit: Double, interval: Duration) {
            perUnit = interval.inSeconds / limit
            tolerance = interval.inSeconds / 60
        }

        /// Takes units, and returns the time at which they may be used.
        mutating func take(_ amount: Double, now: Duration) -> Duration {
            let (now, length) = (now.inSeconds, amount * perUnit)
            let begin = max(due, now)
            due = begin + length
            // More than the burst waits until all before it are due.
            return .delay(seconds: max(now, begin - max(0, tolerance - length)))
        }

        func isIdle(at now: Duration) -> Bool { due <= now.inSeconds }

        mutating func handBack(_ amount: Double) { due -= amount * perUnit }
    }
}
