extension RetryPolicy: RequestInterceptor {
    /// Returns the policy's decision on the last attempt of a request.
    ///
    /// A session evaluates a policy directly. This method is for interceptors that wrap a policy: if they return a
    /// retry, with the same or another delay, the rest of the policy's decision is kept, that is, its replay safety,
    /// its reading of the server's delays, and the counting of attempts.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        guard let context = request.retryContext else { return .doNotRetry }
        let decision = decide(in: context)
        let delay: Duration
        switch decision.action {
        case .finish: return .doNotRetry
        case .retry(let wanted): delay = wanted.sample(using: session.settings.random)
        case .retryAfterTooLong(let date): delay = date.sinceEpoch - context.now.sinceEpoch
        }
        PendingDecision.note(decision)
        return .retryWithDelay(delay)
    }
}

extension RequestInterceptor where Self == RetryPolicy {
    /// Alamofire's policy with all its defaults.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// The policy that Documentation/Rules.md describes; the default of sessions.
    public static var recommendedRetryPolicy: RetryPolicy { RetryPolicy.recommended }

    /// Alamofire's policy with settings of its own; values out of range are clamped, as by the initializer.
    public static func retryPolicy(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableErrorCodes: Set<HTTPError.Code> = RetryPolicy.defaultRetryableErrorCodes
    ) -> RetryPolicy {
        RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes,
            retryableErrorCodes: retryableErrorCodes
        )
    }
}
