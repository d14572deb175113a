/// What the requests of a session know of it without keeping it alive; one for all of them.
final class SessionReference: @unchecked Sendable {
    // @unchecked Sendable: set once, before others see it; reading a weak reference is safe from any thread.

    /// The session, for as long as somebody else keeps it.
    private(set) weak var session: Session?
    /// Who is told what happens.
    let monitor: any EventMonitor
    /// Whether anybody listens to the monitor.
    let isWatched: Bool
    /// Whether a request starts as soon as something wants its response.
    let startsRequestsImmediately: Bool

    init(monitors: [any EventMonitor], startsRequestsImmediately: Bool) {
        monitor = CompositeEventMonitor(monitors: monitors)
        isWatched = !monitors.isEmpty
        self.startsRequestsImmediately = startsRequestsImmediately
    }

    /// Names the session, as the last step of making it.
    func refer(to session: Session) { self.session = session }
}
