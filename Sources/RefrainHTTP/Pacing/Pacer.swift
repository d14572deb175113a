// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Keeps the limits of servers in front of every send, retries included (rules R34 and R35).
///
/// Where an answer of 429 names the time to come back at, all requests to the same place wait until then, and are let
/// go one after the other. Limits that you know are kept from the start:
///
/// ```swift
/// let pacer = Pacer(
///     .perMinute(requests: 500, cost: 200_000), profile: .openAI
/// )
/// let loader = Retry(.modelAPI(.openAI))
///     --> pacer
///     --> PlatformLoader()
/// request.cost = 1_200
/// ```
///
/// With a profile, the limits that answers tell are kept as well: where less is left than a request takes, it waits
/// until it fits. With a maximum concurrency, refusals that name no time halve the number of requests that are under
/// way, and successes raise it again, one at a time, and more slowly where so many were refused before.
///
/// A place is an origin and a credential, without the signature of a request, or what ``HTTPRequest/paceKey`` says. A
/// session has a pacer of its own, its setting `pacer`. In a chain, put the stage after ``Retry``, so that each attempt
/// is paced, and before ``Throttle``, so that a held request does not occupy a slot. A request gets its turn when it
/// arrives, without a thread or a timer, and returns it if it is cancelled. A wait that would pass the deadline, or the
/// longest delay of ``HTTPRequest/retryAfterPolicy``, ends at once with ``HTTPError/Code/retryAfterTooLong`` and the
/// date.
///
/// Several chains and sessions can share one pacer.
public final class Pacer: HTTPMiddleware {
    /// Requests and cost that are allowed in a span of time.
    public struct Limits: Hashable, Sendable {
        /// The requests that are allowed in ``interval``; nil: no limit.
        public private(set) var requests: Double?
        /// The cost that is allowed in ``interval``; nil: no limit.
        public private(set) var cost: Double?
        /// The span of time.
        public private(set) var interval: Duration

        /// No limits but those that a server states.
        public static let none = per(.seconds(60))

        /// Whether there is none.
        fileprivate var isNone: Bool { requests == nil && cost == nil }

        /// Limits in each minute; a number that is not above zero counts as no limit.
        public static func perMinute(requests: Double? = nil, cost: Double? = nil) -> Limits {
            per(.seconds(60), requests: requests, cost: cost)
        }

        /// Limits in each span of time.
        ///
        /// They are used evenly: at most a sixtieth goes out at once, since limits per minute are often enforced by the
        /// second.
        ///
        /// - Parameters:
        ///   - interval: the span of time; less than a millisecond counts as one.
        ///   - requests: the requests that are allowed in it. A number that is not above zero counts as no limit.
        ///   - cost: the cost that is allowed in it, likewise.
        public static func per(_ interval: Duration, requests: Double? = nil, cost: Double? = nil) -> Limits {
            func positive(_ number: Double?) -> Double? { number.flatMap { $0 > 0 && $0.isFinite ? $0 : nil } }
            return Limits(
                requests: positive(requests),
                cost: positive(cost),
                interval: max(interval, .milliseconds(1)).clampedToDelay
            )
        }
    }

    private let limits: Limits
    private let profile: ServerProfile?
    private let maximumConcurrency: Int?
    private let usage: @Sendable (HTTPResponse) -> Double?
    private let quota: (any QuotaStore)?
    private let circuitBreaker: CircuitBreaker?
    private let ownClocks: RetryClocks?
    private let waiting: CancellationTokenSource
    private let state: Locked<State>

    private struct State {
        var places: [Place: PaceState] = [:]
        var slots: [Place: AdaptiveSlots] = [:]
        var quotas: [Place: Quotas] = [:]
        /// Of the places that have failed lately.
        var circuits: [Place: CircuitState] = [:]
    }

    /// What other processes share of the limits of a place.
    private struct Quotas {
        let requests: SharedQuota?
        let cost: SharedQuota?
    }

