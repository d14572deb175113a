// SPDX-License-Identifier: Apache-2.0
public import Dispatch
internal import RefrainCore
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request of a session, with all of its attempts.
///
/// A request starts when its response is read, or when ``resume()`` is called. It ends exactly once, whatever its
/// interceptors do. Its subclasses are ``DataRequest``, ``UploadRequest``, ``DownloadRequest`` and
/// ``DataStreamRequest``.
public class Request: @unchecked Sendable, Identifiable {
    // @unchecked Sendable: stored properties are immutable and Sendable; mutable state is behind the lock of `state`.
    // The compiler cannot verify subclasses, which exist only in this module.

    /// The identifier of the request, generated on first access.
    public var id: UUID { state.withLock { $0.id } }

    /// The original request, or why it could not be made.
    let original: Result<HTTPRequest, RefrainError>
    /// Makes the request of a later attempt, where it may differ from the original one.
    let remake: (@Sendable () -> Result<HTTPRequest, RefrainError>)?
    /// The adapters and retriers, the session's first.
    ///
    /// Changed under the lock of `state`, before the request starts and after it has ended; read in between without it.
    private(set) var interceptors: InterceptorChain
    let sessionBox: SessionBox
    /// Where the request is in the list of `sessionBox`, which alone uses it; nil: it is not in it.
    var placeInSession: Int?
    private let state: Locked<RequestState>
    /// Whether the request starts when its response is read; nil means the session's setting.
    ///
    /// Set before the request is returned, and not changed afterwards.
    var startsImmediately: Bool?
    /// The refreshes of credentials that the request is made for, and must not wait for.
    ///
    /// Set before the request is returned, and not changed afterwards.
    var refreshes: [ActiveOperation] = []
    /// Whether the request has monitors of its own.
    private let isMonitored = Atomic(false)
    /// Whether the request has ended, read without the lock, because a waiting task reads it twice.
    private let isOver = Atomic(false)
    /// The session's monitor and those of this request; nil if nothing listens.
    var watcher: (any EventMonitor)? {
        get {
            guard sessionBox.isWatched || isMonitored.load(ordering: .acquiring) else { return nil }
            return monitors
        }
    }
    /// Whether the request has ended, cancelled or not.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }
    /// Whether the request has started, whatever has become of it since.
    var hasStarted: Bool { state.withLock { $0.hasStarted } }
    /// Notes that its outcome is final.
    func noteEnd() { isOver.store(true, ordering: .releasing) }
    var gate: SuspensionGate { SuspensionGate(state: state) }

    init(_ original: RequestFactory, interceptors: InterceptorChain, session: SessionBox) {
        self.original = original.first
        remake = original.remake
        self.interceptors = interceptors
        sessionBox = session
        state = Locked(making: RequestState.init)
    }

    /// Adds an interceptor after the others, if the request has not started.
    func add(_ interceptor: any RequestInterceptor) {
        state.withLock { state in
            guard !state.hasStarted else { return }
            interceptors = interceptors.adding(interceptor)
        }
    }

    /// Runs what waits for the end, and releases the closures, interceptors and monitors of the caller.
    private func completeHandlers() {
        let (handlers, isDue, released) = state.withLock { state in
            let released = state.takeHandlers().map { ($0, interceptors) }
            if released != nil { interceptors = .none }
            return (state.takeCURLHandlers(), state.claimCompletions(), released)
        }
        describe(to: handlers)
        if isDue { runCompletions() }
        // Without the lock: the end of what they hold may run code of the caller's.
        withExtendedLifetime(released) {}
    }

    /// Adds a monitor of this request, after the others.
    func add(_ monitor: any EventMonitor) {
        state.withLock { $0.addHandler { $0.monitors.append(monitor) } }
        isMonitored.store(true, ordering: .releasing)
    }

    private var monitors: any EventMonitor {
        guard isMonitored.load(ordering: .acquiring) else { return sessionBox.monitor }
        let shared = sessionBox.isWatched ? sessionBox.monitor : nil
        let own = state.withLock { $0.handlers.monitors }
        return CompositeEventMonitor(monitors: (shared.map { [$0] } ?? []) + own)
    }

