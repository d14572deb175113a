internal import RefrainCore

/// The way of a session's request: each step in its order, with the reason for its position.
///
/// ```text
/// admit → coalesce → redirect { retry { adapt → authenticate → limit → resume → send → validate → decode } }
/// ```
///
/// All requests go this way, whatever is or is not switched on. What a step needs comes down as an argument, and what
/// it found goes up as an ``AttemptOutcome``; the steps write nothing for one another. The ``Request`` publishes its
/// state for the caller in `Request+Attempts.swift`.
final class RequestPipeline: Sendable {
    let admission = ResetGuard()
    private let coalescing: Deduplicate?
    private let redirect: Redirect
    private let retry: Retry
    let throttle: (any HTTPMiddleware)?
    private let resume: Resume
    let transport: any HTTPLoader
    private let clocks: RetryClocks

    private typealias Strategy = any RetryStrategy

    init(_ settings: Session.Settings, before loader: any HTTPLoader) {
        coalescing = settings.deduplicate?.inItsOwnChain
        redirect = Redirect(clocks: settings.clocks)
        retry = Retry(nil, budgets: settings.budgets, clocks: settings.clocks, random: settings.random)
        throttle = settings.throttle
        resume = Resume(clocks: settings.clocks)
        transport = loader
        clocks = settings.clocks
    }

    /// Runs a request from its admission to its outcome.
    func run(_ request: HTTPRequest, for owner: Request) async -> AttemptOutcome {
        // A retry stage of the transport must not act on the strategy a second time.
        let strategy = request.retryStrategy
        var request = request
        if strategy != nil { request.retryStrategy = nil }
        // The request may be one that an earlier call sent.
        if request.deadline != nil { request.deadline = nil }

        // 1. Admit. Outermost: a reset refuses new requests, cancels those in flight, and waits until they returned.
        let outcome = await admission.admit(owner) { [request] in await coalesce(request, strategy, owner) }
        return outcome ?? AttemptOutcome(admission.refusal(of: request))
    }

    // 2. Coalesce. Outside of redirects and retries: requests that share an exchange share its outcome. Requests that
    //    adapters change further in, and those with retriers of their own, have exchanges of their own.
    private func coalesce(_ request: HTTPRequest, _ strategy: Strategy?, _ owner: Request) async -> AttemptOutcome {
        guard let coalescing, owner.interceptors.sharesExchanges, strategy == nil else {
            return await follow(request, strategy, owner)
        }
        let own = Locked<AttemptOutcome?>(nil)
        let exchange = Remainder(pipeline: self) { request in
            let outcome = await self.follow(request, nil, owner)
            own.withLock { $0 = outcome }
            return outcome.result
        }
        let result = await coalescing.load(request, next: exchange, onJoin: { owner.sharesExchange() })
        guard case .success(let response) = result else { return AttemptOutcome(result) }
        // A request that joined another one's exchange has validated and decoded nothing so far.
        return own.withLock { $0 } ?? owner.validate(response)
    }

    // 3. Redirect. Outside of retries: each hop has attempts of its own, and a POST that was answered by a 303 is not
    //    posted again because the page behind it failed.
    // 4. Retry. The only loop over attempts; each one is made from the hop's request (rule R6).
    private func follow(_ request: HTTPRequest, _ strategy: Strategy?, _ owner: Request) async -> AttemptOutcome {
        await redirect.follow(request) { hop in
            let decidesByHead = owner.interceptors.decidesByHead(strategy)
            let attempts = hop.deferring(.transientErrors)
            let outcome = await retry.run(attempts, asksAboutSuccess: strategy != nil) { request, _ in
                await attempt(request, of: owner, decidesByHead: decidesByHead)
            } decide: { outcome, context in
                await owner.interceptors.decide(outcome, in: context, for: owner, strategy)
            } record: { attempts in
                owner.publish(attempts)
            }
            return await owner.completed(outcome, of: hop)
        }
    }

    private func attempt(_ request: HTTPRequest, of owner: Request, decidesByHead: Bool) async -> AttemptOutcome {
        // 5. Adapt and authenticate. Inside of retries: each attempt is adapted and signed anew, the session's adapters
        //    first, then the request's; an authentication interceptor signs in its place among them. Before the limit:
        //    a token refresh waits without a slot, so that its own requests can have one.
        let (number, sent): (Int, HTTPRequest)
        do {
            (number, sent) = try await RequestAdaptation.prepare(request, of: owner, clocks)
        } catch {
            return AttemptOutcome(.failure(error))
        }
        let began = owner.watcher.map { _ in clocks.now }
        let result = await limit(sent, owner)
        if let watcher = owner.watcher, let began {
            watcher.request(owner, didFinishAttempt: number, with: result, after: clocks.now - began)
        }

        // 9. Validate and decode. Inside of retries: a retrier is asked about a response that does not pass, once for
        //    each attempt. A redirect that is followed is no answer.
        guard case .success(var response) = result, !redirect.follows(response, to: request) else {
            return AttemptOutcome(result)
        }
        if response.status.rawValue >= 400, response.isDeferred(for: request) {
            // Where the head decides, the body is read only if no attempt follows.
            guard !decidesByHead || owner.accepts(response) else { return AttemptOutcome(result) }
            switch await response.withBeginningOfBody() {
            case .success(let beginning): response = beginning
            case .failure(let error): return AttemptOutcome(.failure(error))
            }
        }
        let outcome = owner.validate(response)
        if outcome.validationError != nil || outcome.serializationError != nil { await owner.discardAttempt() }
        return outcome
    }

    // 6. Limit. Inside of retries: the slot is free during back-off.
    private func limit(_ request: HTTPRequest, _ owner: Request) async -> HTTPResult {
        guard let throttle else { return await send(request, owner) }
        return await throttle.load(request, next: Remainder(pipeline: self) { await self.send($0, owner) })
    }

    // 7. Resume. Inside of the limit: each part of a download is an exchange like any other.
    // 8. Send. The bodies whose progress is watched are counted next to the transport.
    private func send(_ request: HTTPRequest, _ owner: Request) async -> HTTPResult {
        guard request.download != nil || owner.watchesBytes else { return await transport.load(request) }
        let counting = Remainder(pipeline: self) { await BodyProgress.send($0, for: owner, through: self.transport) }
        return await resume.load(request, next: counting)
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
        await throttle?.reset()
        await transport.reset()
    }
}
