// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// The pipeline of a session's request: its steps in order, with the reason for the position of each.
///
/// ```text
/// admit → coalesce → redirect { retry { adapt → authenticate → pace → limit → resume → send → validate → decode } }
/// ```
///
/// Every attempt of every request takes these steps, whichever features are on; a step that has nothing to do passes
/// the request on. A step receives its input as arguments and returns an ``AttemptOutcome``; it writes nothing for
/// another step to read. The ``Request`` publishes its state for the caller.
final class RequestPipeline: Sendable {
    let admission = ResetGuard()
    let coalescing: Deduplicate?
    let redirect: Redirect
    let retry: Retry
    let pacer: Pacer?
    let throttle: (any HTTPMiddleware)?
    private let resume: Resume
    let transport: any HTTPLoader
    private let timeout: Timeout?
    let clocks: RetryClocks

    init(_ settings: Session.Settings, before loader: any HTTPLoader) {
        coalescing = settings.deduplicate?.inItsOwnChain
        redirect = Redirect(clocks: settings.clocks)
        retry = Retry(nil, budgets: settings.budgets, clocks: settings.clocks, random: settings.random)
        pacer = settings.pacer?.on(settings.clocks)
        throttle = settings.throttle
        resume = Resume(clocks: settings.clocks)
        // What does not keep the time of a call and of an attempt itself is cancelled when that is up.
        let last = (loader as? ChainedLoader)?.last ?? loader
        timeout = last.keepsTimeouts ? nil : Timeout(clocks: settings.clocks)
        transport = loader
        clocks = settings.clocks
    }

    /// Runs a request from its admission to its outcome.
    func run(_ call: CallerExecutor) async -> AttemptOutcome {
        // The request may be one that an earlier call sent.
        let request = call.prepared.withoutDeadline

        // 1. Admit. Outermost: a reset refuses new requests, cancels those in flight, and waits until they returned.
        //    It was decided when the task was made, which runs within the request from its beginning.
        guard let admitted = call.admitted else { return AttemptOutcome(admission.refusal(of: request)) }
        defer { admission.requests.leave(admitted) }
        return await coalesce(request, call.request)
    }

    // 2. Coalesce. Outside of redirects and retries: requests that share an exchange share its outcome. Requests that
    //    adapters change further in, and those with retriers of their own, have exchanges of their own.
    private func coalesce(_ request: HTTPRequest, _ owner: Request) async -> AttemptOutcome {
        guard let coalescing, owner.interceptors.sharesExchanges, request.retryStrategy == nil else {
            return await follow(request, owner)
        }
        let own = Locked<AttemptOutcome?>(nil)
        let exchange = Remainder(pipeline: self) { request in
            let outcome = await self.follow(request, owner)
            own.withLock { $0 = outcome }
            return outcome.result
        }
        let result = await coalescing.load(request, next: exchange, onJoin: { owner.sharesExchange() })
        guard case .success(let response) = result else { return AttemptOutcome(result) }
        // A request that joined another one's exchange has validated and decoded nothing so far.
        return own.withLock { $0 } ?? owner.validate(response, to: request)
    }

    // 3. Redirect. Outside of retries: each hop has attempts of its own, and a POST that was answered by a 303 is not
    //    posted again because the page behind it failed.
    private func follow(_ request: HTTPRequest, _ owner: Request) async -> AttemptOutcome {
        await redirect.follow(request) { await retry($0, owner) }
    }

    // 4. Retry. The only loop over attempts; each one is made from the hop's request (rule R6).
    private func retry(_ hop: HTTPRequest, _ owner: Request) async -> AttemptOutcome {
        let outcome = await retry.run(hop.deferring(.transientErrors)) { request in
            await attempt(request, owner)
        } decidesOnSuccess: { result in
            result.request.keepingOptions(of: hop).retryStrategy?.decidesOnSuccess ?? false
        } decide: { outcome, context in
            await owner.decide(outcome, in: context, for: hop)
        } record: { attempts in
            owner.record(attempts)
        }
        return await owner.completed(outcome, of: hop)
    }

