/// Retries lost connections only: no status, and no other failure.
public struct ConnectionLostRetryPolicy: RequestInterceptor, HTTPRetryStrategy, Hashable {
    /// The policy with its lists reduced.
    public let policy: RetryPolicy

    /// Makes the policy; values out of range are clamped, as by `RetryPolicy`.
    public init(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
    ) {
        policy = RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: [],
            retryableErrorCodes: [.networkConnectionLost]
        )
    }

    /// Returns the delay after a first attempt, without applying the rules on repetition.
    public func retryDelay(for result: HTTPResult) -> Duration? { policy.retryDelay(for: result) }

    /// Returns the policy's decision.
    public func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        policy.decide(in: context)
    }

    /// Returns the decision on the last attempt of a request, for interceptors that wrap this policy.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        await policy.retry(request, for: session, dueTo: error)
    }
}

extension RequestInterceptor where Self == ConnectionLostRetryPolicy {
    /// The policy with Alamofire's defaults.
    public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

    /// The policy with settings of its own; values out of range are clamped, as by `RetryPolicy`.
    public static func connectionLostRetryPolicy(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
    ) -> ConnectionLostRetryPolicy {
        ConnectionLostRetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods
        )
    }
}
