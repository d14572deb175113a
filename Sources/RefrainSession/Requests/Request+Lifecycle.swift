internal import RefrainCore

extension Request {
    /// Starts the request, or lets a suspended one go on.
    ///
    /// A request that was cancelled or has ended is left as it is.
    @discardableResult
    public func resume() -> Self {
        resume { _ in true }
        return self
    }

    /// Starts the request, unless its session leaves that to ``resume()``, or somebody has dealt with it already.
    func startIfWanted() {
        guard sessionReference.startsRequestsImmediately else { return }
        resume { $0 == .initialized }
    }

    /// Starts the request, or lets it go on, where it is in a state in which that is wanted.
    private func resume(where isWanted: (State) -> Bool) {
        enum Step { case none, start, goOn }
        let (step, held) = state.withLock { state -> (Step, [CheckedContinuation<Void, Never>]) in
            guard isWanted(state.lifecycle), state.move(to: .resumed) else { return (.none, []) }
            let held = state.openGate()
            guard !state.hasStarted else { return (.goOn, held) }
            state.hasStarted = true
            return (.start, held)
        }
        guard step != .none else { return }
        for waiter in held { waiter.resume() }
        watcher?.requestDidResume(self)
        guard step == .start else { return }
        guard let session else {
            return finish(.failure(RefrainError.sessionDeinitialized.asHTTPError(request)))
        }
        start(in: session)
    }

    /// Holds the request: no further try begins, and no byte is taken from a stream, until ``resume()``.
    ///
    /// An exchange whose response is collected in memory runs to its end; what follows it waits. Where other requests
    /// share the exchange (``Session/Settings/deduplicate``), it goes on for them.
    @discardableResult
    public func suspend() -> Self {
        let isHeld = state.withLock { state in
            guard state.move(to: .suspended) else { return false }
            state.isGateOpen = false
            return true
        }
        guard isHeld else { return self }
        watcher?.requestDidSuspend(self)
        return self
    }

    /// Ends the request with ``RefrainError/explicitlyCancelled``, in mid-exchange and in mid-wait as well.
    @discardableResult
    public func cancel() -> Self {
        cancel(because: nil)
        return self
    }

    /// Ends the request for a reason that is not the caller's.
    func cancel(because reason: RefrainError?) {
        enum Step { case none, end, cancel(RequestState.Running) }
        let step = state.withLock { state -> Step in
            guard state.move(to: .cancelled) else { return .none }
            state.endReason = reason
            // A start that has not come to its task yet looks at the state once it has.
            return state.hasStarted ? .cancel(state.takeRunning()) : .end
        }
        if case .none = step { return }
        watcher?.requestDidCancel(self)
        switch step {
        case .none: break
        case .cancel(let running): running.cancel()
        case .end:
            finish(.failure(RefrainError.explicitlyCancelled.asHTTPError(request)))
        }
    }

    /// Whether the request has ended, cancelled or not; one whose answer has just arrived may end here.
    ///
    /// Whoever was woken asks this, and goes on waiting while the answer is no.
    func hasEnded() -> Bool {
        let (hasEnded, arrived) = state.withLock { ($0.hasEnded, $0.takeArrived()) }
        guard let arrived else { return hasEnded }
        arrived.conclude()
        return state.withLock { $0.hasEnded }
    }

    /// What the request has come to, once it has ended, and the request that its last try has sent.
    var ending: (outcome: RequestOutcome, request: HTTPRequest?) {
        state.withLock { ($0.outcome, $0.requests.last ?? (try? original.get())) }
    }

    /// Returns when the request has ended; one that nobody starts is waited for until somebody does.
    func ended() async {
        while !hasEnded() { await withUnsafeContinuation { resumeAtEnd($0) } }
    }

    /// Returns when the request has ended; cancels it where the waiting task is cancelled, and that is wanted.
    func ended(cancelsAutomatically: Bool) async {
        await withTaskCancellationHandler {
            await ended()
        } onCancel: {
            if cancelsAutomatically { cancel() }
        }
    }