    // 5. Adapt and authenticate. Inside of retries: each attempt is adapted and signed anew, the session's adapters
    //    first, then the request's; an authentication interceptor signs in its place among them. Before the limit:
    //    a token refresh waits without a slot, so that its own requests can have one.
    private func attempt(_ request: HTTPRequest, _ owner: Request) async -> AttemptOutcome {
        switch await RequestAdaptation.prepare(request, of: owner, in: self) {
        case .success(let attempt):
            let result = attempt.end(with: await pace(attempt.sent, owner), of: owner, in: self)
            return await inspect(result, attempt.adapted, of: request, owner)
        case .failure(let error): return AttemptOutcome(.failure(error))
        }
    }

    // 6. Pace. Inside of retries: each attempt has a turn, and a refusal that names a time holds the next ones. Before
    //    the limit: a request that is held takes no slot.
    private func pace(_ request: HTTPRequest, _ owner: Request) async -> HTTPResult {
        guard let pacer else { return await limit(request, owner) }
        var pass: Pacer.Pass?
        if pacer.asks(request) {
            switch await pacer.pass(for: request) {
            case .success(let given): pass = given
            case .failure(let error): return .failure(error)
            }
        }
        var result = await limit(request, owner)
        if case .success(let response) = result, pacer.reads(response) {
            result = .success(await response.withReadableBody())
        }
        return pacer.end(pass, of: request, with: result)
    }

    // 7. Limit. Inside of retries: the slot is free during back-off.
    private func limit(_ request: HTTPRequest, _ owner: Request) async -> HTTPResult {
        guard let throttle else { return await withinTime(request, owner) }
        return await throttle.load(request, next: Remainder(pipeline: self) { await self.withinTime($0, owner) })
    }

    // 8. Resume. Inside of the limit: each part of a download is an exchange like any other. The bodies whose progress
    //    is watched are counted next to the transport. One that keeps no time is cancelled when the time of the attempt
    //    is up, which includes what is read here of its body.
    private func withinTime(_ request: HTTPRequest, _ owner: Request) async -> HTTPResult {
        guard let timeout, Self.hasLimit(request) else { return await resume(request, owner) }
        return await timeout.load(request, next: Remainder(pipeline: self) { await self.resume($0, owner) })
    }

    /// Whether there is a limit that a transport may have to be held to: for a stream the idle time.
    private static func hasLimit(_ request: HTTPRequest) -> Bool { request.timeLeft != nil || request.streamsResponse }

    private func resume(_ request: HTTPRequest, _ owner: Request) async -> HTTPResult {
        guard request.download != nil else { return await send(request, owner) }
        return await resume.load(request, next: Remainder(pipeline: self) { await self.send($0, owner) })
    }

    private func send(_ request: HTTPRequest, _ owner: Request) async -> HTTPResult {
        await BodyProgress.send(request, for: owner, through: transport)
    }

    // 9. Validate and decode. Inside of retries: a retrier is called for a response that does not pass, once for each
    //    attempt. A redirect that is followed is neither validated nor decoded.
    private func inspect(
        _ result: HTTPResult,
        _ adapted: HTTPRequest,
        of request: HTTPRequest,
        _ owner: Request
    ) async -> AttemptOutcome {
        guard case .success(let response) = result, !Redirect.follows(response, to: request) else {
            return AttemptOutcome(result)
        }
        // A final response is read before it is validated and decoded.
        if response.status.rawValue < 400, response.isDeferred(for: request), Redirect.isAnswer(response, to: request) {
            switch await response.collected(for: request) {
            case .success(let whole): return await owner.inspect(whole, adapted, of: request)
            case .failure(let error): return AttemptOutcome(.failure(error))
            }
        }
        return await owner.inspect(response, adapted, of: request)
    }

    /// Cancels what is in flight, resets every stage, and returns when that is done.
    func reset() async {
        await admission.reset { [self] in
            guard let coalescing else { return await resetStages() }
            await coalescing.reset { await self.resetStages() }
        }
    }

    private func resetStages() async {
        await redirect.reset()
        await retry.reset()
        await pacer?.reset()
        await throttle?.reset()
        await transport.reset()
    }
}