    /// Changes the request before the first attempt, depending on the kind of request.
    func prepare(_ request: HTTPRequest) throws -> HTTPRequest { request }

    /// Whether the kind of request has something to do before the request ends.
    var settles: Bool { false }

    /// What the kind of request does with a response before the request ends; nil: nothing is wrong with it.
    ///
    /// - Parameter isAccepted: whether a check of the caller accepted its status.
    func settle(_ response: HTTPResponse?, isAccepted: Bool, error: RefrainError?) async -> RefrainError? { error }

    /// What a download adds to the response; nil for other kinds of request.
    var download: DownloadOutcome? { nil }

    /// Whether a stored response includes its body; a streamed body would keep its connection.
    var keepsBodies: Bool { true }

    /// Whether a response that is validated has no content, as far as the kind of request knows by then.
    class var hasNoContent: @Sendable (HTTPResponse) -> Bool {
        // The content of an error that a download keeps is in the response.
        { $0.exchange.bytesReceived == 0 && $0.content.isEmpty }
    }

    /// What the kind of request does once the request has ended, however it did.
    func didEnd() {}

    /// Called before a retry of an attempt that failed validation.
    func discardAttempt() async {}
}

extension Request {
    /// The state of the request.
    public var currentState: State { state.withLock { $0.lifecycle } }
    /// Whether the request has not been started.
    public var isInitialized: Bool { currentState == .initialized }
    /// Whether the request is resumed.
    public var isResumed: Bool { currentState == .resumed }
    /// Whether the request is suspended.
    public var isSuspended: Bool { currentState == .suspended }
    /// Whether the request was cancelled.
    public var isCancelled: Bool { currentState == .cancelled }
    /// Whether the request has ended without being cancelled.
    public var isFinished: Bool { currentState == .finished }

    /// The request of the last attempt after adaptation; before the first attempt, the original request.
    public var request: HTTPRequest? { state.withLock { $0.requests.last } ?? (try? original.get()) }
    /// The requests of all attempts, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }
    /// The first request after adaptation.
    public var firstRequest: HTTPRequest? { requests.first }
    /// The last request, as the adapters made it.
    public var lastRequest: HTTPRequest? { requests.last }

    /// The response of the last attempt, or nil.
    public var response: HTTPResponse? { state.withLock { $0.response ?? $0.outcome.response } }

    /// The number of retries.
    public var retryCount: Int { state.withLock { $0.retryCount } }

    /// Every attempt so far in order, with its decision and reason.
    public var attempts: [AttemptRecord] { state.withLock { $0.hasEnded ? $0.outcome.attempts : $0.attempts } }

    /// The error of the request or of its last attempt; nil without one.
    public var error: RefrainError? {
        state.withLock { state in
            if state.hasEnded {
                let outcome = state.outcome
                let sent = outcome.sent ?? state.requests.last
                return outcome.error ?? outcome.serializationError?.recording(outcome.attempts, of: sent)
            }
            return state.currentError
        }
    }

    /// The session, or nil after it was deallocated.
    public var session: Session? { sessionBox.session }

    /// The context of the last failed attempt, for retriers that evaluate a `RetryStrategy`.
    public var retryContext: RetryContext? {
        state.withLock { $0.retryContext }
    }

    /// The last attempt's request as a `curl` command, without its credentials, so that it may be logged.
    ///
    /// - Parameter showingSecrets: whether the values of header fields and query parameters that are secrets are in it,
    ///   such as those of `Authorization` and `api_key`. Defaults to false: they are `***`.
    public func cURLDescription(showingSecrets: Bool = false) -> String {
        guard let request else { return "$ curl: there is no request" }
        return CURLDescription.text(for: request, showingSecrets: showingSecrets)
    }
}

