import RefrainCore

extension Request {
    /// Starts the request, or lets a suspended one go on.
    ///
    /// A request that was cancelled or has ended is left as it is.
    @discardableResult
    public func resume() -> Self {
        resume { _ in true }
        return self
    }

    /// Changes the request before its first attempt; has no effect once it has started.
    package func beforeStart(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        state.withLock { $0.addHandler { $0.changes.append(change) } }
    }

    /// Starts the request, unless its session requires ``resume()``, or it was already resumed, suspended or cancelled.
    func startIfWanted() {
        guard startsImmediately ?? sessionBox.startsRequestsImmediately else { return }
        resume { $0 == .initialized }
    }

    /// Starts or resumes the request, if its state satisfies the condition.
    private func resume(where isWanted: (State) -> Bool) {
        enum Step { case none, start, goOn }
        let (step, held) = state.withLock { state -> (Step, [CheckedContinuation<Void, Never>]) in
            guard isWanted(state.lifecycle), state.move(to: .resumed) else { return (.none, []) }
            let held = state.openGate()
            guard !state.hasStarted else { return (.goOn, held) }
            state.hasStarted = true
            // Passing a request to the transport costs less than waking a thread; adapters may take their time.
            state.startsHere = interceptors.adapters.isEmpty
            return (.start, held)
        }
        guard step != .none else { return }
        for waiter in held { waiter.resume() }
        watcher?.requestDidResume(self)
        guard step == .start else { return }
        guard let session else {
            return finish(AttemptOutcome(.failure(RefrainError.sessionDeinitialized.asHTTPError(request))))
        }
        start(in: session)
    }

    /// Suspends the request: no attempt begins, and no byte of a stream is read, until ``resume()``.
    ///
    /// An exchange whose response is collected in memory completes; later steps wait. A shared exchange
    /// (``Session/Settings/deduplicate``) continues for the other requests.
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
    package func cancel(because reason: RefrainError?) {
        enum Step { case none, end, cancel(Task<Void, Never>?) }
        let step = state.withLock { state -> Step in
            guard state.move(to: .cancelled) else { return .none }
            state.endReason = reason
            // A start that has no task so far looks at the state once it has.
            return state.hasStarted ? .cancel(state.task) : .end
        }
        if case .none = step { return }
        watcher?.requestDidCancel(self)
        switch step {
        case .none: break
        case .cancel(let task): task?.cancel()
        case .end: finish(AttemptOutcome(.failure(RefrainError.explicitlyCancelled.asHTTPError(request))))
        }
    }

    /// The outcome of an ended request, and the request of its last attempt.
    var ending: (outcome: RequestOutcome, request: HTTPRequest?) {
        state.withLock { ($0.outcome, $0.requests.last ?? (try? original.get())) }
    }

    /// Returns when the request has ended; until then, the current task runs the jobs of the request's task.
    @inline(__always)
    func ended() async {
        while let job = await withUnsafeContinuation({ wait($0) }) {
            job.run()
            if hasEnded { break }
        }
    }

    // Unsafe: the state holds the continuation and resumes it exactly once, or it is resumed here.
    /// Resumes a continuation with the next job of the request's task, or with nil when the request has ended.
    @inline(never)
    func wait(_ waiter: UnsafeContinuation<CallerExecutor.Job?, Never>) {
        // An executor of the caller's may be busy for long, and the request must not wait for it.
        let isBound = withUnsafeCurrentTask { task in
            guard let task else { return false }
            return task.unownedTaskExecutor != nil
        }
        let isOver = state.withLock { state in
            guard !state.hasEnded else { return true }
            if isBound {
                state.withColdState { $0.boundWaiters.append(waiter) }
            } else {
                state.waiters.append(waiter)
            }
            return false
        }
        if isOver { waiter.resume(returning: nil) }
    }

    /// Where the next job of the request's task runs; a waiting task is given one job.
    var jobDestination: CallerExecutor.Destination {
        state.withLock { state in
            if state.startsHere {
                state.startsHere = false
                return .here
            }
            return state.waiters.popFirst().map { .with($0) } ?? .elsewhere
        }
    }

