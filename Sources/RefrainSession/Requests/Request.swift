internal import RefrainCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One request of a session, with all the tries that it takes: what ``Session`` hands out.
///
/// A request starts when something wants its response, or when ``resume()`` is called. It ends exactly once,
/// whatever its interceptors do (rule R30). The kinds are ``DataRequest``, ``UploadRequest``, ``DownloadRequest`` and
/// ``DataStreamRequest``.
public class Request: @unchecked Sendable, Identifiable {
    // @unchecked Sendable: stored properties are immutable and Sendable; what changes lies behind `state`'s lock.
    // `slot` belongs to the session's reference, and is touched only with the lock of that.
    // The compiler cannot know that of subclasses, of which there are none outside of this module.

    /// The identity of the request; it is drawn when it is first asked for.
    public var id: UUID { state.withLock { $0.withRare { $0.id } } }

    /// What was asked for, or why that is no request.
    let original: Result<HTTPRequest, RefrainError>
    let line: InterceptorLine
    let sessionReference: SessionReference
    let state: Locked<RequestState>
    /// Where the session keeps the request, for as long as it does.
    var slot: Int?
    /// The monitor, where anybody listens to it.
    var watcher: (any EventMonitor)? { sessionReference.isWatched ? sessionReference.monitor : nil }
    var gate: SuspensionGate { SuspensionGate(state: state) }

    init(_ original: Result<HTTPRequest, RefrainError>, line: InterceptorLine, session: SessionReference) {
        self.original = original
        self.line = line
        sessionReference = session
        state = Locked(making: RequestState.init)
    }

    /// What the kind of request adds to what is sent; called once, before the first try.
    func prepare(_ request: HTTPRequest) throws -> HTTPRequest { request }

    /// Whether the kind of request has something to do before the request ends.
    var settles: Bool { false }

    /// What the kind of request does with a response before the request ends; nil: nothing is wrong with it.
    func settle(_ response: HTTPResponse?, error: RefrainError?) async -> RefrainError? { error }

    /// Whether a response that the request keeps has its body; one that is read as it arrives would keep a connection.
    var keepsBodies: Bool { true }

    /// What the kind of request does once the request has ended, however it did.
    func didEnd() {}

    /// What the kind of request does where the checks of a try have failed, before another one.
    func discardTry() async {}
}

extension Request {
    /// Where the request stands in its life.
    public var currentState: State { state.withLock { $0.lifecycle } }
    /// Whether nobody has started the request yet.
    public var isInitialized: Bool { currentState == .initialized }
    /// Whether the request is under way.
    public var isResumed: Bool { currentState == .resumed }
    /// Whether the request is held.
    public var isSuspended: Bool { currentState == .suspended }
    /// Whether the request was cancelled.
    public var isCancelled: Bool { currentState == .cancelled }
    /// Whether the request has ended without being cancelled.
    public var isFinished: Bool { currentState == .finished }

    /// The request that the last try has sent, as the adapters made it; before that, what was asked for.
    public var request: HTTPRequest? { state.withLock { $0.requests.last } ?? (try? original.get()) }
    /// The requests that the tries have sent, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests.all } }
    /// The first request, as the adapters made it.
    public var firstRequest: HTTPRequest? { requests.first }
    /// The last request, as the adapters made it.
    public var lastRequest: HTTPRequest? { requests.last }

    /// The last try's response, or nil where it had none.
    public var response: HTTPResponse? { state.withLock { $0.response ?? $0.outcome.response } }

    /// How often the request was tried again.
    public var retryCount: Int { state.withLock { $0.retryCount } }

    /// Every attempt so far, in order, with what was decided and why (rule R29).
    public var attempts: [AttemptRecord] { state.withLock { $0.hasEnded ? $0.outcome.attempts : $0.attempts } }

    /// Why the request failed, or its last try did; nil where it did not.
    public var error: RefrainError? {
        state.withLock { state in
            if state.hasEnded {
                return state.outcome.error ?? state.current.serializationError?.recording(state.outcome.attempts)
            }
            return state.current.failure ?? state.current.validationError ?? state.current.serializationError
        }
    }

    /// The session, or nil where it was released.
    public var session: Session? { sessionReference.session }

    /// The facts of the last failed try, for retriers that decide as `RetryPolicy` does.
    public var lastFacts: RetryFacts? {
        guard case .known(let facts) = state.withLock({ $0.lastFacts }) else { return nil }
        return facts
    }

    /// What the last try sent as a `curl` command; credentials included, so mind where it goes.
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