extension Request: Hashable {
    /// Whether both are the same request.
    public static func == (left: Request, right: Request) -> Bool { left === right }
    /// Mixes the identity in.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Request: CustomStringConvertible {
    /// Method, URL and status.
    public var description: String {
        guard let request else { return "no request" }
        return response.map { "\(request) (\($0.status))" } ?? "\(request)"
    }
}

extension Request {
    /// Adds an interceptor of this request, after those of the session and those that were added before.
    ///
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        add(interceptor)
        return self
    }

    /// Adds an adapter of this request, after the others.
    ///
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self { interceptor(Interceptor(adapters: [adapter])) }

    /// Adds a retrier of this request, after the others.
    ///
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self { interceptor(Interceptor(retriers: [retrier])) }

    /// Adds a monitor of this request, which receives its events from then on, after the session's monitors.
    @discardableResult
    public func eventMonitor(_ monitor: any EventMonitor) -> Self {
        add(monitor)
        return self
    }
}

// MARK: - From its start to its end

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
    struct Ending {
        let outcome: RequestOutcome
        let request: HTTPRequest?
    }

    var ending: Ending {
        state.withLock { Ending(outcome: $0.outcome, request: $0.requests.last ?? (try? original.get())) }
    }

    /// Returns when the request has ended; until then, the current task runs the jobs of the request's task.
    func ended() async {
        while let job = await withUnsafeContinuation({ wait($0) }) {
            job.run()
            if hasEnded { break }
        }
    }

    // Unsafe: the state holds the continuation and resumes it exactly once, or it is resumed here.
    /// Resumes a continuation with the next job of the request's task, or with nil when the request has ended.
    func wait(_ waiter: UnsafeContinuation<CallerExecutor.Job?, Never>) {
        // An executor of the caller's may be busy for long, and the request must not wait for it.
        let isBound = withUnsafeCurrentTask { task in
            guard let task else { return false }
            return task.unownedTaskExecutor != nil
        }
        let isOver = state.withLock { state in
            guard !state.hasEnded else { return true }
            if isBound {
                state.boundWaiters.append(waiter)
            } else {
                state.waiters.append(waiter)
            }
            return false
        }
        if isOver { waiter.resume(returning: nil) }
    }

    /// The number of tasks that await the end and run jobs of the request's task.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Where the next job of the request's task runs; a waiting task is given one job.
    var jobDestination: CallerExecutor.Destination {
        state.withLock { state in
            if state.startsHere {
                state.startsHere = false
                return .here
            }
            return state.waiters.popLast().map { .with($0) } ?? .elsewhere
        }
    }

    /// Cancels the task of the request without an error of its own, as a reset does.
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
        let changes = state.withLock { $0.handlers.changes }
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
    func run(_ call: CallerExecutor) async {
        // A cancellation may have come before the task was registered.
        if state.withLock({ $0.isTaskCancelled }) { withUnsafeCurrentTask { $0?.cancel() } }
        let outcome = await call.pipeline.run(call)
        if settles { await settle(outcome) } else { finish(outcome) }
    }

    private func settle(_ outcome: AttemptOutcome) async {
        let error = state.withLock { state in
            var noted = outcome
            if !keepsBodies { noted.result = outcome.result.withoutBody }
            state.note(noted)
            return state.outcome.error
        }
        let settled = await settle(outcome.result.response, isAccepted: outcome.isStatusAccepted, error: error)
        leave(state.withLock { $0.end(settledWith: settled) })
    }

    /// Ends the request with its last outcome.
    private func finish(_ outcome: AttemptOutcome) {
        leave(state.withLock { $0.end(with: outcome) })
    }

    /// Leaves the session's list, and resumes the waiters; nil: the request has ended before.
    ///
    /// Handlers that were added after the end run without this.
    private func leave(_ waiters: [UnsafeContinuation<CallerExecutor.Job?, Never>]?) {
        guard let waiters else { return }
        noteEnd()
        sessionBox.forget(self)
        didEnd()
        watcher?.requestDidFinish(self)
        for waiter in waiters { waiter.resume(returning: nil) }
        completeHandlers()
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

// MARK: - Attempts

/// The state that a request publishes while its pipeline runs.
extension Request: RequestOwner {
    /// A check of a response, or a reader of its content; returns what is wrong with it.
    typealias Inspection = @Sendable (HTTPRequest, HTTPResponse) -> RefrainError?

    /// A check of a response.
    struct Validation: Sendable {
        let inspect: Inspection
        let subject: Subject

        /// What it looks at.
        enum Subject {
            /// The status: it names those that it accepts, and of those some of 400 or more, or none.
            case status(acceptsErrors: Bool)
            /// The response as a whole, in the caller's code: a status that it lets pass is accepted.
            case response
            /// The type of the content, whatever the status is.
            case contentType
        }

        /// Whether a status of 400 or more that it lets pass is accepted.
        var acceptsErrors: Bool {
            switch subject {
            case .status(let acceptsErrors): acceptsErrors
            case .response: true
            case .contentType: false
            }
        }

        /// Whether the head of a response is enough for it.
        var isOfStatus: Bool { if case .status = subject { true } else { false } }
    }

    /// A serializer of a response's content.
    struct Serialization: Sendable {
        let inspect: Inspection
    }

    /// Adds a validation of each attempt's response.
    func addValidation(of subject: Validation.Subject, _ inspection: @escaping Inspection) {
        state.withLock { state in
            state.addHandler { $0.validations.append(Validation(inspect: inspection, subject: subject)) }
        }
    }

    /// Adds a serializer, which runs on each attempt's valid response.
    func addSerialization(_ inspection: @escaping Inspection) {
        state.withLock { $0.addHandler { $0.serializations.append(Serialization(inspect: inspection)) } }
    }

    /// Publishes that an attempt begins; returns its number, from 1.
    func beginAttempt() -> Int {
        state.withLock { state in
            state.currentError = nil
            state.response = nil
            state.attemptCount += 1
            return state.attemptCount
        }
    }

    /// Publishes the adapted request of an attempt; returns false if the request was cancelled.
    ///
    /// The task of a request that is being started may not have been cancelled yet.
    func publish(sending request: HTTPRequest) -> Bool {
        let handlers = state.withLock { state -> [@Sendable (String) -> Void]? in
            // Others may share the exchange of a request that was cancelled.
            guard !state.isTaskCancelled || state.sharesExchange else { return nil }
            state.requests.append(request)
            return state.takeCURLHandlers()
        }
        guard let handlers else { return false }
        describe(to: handlers)
        return true
    }

    /// Whether the checks may accept a status of 400 or more, as far as the head of the response tells.
    func mayAccept(_ response: HTTPResponse, to sent: HTTPRequest) -> Bool {
        let head = response.withoutBody
        let validations = state.withLock { $0.handlers.validations }
        let passes = validations.allSatisfy { !$0.isOfStatus || $0.inspect(sent, head) == nil }
        return passes && validations.contains { $0.acceptsErrors }
    }

    /// Whether there is a check that may accept a status of 400 or more.
    var mayAcceptErrors: Bool { state.withLock { $0.handlers.validations.contains { $0.acceptsErrors } } }

    /// Hands a response to the checks until one fails, then to the serializers, and returns what they found.
    func validate(_ response: HTTPResponse, to sent: HTTPRequest) -> AttemptOutcome {
        let kept = keepsBodies ? response : response.withoutBody
        let (validations, serializations) = state.withLock { state in
            state.response = kept
            return (state.handlers.validations, state.handlers.serializations)
        }
        var error: RefrainError?
        for check in validations where error == nil { error = check.inspect(sent, response) }
        let isStatusAccepted = error == nil && validations.contains { $0.isOfStatus || $0.acceptsErrors }
        var outcome = AttemptOutcome(.success(response), isStatusAccepted: isStatusAccepted)
        if !validations.isEmpty {
            watcher?.request(self, didValidate: response, error: error)
            if let error {
                outcome.validationError = error
                // An invalid stream is not read, and frees its connection.
                if !keepsBodies, response.body.dataInMemory == nil { outcome.result = .success(kept) }
                return outcome
            }
        }
        for serialization in serializations {
            guard let error = serialization.inspect(sent, response) else { continue }
            if outcome.serializationError == nil { outcome.serializationError = error }
        }
        return outcome
    }

    /// Publishes a failed attempt before the retriers run.
    func publish(_ failure: RefrainError, of outcome: AttemptOutcome, in context: RetryContext) {
        state.withLock { state in
            state.currentError = failure
            state.retryContext = context
            // The head of a download that was cut stays.
            if case .failure(let error) = outcome.result, let response = error.response { state.response = response }
        }
    }

    /// Publishes the record after a decision, with the newest attempt last.
    func record(_ attempts: [AttemptRecord]) {
        guard let last = attempts.indices.last else { return }
        state.withLock { state in
            if attempts[last].decision == .retry { state.retryCount += 1 }
            // The stage's own list, while it is the same; after a redirect a new one has begun.
            guard !state.attempts.isEmpty || last > 0 else { return state.attempts = attempts }
            state.attempts.append(attempts[last])
            state.attempts[state.attempts.count - 1].number = state.attempts.count
        }
        guard let watcher else { return }
        let record = attempts[last]
        switch record.decision {
        case .retry:
            watcher.requestIsRetrying(self)
            watcher.request(self, willRetryAfter: record.delay, reason: record.reason)
        case .finish:
            guard record.reason != .succeeded else { return }
            watcher.request(self, didGiveUp: record.reason)
        }
    }

    /// Continues a shared exchange for the other requests, also while this one is suspended.
    func sharesExchange() {
        for waiter in state.withLock({ $0.shareExchange() }) { waiter.resume() }
    }

    /// Notes that an interceptor has no adapting half.
    func noteAbsentAdapter(_ type: Any.Type) {
        _ = state.withLock { $0.absentAdapters.insert(ObjectIdentifier(type)) }
    }

    /// Whether an interceptor was found to have no adapting half.
    func isAdapterAbsent(_ type: Any.Type) -> Bool {
        state.withLock { $0.absentAdapters.contains(ObjectIdentifier(type)) }
    }

    /// Whether this is the first replay for an authenticator.
    func claimReplay(for authenticator: ObjectIdentifier) -> Bool {
        state.withLock { $0.replays.insert(authenticator).inserted }
    }
}

extension HTTPResponse {
    /// This response with an empty body.
    var withoutBody: HTTPResponse {
        var copy = self
        copy.body = .empty
        return copy
    }
}

extension Request {
    /// Validates and decodes the response of an attempt.
    ///
    /// The body of an error is read only where it takes part in the decision on a retry.
    ///
    /// - Parameters:
    ///   - adapted: the request as the adapters made it.
    ///   - request: the request of the hop.
    func inspect(_ response: HTTPResponse, _ adapted: HTTPRequest, of request: HTTPRequest) async -> AttemptOutcome {
        var response = response
        if response.status.rawValue >= 400, interceptors.mustRead(response, by: adapted.retryStrategy),
            !mayAccept(response, to: adapted)
        {
            response = await response.withReadableBody()
        }
        if response.status.rawValue >= 400, response.isDeferred(for: request) {
            // Where the head decides, the body is read only if no attempt follows.
            let mayBeAccepted = mayAccept(response, to: adapted)
            guard !interceptors.decidesByHead(adapted.retryStrategy) || mayBeAccepted else {
                return AttemptOutcome(.success(response))
            }
            if mayBeAccepted {
                switch await response.collected(for: request) {
                case .success(let whole): response = whole
                case .failure(let error): return AttemptOutcome(.failure(error))
                }
            } else {
                response = await response.withReadableBody()
                guard !response.isDeferred(for: request) else {
                    note(headOf: response)
                    return AttemptOutcome(.success(response))
                }
            }
        }
        let outcome = validate(response, to: adapted)
        if outcome.validationError != nil || outcome.serializationError != nil { await discardAttempt() }
        return outcome
    }

    /// Returns the outcome of a hop with its body complete and validated.
    ///
    /// The body of an error is left unread until it is known that no attempt follows.
    func completed(_ outcome: AttemptOutcome, of hop: HTTPRequest) async -> AttemptOutcome {
        guard case .success(let response) = outcome.result, response.status.rawValue >= 400,
            response.isDeferred(for: hop)
        else { return outcome }
        var complete: AttemptOutcome
        switch await response.collected(for: hop) {
        case .success(let whole): complete = validate(whole, to: lastRequest ?? response.request)
        case .failure(let error): complete = AttemptOutcome(.failure(error))
        }
        complete.retryError = outcome.retryError
        return complete
    }
}

// MARK: - Handlers

extension Request {
    /// Calls `handler` with the `curl` command of the first attempt, without its credentials, when that is sent.
    ///
    /// It is called once: at once if an attempt was sent already, and without a command if the request ends before.
    ///
    /// - Parameters:
    ///   - queue: where `handler` is called. Defaults to nil: any thread.
    ///   - handler: receives the command, see ``cURLDescription(showingSecrets:)``.
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue? = nil,
        calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        let handler = queue.dispatching(handler)
        let isDue = state.withLock { state in
            guard state.requests.isEmpty, !state.hasEnded else { return true }
            state.curlHandlers.append(handler)
            return false
        }
        if isDue { handler(cURLDescription()) }
        return self
    }

    /// Calls handlers of ``cURLDescription(on:calling:)``.
    func describe(to handlers: [@Sendable (String) -> Void]) {
        guard !handlers.isEmpty else { return }
        let description = cURLDescription()
        for handler in handlers { handler(description) }
    }

    /// Runs `body` when the request has ended, or now if it has, after those that were added before it, or else before
    /// them.
    package func whenEnded(isFirst: Bool = false, _ body: @escaping @Sendable () async -> Void) {
        let isDue = state.withLock { state in
            state.completions.insert(body, at: isFirst ? 0 : state.completions.count)
            return state.hasEnded && state.claimCompletions()
        }
        if isDue { runCompletions() }
    }

    /// Runs the completions in order and in one task, since each may take its time and add another.
    private func runCompletions() {
        Task {
            while let next = state.withLock({ $0.nextCompletion() }) { await next() }
        }
    }
}