    /// What is paced by itself: a key of the caller's, or an origin and the hash of a credential, which is not kept.
    private enum Place: Hashable {
        case key(String)
        case origin(Origin, credential: Int)
    }

    /// How many places are remembered.
    ///
    /// Past it those are forgotten in which nothing goes on; while there are none, a further place is not paced.
    private static let capacity = 4096

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - limits: what each place allows. Defaults to nothing: only refusals that name a time hold requests.
    ///   - profile: what names a time besides `Retry-After`, such as rate-limit fields. With a profile 503 and its own
    ///     refusals hold, too, and the limits that answers tell are kept.
    ///   - maximumConcurrency: how many requests to a place may be under way at once, at most; fewer after refusals
    ///     that name no time. A streamed answer counts until its head. What a request waits for behind this stage must
    ///     not be another one to the same place, which may get no turn. Defaults to nil: no limit. Less than one counts
    ///     as one.
    ///   - usage: what an answer says it has cost, which corrects ``HTTPRequest/cost``; nil: that stands, as
    ///     for a body that is streamed and has not arrived yet. Defaults to nil for all.
    ///   - quota: where other processes keep `limits` together with this one. It knows places by
    ///     ``HTTPRequest/paceKey`` or by their origins, without credentials. Where the store is out of reach, this
    ///     process goes on with an even share; where it never was within reach, requests fail. Defaults to nil: the
    ///     limits are this process's own.
    ///   - circuitBreaker: when a place that keeps failing is not asked. Defaults to one that only observes; nil: none.
    ///   - clocks: the clocks that measure delays and that dates are compared with. Defaults to nil: in a session its
    ///     own, otherwise those of the system.
    public init(
        _ limits: Limits = .none,
        profile: ServerProfile? = nil,
        maximumConcurrency: Int? = nil,
        usage: @escaping @Sendable (HTTPResponse) -> Double? = { _ in nil },
        quota: (any QuotaStore)? = nil,
        circuitBreaker: CircuitBreaker? = CircuitBreaker(),
        clocks: RetryClocks? = nil
    ) {
        self.limits = limits
        self.profile = profile
        self.maximumConcurrency = maximumConcurrency.map { max(1, $0) }
        self.usage = usage
        self.quota = quota
        self.circuitBreaker = circuitBreaker
        ownClocks = clocks
        waiting = CancellationTokenSource()
        state = Locked(State())
    }

    /// The same pacer with other clocks.
    private init(_ pacer: Pacer, clocks: RetryClocks) {
        limits = pacer.limits
        profile = pacer.profile
        maximumConcurrency = pacer.maximumConcurrency
        usage = pacer.usage
        quota = pacer.quota
        circuitBreaker = pacer.circuitBreaker
        ownClocks = clocks
        waiting = pacer.waiting
        state = pacer.state
    }

    private var clocks: RetryClocks { ownClocks ?? .system }

