/// Several monitors as one; each is told in order.
public struct CompositeEventMonitor: EventMonitor {
    /// The monitors.
    public let monitors: [any EventMonitor]

    /// Joins monitors.
    public init(monitors: [any EventMonitor]) { self.monitors = monitors }

    /// Tells all.
    public func requestDidCreate(_ request: Request) {
        for monitor in monitors { monitor.requestDidCreate(request) }
    }

    /// Tells all.
    public func requestDidResume(_ request: Request) {
        for monitor in monitors { monitor.requestDidResume(request) }
    }

    /// Tells all.
    public func requestDidSuspend(_ request: Request) {
        for monitor in monitors { monitor.requestDidSuspend(request) }
    }

    /// Tells all.
    public func requestDidCancel(_ request: Request) {
        for monitor in monitors { monitor.requestDidCancel(request) }
    }

    /// Tells all.
    public func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest) {
        for monitor in monitors { monitor.request(request, didAdapt: initial, to: adapted) }
    }

    /// Tells all.
    public func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError) {
        for monitor in monitors { monitor.request(request, didFailToAdapt: initial, error: error) }
    }

    /// Tells all.
    public func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) {
        for monitor in monitors { monitor.request(request, didStartAttempt: number, with: sent) }
    }

    /// Tells all.
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

    /// Tells all.
    public func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?) {
        for monitor in monitors { monitor.request(request, didValidate: response, error: error) }
    }

    /// Tells all.
    public func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {
        for monitor in monitors { monitor.request(request, willRetryAfter: delay, reason: reason) }
    }

    /// Tells all.
    public func request(_ request: Request, didGiveUp reason: RetryReason) {
        for monitor in monitors { monitor.request(request, didGiveUp: reason) }
    }

    /// Tells all.
    public func requestDidFinish(_ request: Request) {
        for monitor in monitors { monitor.requestDidFinish(request) }
    }
}
