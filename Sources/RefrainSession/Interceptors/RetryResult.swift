/// A retrier's answer.
public enum RetryResult: Sendable {
    /// Retry the request without a delay.
    case retry
    /// Retry the request after this delay, or later if the server requires it.
    case retryWithDelay(Duration)
    /// No decision; the next retrier is called.
    case doNotRetry
    /// Do not retry; the request fails with this error.
    case doNotRetryWithError(any Error)
}

extension RetryResult {
    /// The request is sent again after so many seconds.
    ///
    /// A value that is no number, or is negative, means at once; longer than `Duration.longestDelay` means that.
    public static func retryWithDelay(_ seconds: Double) -> RetryResult {
        .retryWithDelay(.delay(seconds: seconds))
    }

    /// Whether the request is retried.
    public var retryRequired: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }

    /// The delay before the retry, or nil.
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