extension DispatchQueue? {
    /// Returns a handler that runs on the queue; without a queue, the handler itself.
    func dispatching<Value: Sendable>(_ handler: @escaping @Sendable (Value) -> Void) -> @Sendable (Value) -> Void {
        guard let queue = self else { return handler }
        return { value in queue.async { handler(value) } }
    }
}

extension Request {
    /// What follows the head of a response.
    public enum ResponseDisposition: Hashable, Sendable {
        /// The content is received.
        case allow
        /// The request is cancelled, and its content is not received.
        case cancel
    }

    typealias HeadHandler = @Sendable (HTTPResponse) async -> ResponseDisposition

    /// Adds a handler of the head of each attempt's response.
    func addHeadHandler(_ handler: @escaping HeadHandler) {
        state.withLock { $0.addHandler { $0.heads.append(handler) } }
    }

    /// Notes the head of an attempt whose content goes elsewhere.
    func note(headOf response: HTTPResponse) {
        let head = response.withoutBody
        state.withLock { $0.response = head }
    }

    /// Calls the handlers of a head in order, until one cancels the request; returns the error where one does.
    func refusal(ofContent response: HTTPResponse, to request: HTTPRequest) async -> HTTPError? {
        let handlers = state.withLock { $0.handlers.heads }
        guard !handlers.isEmpty else { return nil }
        let head = response.withoutBody
        for handler in handlers where await handler(head) == .cancel {
            cancel()
            return HTTPError(.cancelled, request: request, response: head)
        }
        return nil
    }

