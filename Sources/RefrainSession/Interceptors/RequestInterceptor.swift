/// An adapter and a retrier in one; each half does nothing unless it is implemented, in either of its forms.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Calls the completion form; the request unchanged where that is not implemented.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        try await adaptByCompletion(request, for: session) ?? request
    }

    /// Calls the completion form; `.doNotRetry` where that is not implemented.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        guard let result = await retryByCompletion(request, for: session, dueTo: error) else {
            PendingDecision.noteNotImplemented()
            return .doNotRetry
        }
        return result
    }
}
