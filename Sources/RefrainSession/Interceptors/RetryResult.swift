/// A retrier's answer.
public enum RetryResult: Sendable {
    /// The request is tried again at once.
    case retry
    /// The request is tried again after this time, or later where the server says so.
    case retryWithDelay(Duration)
    /// This retrier sees no reason to try again; the next one is asked.
    case doNotRetry
    /// The request is not tried again, and fails with this error.
    case doNotRetryWithError(any Error)
}

extension RetryResult {
    /// Whether the request is tried again.
    public var retryRequired: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }

    /// The wait before the next try, or nil.
    public var delay: Duration? {
        if case .retryWithDelay(let delay) = self { return delay }
        return nil
    }

    /// The error that ends the request, or nil.
    public var error: (any Error)? {
        if case .doNotRetryWithError(let error) = self { return error }
        return nil
    }
}
