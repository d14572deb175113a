// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The places of a list: a request has one while an attempt of it runs, and none while it waits for the next attempt.
///
/// Place it inside of the stage that makes the attempts. Of several requests to a host that is down, one probes it. The
/// others wait for the result: they go on when it is up again, and fail with the probe when that gives up. They wait in
/// a stage of its own, ``hosts``, which goes outside of those in which the probe waits for the end of another request.
final class Places: HTTPMiddleware {
    /// A request of a list.
    final class Ticket: Sendable {
        private struct State {
            var isResting = false
            /// Counts the requests that rest in front of their servers' limits, while this one may become one of them.
            var held: Locked<Int>?
            /// Whether this one is counted.
            var isCounted = false
        }

        private let board: RunBoard
        private let state = Locked(State())

        init(_ board: RunBoard) { self.board = board }

        /// Gives the place up to the next request of the list.
        func rest() {
            let isChange = state.withLock { state in
                defer { state.isResting = true }
                return !state.isResting
            }
            if isChange { board.rest() }
        }

        /// Counts as running again.
        fileprivate func wake() {
            let isChange = state.withLock { state in
                if state.isCounted { state.held?.withLock { $0 -= 1 } }
                defer { state = State() }
                return state.isResting
            }
            if isChange { board.wake() }
        }

        /// Waits for its server's limits from now on.
        fileprivate func hold(_ held: Locked<Int>) {
            state.withLock { state in if !state.isCounted { state.held = held } }
        }

        /// Gives the place up if it still waits for its server's limits, and fewer than `limit` others do.
        fileprivate func restWhileHeld(_ limit: Int) {
            let isChange = state.withLock { state in
                guard let held = state.held, !state.isResting else { return false }
                state.isCounted = held.withLock { count in
                    guard count < limit else { return false }
                    count += 1
                    return true
                }
                state.isResting = state.isCounted
                return state.isCounted
            }
            if isChange { board.rest() }
        }
    }

    private typealias ID = ObjectIdentifier

    private enum Host {
        /// A request probes it, and others wait.
        case down(probe: ID, waiting: Set<ID>)
        /// The probe has given up.
        case lost(until: ContinuousClock.Instant, HTTPError.Code, String?)
    }

    private enum Turn {
        case granted
        case lost(HTTPError.Code, String?)
        case cancelled
    }

    private struct State {
        var free: Int
        /// The requests that wait for a place, in their order; those that were cancelled have no continuation.
        var queue: [ID] = []
        var continuations: [ID: UnsafeContinuation<Turn, Never>] = [:]
        var hosts: [Origin: Host] = [:]
        /// The hosts that each request probes.
        var probes: [ID: Set<Origin>] = [:]
    }

    private let state: Locked<State>
    /// The longest time for which requests to a host fail at once after its probe has given up.
    ///
    /// They fail for as long as the probe has tried.
    private static let longestMemory = Duration.seconds(30)

    /// How many there are.
    let count: Int

    init(_ count: Int) {
        self.count = count
        state = Locked(State(free: count))
    }

