internal import RefrainCore

/// The pipeline of a session's request: its steps in order, with the reason for the position of each.
///
/// ```text
/// admit → coalesce → redirect { retry { adapt → authenticate → limit → resume → send → validate → decode } }
/// ```
///
/// All requests take these steps, whichever features are on. A step receives its input as arguments and returns an
/// ``AttemptOutcome``; it writes nothing for another step to read. `Request+Attempts.swift` publishes the state of the
/// ``Request`` for the caller.
///
/// The steps are inlined into one asynchronous function, because each request that waits for a response keeps a frame.
/// What few requests need is not inlined, nor is what does not wait: it would enlarge that frame. Together with the
/// frames of the transport it fits into one block of a task's memory, of 984 bytes; with ten thousand requests in
/// flight second blocks would take 10 MB.
final class RequestPipeline: Sendable {
    let admission = ResetGuard()
    let coalescing: Deduplicate?
    let redirect: Redirect
    let retry: Retry
    let throttle: (any HTTPMiddleware)?
    private let resume: Resume
    let transport: any HTTPLoader
    let clocks: RetryClocks

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
    @inline(__always)
    func run(_ call: CallerExecutor) async -> AttemptOutcome {
        // The request may be one that an earlier call sent.
        let request = call.prepared.withoutDeadline

        // 1. Admit. Outermost: a reset refuses new requests, cancels those in flight, and waits until they returned.
        // A function, because the compiler inlines a large closure only with an attribute.
        @inline(__always) func coalesced() async -> AttemptOutcome { await coalesce(request, call) }
        let outcome = await admission.requests.admit(call.request, coalesced)
        return outcome ?? AttemptOutcome(admission.refusal(of: request))
    }

    // 2. Coalesce. Outside of redirects and retries: requests that share an exchange share its outcome. Requests that
    //    adapters change further in, and those with retriers of their own, have exchanges of their own.
    @inline(__always)
    private func coalesce(_ request: HTTPRequest, _ call: CallerExecutor) async -> AttemptOutcome {
        guard let coalescing, call.request.interceptors.sharesExchanges, !request.hasStrategy else {
            return await follow(request, call)
        }
        return await share(request, call, coalescing)
    }

    @inline(never)
    private func share(_ request: HTTPRequest, _ call: CallerExecutor, _ all: Deduplicate) async -> AttemptOutcome {
        let own = Locked<AttemptOutcome?>(nil)
        let exchange = Remainder(pipeline: self) { request in
            let outcome = await self.follow(request, call)
            own.withLock { $0 = outcome }
            return outcome.result
        }
        let result = await all.load(request, next: exchange, onJoin: { call.request.sharesExchange() })
        guard case .success(let response) = result else { return AttemptOutcome(result) }
        // A request that joined another one's exchange has validated and decoded nothing so far.
        return own.withLock { $0 } ?? call.request.validate(response)
    }

    // 3. Redirect. Outside of retries: each hop has attempts of its own, and a POST that was answered by a 303 is not
    //    posted again because the page behind it failed.
    // 4. Retry. The only loop over attempts; each one is made from the hop's request (rule R6).
    @inline(__always)
    private func follow(_ request: HTTPRequest, _ call: CallerExecutor) async -> AttemptOutcome {
        await redirect.follow(request) { hop in
            let owner = call.request
            let sent = hop.deferring(.transientErrors)
            let outcome = await retry.run(sent, decidesOnSuccess: request.hasStrategy, for: owner) {
                await attempt($0, isFirst: $1, call)
            }
            return owner.isComplete(outcome, of: hop) ? outcome : await owner.completed(outcome, of: hop)
        }
    }

    @inline(__always)
    private func attempt(_ request: HTTPRequest, isFirst: Bool, _ call: CallerExecutor) async -> AttemptOutcome {
        // Steps 5 to 8 of most attempts wait for the transport alone, and need no second frame for the other steps.
        guard isFirst, call.request.needsTransportAlone(for: request, in: self) else {
            return await attemptInSteps(request, isFirst: isFirst, call.request)
        }
        switch RequestAdaptation.unadapted(request, of: call.request, in: self) {
        case .success(let attempt):
            return await inspect(transport.load(attempt.sent), attempt, of: request, call.request)
        case .failure(let error): return AttemptOutcome(.failure(error))
        }
    }

    @inline(never)
    private func attemptInSteps(_ request: HTTPRequest, isFirst: Bool, _ owner: Request) async -> AttemptOutcome {
        guard isFirst else { return await NestedRetry.within { await attemptInSteps(request, isFirst: true, owner) } }
        // 5. Adapt and authenticate. Inside of retries: each attempt is adapted and signed anew, the session's adapters
        //    first, then the request's; an authentication interceptor signs in its place among them. Before the limit:
        //    a token refresh waits without a slot, so that its own requests can have one.
        switch await RequestAdaptation.prepare(request, of: owner, in: self) {
        case .success(let attempt):
            // 6. Limit. Inside of retries: the slot is free during back-off.
            let rest = Remainder(pipeline: self) { await self.sender(of: $0, owner).load($0) }
            let result =
                if let throttle { await throttle.load(attempt.sent, next: rest) } else { await rest.load(attempt.sent) }
            return await inspect(result, attempt, of: request, owner)
        case .failure(let error): return AttemptOutcome(.failure(error))
        }
    }

    // 7. Resume. Inside of the limit: each part of a download is an exchange like any other.
    // 8. Send. The bodies whose progress is watched are counted next to the transport.
    private func sender(of request: HTTPRequest, _ owner: Request) -> any HTTPLoader {
        guard request.download != nil || owner.watchesBytes else { return transport }
        let counting = Remainder(pipeline: self) { await BodyProgress.send($0, for: owner, through: self.transport) }
        return Remainder(pipeline: self) { await self.resume.load($0, next: counting) }
    }

    // 9. Validate and decode. Inside of retries: a retrier is called for a response that does not pass, once for each
    //    attempt. A redirect that is followed is neither validated nor decoded.
    @inline(never)
    private func inspect(
        _ result: consuming HTTPResult,
        _ attempt: RequestAdaptation.Attempt,
        of request: HTTPRequest,
        _ owner: Request
    ) async -> AttemptOutcome {
        attempt.end(with: result, of: owner, in: self)
        guard case .success(let response) = result, !redirect.follows(response, to: request) else {
            return AttemptOutcome(result)
        }
        // A final response is read before it is validated and decoded.
        if response.status.rawValue < 400, response.isDeferred(for: request), redirect.isAnswer(response, to: request) {
            return await owner.readAndInspect(response, to: request)
        }
        return await owner.inspect(response, to: request)
    }
}
