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
