// SPDX-License-Identifier: Apache-2.0
/// Receives the events of a session's requests.
///
/// Every method has an empty default. Methods are called where the event occurs, on any thread, and must return
/// quickly.
public protocol EventMonitor: Sendable {
    /// A request was created.
    func requestDidCreate(_ request: Request)
    /// A request was started, or resumed after a suspension.
    func requestDidResume(_ request: Request)
    /// A request was suspended.
    func requestDidSuspend(_ request: Request)
    /// A request was cancelled.
    func requestDidCancel(_ request: Request)
    /// The adapters replaced a request for an attempt.
    func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest)
    /// An adapter threw.
    func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError)
    /// An attempt was sent; numbers begin with 1.
    func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest)
    /// An attempt ended after this time.
    func request(_ request: Request, didFinishAttempt number: Int, with result: HTTPResult, after duration: Duration)
    /// A response was validated; `error` is that of the first validation that failed.
    func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?)
    /// A retry follows after this delay.
    func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason)
    /// Another attempt follows; called before the hook that has the delay and the reason, under Alamofire's name.
    func requestIsRetrying(_ request: Request)
    /// No retry follows an unsuccessful attempt.
    func request(_ request: Request, didGiveUp reason: RetryReason)
    /// The request ended and has its final state.
    func requestDidFinish(_ request: Request)
}

extension EventMonitor {
    /// Does nothing.
    public func requestDidCreate(_ request: Request) {}
    /// Does nothing.
    public func requestDidResume(_ request: Request) {}
    /// Does nothing.
    public func requestDidSuspend(_ request: Request) {}
    /// Does nothing.
    public func requestDidCancel(_ request: Request) {}
    /// Does nothing.
    public func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest) {}
    /// Does nothing.
    public func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError) {}
    /// Does nothing.
    public func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) {}
    /// Does nothing.
    public func request(
        _ request: Request,
        didFinishAttempt number: Int,
        with result: HTTPResult,
        after duration: Duration
    ) {}
    /// Does nothing.
    public func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?) {}
    /// Does nothing.
    public func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {}
    /// Does nothing.
    public func requestIsRetrying(_ request: Request) {}
    /// Does nothing.
    public func request(_ request: Request, didGiveUp reason: RetryReason) {}
    /// Does nothing.
    public func requestDidFinish(_ request: Request) {}
}

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
