// SPDX-License-Identifier: Apache-2.0
/// What an error tells the loops around its call.
extension HTTPError: RetryTerminalError {
    /// Whether an outer retry loop must not repeat the call.
    ///
    /// True if the attempts, budget or time are used up, if the request must not be sent twice, or if the caller's
    /// retrier declined. For a request that a ``RateLimiter`` held back, the code alone implies it.
    public var retriesAreExhausted: Bool {
        if code.endingReason != nil || attempts.retriesAreExhausted || attempts.mustNotBeRepeated { return true }
        return repetition.refusal != nil
    }

    /// The delay that the server requested of the last attempt; nil: none.
    public var minimumRetryDelay: Duration? { repetition.delay }

    /// What a loop around the call keeps to.
    ///
    /// It follows from the error alone where no stage recorded the attempts, and where the failure came after the last
    /// one, in the body of its response.
    private var repetition: AttemptRecord.Repetition {
        if let last = attempts.last, last.reason != .succeeded { return last.repetition }
        let result = HTTPResult.failure(self)
        let context = RetryContext(request, result, attempt: .first, remaining: nil, now: .now)
        return AttemptRecord.Repetition(context, result)
    }

    /// Whether the request was cancelled.
    ///
    /// Includes requests ended or refused by a reset, requests ended with their session, and requests that the caller's
    /// code ended with a cancellation error such as `CancellationError`.
    public var isCancellation: Bool {
        switch code {
        case .cancelled, .resetInProgress, .sessionInvalidated: true
        case .callerFailed, .userAuthenticationRequired: underlyingError?.isCancellation ?? false
        default: false
        }
    }
}

extension HTTPError: GeneratedKeyError {
    /// The key that was generated for the request, so that an outer loop keeps it.
    package var generatedKey: OuterRetry.Key? { repetition.key }
}

extension HTTPError.ProxyAnswer {
    /// Whether the proxy may connect another time, by the rules for any answer (rule R7).
    package var isTransient: Bool {
        let hasTime = RetryAfter.read(headers, now: .now) != nil
        return Classification.isTransient(status, hasRetryAfter: hasTime)
    }
}
