/// Is told what happens to the requests of a session.
///
/// Every hook does nothing unless it is written. Hooks are called where the event happens, on any thread, and must
/// return quickly. The idea is from Alamofire.
public protocol EventMonitor: Sendable {
    /// A request was made.
    func requestDidCreate(_ request: Request)
    /// A request was started, or goes on after it was held.
    func requestDidResume(_ request: Request)
    /// A request is held.
    func requestDidSuspend(_ request: Request)
    /// A request was cancelled.
    func requestDidCancel(_ request: Request)
    /// The adapters have made one request of another, for a try.
    func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest)
    /// An adapter threw.
    func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError)
    /// A try is sent; numbers are from 1.
    func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest)
    /// A try came to its end, after this time.
    func request(_ request: Request, didFinishAttempt number: Int, with result: HTTPResult, after duration: Duration)
    /// A response went through the request's checks; an error says which one it did not pass.
    func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?)
    /// Another try follows after this wait.
    func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason)
    /// No further try follows a try that was no success.
    func request(_ request: Request, didGiveUp reason: RetryReason)
    /// The request ended; its outcome stands on it.
    func requestDidFinish(_ request: Request)
}

extension EventMonitor {
    /// Nothing.
    public func requestDidCreate(_ request: Request) {}
    /// Nothing.
    public func requestDidResume(_ request: Request) {}
    /// Nothing.
    public func requestDidSuspend(_ request: Request) {}
    /// Nothing.
    public func requestDidCancel(_ request: Request) {}
    /// Nothing.
    public func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest) {}
    /// Nothing.
    public func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError) {}
    /// Nothing.
    public func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) {}
    /// Nothing.
    public func request(
        _ request: Request,
        didFinishAttempt number: Int,
        with result: HTTPResult,
        after duration: Duration
    ) {}
    /// Nothing.
    public func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?) {}
    /// Nothing.
    public func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {}
    /// Nothing.
    public func request(_ request: Request, didGiveUp reason: RetryReason) {}
    /// Nothing.
    public func requestDidFinish(_ request: Request) {}
}
