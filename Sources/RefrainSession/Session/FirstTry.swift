/// The first try of a request, made without a task.
///
/// Most requests end with their first answer, and until then none of the stages that they go through has anything to
/// wait for. So they are taken through these step by step, in the order of ``SessionChain``, and handed to the
/// transport, which calls when the answer is there. Only where something must be waited for after all (another try, a
/// redirect, a check of the caller's) a task begins, and goes on in the stages' own `load`.
///
/// It decides nothing: each step is the stage's. It does without what a task would cost each request: its memory while
/// it waits, and the wakes of one thread more.
final class FirstTry: ResultReceiver, @unchecked Sendable {
    // @unchecked Sendable: set before the transport has the request, and from then on touched by the one call of
    // `receive`, then by that of `conclude`, and by the task that follows it, each of which makes way for the next one
    // with the owner's state locked; `exchange` is touched with that locked.

    private let owner: Request
    private let chain: SessionChain
    private let loader: any PromptLoader
    private let place: ResetGuard.Place
    private var hop: FirstHop
    private let call: RetryCall
    /// The priority of the one who asked.
    private let priority: TaskPriority
    /// What the transport is to cancel.
    private var exchange: AnyObject?
    /// What the call has come to so far, where a task goes on with it.
    private var result: HTTPResult?

    private init(
        _ owner: Request,
        _ chain: SessionChain,
        _ loader: any PromptLoader,
        _ place: ResetGuard.Place,
        _ hop: FirstHop,
        _ call: RetryCall
    ) {
        self.owner = owner
        self.chain = chain
        self.loader = loader
        self.place = place
        self.hop = hop
        self.call = call
        priority = Task.currentPriority
    }

    /// Makes the first try of a request; its owner hears of the end.
    static func begin(_ request: HTTPRequest, of owner: Request, on chain: SessionChain, _ loader: any PromptLoader) {
        guard let place = chain.door.enter(for: owner) else {
            return owner.conclude(chain.door.refusal(of: request))
        }
        // It may be one that another caller's was sent as.
        var request = request
        if request.owner != nil { request.owner = nil }
        let first: FirstTry
        do throws(HTTPError) {
            let hop = try chain.redirect.firstHop(request, isCancelled: false)
            first = FirstTry(owner, chain, loader, place, hop, try chain.retry.begin(hop.request, at: hop.began))
        } catch {
            chain.door.leave(place)
            return owner.conclude(.failure(error))
        }
        let sent: HTTPRequest
        do throws(HTTPError) {
            sent = try first.makeRequest()
        } catch {
            first.result = .failure(error)
            return first.conclude()
        }
        first.send(sent)
    }

    private func makeRequest() throws(HTTPError) -> HTTPRequest {
        let request = call.firstTry()
        let checked = Adaptation.checked(request, of: owner, request)
        guard case .success(let sent) = checked else {
            owner.beginTry()
            return try Adaptation.conclude(checked, request, owner)
        }
        guard owner.beginFirstTry(sending: sent) else {
            throw HTTPError(.cancelled, request: request, message: "cancelled before it was sent", bytesSent: 0)
        }
        return sent
    }

    private func send(_ request: HTTPRequest) {
        let exchange = loader.begin(request, for: self)
        let isCancelled = owner.state.withLock { state in
            // It may be over by now.
            guard state.isWithTransport else { return false }
            self.exchange = exchange
            state.firstTry = self
            return state.isTaskCancelled
        }
        if isCancelled { cancel() }
    }

    /// Ends the try, which then is received as cancelled.
    func cancel() {
        guard let exchange = owner.state.withLock({ _ in exchange }) else { return }
        loader.cancel(exchange)
    }

    // MARK: When the answer is there

    /// The steps that are left once there is an answer.
    private enum Step { case checks, decision, redirects }

    /// Takes the result over.
    ///
    /// What is left to do is done by the one who waits for the request, where there is one: the transport's thread has
    /// the answers of all others to fetch, and the request lies in the memory of the thread that made it. Of several
    /// none does it, since that one may be busy, and the others would wait for it.
    func receive(_ result: HTTPResult) {
        let (isFirst, waiter) = owner.state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
            // A transport that tells twice is heard once.
            guard state.isWithTransport else { return (false, nil) }
            state.isWithTransport = false
            exchange = nil
            call.noteArrival()
            self.result = result
            let waiter = state.waiters.isSingle ? state.waiters.popFirst() : nil
            state.hasArrived = waiter != nil
            state.firstTry = waiter == nil ? nil : self
            return (true, waiter)
        }
        if let waiter { waiter.resume() } else if isFirst { conclude() }
    }

    /// Takes the result through the stages, from the innermost out, for as long as none of them has to wait.
    func conclude() {
        let result = takeResult()
        guard owner.state.withLock({ $0.checksAreLight }) else { return goOn(from: .checks, with: result) }
        let passes = ResponseChecks.pass(result, of: call.request, owner)
        guard let outcome = call.outcome(ofFirst: result, isContent: passes) else {
            return goOn(from: .decision, with: result)
        }
        guard hop.isLast(outcome) else { return goOn(from: .redirects, with: outcome) }
        finish(outcome)
    }

    private func goOn(from step: Step, with result: HTTPResult) {
        // From here on stages ask for whom they work.
        call.carry(CallOwner(owner))
        hop.takeOver(call.request)
        // What comes after the first hop has a record of its own.
        if step == .redirects { owner.note(result.attempts) }
        self.result = result
        owner.take { chain.door.within(place) { Task(priority: priority) { await run(from: step) } } }
    }

    // What is kept between two waits lies in the object, and not in the frames of a task that waits.
    private func run(from step: Step) async {
        owner.isTaken()
        if step == .checks { check() }
        if step != .redirects { result = await chain.retry.goOn(call, after: takeResult(), next: chain.trial) }
        if !isLastHop { result = await chain.redirect.follow(hop, takeResult(), chain.tries) }
        finish(takeResult())
    }

    @inline(never)
    private func check() {
        if let result { _ = ResponseChecks.pass(result, of: call.request, owner) }
    }

    private var isLastHop: Bool { result.map(hop.isLast) ?? true }

    @inline(never)
    private func takeResult() -> HTTPResult {
        result.take() ?? .failure(HTTPError(.unknown, request: call.request))
    }

    private func finish(_ outcome: HTTPResult) {
        chain.door.leave(place)
        owner.conclude(outcome)
    }
}

extension Request {
    /// Whether the request can be handed to a transport without a task: there is nothing to wait for before, and nobody
    /// but the session's own parts has a say.
    ///
    /// What others have written may look at task-local values, and may take its time: it runs in a task that has those
    /// of the caller. What is added only after the start has those of whoever looks at the answer.
    func needsNoTask(_ request: HTTPRequest) -> Bool {
        guard !settles, watcher == nil, line.isPrompt, !(self is UploadRequest) else { return false }
        guard request.staysInMemory, request.retryStrategy == nil, request.attemptObserver == nil else { return false }
        guard !RetryNesting.isInside, !ResetGuard.isWithinRequest else { return false }
        return state.withLock { state in
            state.isGateOpen && state.checksAreLight && !state.watchesBytes
        }
    }
}
