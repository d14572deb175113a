// SPDX-License-Identifier: Apache-2.0
extension RetryPolicy: RequestInterceptor {
    /// Returns the policy's decision on the last attempt of a request.
    ///
    /// A session evaluates a policy directly. This method is for interceptors that wrap a policy: if they return a
    /// retry, with the same or another delay, the rest of the policy's decision is kept, that is, its replay safety,
    /// its reading of the server's delays, and the counting of attempts.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        notedDelay(on: request, for: session).map { .retryWithDelay($0) } ?? .doNotRetry
    }

    /// The delay after the last attempt of a request, and keeps the decision for the retrier that calls this; nil: the
    /// policy does not retry.
    package func notedDelay(on request: Request, for session: Session) -> Duration? {
        guard let context = request.retryContext else { return nil }
        let decision = decide(in: context)
        let delay: Duration
        switch decision.action {
        case .finish: return nil
        case .retry(let wanted): delay = wanted.sample(using: session.settings.random)
        case .retryAfterTooLong(let date): delay = context.now.duration(to: date)
        }
        PendingDecision.note(decision)
        return delay
    }
}

extension RequestInterceptor where Self == RetryPolicy {
    /// Alamofire's policy with all its defaults.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// The policy that Documentation/Rules.md describes; the default of sessions.
    public static var recommendedRetryPolicy: RetryPolicy { RetryPolicy.recommended }

    /// Alamofire's policy with settings of its own; values out of range are clamped, as by the initializer.
    public static func retryPolicy(
        retryLimit: Int? = nil,
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
