public import Dispatch
internal import RefrainCore

/// Makes requests, which share a chain to a transport, interceptors and monitors.
///
/// ```swift
/// let session = Session(loader: PlatformLoader(), interceptor: .recommendedRetryPolicy)
/// let user = try await session.request("https://api.example.com/users/1")
///     .validate()
///     .serializingDecodable(User.self)
///     .value
/// ```
///
/// `RequestPipeline` has the steps of a request in their order. Keep the
/// session for as long as its requests run: they fail with ``RefrainError/sessionDeinitialized`` when it is released.
public final class Session: Sendable {
    /// What a session's stages are made with; the defaults are right for all but tests and special cases.
    public struct Settings: Sendable {
        /// Limits how many exchanges run at a time; nil: the transport's own limits alone hold.
        public var throttle: (any HTTPMiddleware)?
        /// Holds requests back where the server has named the time to come back at; nil: the refused one alone waits.
        ///
        /// By default a 429 with such a time holds the requests with the same origin and credential. Sessions with the
        /// same settings share it.
        public var pacer: Pacer? = Pacer()
        /// Shares one exchange among identical requests in flight; nil: each request has its own.
        ///
        /// Requests with adapters, including authenticated ones, always have their own. Sessions with the same settings
        /// do not share exchanges, because their loaders may act for different users.
        public var deduplicate: Deduplicate?
        /// The retry budgets; nil: no limit.
        public var budgets: Retry.Budgets? = .shared
        /// The clocks that measure delays and that dates are compared with.
        public var clocks = RetryClocks.system
        /// Where jitter comes from.
        public var random = RandomSource.shared
        /// Whether a request starts when its response is read; if false, it waits for ``Request/resume()``.
        public var startsRequestsImmediately = true

        /// Makes the default settings.
        public init() {}
    }

    /// The settings.
    public let settings: Settings
    /// The interceptor of all requests, which goes before those of each request.
    public let interceptor: (any RequestInterceptor)?

    /// The interceptor of sessions that are given none: `RetryPolicy.recommended`.
    ///
    /// It is not used for a request with a policy or a retrier of its own, nor within `Task.retrying`.
    public static let defaultInterceptor: any RequestInterceptor = DefaultRetryPolicy()
    /// The monitor that receives the events of all requests.
    public var eventMonitor: any EventMonitor { box.monitor }

    /// The state that requests share with this session.
    let box: SessionBox
    let pipeline: RequestPipeline
    /// The session that a refresh's session stands for, which it keeps; nil: this is a session of its own.
    private let base: Session?
    /// The refreshes that the requests are made for.
    let refreshes: [ActiveOperation]
    /// The interceptors of requests that have none of their own.
    let interceptorChain: InterceptorChain

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - loader: the transport, or a chain that ends in one.
    ///   - interceptor: adapts and retries all requests. It replaces the policy that is used when none is given
    ///     (``defaultInterceptor``); to keep both, pass `Interceptor(interceptors: [mine, .recommendedRetryPolicy])`.
    ///     Nil: nothing is adapted or retried.
    ///   - eventMonitors: receive the events of all requests.
    ///   - settings: what the stages are made with.
    public init(
        loader: any HTTPLoader,
        interceptor: (any RequestInterceptor)? = defaultInterceptor,
        eventMonitors: [any EventMonitor] = [],
        settings: Settings = Settings()
    ) {
        self.settings = settings
        self.interceptor = interceptor
        interceptorChain = InterceptorChain(session: interceptor, request: nil)
        pipeline = RequestPipeline(settings, before: loader)
        box = SessionBox(
            monitors: eventMonitors,
            startsRequestsImmediately: settings.startsRequestsImmediately
        )
        base = nil
        refreshes = []
        box.refer(to: self)
    }

    deinit { if base == nil { box.release() } }

    /// Makes the session that the refresh of a credential is given: this one, whose requests do not wait for the
    /// refresh, whichever task or queue they are made on.
    init(_ base: Session, for refreshes: [ActiveOperation]) {
        settings = base.settings
        interceptor = base.interceptor
        interceptorChain = base.interceptorChain
        pipeline = base.pipeline
        box = base.box
        self.base = base
        self.refreshes = refreshes
    }

    /// Calls `action` with every request that was made and has not ended.
    public func withAllRequests(perform action: (Set<Request>) -> Void) {
        action(Set(box.requests))
    }

    /// Cancels every request that has not ended.
    public func cancelAllRequests() {
        withAllRequests { requests in
            for request in requests { request.cancel() }
        }
    }

    /// Cancels every request that has not ended, and returns when all have ended.
    ///
    /// Called from within a request of this session, as by its adapter or retrier or a task that these began, it
    /// returns at once: that request may end only after the call.
    public func cancelAllRequestsAndWait() async {
        var requests: Set<Request> = []
        withAllRequests { requests = $0 }
        for request in requests { request.cancel() }
        // Nor does it wait for the others, one of which may be doing the same.
        guard !pipeline.admission.isAroundPresentCode else { return }
        for request in requests { await request.ended() }
    }

    /// Cancels every request that has not ended, and calls `completion` when all have ended.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - completion: is called once.
    @preconcurrency
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue? = nil,
        completion: @escaping @Sendable () -> Void
    ) {
        let completion = queue.dispatching { (_: Void) in completion() }
        Task {
            await cancelAllRequestsAndWait()
            completion(())
        }
    }

    /// Cancels all requests in flight, resets every stage of the chain, and returns when that is done.
    ///
    /// A loader or a throttle that several sessions share is reset for all of them.
    public func reset() async { await pipeline.reset() }

    /// Refuses further requests, and returns when those in flight have ended: a graceful shutdown.
    ///
    /// A request in flight may still make others through the session, as the refresh of a token; they are waited for,
    /// too. Refused requests fail with ``RefrainError/sessionInvalidated(error:)``, and so do those that are left after
    /// the timeout. Called from within a request of this session, it waits for that request until the timeout.
    ///
    /// - Parameter timeout: how long to wait before those that are left are cancelled. Defaults to nil: no limit.
    /// - Returns: whether all requests ended by themselves.
    @discardableResult
    public func drain(timeout: Duration? = nil) async -> Bool {
        box.close(because: .sessionInvalidated(error: nil))
        let isLate = Locked(false)
        let timer = timeout.map { timeout in
            Task { [settings, box] in
                guard await settings.clocks.timer.waits(for: max(.zero, timeout).clampedToDelay) else { return }
                isLate.withLock { $0 = true }
                box.invalidate(because: .sessionInvalidated(error: nil))
            }
        }
        while let request = box.requests.first { await request.ended() }
        timer?.cancel()
        return !isLate.withLock { $0 }
    }

    /// Ends the session and its requests in flight.
    ///
    /// They, and later requests, fail with ``RefrainError/sessionInvalidated(error:)``.
    public func invalidate(dueTo error: (any Error)? = nil) {
        box.invalidate(because: .sessionInvalidated(error: error))
    }
}
