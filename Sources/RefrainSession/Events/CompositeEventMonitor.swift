/// Several monitors as one; forwards each event in order.
public struct CompositeEventMonitor: EventMonitor {
    /// The monitors.
    public let monitors: [any EventMonitor]

    /// Combines monitors.
    public init(monitors: [any EventMonitor]) { self.monitors = monitors }

    /// Forwards the event to all monitors.
    public func requestDidCreate(_ request: Request) {
        for monitor in monitors { monitor.requestDidCreate(request) }
    }

    /// Forwards the event to all monitors.
    public func requestDidResume(_ request: Request) {
        for monitor in monitors { monitor.requestDidResume(request) }
    }

    /// Forwards the event to all monitors.
    public func requestDidSuspend(_ request: Request) {
        for monitor in monitors { monitor.requestDidSuspend(request) }
    }

    /// Forwards the event to all monitors.
    public func requestDidCancel(_ request: Request) {
        for monitor in monitors { monitor.requestDidCancel(request) }
    }

    /// Forwards the event to all monitors.
    public func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest) {
        for monitor in monitors { monitor.request(request, didAdapt: initial, to: adapted) }
    }

    /// Forwards the event to all monitors.
    public func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError) {
        for monitor in monitors { monitor.request(request, didFailToAdapt: initial, error: error) }
    }

    /// Forwards the event to all monitors.
    public func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) {
        for monitor in monitors { monitor.request(request, didStartAttempt: number, with: sent) }
    }

    /// Forwards the event to all monitors.
    public func request(
        _ request: Request,
        didFinishAttempt number: Int,
        with result: HTTPResult,
        after duration: Duration
    ) {
        for monitor in monitors {
            monitor.request(request, didFinishAttempt: number, with: result, after: duration)
        }
    }

    /// Forwards the event to all monitors.
    public func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?) {
        for monitor in monitors { monitor.request(request, didValidate: response, error: error) }
    }

    /// Forwards the event to all monitors.
    public func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {
        for monitor in monitors { monitor.request(request, willRetryAfter: delay, reason: reason) }
    }

    /// Forwards the event to all monitors.
    public func requestIsRetrying(_ request: Request) {
        for monitor in monitors { monitor.requestIsRetrying(request) }
    }

    /// Forwards the event to all monitors.
    public func request(_ request: Request, didGiveUp reason: RetryReason) {
        for monitor in monitors { monitor.request(request, didGiveUp: reason) }
    }

    /// Forwards the event to all monitors.
    public func requestDidFinish(_ request: Request) {
        for monitor in monitors { monitor.requestDidFinish(request) }
    }
}