    // Unsafe: the state holds it until then, and gives it away once, or it is resumed here.
    /// Resumes a waiter when the request has ended, or its first answer has arrived; that may be now.
    @inline(never)
    func resumeAtEnd(_ waiter: UnsafeContinuation<Void, Never>) {
        let isOver = state.withLock { state in
            // An answer that has arrived is for whoever looks at it first: the one who was woken may be busy.
            let isOver = state.hasEnded || state.hasArrived
            if !isOver { state.waiters.append(waiter) }
            return isOver
        }
        if isOver { waiter.resume() }
    }

    /// Cancels what the request runs in, without a word on why: a reset does so.
    package func cancelTask() {
        let running = state.withLock { state in
            state.wantsTaskCancelled = true
            return state.takeRunning()
        }
        running.cancel()
    }

    /// Takes over the task that the request runs in from now on, which `make` makes or has made.
    ///
    /// It is made with the state locked, and begins with ``isTaken()``: whoever cancels comes before both, or sees it.
    func take(_ make: () -> Task<Void, Never>) {
        let cancelled: Task<Void, Never>? = state.withLock { state in
            let task = make()
            guard !state.hasEnded else { return nil }
            state.task = task
            return state.isTaskCancelled ? task : nil
        }
        // Not with the state locked, which those want who hear of it.
        cancelled?.cancel()
    }

    /// Returns when the task that calls this is the request's, and is cancelled where it should be.
    func isTaken() {
        if state.withLock({ $0.isTaskCancelled }) { withUnsafeCurrentTask { $0?.cancel() } }
    }

    private func start(in session: Session) {
        let request: HTTPRequest
        do {
            request = try prepare(original.get())
        } catch {
            let failure = error as? RefrainError ?? .createRequestFailed(error: error)
            return finish(.failure(failure.asHTTPError(nil)))
        }
        let chain = session.chain
        if let loader = chain.prompt, needsNoTask(request) {
            FirstTry.begin(request, of: self, on: chain, loader)
        } else {
            startTask(request.carrying(self), chain.whole)
        }
    }

    /// Starts the request's task; where no adapter of the caller's is to run first, on the present thread at once.
    ///
    /// Most requests only have to be handed to the transport, which is less work than to wake a thread for it.
    private func startTask(_ carried: HTTPRequest, _ chain: any HTTPLoader) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), line.adapters.isEmpty {
            // It runs before it is taken over, with the state unlocked: what it sends would be sent by then.
            let task = Task.immediate {
                isTaken()
                await run(carried, chain)
            }
            take { task }
        } else {
            take {
                Task {
                    isTaken()
                    await run(carried, chain)
                }
            }
        }
    }

    /// Loads the request, lets its kind settle, and ends it.
    private func run(_ carried: HTTPRequest, _ chain: any HTTPLoader) async {
        let result = await chain.load(carried)
        if settles { await settle(result) } else { conclude(result) }
    }

    // Apart from the next one, so that requests with nothing to settle neither wait nor pass through its frame.
    @inline(never)
    func conclude(_ result: HTTPResult) {
        if !isInspected { inspectLate(result) }
        finish(result)
    }

    @inline(never)
    private func settle(_ result: HTTPResult) async {
        if !isInspected { inspectLate(result) }
        let noted = keepsBodies ? result : result.withoutBody
        let error = state.withLock { state in
            state.note(noted)
            return state.outcome.error
        }
        let settled = await settle(result.response, error: error)
        leave(state.withLock { $0.end(settledWith: settled) })
    }

    /// Whether the last try has looked at its response.
    private var isInspected: Bool { state.withLock { $0.current.isInspected } }

    /// Looks at a response that no try of this request has looked at.
    @inline(never)
    private func inspectLate(_ result: HTTPResult) {
        if case .success(let response) = result { _ = inspect(response) }
    }

    /// Ends the request with a result.
    private func finish(_ result: HTTPResult) { leave(state.withLock { $0.end(with: result) }) }

    /// Is no more under way, and tells those who wait; nil: it has ended before.
    private func leave(_ waiters: RequestState.Waiters?) {
        guard let waiters else { return }
        sessionReference.forget(self)
        didEnd()
        watcher?.requestDidFinish(self)
        for waiter in waiters { waiter.resume() }
    }
}