    /// Loads a request when it is its turn.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let request = request.beginningCall(on: clocks)
        switch await pass(for: request) {
        case .success(let pass):
            var result = await next.load(request)
            if case .success(let response) = result, reads(response) {
                result = .success(await response.withReadableBody())
            }
            return end(pass, of: request, with: result)
        case .failure(let error): return .failure(error)
        }
    }

    /// Whether a request needs a ``Pass``: something may hold it back, or has to be told that it is sent.
    package func asks(_ request: HTTPRequest) -> Bool {
        maximumConcurrency != nil || isInUse || request.reservation != nil || request.durableCall != nil
            || refusal(of: request) != nil
    }

    /// Waits for the turn of a request whose call has begun, or returns what ends it before it is sent.
    ///
    /// A request with a pass is sent, and ``end(_:of:with:)`` follows.
    package func pass(for request: HTTPRequest) async -> Result<Pass, HTTPError> {
        if let error = refusal(of: request) { return .failure(error) }
        request.durableCall?.willWait?(nil)
        var permit = Permit()
        var admission = CircuitState.Admission.passes
        guard let error = await complete(&permit, for: request) ?? admit(request, &permit, &admission) else {
            return .success(Pass(permit, admission))
        }
        return .failure(error.heldBack(permit.wait))
    }

    /// Whether the beginning of a response's body is read, because it may name the time to come back at.
    package func reads(_ response: HTTPResponse) -> Bool {
        guard let profile, profile.readsRetryInfo else { return false }
        return profile.mustRead(response)
    }

    /// Notes the result of a request that was sent, and returns it with the record of its wait.
    package func end(_ pass: Pass?, of request: HTTPRequest, with result: HTTPResult) -> HTTPResult {
        let namesTime = note(result, of: request, pass?.admission ?? .passes, pass?.permit)
        if let later = request.laterAnswer {
            var request = request
            request.laterAnswer = nil
            later.onArrival { [self, request] in _ = note(.success($0), of: request, .passes, nil) }
        }
        guard let permit = pass?.permit else { return result }
        permit.slots?.refund(after: AdaptiveConcurrency.Sign(result, namesTime: namesTime))
        return result.heldBack(permit.wait)
    }

    /// Notes what the circuit breaker says of a request that has its permit; one that it refuses gives that back.
    private func admit(
        _ request: HTTPRequest,
        _ permit: inout Permit,
        _ admission: inout CircuitState.Admission
    ) -> HTTPError? {
        admission = self.admission(of: request)
        guard case .refused(let phase, let until) = admission else { return nil }
        permit.wait.circuit = phase
        guard circuitBreaker?.isEnforced == true else { return nil }
        handBack(permit, of: request)
        return circuitOpen(request, until)
    }

    private func admission(of request: HTTPRequest) -> CircuitState.Admission {
        guard state.withLock({ !$0.circuits.isEmpty }), let place = place(of: request) else { return .passes }
        let (now, chance) = (clocks.now, RandomSource.shared.unit())
        return state.withLock { $0.circuits[place]?.admit(now: now, chance: chance) } ?? .passes
    }

    private func circuitOpen(_ request: HTTPRequest, _ until: Duration) -> HTTPError {
        var error = HTTPError(
            .circuitOpen,
            request: request,
            message: "its server keeps failing, and is not asked again yet",
            bytesSent: 0
        )
        error.retryAfterDate = clocks.wallNow.advanced(by: until - clocks.now)
        return error
    }

    // MARK: Permits

    /// What a request has of its place while it is sent.
    fileprivate struct Permit {
        /// Where it has a slot.
        var slots: AdaptiveSlots?
        var turn: PaceState.Turn?
        /// What it has of the limits that several processes share.
        var booked: [Booking] = []
        /// What it has waited for.
        var wait = AttemptRecord.Pacing()

        /// A part of what several processes share, and when it is due.
        struct Booking {
            let quota: SharedQuota
            let amount: Double
            let due: Duration
        }

        /// Hands back what is shared, where the request is not sent.
        func handBackBooked(now: Duration) {
            for part in booked { part.quota.handBack(part.amount, due: part.due, now: now) }
        }
    }

    /// What a request that is sent has: its permit, and what the circuit breaker said.
    package final class Pass: Sendable {
        fileprivate let permit: Permit
        fileprivate let admission: CircuitState.Admission

        fileprivate init(_ permit: Permit, _ admission: CircuitState.Admission) {
            self.permit = permit
            self.admission = admission
        }
    }

    /// The permit that a request has before its call begins, for its first attempt.
    fileprivate final class Reservation: Sendable {
        private let permit: Locked<Permit?>

        init(_ permit: Permit) { self.permit = Locked(permit) }

        func take() -> Permit? { permit.withLock { $0.take() } }
    }

    /// Waits for the permit of a request whose call has not begun, and gives it to the request.
    ///
    /// That wait takes nothing of the request's timeout, since the pace is the caller's own. A time that a refusal
    /// names is the server's, and does. Where that is too long the request gets no permit, and its first attempt ends
    /// so.
    ///
    /// Call ``returnPermit(of:)`` before the request waits for another one to the same place, and after it.
    public func reservePermit(for request: inout HTTPRequest) async {
        guard refusal(of: request) == nil else { return }
        var permit = Permit()
        let error = await complete(&permit, for: request, isNew: true)
        if let timeout = request.timeout { request.timeout = max(timeout - permit.wait.heldFor, .milliseconds(1)) }
        if error == nil { request.reservation = Reservation(permit) }
    }

    /// Takes back a reserved permit that no attempt of the request has used.
    public func returnPermit(of request: HTTPRequest) {
        if let permit = request.reservation?.take() { handBack(permit, of: request) }
    }

    /// Gives back the permit of a request that is not sent.
    private func handBack(_ permit: Permit, of request: HTTPRequest) {
        permit.slots?.refund()
        permit.handBackBooked(now: clocks.now)
        guard let turn = permit.turn, let place = place(of: request) else { return }
        state.withLock { $0.places[place]?.handBack(turn) }
    }

    /// Takes the permit that was reserved for a request, if one was, and waits for what it lacks, a slot and then the
    /// turn; returns what ends the request before it is sent.
    private func complete(_ permit: inout Permit, for request: HTTPRequest, isNew: Bool = false) async -> HTTPError? {
        if let reserved = request.reservation?.take() { permit = reserved }
        guard maximumConcurrency != nil || permit.turn != nil || isInUse, let place = place(of: request) else {
            return nil
        }
        var error = await waitForSlot(of: request, in: place, &permit, isNew: isNew)
        if error == nil { error = await waitForTurn(of: request, in: place, &permit) }
        guard let error else { return nil }
        permit.slots?.refund()
        permit.handBackBooked(now: clocks.now)
        return error
    }

    private func waitForSlot(
        of request: HTTPRequest,
        in place: Place,
        _ permit: inout Permit,
        isNew: Bool
    ) async -> HTTPError? {
        guard permit.slots == nil, let slots = slots(of: place) else { return nil }
        let began = clocks.now
        let (hasSlot, isLate) = await request.withinDeadline { await slots.take(isNew: isNew) }
        permit.wait.add(clocks.now - began, to: \.waitedForConcurrency)
        guard hasSlot else { return isLate ? request.tooLate("while it was held back") : cancelled(request) }
        permit.slots = slots
        return nil
    }

    private func waitForTurn(of request: HTTPRequest, in place: Place, _ permit: inout Permit) async -> HTTPError? {
        guard isInUse else { return nil }
        let isReserved = permit.turn != nil
        let (turn, wait) = take(place, after: permit.turn, request.cost)
        permit.turn = turn
        if wait > .zero {
            if let error = await pause(&permit, of: request, in: place) { return error }
            // What it has from before a hold was due then.
            permit.handBackBooked(now: clocks.now)
            permit.booked = []
        } else if isReserved {
            return nil
        }
        guard let quotas = quotas(of: place, request) else { return nil }
        let error = await waitForQuota(quotas, of: request, &permit)
        if error != nil, let turn = permit.turn { state.withLock { $0.places[place]?.handBack(turn) } }
        return error
    }

    /// Notes what the result of a request says of its place: a time to come back at, what is left of its limits, and
    /// what the request has cost.
    ///
    /// Every request that had its turn is followed by one call. Returns whether the result names a time.
    private func note(
        _ result: HTTPResult,
        of request: HTTPRequest,
        _ admission: CircuitState.Admission,
        _ permit: Permit?
    ) -> Bool {
        let response = try? result.get()
        let delay = response.flatMap { holds($0.status) ? self.delay(in: $0) : nil }
        let told = response.map(limits(in:)) ?? []
        let outcome = outcome(of: result)
        guard delay != nil || !told.isEmpty || outcome == .failure || isInUse, let place = place(of: request) else {
            return false
        }
        let isUnsent = outcome == .unknown && result.isUnsent
        let usage = response.flatMap(usage).flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
        let now = clocks.now
        state.withLock { state in
            if delay != nil || !told.isEmpty, state.places[place] == nil, hasRoom(in: &state, now) {
                state.places[place] = PaceState(limits)
            }
            // One that was sent before the place was known has taken nothing of it.
            if let turn = permit?.turn {
                if isUnsent {
                    // It ended behind this stage, as one does that is cancelled while it waits for a slot.
                    state.places[place]?.handBack(turn)
                } else {
                    state.places[place]?.end(cost: request.cost, usage: usage)
                }
            }
            state.places[place]?.learn(told, now: now)
            if let delay { state.places[place]?.hold(for: delay, now: now) }
            note(outcome, after: admission, in: place, &state, now)
        }
        if isUnsent { permit?.handBackBooked(now: now) }
        let quotas = quotas(of: place, request)
        if let usage { quotas?.cost?.correct(by: usage - request.cost) }
        if let delay, let quotas {
            // Nothing waits for it: this process is held already.
            Task {
                await quotas.requests?.hold(for: delay)
                await quotas.cost?.hold(for: delay)
            }
        }
        return delay != nil
    }

    /// What a request has come to tells its place's circuit breaker, which is there from its first failure on.
    private func note(
        _ outcome: CircuitState.Outcome,
        after admission: CircuitState.Admission,
        in place: Place,
        _ state: inout State,
        _ now: Duration
    ) {
        guard let circuitBreaker, outcome == .failure || state.circuits[place] != nil else { return }
        var probed = false
        switch admission {
        case .refused: return
        case .passes: break
        case .probes: probed = true
        }
        if state.circuits[place] == nil, state.circuits.count >= Self.capacity {
            state.circuits = state.circuits.filter { _, circuit in
                var circuit = circuit
                return !circuit.isIdle(at: now)
            }
            guard state.circuits.count < Self.capacity else { return }
        }
        var circuit = state.circuits[place] ?? CircuitState(circuitBreaker)
        circuit.note(outcome, probed: probed, now: now, chance: RandomSource.shared.unit())
        state.circuits[place] = circuit.isIdle(at: now) ? nil : circuit
    }

    /// What the result of a request tells of whether its server can serve.
    private func outcome(of result: HTTPResult) -> CircuitState.Outcome {
        switch result {
        case .success(let response):
            switch response.status.rawValue {
            case 429, 503, 529: .failure
            default: .success
            }
        case .failure(let error):
            switch error.code {
            case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .networkConnectionLost,
                .secureConnectionFailed, .timedOut:
                .failure
            default: .unknown
            }
        }
    }

    /// Whether there is a limit, or a place that is or was held or that fails.
    private var isInUse: Bool {
        !limits.isNone || state.withLock { !$0.places.isEmpty || !$0.circuits.isEmpty }
    }

    /// Ends all waits of this stage; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async {
        waiting.cancel()
        for slots in state.withLock({ Array($0.slots.values) }) { slots.removeAll() }
    }

    /// This pacer on the clocks of a session, unless it was made with others.
    package func on(_ clocks: RetryClocks) -> Pacer { ownClocks == nil ? Pacer(self, clocks: clocks) : self }

    // MARK: The wait

    /// Waits for the turn of a permit, which it hands back where it is not used.
    private func pause(_ permit: inout Permit, of request: HTTPRequest, in place: Place) async -> HTTPError? {
        let cost = request.cost
        let (cap, clock) = (request.longestPause, clocks.timer.cancelled(by: waiting.current))
        var wait: Duration?
        var isTooLong = false
        var since = clocks.now
        func noteWait(_ permit: inout Permit) {
            let now = clocks.now
            if let turn = permit.turn { permit.wait.add(now - since, to: turn.cause.part) }
            since = now
        }
        do {
            wait = try await withRetry(timeout: request.deadline?.remaining, clock: clock) { _ in
                noteWait(&permit)
                let (next, wait) = take(place, after: permit.turn, cost)
                permit.turn = next
                let isHeld = next?.isProvisional == true
                if isHeld { permit.wait.heldUntil = clocks.wallNow.advanced(by: wait) }
                // Before the call begins, a refusal's time takes the request's all the same.
                let left = request.deadline == nil ? request.timeout.map { $0 - permit.wait.heldFor } : nil
                isTooLong = wait > cap || isHeld && wait > left ?? wait
                return wait
            } decide: { _, wait in
                wait == .zero || isTooLong ? .finish(wait, .succeeded) : .retry(after: wait, .paced, isFree: true)
            }
        } catch {
            wait = nil
            noteWait(&permit)
        }
        guard wait != .zero || request.isPastDeadline else { return nil }
        if let turn = permit.turn { state.withLock { $0.places[place]?.handBack(turn) } }
        return end(of: request, after: wait)
    }

    /// Waits until the request may have its permits of what several processes share.
    private func waitForQuota(_ quotas: Quotas, of request: HTTPRequest, _ permit: inout Permit) async -> HTTPError? {
        let (clocks, clock) = (clocks, clocks.timer.cancelled(by: waiting.current))
        var since = clocks.now
        // When all its permits are due, and the unit that is the last of them.
        var (due, last) = (since, \AttemptRecord.Pacing.waitedForRate)
        let units = [
            (quotas.requests, 1, \AttemptRecord.Pacing.waitedForRate),
            (quotas.cost, request.cost, \AttemptRecord.Pacing.waitedForCost),
        ]
        let cap = { min(request.longestPause, request.deadline?.remaining ?? .longestDelay) }
        for (quota, amount, part) in units {
            guard let quota else { continue }
            let limit = cap()
            let (answer, isLate) = await request.withinDeadline {
                await quota.book(amount, within: limit, clocks, clock: clock)
            }
            permit.wait.add(clocks.now - since, to: part)
            since = clocks.now
            switch answer {
            case .due(let time):
                permit.booked.append(Permit.Booking(quota: quota, amount: amount, due: time))
                if time > due { (due, last) = (time, part) }
            case .later(let wait) where !isLate: return end(of: request, after: wait)
            case .later, .cancelled: return isLate ? request.tooLate("while it was held back") : cancelled(request)
            case .unreachable(let error):
                return HTTPError(
                    .callerFailed,
                    request: request,
                    underlyingError: error,
                    message: "the store of its quota was never within reach: \(error)",
                    bytesSent: 0
                )
            }
        }
        guard due <= since || due - since < cap() else { return end(of: request, after: due - since) }
        let rest = try? await withRetry(timeout: request.deadline?.remaining, clock: clock) { [due] _ in
            max(.zero, due - clocks.now)
        } decide: { _, wait in
            wait == .zero ? .finish(wait, .succeeded) : .retry(after: wait, .paced, isFree: true)
        }
        permit.wait.add(clocks.now - since, to: last)
        return rest == .zero && !request.isPastDeadline ? nil : end(of: request, after: rest)
    }

    /// The error of a request that was not sent; `wait` is how long it would have to wait, or nil: it was cancelled.
    private func end(of request: HTTPRequest, after wait: Duration?) -> HTTPError {
        guard let wait else { return cancelled(request) }
        guard wait > .zero else { return request.tooLate("while it was held back") }
        var error = HTTPError(
            .retryAfterTooLong,
            request: request,
            message: "the limit of its server is used up, and this request was held back",
            bytesSent: 0
        )
        error.retryAfterDate = clocks.wallNow.advanced(by: wait)
        return error
    }

    private func cancelled(_ request: HTTPRequest) -> HTTPError {
        HTTPError(.cancelled, request: request, message: "cancelled while it was held back", bytesSent: 0)
    }

    /// An error for a cost that can never be sent.
    private func refusal(of request: HTTPRequest) -> HTTPError? {
        let cost = request.cost
        let message: String
        if !(cost >= 0 && cost.isFinite) {
            message = "its cost is \(cost); a cost is a number from zero on"
        } else if let limit = limits.cost, cost > limit {
            message = "its cost of \(cost) never fits into the limit of \(limit) in \(limits.interval)"
        } else {
            return nil
        }
        return HTTPError(.invalidRequest, request: request, message: message, bytesSent: 0)
    }

    /// Returns the turn of a request and the time until then; zero: it goes now.
    private func take(_ place: Place, after turn: PaceState.Turn?, _ cost: Double) -> (PaceState.Turn?, Duration) {
        let now = clocks.now
        return state.withLock { state in
            if state.places[place] == nil {
                guard !limits.isNone, hasRoom(in: &state, now) else { return (turn, .zero) }
            }
            return state.places[place, default: PaceState(limits)].take(after: turn, cost: cost, now: now)
        }
    }

    /// The time that a refusal names.
    private func delay(in response: HTTPResponse) -> Duration? {
        let result = HTTPResult.success(response)
        var context = RetryContext(response.request, result, attempt: .first, remaining: nil, now: clocks.wallNow)
        context.details.advice = profile?.advice(on: context)
        // How rate-limit fields are meant is known with a profile alone.
        guard profile != nil || ServerRetryDelay.retryAfter(in: context) != nil else { return nil }
        let fields = profile?.fields ?? RateLimitFields()
        guard let delay = ServerRetryDelay.read(context, fields: fields)?.delay, delay > .zero else { return nil }
        return delay
    }

    /// The limits that an answer tells; none without a profile, which knows how their fields are meant.
    private func limits(in response: HTTPResponse) -> [RateLimit] {
        profile?.fields.limits(wallClock: clocks.wallNow) { response.headers[values: $0] } ?? []
    }

    /// What is shared of the limits of a place; nil: nothing is.
    private func quotas(of place: Place, _ request: HTTPRequest) -> Quotas? {
        guard let quota, !limits.isNone else { return nil }
        let name = request.paceKey ?? request.origin.map { "\($0)" } ?? ""
        let seconds = limits.interval.inSeconds
        return state.withLock { state in
            if let known = state.quotas[place] { return known }
            // One that is forgotten loses what it has booked, and no more.
            if state.quotas.count >= Self.capacity { state.quotas.removeAll() }
            let new = Quotas(
                requests: limits.requests.map { SharedQuota("\(name) requests", rate: $0 / seconds, in: quota) },
                cost: limits.cost.map { SharedQuota("\(name) cost", rate: $0 / seconds, in: quota) }
            )
            state.quotas[place] = new
            return new
        }
    }

    private func slots(of place: Place) -> AdaptiveSlots? {
        guard let maximumConcurrency else { return nil }
        return state.withLock { state in
            if let known = state.slots[place] { return known }
            if state.slots.count >= Self.capacity {
                state.slots = state.slots.filter { !$0.value.isIdle }
                guard state.slots.count < Self.capacity else { return nil }
            }
            let new = AdaptiveSlots(maximum: maximumConcurrency)
            state.slots[place] = new
            return new
        }
    }

    private func hasRoom(in state: inout State, _ now: Duration) -> Bool {
        guard state.places.count >= Self.capacity else { return true }
        state.places = state.places.filter { !$0.value.isIdle(at: now) }
        return state.places.count < Self.capacity
    }

    private func holds(_ status: HTTPStatus) -> Bool {
        guard status != .tooManyRequests, let profile else { return status == .tooManyRequests }
        return status == .serviceUnavailable || profile.refusals.contains(status)
    }

    private func place(of request: HTTPRequest) -> Place? {
        if let key = request.paceKey { return .key(key) }
        guard let origin = request.origin else { return nil }
        var hasher = Hasher()
        for name in ["authorization", "x-api-key", "api-key", "x-goog-api-key"] {
            hasher.combine(name)
            for value in request.headers[values: name] { Self.hash(value, into: &hasher) }
        }
        return .origin(origin, credential: hasher.finalize())
    }

    /// Hashes what of a credential is the same in all requests of a client.
    ///
    /// A scheme that signs, such as OAuth 1, Digest, Hawk or that of AWS, has several parameters, of which some are
    /// others in each request.
    private static func hash(_ value: String, into hasher: inout Hasher) {
        guard value.utf8.contains(.comma), let signed = AuthenticationChallenge.parse(fieldValues: [value]).first,
            !signed.parameters.isEmpty
        else { return hasher.combine(value) }
        hasher.combine(signed.scheme)
        for parameter in signed.parameters where !variableParameters.contains(parameter.name) {
            hasher.combine(parameter)
        }
    }

    private static let variableParameters: Set = [
        "oauth_nonce", "oauth_timestamp", "oauth_signature", "nonce", "cnonce", "nc", "uri", "response", "ts", "mac",
        "hash", "ext", "signature", "signedheaders", "created", "expires",
    ]
}

