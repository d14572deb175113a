extension RetryPolicy: RequestInterceptor {
    /// The policy's decision on the last try of a request.
    ///
    /// A session asks the policy itself. This form is for interceptors that wrap a policy to change its decision: where
    /// they ask for another try, be it after another delay, all else that the policy has decided stands. That is its
    /// leave to send a method again, its reading of the server's delays, and which tries are free.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        guard let facts = request.lastFacts else { return .doNotRetry }
        let judgement = judge(facts)
        switch judgement.action {
        case .finish: return .doNotRetry
        case .retry(let wait):
            request.offer(.judgement(judgement))
            return .retryWithDelay(wait.drawn(using: session.settings.random))
        case .comeBack(let date):
            request.offer(.judgement(judgement))
            return .retryWithDelay(date.sinceEpoch - facts.now.sinceEpoch)
        }
    }
}

extension RequestInterceptor where Self == RetryPolicy {
    /// Alamofire's policy with all its defaults.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// The policy that Documentation/Rules.md describes, which sessions use unless told otherwise.
    public static var recommendedRetryPolicy: RetryPolicy { RetryPolicy.recommended }

    /// Alamofire's policy with settings of one's own.
    ///
    /// - Throws: `InvalidArgument`, as the initializer does.
    public static func retryPolicy(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableErrorCodes: Set<HTTPError.Code> = RetryPolicy.defaultRetryableErrorCodes
    ) throws(InvalidArgument) -> RetryPolicy {
        try RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes,
            retryableErrorCodes: retryableErrorCodes
        )
    }
}
