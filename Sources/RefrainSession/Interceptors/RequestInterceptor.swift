/// An adapter and a retrier in one; each half does nothing unless it is written.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// The request unchanged.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest { request }

    /// No further try.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        .doNotRetry
    }
}
