import RefrainCore
import Synchronization

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
    // `slot` belongs to the session box and is accessed under its lock. The compiler cannot verify subclasses, which
    // exist only in this module.

    /// The identifier of the request, generated on first access.
    public var id: UUID { state.withLock { $0.withColdState { $0.id } } }

    /// The original request, or why it could not be made.
    let original: Result<HTTPRequest, RefrainError>
    /// Makes the request of a later attempt, where it may differ from the original one.
    let remake: (@Sendable () -> Result<HTTPRequest, RefrainError>)?
    /// The adapters and retriers, the session's first.
    ///
    /// Changed under the lock of `state`, before the request starts and after it has ended; read in between without it.
    @exclusivity(unchecked) private(set) var interceptors: InterceptorChain
    let sessionBox: SessionBox
    let state: Locked<RequestState>
    /// The slot of the request in the session box, while it is there.
    var slot: Int?
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
        // Inlined up to here: for most requests nothing listens, and there is nothing to release.
        @inline(__always) get {
            guard sessionBox.isWatched || isMonitored.load(ordering: .acquiring) else { return nil }
            return monitors
        }
    }
    /// Whether the request has ended, cancelled or not.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }
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

    /// Releases the closures, interceptors and monitors of the caller after the end.
    func releaseHandlers() {
        // Released without the lock: the end of what they hold may run code of the caller's.
        let released = state.withLock { state -> (RequestState.Handlers, InterceptorChain)? in
            guard let handlers = state.takeHandlers() else { return nil }
            defer { interceptors = .none }
            return (handlers, interceptors)
        }
        withExtendedLifetime(released) {}
    }

    /// Adds a monitor of this request, after the others.
    func add(_ monitor: any EventMonitor) {
        state.withLock { $0.addHandler { $0.monitors.append(monitor) } }
        isMonitored.store(true, ordering: .releasing)
    }

    @inline(never)
    private var monitors: any EventMonitor {
        guard isMonitored.load(ordering: .acquiring) else { return sessionBox.monitor }
        let shared = sessionBox.isWatched ? sessionBox.monitor : nil
        let own = state.withLock { $0.cold?.handlers.monitors ?? [] }
        return CompositeEventMonitor(monitors: (shared.map { [$0] } ?? []) + own)
    }

    /// Changes the request before the first attempt, depending on the kind of request.
    func prepare(_ request: HTTPRequest) throws -> HTTPRequest { request }

    /// Whether the kind of request has something to do before the request ends.
    var settles: Bool { false }

    /// What the kind of request does with a response before the request ends; nil: nothing is wrong with it.
    func settle(_ response: HTTPResponse?, error: RefrainError?) async -> RefrainError? { error }

    /// Whether a stored response includes its body; a streamed body would keep its connection.
    var keepsBodies: Bool { true }

    /// Whether a response that is validated has no content, as far as the kind of request knows by then.
    class var hasNoContent: @Sendable (HTTPResponse) -> Bool { { $0.exchange.bytesReceived == 0 } }

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
    public var requests: [HTTPRequest] { state.withLock { $0.requests.all } }
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
                return state.outcome.error ?? state.outcome.serializationError?.recording(state.outcome.attempts)
            }
            return state.currentError
        }
    }

    /// The session, or nil after it was deallocated.
    public var session: Session? { sessionBox.session }

    /// The context of the last failed attempt, for retriers that evaluate a `RetryStrategy`.
    public var retryContext: RetryContext? {
        guard case .known(let context) = state.withLock({ $0.retryContext }) else { return nil }
        return context
    }

    /// The last attempt's request as a `curl` command, including its credentials.
    public func cURLDescription() -> String {
        guard let request else { return "$ curl: there is no request" }
        return CURLDescription.text(for: request)
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