    /// Cancels the task of the request without an error of its own, as a reset does.
    @usableFromInline
    package func cancelTask() {
        let task = state.withLock { state in
            state.wantsTaskCancelled = true
            return state.task
        }
        task?.cancel()
    }

    private func start(in session: Session) {
        let request: HTTPRequest
        do {
            request = try prepare(changedBeforeStart(original.get()))
        } catch {
            let failure = error as? RefrainError ?? .createRequestFailed(error: error)
            return finish(AttemptOutcome(.failure(failure.asHTTPError(nil))))
        }
        startTask(request, session.pipeline)
    }

    /// A request that was made for this one, with the changes that were registered before the start.
    func changedBeforeStart(_ request: HTTPRequest) -> HTTPRequest {
        let changes = state.withLock { $0.cold?.handlers.changes ?? [] }
        return changes.reduce(into: request) { $1(&$0) }
    }

    /// Starts the request's task.
    private func startTask(_ request: HTTPRequest, _ pipeline: RequestPipeline) {
        // It may run before it is registered, so the state is not locked.
        let start = { CallerExecutor(for: self, sending: request, pipeline).start() }
        // The task that starts it may not be the refresh's own: it may be on a queue.
        let task =
            refreshes.isEmpty
            ? start()
            : AuthenticationScope.$operations.withValue(AuthenticationScope.operations + refreshes, operation: start)
        let isCancelled = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.task = task
            return state.isTaskCancelled
        }
        // Outside the lock, because cancellation handlers acquire it.
        if isCancelled { task.cancel() }
    }

    /// Runs the pipeline, lets the kind of request settle, and ends the request.
    ///
    /// Inlined into the task, whose frames last as long as the request.
    @inline(__always)
    func run(_ call: CallerExecutor) async {
        // A cancellation may have come before the task was registered.
        if state.withLock({ $0.isTaskCancelled }) { withUnsafeCurrentTask { $0?.cancel() } }
        let outcome = await call.pipeline.run(call)
        if settles { await settle(outcome) } else { finish(outcome) }
    }

    @inline(never)
    private func settle(_ outcome: AttemptOutcome) async {
        let error = state.withLock { state in
            var noted = outcome
            if !keepsBodies { noted.result = outcome.result.withoutBody }
            state.note(noted)
            return state.outcome.error
        }
        let settled = await settle(outcome.result.response, error: error)
        leave(state.withLock { ($0.end(settledWith: settled), $0.cold != nil) })
    }

    /// Ends the request with its last outcome.
    @inline(never)
    private func finish(_ outcome: AttemptOutcome) {
        leave(state.withLock { ($0.end(with: outcome), $0.cold != nil) })
    }

    /// Leaves the session's list, and resumes the waiters; nil: the request has ended before.
    ///
    /// Handlers that were added after the end run without this.
    private func leave(_ end: (waiters: RequestState.Waiters?, mayHaveHandlers: Bool)) {
        guard let waiters = end.waiters else { return }
        noteEnd()
        sessionBox.forget(self)
        didEnd()
        watcher?.requestDidFinish(self)
        waiters.forEach { $0.resume(returning: nil) }
        if end.mayHaveHandlers { completeHandlers() }
        releaseHandlers()
    }
}

extension HTTPResult {
    /// This result with an empty body.
    fileprivate var withoutBody: HTTPResult {
        switch self {
        case .success(let response):
            return .success(response.withoutBody)
        case .failure(var error):
            error.response = error.response?.withoutBody
            return .failure(error)
        }
    }
}

extension Request {
    /// The state of a request.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Made, and not yet started.
        case initialized
        /// Running, or ready to continue.
        case resumed
        /// Suspended: no attempt begins, and no byte of a stream is read.
        case suspended
        /// Cancelled; it ends without a value.
        case cancelled
        /// Ended, with a response or with an error.
        case finished

        /// Whether this state may be followed by the other one.
        ///
        /// Nothing leads back to the beginning; what is cancelled or finished stays so.
        public func canTransition(to other: State) -> Bool {
            switch (self, other) {
            case (_, .initialized), (.cancelled, _), (.finished, _): false
            case (.initialized, _), (_, .cancelled), (_, .finished): true
            case (.resumed, .suspended), (.suspended, .resumed): true
            case (.resumed, .resumed), (.suspended, .suspended): false
            }
        }
    }
}