    /// Calls `handler` with the head of each attempt's response, before the content is received.
    ///
    /// Add it before the request starts. Heads of redirects that are followed are left out, and a request that shares
    /// another one's exchange (``Session/Settings/deduplicate``) receives none.
    ///
    /// - Parameters:
    ///   - queue: where `handler` is called. Defaults to nil: any thread.
    ///   - handler: receives the response without its body. The content waits until it returns.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue? = nil,
        perform handler: @escaping @Sendable (HTTPResponse) -> Void
    ) -> Self {
        addHeadHandler { response in
            guard let queue else {
                handler(response)
                return .allow
            }
            await withCheckedContinuation { continuation in
                queue.async {
                    handler(response)
                    continuation.resume()
                }
            }
            return .allow
        }
        return self
    }

    /// As ``onHTTPResponse(on:perform:)-(_,(HTTPResponse)->Void)``, with a completion that decides on the content.
    ///
    /// The content waits for the completion, of which the first call counts. One that is released without a call
    /// cancels the request.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue? = nil,
        perform handler:
            @escaping @Sendable (
                _ response: HTTPResponse, _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
            ) -> Void
    ) -> Self {
        addHeadHandler { response in
            // A completion that is released without a call cancels the request; otherwise the request would never end.
            let answer: ResponseDisposition? = try? await CompletionForm.wait { completion in
                guard let queue else { return handler(response, completion) }
                queue.async { handler(response, completion) }
            }
            return answer ?? .cancel
        }
        return self
    }
}

