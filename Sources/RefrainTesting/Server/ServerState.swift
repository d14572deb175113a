// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// The state that all connections of a server share.
final class ServerState: Sendable {
    private struct State {
        var port: UInt16 = 0
        var scripts: [String: Script] = [:]
        var occurrences: [String: Int] = [:]
        var counters: [String: Int] = [:]
        var instants: [String: Double] = [:]
        var digests: [String: String] = [:]
        var executions: [String: Execution] = [:]
        var buckets: [String: TokenBucket] = [:]
        var others: [FaultServer.Mode: FaultServer] = [:]
        var isStopped = false
    }

    let log: RequestLog
    let start = ServerTime.monotonic()
    private let state = Locked(State())

    init(logLimit: Int) { log = RequestLog(limit: logLimit) }

    var port: UInt16 {
        get { state.withLock { $0.port } }
        set { state.withLock { $0.port = newValue } }
    }

    /// Seconds since the start.
    var elapsed: Double { ServerTime.monotonic() - start }

    func setScript(_ script: Script, for path: String) {
        state.withLock { state in
            if !state.isStopped { state.scripts[path] = script }
        }
    }

    /// Counts a request for a target, and returns the script of its path.
    func arrive(target: String, path: String) -> (occurrence: Int, script: Script?) {
        state.withLock { state in
            let occurrence = state.occurrences[target, default: 0] + 1
            state.occurrences[target] = occurrence
            return (occurrence, state.scripts.isEmpty ? nil : state.scripts[path])
        }
    }

    /// Increments a counter and returns its new value.
    func increment(_ name: String) -> Int {
        state.withLock { state in
            let value = state.counters[name, default: 0] + 1
            state.counters[name] = value
            return value
        }
    }

    /// The time of the first call for this name, in seconds since the start.
    func firstSeen(_ name: String) -> Double {
        let now = elapsed
        return state.withLock { state in
            if let seen = state.instants[name] { return seen }
            state.instants[name] = now
            return now
        }
    }

    /// Counts within windows of a fixed length; the first window starts with the first call.
    func countInWindow(_ name: String, length: Double) -> (count: Int, left: Double) {
        let begun = firstSeen(name)
        let age = elapsed - begun
        let window = (age / length).rounded(.down)
        return (increment("\(name) window \(window)"), max(0, (window + 1) * length - age))
    }

    /// Takes from several buckets, or from none of them.
    ///
    /// - Returns: the seconds until all of it can be taken, zero where it was; and for each bucket what is left, with
    ///   the seconds until it is full.
    func take(
        _ name: String,
        _ draws: [TokenBucket.Draw]
    ) -> (wait: Double, buckets: [(left: Double, untilFull: Double)]) {
        let now = elapsed
        return state.withLock { state in
            var wait = 0.0
            var buckets = draws.map { draw in
                var bucket = state.buckets[name + draw.name] ?? TokenBucket(left: draw.capacity, time: now)
                bucket.refill(draw, at: now)
                wait = max(wait, (draw.amount - bucket.left) / draw.perSecond)
                return bucket
            }
            for (index, draw) in draws.enumerated() {
                if wait <= 0 { buckets[index].left -= draw.amount }
                state.buckets[name + draw.name] = buckets[index]
            }
            let states = zip(buckets, draws).map {
                (left: $0.left, untilFull: max(0, ($1.limit / 20 - $0.left) / $1.perSecond))
            }
            return (max(0, wait), states)
        }
    }

    /// A digest that is computed once per name.
    func digest(_ name: String, compute: () -> String) -> String {
        if let known = state.withLock({ $0.digests[name] }) { return known }
        let digest = compute()
        state.withLock { state in
            if state.digests.count > 10_000 { state.digests.removeAll() }
            state.digests[name] = digest
        }
        return digest
    }

    /// Starts, joins or replays the execution of a request with an idempotency key.
    func execute(_ name: String, fingerprint: String, duration: Double, counter: String) -> Execution.State {
        let now = elapsed
        return state.withLock { state in
            if let known = state.executions[name] {
                if known.fingerprint != fingerprint { return .mismatch }
                if now < known.finish { return .running(left: known.finish - now) }
                return .replayed(number: known.number)
            }
            let number = state.counters[counter, default: 0] + 1
            state.counters[counter] = number
            state.executions[name] = Execution(fingerprint: fingerprint, finish: now + duration, number: number)
            return .started(number: number)
        }
    }

    /// Clears counters and log; keeps the scripts.
    func reset() {
        state.withLock { state in
            state.occurrences.removeAll()
            state.counters.removeAll()
            state.instants.removeAll()
            state.executions.removeAll()
            state.buckets.removeAll()
        }
        log.clear()
    }

    /// The port of a server in another mode, which the first call starts.
    func port(of mode: FaultServer.Mode) -> UInt16? {
        if mode == .normal { return port }
        if let known = state.withLock({ $0.others[mode] }) { return known.port }
        guard let server = try? FaultServer(mode: mode) else { return nil }
        let kept = state.withLock { state -> FaultServer? in
            if state.isStopped { return nil }
            if let earlier = state.others[mode] { return earlier }
            state.others[mode] = server
            return server
        }
        if kept !== server { server.stop() }
        return kept?.port
    }

    func stopOthers() {
        // Scripts may reference servers, whose deinitialization must happen outside the lock.
        let (others, scripts) = state.withLock { state in
            state.isStopped = true
            defer { (state.others, state.scripts) = ([:], [:]) }
            return (state.others, state.scripts)
        }
        for server in others.values { server.stop() }
        withExtendedLifetime(scripts) {}
    }
}

/// The stored state of a request with an idempotency key.
struct Execution: Sendable {
    enum State: Sendable {
        case started(number: Int)
        case running(left: Double)
        case replayed(number: Int)
        case mismatch
    }

    var fingerprint: String
    var finish: Double
    var number: Int
}

/// The monotonic clock and the wall clock, in seconds.
enum ServerTime {
    static func monotonic() -> Double { Double(SystemTime.monotonicNanoseconds) / 1e9 }
    static func wall() -> Double { SystemTime.sinceEpoch.inSeconds }
}

extension Duration {
    /// Milliseconds, rounded up and clamped to 0 … 1 day.
    var milliseconds: Int32 {
        if self <= .zero { return 0 }
        if self >= .seconds(86_400) { return 86_400_000 }
        let (seconds, attoseconds) = components
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
