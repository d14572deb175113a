internal import RefrainCore

/// Makes requests, and gives them what they share: a chain to a transport, interceptors and monitors.
///
/// ```swift
/// let session = Session(loader: CurlLoader(), interceptor: .recommendedRetryPolicy)
/// let user = try await session.request("https://api.example.com/users/1")
///     .validate()
///     .serializingDecodable(User.self)
///     .value
/// ```
///
/// A session is a thin thing over a chain of loaders; the order of its stages stands in `SessionChain`. Keep the
/// session for as long as its requests run: they fail with ``RefrainError/sessionDeinitialized`` when it is released.
/// The idea is from Alamofire.
public final class Session: Sendable {
    /// What a session's stages are made with; the defaults are right for all but tests and special cases.
    public struct Settings: Sendable {
        /// Limits how many exchanges run at a time; nil: the transport's own limits alone hold.
        public var throttle: (any HTTPMiddleware)?
        /// Lets identical requests in flight share one exchange; nil: each has its own.
        ///
        /// Requests with adapters, those that are signed among them, always have their own. Sessions with the same
        /// settings share none with each other, since their loaders may speak for different users.
        public var deduplicate: (any HTTPMiddleware)?
        /// The budgets that retries draw on; nil: no limit (rule R22).
        public var budgets: RetryBudgets? = .shared
        /// The clocks that waits are measured on and dates are compared with.
        public var clocks = ClockPair.system
        /// Where jitter comes from.
        public var random = RandomSource.shared
        /// Whether a request starts as soon as something wants its response; else it waits for ``Request/resume()``.
        public var startsRequestsImmediately = true

        /// The settings that a session has unless told otherwise.
        public init() {}
    }

    /// The settings.
    public let settings: Settings
    /// The interceptor of all requests, which goes before those of each request.
    public let interceptor: (any RequestInterceptor)?
    /// Who is told what happens.
    public var eventMonitor: any EventMonitor { reference.monitor }

    /// What requests know of this session.
    let reference: SessionReference
    let chain: SessionChain
    /// The interceptors of requests that have none of their own.
    let line: InterceptorLine

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - loader: the transport, or a chain that ends in one.
    ///   - interceptor: adapts and retries all requests. It stands in for the policy that is used when none is given,
    ///     `RetryPolicy.recommended`: name that one, too, where it shall stay in force:
    ///     `Interceptor(interceptors: [mine, .recommendedRetryPolicy])`. Nil: nothing is adapted or tried again.
    ///   - eventMonitors: who is told what happens.
    ///   - settings: what the stages are made with.
    public init(
        loader: any HTTPLoader,
        interceptor: (any RequestInterceptor)? = RetryPolicy.recommended,
        eventMonitors: [any EventMonitor] = [],
        settings: Settings = Settings()
    ) {
        self.settings = settings
        self.interceptor = interceptor
        line = InterceptorLine(session: interceptor, request: nil)
        chain = SessionChain(settings, before: loader)
        reference = SessionReference(
            monitors: eventMonitors,
            startsRequestsImmediately: settings.startsRequestsImmediately
        )
        reference.refer(to: self)
    }

    deinit { reference.release() }

    /// Calls `action` with every request that was made and has not ended.
    public func withAllRequests(perform action: (Set<Request>) -> Void) {
        action(Set(reference.requests))
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
        guard !chain.door.isAroundPresentCode else { return }
        for request in requests { await request.ended() }
    }

    /// Cancels what is under way, resets every stage of the chain, and returns when that is done.
    ///
    /// A loader that several sessions were made with, and a throttle of their settings, is reset for all of them.
    public func reset() async { await chain.whole.reset() }

    /// Ends the session, with what is under way.
    ///
    /// That, and what is asked later, fails with ``RefrainError/sessionInvalidated(error:)``.
    public func invalidate(dueTo error: (any Error)? = nil) {
        reference.invalidate(because: .sessionInvalidated(error: error))
    }
}
