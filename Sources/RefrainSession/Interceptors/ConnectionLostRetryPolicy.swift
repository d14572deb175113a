/// Tries again only where the connection broke: no status, and no other failure.
public struct ConnectionLostRetryPolicy: RequestInterceptor, HTTPRetryStrategy, Hashable {
    /// The policy that decides, with its lists cut down.
    public let policy: RetryPolicy

    /// Makes the policy with Alamofire's defaults.
    public init() {
        policy = RetryPolicy(
            criteria: Self.criteria(RetryPolicy.defaultRetryableHTTPMethods),
            schedule: RetryPolicy().schedule
        )
    }

    /// Makes the policy.
    ///
    /// - Throws: `InvalidArgument`, as `RetryPolicy` does.
    public init(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
    ) throws(InvalidArgument) {
        policy = try RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: [],
            retryableErrorCodes: [.networkConnectionLost]
        )
    }

    /// The delay for a result of a first attempt.
    public func retryDelay(for result: HTTPResult) -> Duration? { policy.retryDelay(for: result) }

    /// The whole decision.
    public func judge(_ facts: RetryFacts, for result: HTTPResult) -> RetryJudgement { policy.judge(facts) }

    /// The decision on the last try of a request, for interceptors that wrap this one.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        await policy.retry(request, for: session, dueTo: error)
    }

    private static func criteria(_ methods: Set<HTTPMethod>) -> RetryPolicy.Criteria {
        .lists(methods: methods, statuses: [], errors: [.networkConnectionLost])
    }
}

extension RequestInterceptor where Self == ConnectionLostRetryPolicy {
    /// The policy with Alamofire's defaults.
    public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

    /// The policy with settings of one's own.
    ///
    /// - Throws: `InvalidArgument`, as the initializer does.
    public static func connectionLostRetryPolicy(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
    ) throws(InvalidArgument) -> ConnectionLostRetryPolicy {
        try ConnectionLostRetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods
        )
    }
}