    func reset() async {}

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard let ticket = request.ticket else { return await next.load(request) }
        let (turn, isLate) = await request.withinDeadline { await self.place(ticket) }
        if let error = Self.error(of: turn, isLate, request) {
            if case .granted = turn { release() }
            return .failure(error)
        }
        ticket.wake()
        let result = await next.load(request)
        release()
        return result
    }

    /// The stage in which requests to a host that is down wait for its probe.
    ///
    /// - Parameter pacer: takes back what was reserved for them, which the probe may need.
    func hosts(_ pacer: Pacer) -> Hosts { Hosts(places: self, pacer: pacer) }

    struct Hosts: HTTPMiddleware {
        fileprivate let places: Places
        fileprivate let pacer: Pacer

        func reset() async {}

        func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
            guard let ticket = request.ticket, let origin = Origin(request.url), places.hasHostsDown else {
                return await next.load(request)
            }
            let (turn, isLate) = await request.withinDeadline { [places, pacer] in
                await places.admission(ticket, origin) { pacer.returnPermit(of: request) }
            }
            if let error = Places.error(of: turn, isLate, request) { return .failure(error) }
            return await next.load(request)
        }
    }

    /// The stage that learns which hosts are down.
    ///
    /// Place it inside of the stage that reads the body of a response: a host is up when its response begins.
    var answers: Answers { Answers(places: self) }

    struct Answers: HTTPMiddleware {
        fileprivate let places: Places

        func reset() async {}

        func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
            let result = await next.load(request)
            if let ticket = request.ticket { places.note(result, of: ticket, Origin(request.url)) }
            return result
        }
    }

    /// What ends a request before it is sent; nil: it goes on.
    private static func error(of turn: Turn, _ isLate: Bool, _ request: HTTPRequest) -> HTTPError? {
        switch turn {
        case .granted, .cancelled:
            if isLate { return request.tooLate("while it waited for its turn") }
            guard case .cancelled = turn else { return nil }
            return HTTPError(.cancelled, request: request, message: "cancelled before its turn", bytesSent: 0)
        case .lost(let code, let message):
            var error = HTTPError(code, request: request, underlyingError: HostIsDown(), bytesSent: 0)
            error.message = message.map { "\($0), as another request to this host found" }
            return error
        }
    }

    /// Ends the part of a request: if it was the probe of a host, the others fail with it.
    func end(_ ticket: Ticket, _ result: HTTPResult) {
        ticket.wake()
        let id = ID(ticket)
        var (turn, memory) = (Turn.granted, Duration.zero)
        if case .failure(let error) = result, !error.isCancellation {
            let ends = error.attempts.filter { $0.reason != .redirected }.map { $0.start + $0.duration }
            // One attempt may have met a moment without the host.
            if ends.count > 1 {
                turn = .lost(error.code, error.message)
                memory = min(ends[ends.count - 1] - ends[0], Self.longestMemory)
            }
        }
        let resumed: [UnsafeContinuation<Turn, Never>] = state.withLock { [turn, memory] state in
            var resumed: [UnsafeContinuation<Turn, Never>] = []
            for origin in state.probes.removeValue(forKey: id) ?? [] {
                guard case .down(id, let waiting)? = state.hosts.removeValue(forKey: origin) else { continue }
                if case .lost(let code, let message) = turn {
                    state.hosts[origin] = .lost(until: .now + memory, code, message)
                }
                resumed += waiting.compactMap { state.continuations.removeValue(forKey: $0) }
            }
            return resumed
        }
        for continuation in resumed { continuation.resume(returning: turn) }
    }

    // MARK: Waiting

    private var hasHostsDown: Bool { state.withLock { !$0.hosts.isEmpty } }

    /// Waits until the host is not known to be down; `onWait` is called before a wait.
    private func admission(_ ticket: Ticket, _ origin: Origin, onWait: () -> Void) async -> Turn {
        await wait(ticket, onWait) { state in self.admission(to: origin, of: ID(ticket), &state) }
    }

    /// Waits for a place.
    private func place(_ ticket: Ticket) async -> Turn {
        await wait(ticket) { state in
            guard state.free == 0 else {
                state.free -= 1
                return .granted
            }
            state.queue.append(ID(ticket))
            return nil
        }
    }

    /// What is known about a host; nil: the request waits for its probe.
    private func admission(to origin: Origin, of id: ID, _ state: inout State) -> Turn? {
        switch state.hosts[origin] {
        case nil, .down(id, _)?: return .granted
        case .down(let probe, var waiting)?:
            waiting.insert(id)
            state.hosts[origin] = .down(probe: probe, waiting: waiting)
            return nil
        case .lost(let end, let code, let message)?:
            guard ContinuousClock.now >= end else { return .lost(code, message) }
            state.hosts[origin] = .down(probe: id, waiting: [])
            state.probes[id, default: []].insert(origin)
            return .granted
        }
    }

    private func wait(
        _ ticket: Ticket,
        _ onWait: () -> Void = {},
        _ begin: (inout State) -> Turn?
    ) async -> Turn {
        let id = ID(ticket)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let turn: Turn? = state.withLock { state in
                    if Task.isCancelled { return .cancelled }
                    let turn = begin(&state)
                    if turn == nil { state.continuations[id] = continuation }
                    return turn
                }
                if let turn { return continuation.resume(returning: turn) }
                ticket.rest()
                onWait()
            }
        } onCancel: {
            state.withLock { $0.continuations.removeValue(forKey: id) }?.resume(returning: .cancelled)
        }
    }

    private func release() {
        let next: UnsafeContinuation<Turn, Never>? = state.withLock { state in
            while !state.queue.isEmpty {
                if let next = state.continuations.removeValue(forKey: state.queue.removeFirst()) { return next }
            }
            state.free += 1
            return nil
        }
        next?.resume(returning: .granted)
    }

    // MARK: Hosts

    /// Notes whether a host is down after an attempt.
    private func note(_ result: HTTPResult, of ticket: Ticket, _ origin: Origin?) {
        guard let origin else { return }
        let isDown = Self.isDown(result)
        let waiting: [UnsafeContinuation<Turn, Never>] = state.withLock { state in
            guard isDown else {
                guard !state.hosts.isEmpty,
                    case .down(let probe, let waiting)? = state.hosts.removeValue(forKey: origin)
                else { return [] }
                state.probes[probe]?.remove(origin)
                return waiting.compactMap { state.continuations.removeValue(forKey: $0) }
            }
            if state.hosts[origin] == nil {
                state.hosts[origin] = .down(probe: ID(ticket), waiting: [])
                state.probes[ID(ticket), default: []].insert(origin)
            }
            return []
        }
        for continuation in waiting { continuation.resume(returning: .granted) }
    }

    /// Whether no connection to the host was made.
    private static func isDown(_ result: HTTPResult) -> Bool {
        guard case .failure(let error) = result, error.bytesSent == 0 else { return false }
        return [.cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .timedOut].contains(error.code)
    }
}

