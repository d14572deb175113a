internal import RefrainCore

extension Request {
    /// Starts the request, or lets a suspended one go on.
    ///
    /// A request that was cancelled or has ended is left as it is.
    @discardableResult
    public func resume() -> Self {
        enum Step { case none, start, goOn }
        let step = state.withLock { state -> Step in
            guard state.move(to: .resumed) else { return .none }
            guard !state.hasStarted else { return .goOn }
            state.hasStarted = true
            return .start
        }
        switch step {
        case .none: return self
        case .start:
            gate.open()
            watcher?.requestDidResume(self)
            guard let session else {
                finish(.failure(RefrainError.sessionDeinitialized.asHTTPError(request)))
                return self
            }
            start(in: session)
        case .goOn:
            gate.open()
            watcher?.requestDidResume(self)
        }
        return self
    }

    /// Holds the request: no further try begins, and no byte is taken from a stream, until ``resume()``.
    ///
    /// An exchange whose response is collected in memory runs to its end; what follows it waits.
    @discardableResult
    public func suspend() -> Self {
        guard state.withLock({ $0.move(to: .suspended) }) else { return self }
        gate.close()
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
        enum Step { case none, end, cancel(FirstTry?, Task<Void, Never>?) }
        let step = state.withLock { state -> Step in
            guard state.move(to: .cancelled) else { return .none }
            state.endReason = reason
            // A start that has not come to its task yet looks at the state once it has.
            return state.hasStarted ? .cancel(state.firstTry, state.task) : .end
        }
        if case .none = step { return }
        watcher?.requestDidCancel(self)
        switch step {
        case .none: break
        case .cancel(let first, let task):
            first?.cancel()
            task?.cancel()
        case .end:
            finish(.failure(RefrainError.explicitlyCancelled.asHTTPError(request)))
        }
    }

    /// Waits for the end; a request that nobody starts is waited for until somebody does.
    func outcome() async -> RequestOutcome {
        // Unsafe: the state holds it until the request has ended, which it does once, or it is resumed here.
        await withUnsafeContinuation { continuation in
            let outcome: RequestOutcome? = state.withLock { state in
                if state.outcome == nil { state.waiters.append(continuation) }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Cancels what the request runs in, without a word on why: a reset does so.
    package func cancelTask() {
        let (first, task) = state.withLock { state in
            state.wantsTaskCancelled = true
            return (state.firstTry, state.task)
        }
        first?.cancel()
        task?.cancel()
    }

    /// Takes over the task that the request runs in from now on.
    func take(_ task: Task<Void, Never>) {
        // Cancelled between its start and here: nobody else has seen the task.
        let isCancelled = state.withLock { state in
            guard state.outcome == nil else { return false }
            state.task = task
            return state.isTaskCancelled
        }
        if isCancelled { task.cancel() }
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
            take(startTask(request.carrying(self), chain.whole))
        }
    }

    /// Starts the request's task; where no adapter of the caller's is to run first, on the present thread at once.
    ///
    /// Most requests only have to be handed to the transport, which is less work than to wake a thread for it.
    private func startTask(_ carried: HTTPRequest, _ chain: any HTTPLoader) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), line.adapters.isEmpty {
            return Task.immediate { await run(carried, chain) }
        }
        return Task { await run(carried, chain) }
    }

    /// Loads the request, lets its kind settle, and ends it.
    private func run(_ carried: HTTPRequest, _ chain: any HTTPLoader) async {
        let result = await chain.load(carried)
        if settles { await settle(result) } else { conclude(result) }
    }

    // Apart from the next one, so that requests with nothing to settle neither wait nor pass through its frame.
    @inline(never)
    func conclude(_ result: HTTPResult) {
        inspectLate(result)
        end(makeOutcome(result))
    }

    @inline(never)
    private func settle(_ result: HTTPResult) async {
        inspectLate(result)
        var outcome = makeOutcome(result)
        outcome.error = await settle(outcome.response, error: outcome.error)
        end(outcome)
    }

    /// Looks at a response that no try of this request has looked at.
    private func inspectLate(_ result: HTTPResult) {
        guard case .success(let response) = result, !state.withLock({ $0.current.isInspected }) else { return }
        inspect(response)
    }

    /// Ends a request that has sent nothing.
    private func finish(_ result: HTTPResult) { end(makeOutcome(result)) }

    private func makeOutcome(_ result: HTTPResult) -> RequestOutcome {
        state.withLock { state in
            var outcome = RequestOutcome(attempts: result.attempts)
            switch result {
            case .success(let response):
                outcome.response = response
                outcome.error = state.current.validationError
                outcome.serializationError = state.current.serializationError
            case .failure(let error):
                outcome.response = error.response
                outcome.error = RefrainError(of: error)
            }
            if outcome.attempts.isEmpty { outcome.attempts = state.attempts }
            outcome.error = outcome.error?.recording(outcome.attempts)
            if let retryFailure = state.retryFailure { outcome.error = retryFailure }
            if state.lifecycle == .cancelled {
                outcome.error = state.endReason ?? .explicitlyCancelled
            }
            return outcome
        }
    }

    private func end(_ outcome: RequestOutcome) {
        let ending: (RequestOutcome, FirstAndRest<UnsafeContinuation<RequestOutcome, Never>>)? = state.withLock {
            state in
            guard state.outcome == nil else { return nil }
            var outcome = outcome
            // Cancelled while the kind settled.
            if state.lifecycle == .cancelled { outcome.error = state.endReason ?? .explicitlyCancelled }
            _ = state.move(to: .finished)
            state.outcome = outcome
            state.response = outcome.response
            state.task = nil
            defer { state.waiters = FirstAndRest() }
            return (outcome, state.waiters)
        }
        guard let (outcome, waiters) = ending else { return }
        sessionReference.forget(self)
        didEnd(outcome)
        watcher?.requestDidFinish(self)
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}