extension Request {
    /// Adds a handler of the progress of the request's body, which restarts at zero for each attempt.
    ///
    /// Add it before the request starts. It is called in order, on any thread, and must return quickly, because the
    /// transfer waits for it.
    @discardableResult
    public func uploadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        state.withLock { $0.addHandler { $0.upload.append(handler) } }
        return self
    }

    /// Adds a handler of the progress of the response's body.
    ///
    /// It restarts for each attempt; a resumed download continues.
    ///
    /// Add it before the request starts. It is called in order, on any thread, and must return quickly, because the
    /// transfer waits for it.
    @discardableResult
    public func downloadProgress(_ handler: @escaping @Sendable (TransferProgress) -> Void) -> Self {
        state.withLock { $0.addHandler { $0.download.append(handler) } }
        return self
    }

    /// The progress of the request's body, if it is observed.
    public var uploadProgress: TransferProgress { state.withLock { $0.uploadProgress } }
    /// The progress of the response's body, if it is observed.
    public var downloadProgress: TransferProgress { state.withLock { $0.downloadProgress } }

    var watchesUpload: Bool { self is UploadRequest || state.withLock { !$0.handlers.upload.isEmpty } }

    /// Whether there are handlers of the heads of responses, and of the progress of their bodies.
    var watchesResponse: (head: Bool, body: Bool) {
        state.withLock { (!$0.handlers.heads.isEmpty, !$0.handlers.download.isEmpty) }
    }

    func note(uploaded progress: TransferProgress) {
        let handlers = state.withLock { state in
            state.uploadProgress = progress
            return state.handlers.upload
        }
        for handler in handlers { handler(progress) }
    }

    func note(downloaded progress: TransferProgress) {
        let handlers = state.withLock { state in
            state.downloadProgress = progress
            return state.handlers.download
        }
        for handler in handlers { handler(progress) }
    }
}

extension Request {
    /// How far a transfer has come.
    public struct TransferProgress: Hashable, Sendable {
        /// The number of bytes transferred in this attempt.
        public var completed: Int64
        /// The total number of bytes; nil if unknown.
        public var total: Int64?

        /// Describes a moment of a transfer.
        public init(completed: Int64, total: Int64?) {
            self.completed = completed
            self.total = total
        }

        /// The completed fraction, 0 … 1; nil if the total is unknown.
        ///
        /// It is 1 if there is nothing to transfer.
        public var fractionCompleted: Double? {
            guard let total else { return nil }
            return total > 0 ? min(1, Double(completed) / Double(total)) : 1
        }
    }
}
