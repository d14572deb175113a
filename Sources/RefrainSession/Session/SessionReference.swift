internal import RefrainCore
internal import Synchronization

/// What the requests of a session know of it without keeping it alive, and where it keeps those under way.
///
/// One object for all of them, of which a request mostly reads what never changes: what many threads retain, or lock,
/// they wait for each other at.
final class SessionReference: @unchecked Sendable {
    // @unchecked Sendable: the weak reference is set once, before others see it; reading it is safe from any thread.

    /// The session, for as long as somebody else keeps it.
    private(set) weak var session: Session?
    /// Who is told what happens.
    let monitor: any EventMonitor
    /// Whether anybody listens to the monitor.
    let isWatched: Bool
    /// Whether a request starts as soon as something wants its response.
    let startsRequestsImmediately: Bool

    private let gone = Atomic(false)
    private let state = Locked(Running())

    private struct Running {
        var requests = SlotList<Request>()
        var invalidation: RefrainError?
    }

    init(monitors: [any EventMonitor], startsRequestsImmediately: Bool) {
        monitor = CompositeEventMonitor(monitors: monitors)
        isWatched = !monitors.isEmpty
        self.startsRequestsImmediately = startsRequestsImmediately
    }

    /// Names the session, as the last step of making it.
    func refer(to session: Session) { self.session = session }

    /// Whether the session was released; cheaper to ask for than the session.
    var isGone: Bool { gone.load(ordering: .acquiring) }

    /// The requests that were made and have not ended.
    var requests: [Request] { state.withLock { $0.requests.all } }

    /// Takes a request into care; the answer is why none is taken any more, or nil.
    func adopt(_ request: Request) -> RefrainError? {
        state.withLock { state in
            request.slot = state.requests.insert(request)
            return state.invalidation
        }
    }

    /// Lets go of a request that has ended.
    func forget(_ request: Request) {
        state.withLock { state in
            if let slot = request.slot.take() { state.requests.remove(at: slot) }
        }
    }

    /// Takes no request any more, and ends those under way; the first reason counts.
    func invalidate(because reason: RefrainError) {
        let isFirst = state.withLock { state in
            guard state.invalidation == nil else { return false }
            state.invalidation = reason
            return true
        }
        if isFirst { endAll(because: reason) }
    }

    /// Ends what is under way, since the session is no more.
    func release() {
        gone.store(true, ordering: .releasing)
        endAll(because: .sessionDeinitialized)
    }

    private func endAll(because reason: RefrainError) {
        for request in requests { request.cancel(because: reason) }
    }
}
