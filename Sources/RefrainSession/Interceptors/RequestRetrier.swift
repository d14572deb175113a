// SPDX-License-Identifier: Apache-2.0
/// Decides whether a request is retried after a failed attempt.
///
/// ```swift
/// struct WhileWarmingUp: RequestRetrier {
///     func retry(
///         _ request: Request,
///         for session: Session,
///         dueTo error: any Error
///     ) async -> RetryResult {
///         let isBusy = request.response?.status == 503
///         return isBusy && request.retryCount < 5
///             ? .retryWithDelay(.seconds(1)) : .doNotRetry
///     }
/// }
/// ```
///
/// A retrier is called exactly once per failed attempt: if there is no response, if the status is 400 or more and no
/// validation accepts it, if a validation failed, if the response could not be serialized, or if an adapter threw. It
/// is not called for cancelled requests, including those cancelled by an adapter that throws `CancellationError`.
/// Replay safety, the server's delays, deadlines and budgets are applied to its decision.
///
/// Implement one of the two methods; the other one calls it. A retrier that implements neither, for example because a
/// method has other types, ends its first failed request with an error that names it.
public protocol RequestRetrier: Sendable {
    /// The decision of a retrier with a completion.
    typealias RetryCompletion = @Sendable (RetryResult) -> Void

    /// Returns whether the request is sent again, and when.
    func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult

    /// Calls `completion` with the decision; at once or later, on any thread.
    ///
    /// The first call counts. A completion that is released without a call ends the request with
    /// `RefrainError.requestRetryFailed` and ``Interceptor/CompletionDropped``.
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    )
}

extension RequestRetrier {
    /// Calls the completion form; `.doNotRetryWithError` with `InvalidArgument` where neither form is implemented.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        await retryByCompletion(request, for: session, dueTo: error)
            ?? .doNotRetryWithError(CompletionForm.neither("retry(_:for:dueTo:)", of: Self.self))
    }

    /// Calls the asynchronous form in a task.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) {
        guard !CompletionForm.isDefault(for: Self.self) else { return }
        CompletionForm.run { completion(await retry(request, for: session, dueTo: error)) }
    }

    /// The result of the completion form, or nil if it is not implemented.
    func retryByCompletion(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult? {
        do {
            return try await CompletionForm.waitIfImplemented(by: Self.self) {
                retry(request, for: session, dueTo: error, completion: $0)
            }
        } catch {
            return .doNotRetryWithError(error)
        }
    }
}

/// The result of a retrier.
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
    /// A value that is not a number, or is negative, means at once; longer than `Duration.longestDelay` means that.
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
