// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// When requests to one place may be sent: a hold, the limits that were given, and those that answers tell.
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
        /// What it waits for.
        fileprivate(set) var cause = Cause.rate
        fileprivate let cost: Double
        /// Whether it is the end of a hold, at which the requests that have waited are put in a row.
        fileprivate(set) var isProvisional = false
        /// Whether it counts among those that wait.
        fileprivate var waits = false
        /// Whether what was learnt makes it wait, so that it has no units of that yet.
        fileprivate var waitsForLearnt = false
    }

    /// What makes a request wait.
    enum Cause {
        /// A refusal that named a time.
        case hold
        /// A limit on the number of requests.
        case rate
        /// A limit on their cost.
        case cost
    }

    private var requests: Bucket?
    private var cost: Bucket?
    /// By the names that answers give them.
    private var learnt: [String: LearntLimit] = [:]
    /// What the requests take that have their turn, and whose answers have not come.
    private var sent = (requests: 0.0, cost: 0.0)
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

    /// Takes account of the limits of an answer.
    mutating func learn(_ limits: [RateLimit], now: Duration) {
        for (index, limit) in limits.prefix(Self.mostLimits).enumerated() {
            let name = limit.name ?? "\(index)"
            let sent = limit.kind == .requests ? sent.requests : sent.cost
            guard learnt[name] != nil || learnt.count < Self.mostLimits,
                let known = LearntLimit(limit, sent: sent, after: learnt[name], now: now)
            else { continue }
            learnt[name] = known
        }
    }

    /// A server that names a new limit in each answer does not fill the memory.
    private static let mostLimits = 16

    private var spreadEnd: Duration { holdEnd.addingSaturated(holdLength) }

    /// Whether a new state would be no different: nothing waits or is held, and all units are due.
    func isIdle(at now: Duration) -> Bool {
        waiting == 0 && sent.requests == 0 && now >= spreadEnd
            && [requests, cost].allSatisfy { $0?.isIdle(at: now) ?? true }
            && learnt.values.allSatisfy { $0.isIdle(at: now) }
    }

    /// Returns the turn of a request, and the time until then; zero: it is sent now.
    ///
    /// - Parameter turn: the turn that it has waited for; nil on its arrival.
    mutating func take(after turn: Turn?, cost amount: Double, now: Duration) -> (Turn, Duration) {
        var next: Turn
        if let turn, !turn.isProvisional, turn.time >= holdEnd || now >= holdEnd {
            next = turn
            if next.waitsForLearnt {
                for name in learnt.keys { learnt[name]?.reserve(next.cost, isBack: true) }
                takeLearnt(&next, isFirst: true, now: now)
            }
        } else {
            // It arrives, a hold has ended, or another one has begun.
            if let turn { handBack(turn) }
            next =
                now < holdEnd
                ? Turn(time: holdEnd, cause: .hold, cost: 0, isProvisional: true)
                : begin(amount, now: now)
        }
        let wait = next.time - now < Self.shortestWait ? .zero : next.time - now
        if next.waits != (wait > .zero) {
            next.waits.toggle()
            waiting += next.waits ? 1 : -1
        }
        return (next, wait)
    }

    /// Less is what rounding leaves.
    private static let shortestWait = Duration.microseconds(1)

    private mutating func begin(_ amount: Double, now: Duration) -> Turn {
        let (time, cause) = time(for: amount, now: now)
        var turn = Turn(time: time, cause: cause, cost: amount)
        takeLearnt(&turn, isFirst: false, now: now)
        return turn
    }

    /// Takes a turn's units of what was learnt, or lets it wait until they are there.
    private mutating func takeLearnt(_ turn: inout Turn, isFirst: Bool, now: Duration) {
        var (time, cause) = (now, Cause.rate)
        for name in learnt.keys {
            let fits = learnt[name]?.time(for: turn.cost, isFirst: isFirst, now: now) ?? now
            guard fits > time else { continue }
            (time, cause) = (fits, learnt[name]?.kind == .cost ? .cost : .rate)
        }
        turn.waitsForLearnt = time - now >= Self.shortestWait
        guard !turn.waitsForLearnt else {
            if time > turn.time { (turn.time, turn.cause) = (time, cause) }
            for name in learnt.keys { learnt[name]?.reserve(turn.cost) }
            return
        }
        for name in learnt.keys { learnt[name]?.give(turn.cost) }
        sent.requests += 1
        sent.cost += turn.cost
    }

    private mutating func time(for amount: Double, now: Duration) -> (Duration, Cause) {
        var (time, cause) = (max(now, requests?.take(1, now: now) ?? now), Cause.rate)
        if let due = cost?.take(amount, now: now), due > time { (time, cause) = (due, .cost) }
        guard now < spreadEnd else { return (time, cause) }
        if nextRelease > time { (time, cause) = (nextRelease, .hold) }
        nextRelease = time.addingSaturated(holdLength / max(refusals, waiting, 8))
        return (time, cause)
    }

    /// Takes back a turn that is not used.
    mutating func handBack(_ turn: Turn) {
        if !turn.isProvisional {
            requests?.handBack(1)
            cost?.handBack(turn.cost)
            if turn.waitsForLearnt {
                for name in learnt.keys { learnt[name]?.reserve(turn.cost, isBack: true) }
            } else {
                for name in learnt.keys { learnt[name]?.give(turn.cost, isBack: true) }
                end(cost: turn.cost)
            }
        }
        if turn.waits { waiting -= 1 }
    }

    /// Notes that a request that had its turn has its answer, or none.
    ///
    /// - Parameter usage: what it has cost, which may be other than what it said; nil: that stands.
    mutating func end(cost amount: Double, usage: Double? = nil) {
        sent.requests = max(0, sent.requests - 1)
        sent.cost = sent.requests == 0 ? 0 : max(0, sent.cost - amount)
        guard let usage else { return }
        cost?.handBack(amount - usage)
        for name in learnt.keys where learnt[name]?.kind == .cost {
            learnt[name]?.give(amount, isBack: true)
            learnt[name]?.give(usage)
        }
    }

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
