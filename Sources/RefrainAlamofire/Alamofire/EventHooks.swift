// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

extension ClosureEventMonitor {
    /// An attempt of a request: what Alamofire's events call a task.
    public struct Attempt: Hashable, Sendable {
        /// The request.
        public let request: Request
        /// The number of the attempt, from 1.
        public let number: Int
    }

    /// Called when a request has been made.
    public var requestDidCreateInitialURLRequest: (@Sendable (Request, HTTPRequest) -> Void)? {
        get { hooks[\.didCreateInitialRequest] }
        set { hooks[\.didCreateInitialRequest] = newValue }
    }

    /// Called with the request of each attempt, after its adaptation.
    public var requestDidCreateURLRequest: (@Sendable (Request, HTTPRequest) -> Void)? {
        get { hooks[\.didCreateRequest] }
        set { hooks[\.didCreateRequest] = newValue }
    }

    /// Called when an attempt begins.
    public var requestDidCreateTask: (@Sendable (Request, Attempt) -> Void)? {
        get { hooks[\.didCreateTask] }
        set { hooks[\.didCreateTask] = newValue }
    }

    /// Called when an attempt begins, or goes on because its request was resumed.
    public var requestDidResumeTask: (@Sendable (Request, Attempt) -> Void)? {
        get { hooks[\.didResumeTask] }
        set { hooks[\.didResumeTask] = newValue }
    }

    /// Called when a request with an attempt in flight was suspended.
    public var requestDidSuspendTask: (@Sendable (Request, Attempt) -> Void)? {
        get { hooks[\.didSuspendTask] }
        set { hooks[\.didSuspendTask] = newValue }
    }

    /// Called when a request with an attempt in flight was cancelled.
    public var requestDidCancelTask: (@Sendable (Request, Attempt) -> Void)? {
        get { hooks[\.didCancelTask] }
        set { hooks[\.didCancelTask] = newValue }
    }

    /// Called when an attempt has ended, with its error.
    public var requestDidCompleteTaskWithError: (@Sendable (Request, Attempt, RefrainError?) -> Void)? {
        get { hooks[\.didCompleteTask] }
        set { hooks[\.didCompleteTask] = newValue }
    }

    /// Called when an attempt has ended, with what is known of its exchange.
    public var requestDidGatherMetrics: (@Sendable (Request, HTTPResponse.Exchange) -> Void)? {
        get { hooks[\.didGatherMetrics] }
        set { hooks[\.didGatherMetrics] = newValue }
    }

    private var hooks: TaskHooks {
        // Whichever monitor is there was made here: nothing else sets it.
        next(or: { TaskHooks() }) as? TaskHooks ?? TaskHooks()
    }
}

/// The closures of Alamofire's events of tasks, and the attempts that are in flight.
private final class TaskHooks: EventMonitor {
    struct Closures: Sendable {
        var didCreateInitialRequest: (@Sendable (Request, HTTPRequest) -> Void)?
        var didCreateRequest: (@Sendable (Request, HTTPRequest) -> Void)?
        var didCreateTask: (@Sendable (Request, ClosureEventMonitor.Attempt) -> Void)?
        var didResumeTask: (@Sendable (Request, ClosureEventMonitor.Attempt) -> Void)?
        var didSuspendTask: (@Sendable (Request, ClosureEventMonitor.Attempt) -> Void)?
        var didCancelTask: (@Sendable (Request, ClosureEventMonitor.Attempt) -> Void)?
        var didCompleteTask: (@Sendable (Request, ClosureEventMonitor.Attempt, RefrainError?) -> Void)?
        var didGatherMetrics: (@Sendable (Request, HTTPResponse.Exchange) -> Void)?
    }

    private struct State: Sendable {
        var closures = Closures()
        var attempts: [ObjectIdentifier: Int] = [:]
    }

    private let state = Mutex(State())

    subscript<Closure: Sendable>(_ path: any WritableKeyPath<Closures, Closure> & Sendable) -> Closure {
        get { state.withLock { $0.closures[keyPath: path] } }
        set { state.withLock { $0.closures[keyPath: path] = newValue } }
    }

    func requestDidCreate(_ request: Request) {
        guard let made = request.request else { return }
        self[\.didCreateInitialRequest]?(request, made)
    }

    func requestDidResume(_ request: Request) {
        guard let attempt = attempt(of: request) else { return }
        self[\.didResumeTask]?(request, attempt)
    }

    func requestDidSuspend(_ request: Request) {
        guard let attempt = attempt(of: request) else { return }
        self[\.didSuspendTask]?(request, attempt)
    }

    func requestDidCancel(_ request: Request) {
        guard let attempt = attempt(of: request) else { return }
        self[\.didCancelTask]?(request, attempt)
    }

    func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) {
        let attempt = ClosureEventMonitor.Attempt(request: request, number: number)
        state.withLock { $0.attempts[ObjectIdentifier(request)] = number }
        self[\.didCreateRequest]?(request, sent)
        self[\.didCreateTask]?(request, attempt)
        self[\.didResumeTask]?(request, attempt)
    }

    func request(
        _ request: Request,
        didFinishAttempt number: Int,
        with result: HTTPResult,
        after duration: Duration
    ) {
        state.withLock { $0.attempts[ObjectIdentifier(request)] = nil }
        let exchange: HTTPResponse.Exchange
        let error: RefrainError?
        switch result {
        case .success(let response): (exchange, error) = (response.exchange, nil)
        case .failure(let failure):
            exchange = failure.response?.exchange ?? HTTPResponse.Exchange()
            error = failure.code == .cancelled ? .explicitlyCancelled : .sessionTaskFailed(error: failure)
        }
        self[\.didGatherMetrics]?(request, exchange)
        self[\.didCompleteTask]?(request, ClosureEventMonitor.Attempt(request: request, number: number), error)
    }

    func requestDidFinish(_ request: Request) {
        state.withLock { $0.attempts[ObjectIdentifier(request)] = nil }
    }

    private func attempt(of request: Request) -> ClosureEventMonitor.Attempt? {
        state.withLock { $0.attempts[ObjectIdentifier(request)] }
            .map { ClosureEventMonitor.Attempt(request: request, number: $0) }
    }
}