extension HTTPResult {
    /// Whether nothing of the request was sent, by no attempt further in.
    fileprivate var isUnsent: Bool {
        guard case .failure(let error) = self else { return false }
        return error.bytesSent == 0 && error.attempts.allSatisfy { $0.bytesSent == 0 }
    }
}

extension PaceState.Cause {
    /// Where the record notes the wait.
    fileprivate var part: WritableKeyPath<AttemptRecord.Pacing, Duration> {
        switch self {
        case .hold: \.heldFor
        case .rate: \.waitedForRate
        case .cost: \.waitedForCost
        }
    }
}

private enum PaceKeyOption: HTTPRequestOption {
    static var defaultValue: String? { nil }
}

private enum ReservationOption: HTTPRequestOption {
    static var defaultValue: Pacer.Reservation? { nil }
}

private enum LaterAnswerOption: HTTPRequestOption {
    static var defaultValue: LaterAnswer? { nil }
}

/// The answer that a stream turns out to be after its head: the error that it begins with.
final class LaterAnswer: Sendable {
    private let note = Locked<(@Sendable (HTTPResponse) -> Void)?>(nil)

    /// Calls `note` when the answer is there.
    func onArrival(_ note: @escaping @Sendable (HTTPResponse) -> Void) { self.note.withLock { $0 = note } }

