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
        var quotas: [String: ModelQuota] = [:]
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

    /// Takes a request and its tokens of a quota, which is made at the first call for its name.
    func take(
        tokens: Double,
        of name: String,
        _ make: (_ now: Double) -> ModelQuota
    ) -> (isTaken: Bool, fields: [(String, String)]) {
        let now = elapsed
        return state.withLock { state in
            state.quotas[name, default: make(now)].take(tokens: tokens, now: now)
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
            state.quotas.removeAll()
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
