/// Says whether a request whose try has failed is tried again.
///
/// ```swift
/// struct WhileWarmingUp: RequestRetrier {
///     func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
///         request.response?.status == 503 && request.retryCount < 5 ? .retryWithDelay(.seconds(1)) : .doNotRetry
///     }
/// }
/// ```
///
/// A retrier is asked exactly once for each failed try: when there was no response, when a status is 400 or more
/// (validated or not), when a check failed, when the response could not be serialized, and when an adapter threw. It is
/// not asked about what was cancelled, as by an adapter that throws `CancellationError` (rule R9). What may be sent
/// again, the server's own delays, deadlines and budgets are seen to after it has answered, whatever it answers. The
/// idea is from Alamofire.
public protocol RequestRetrier: Sendable {
    /// Whether the request is tried again, and when.
    func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult
}