    /// Hands on the answer.
    func arrive(_ response: HTTPResponse) { note.withLock { $0 }?(response) }
}

private enum CostOption: HTTPRequestOption {
    static let defaultValue = 0.0
}

extension HTTPRequest {
    fileprivate var reservation: Pacer.Reservation? {
        get { self[option: ReservationOption.self] }
        set { self[option: ReservationOption.self] = newValue }
    }

    /// Receives the answer that comes after the head, for a pacer.
    var laterAnswer: LaterAnswer? {
        get { self[option: LaterAnswerOption.self] }
        set { self[option: LaterAnswerOption.self] = newValue }
    }

    /// How long this request waits for its turn at most; one of a durable queue is stored for longer waits, so that it
    /// does not keep those for other servers from a worker's slots.
    fileprivate var longestPause: Duration {
        min(retryAfterPolicy.cap, durableCall?.longestPause ?? .longestDelay)
    }

    /// What this request is paced with, where a limit holds for less than an origin and a credential, such as a model.
    ///
    /// Defaults to nil.
    public var paceKey: String? {
        get { self[option: PaceKeyOption.self] }
        set { self[option: PaceKeyOption.self] = newValue }
    }

    /// What this request costs in the unit of a ``Pacer``'s second limit, such as tokens.
    ///
    /// Defaults to 0.
    public var cost: Double {
        get { self[option: CostOption.self] }
        set { self[option: CostOption.self] = newValue }
    }
}