/// Lets requests of a list give their places up while they wait for their server's limits; a stage outside of `Pacer`.
///
/// So requests to other servers begin. As many wait as pass in about a minute.
final class HeldRequests: HTTPMiddleware {
    private let limit: Int
    private let held = Locked(0)
    /// Whether requests may have to wait: limits were given, or a server has refused.
    private let mayHold: Locked<Bool>
    /// Shorter waits are not worth another request.
    private static let patience = Duration.milliseconds(2)

    init(_ pace: PaceSettings) {
        limit = pace.places
        mayHold = Locked(pace.isGiven)
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        noted(await hold(request.ticket) { await next.load(request) })
    }

    /// Runs what waits for the limits of a request's server.
    func hold<Value>(_ ticket: Places.Ticket?, _ wait: () async -> Value) async -> Value {
        guard let ticket, mayHold.withLock({ $0 }) else { return await wait() }
        ticket.hold(held)
        let rest = Task { [limit] in
            if (try? await ContinuousClock().sleep(for: Self.patience)) != nil { ticket.restWhileHeld(limit) }
        }
        defer { rest.cancel() }
        return await wait()
    }

    private func noted(_ result: HTTPResult) -> HTTPResult {
        if case .success(let response) = result, [429, 503, 529].contains(response.status.rawValue) {
            mayHold.withLock { $0 = true }
        }
        return result
    }
}

private enum TicketOption: HTTPRequestOption {
    static let defaultValue: Places.Ticket? = nil
}

extension HTTPRequest {
    /// The ticket of a request of a list; nil: it needs no place.
    var ticket: Places.Ticket? {
        get { self[option: TicketOption.self] }
        set { self[option: TicketOption.self] = newValue }
    }
}
