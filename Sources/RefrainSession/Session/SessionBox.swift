// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import Synchronization

/// The state that a session shares with its requests without being kept alive, and its requests in flight.
///
/// It is one object of mostly immutable properties, because objects that many threads retain or lock cause contention.
final class SessionBox: @unchecked Sendable {
    // @unchecked Sendable: the weak reference is set once, before it is shared; reading it is safe from any thread.

    /// The session, or nil after it was deallocated.
    private(set) weak var session: Session?
    /// The monitor that receives the events of all requests.
    let monitor: any EventMonitor
    /// Whether the monitor has listeners.
    let isWatched: Bool
    /// Decodes the values of requests that name no decoder of their own.
    let decoder: any Request.DataDecoder
    /// Whether a request starts when its response is read.
    let startsRequestsImmediately: Bool

    private let gone = Atomic(false)
    private let state = Locked(Running())

    private struct Running {
        /// Each has its index in `placeInSession`.
        var requests: [Request] = []
        var invalidation: RefrainError?
        /// Whether the requests in flight were ended as well.
        var isEnded = false
    }

    init(monitors: [any EventMonitor], decoder: any Request.DataDecoder, startsRequestsImmediately: Bool) {
        self.decoder = decoder
        monitor = CompositeEventMonitor(monitors: monitors)
        isWatched = !monitors.isEmpty
        self.startsRequestsImmediately = startsRequestsImmediately
    }

    /// Names the session, as the last step of making it.
    func refer(to session: Session) { self.session = session }

    /// Whether the session was deallocated; cheaper to read than the session.
    var isGone: Bool { gone.load(ordering: .acquiring) }

    /// The requests that were made and have not ended.
    var requests: [Request] { state.withLock { $0.requests } }

    /// Registers a request; returns an error if the session was invalidated.
    func adopt(_ request: Request) -> RefrainError? {
        let (reason, isEnded) = state.withLock { state in
            request.placeInSession = state.requests.count
            state.requests.append(request)
            return (state.invalidation, state.isEnded)
        }
        guard reason != nil, !isEnded else { return reason }
        // While the session drains, a request in flight may need another one.
        let isNeeded = request.refreshes.contains(where: \.isActive)
        return isNeeded || session?.pipeline.admission.mayNeedPresentCode == true ? nil : reason
    }

    /// Releases a request that has ended.
    func forget(_ request: Request) {
        state.withLock { state in
            guard let place = request.placeInSession.take() else { return }
            let last = state.requests.removeLast()
            guard place < state.requests.count else { return }
            last.placeInSession = place
            state.requests[place] = last
        }
    }

    /// Refuses further requests; those in flight go on.
    func close(because reason: RefrainError) {
        state.withLock { $0.invalidation = $0.invalidation ?? reason }
    }

    /// Refuses further requests, and ends those in flight; the first error is kept.
    func invalidate(because reason: RefrainError) {
        let isFirst = state.withLock { state in
            guard !state.isEnded else { return false }
            state.invalidation = state.invalidation ?? reason
            state.isEnded = true
            return true
        }
        if isFirst { endAll(because: reason) }
    }

    /// Ends the requests in flight, because the session was deallocated.
    func release() {
        gone.store(true, ordering: .releasing)
        endAll(because: .sessionDeinitialized)
    }

    private func endAll(because reason: RefrainError) {
        for request in requests { request.cancel(because: reason) }
    }
}
