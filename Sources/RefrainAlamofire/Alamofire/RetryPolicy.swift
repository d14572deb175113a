// SPDX-License-Identifier: Apache-2.0
/// Alamofire's policy as a class, whose decision a subclass can change.
///
/// ```swift
/// final class PatientPolicy: RetryPolicy {
///     override func shouldRetry(
///         request: Request, dueTo error: any Error
///     ) -> Bool {
///         request.response?.statusCode == 429
///             || super.shouldRetry(request: request, dueTo: error)
///     }
/// }
/// let session = Session(interceptor: PatientPolicy(retryLimit: 3))
/// ```
///
/// It only decides. The session's engine makes the attempts, and holds to what may be sent again, to the server's
/// delays, to deadlines and to budgets, whatever a subclass returns. With `import RefrainAlamofire` this class hides
/// the structure of the same name, which cannot be subclassed; ``strategy`` is that structure, for chains and requests.
/// A file that imports both modules by name says which of the two it means, as Swift asks for:
/// `import class RefrainAlamofire.RetryPolicy`. `import RefrainAlamofire` alone brings both modules, and is enough.
open class RetryPolicy: RequestInterceptor, @unchecked Sendable {
    // @unchecked Sendable: its own properties are immutable; the compiler cannot check those of subclasses.

    /// How often a failed request is repeated: 2.
    public static let defaultRetryLimit = Refrain.RetryPolicy.defaultRetryLimit
    /// The base of the exponential back-off: 2.
    public static let defaultExponentialBackoffBase = Refrain.RetryPolicy.defaultExponentialBackoffBase
    /// What the power is multiplied with, in seconds: 0.5.
    public static let defaultExponentialBackoffScale = Refrain.RetryPolicy.defaultExponentialBackoffScale
    /// The methods that are repeated.
    public static let defaultRetryableHTTPMethods = Refrain.RetryPolicy.defaultRetryableHTTPMethods
    /// The statuses that are repeated.
    public static let defaultRetryableHTTPStatusCodes = Refrain.RetryPolicy.defaultRetryableHTTPStatusCodes
    /// The failures that are repeated.
    public static let defaultRetryableErrorCodes = Refrain.RetryPolicy.defaultRetryableErrorCodes
    /// The failures that are repeated.
    public static let defaultRetryableURLErrorCodes = Refrain.RetryPolicy.defaultRetryableErrorCodes

    /// The policy of Documentation/Rules.md, as the structure that chains and sessions take.
    public static var recommended: Refrain.RetryPolicy { .recommended }

    /// The number of retries.
    public let retryLimit: Int
    /// The base of the exponential back-off.
    public let exponentialBackoffBase: Int
    /// What the power is multiplied with, in seconds.
    public let exponentialBackoffScale: Double
    /// The methods that are sent again.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// The statuses that are retried.
    public let retryableHTTPStatusCodes: Set<HTTPStatus>
    /// The failures that are retried.
    public let retryableURLErrorCodes: Set<HTTPError.Code>
    /// The failures that are retried.
    public var retryableErrorCodes: Set<HTTPError.Code> { retryableURLErrorCodes }

    /// The same settings as a value, for `Retry`, `request.retryStrategy` and `withRetry`.
    public let strategy: Refrain.RetryPolicy

    /// Makes a policy; values out of range are clamped, as by the structure.
    ///
    /// - Parameters:
    ///   - retryLimit: the number of retries. A negative one counts as 0. Defaults to 2.
    ///   - exponentialBackoffBase: the base of the power. Less than 2 counts as 2. Defaults to 2.
    ///   - exponentialBackoffScale: the factor in seconds. Negative or not finite counts as 0. Defaults to 0.5.
    ///   - retryableHTTPMethods: the methods that are sent again.
    ///   - retryableHTTPStatusCodes: the statuses that are retried.
    ///   - retryableURLErrorCodes: the failures that are retried.
    public init(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<HTTPError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) {
        self.retryLimit = max(0, retryLimit)
        self.exponentialBackoffBase = max(2, exponentialBackoffBase)
        self.exponentialBackoffScale = exponentialBackoffScale.isFinite ? max(0, exponentialBackoffScale) : 0
        self.retryableHTTPMethods = retryableHTTPMethods
        self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
        self.retryableURLErrorCodes = retryableURLErrorCodes
        strategy = Refrain.RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes,
            retryableErrorCodes: retryableURLErrorCodes
        )
    }

    /// Makes a policy, with the structure's name for the failures.
    public convenience init(
        retryLimit: Int = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: Int = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableErrorCodes: Set<HTTPError.Code>
    ) {
        self.init(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes,
            retryableURLErrorCodes: retryableErrorCodes
        )
    }

    /// Calls `completion` with a retry, while the limit is not reached and ``shouldRetry(request:dueTo:)`` is true.
    ///
    /// The delay is `pow(base, retryCount) * scale` seconds, or longer where the server demands it.
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.retryCount < retryLimit, shouldRetry(request: request, dueTo: error) else {
            return completion(.doNotRetry)
        }
        // The policy's own decision has its rules and reasons; a subclass may retry what the policy does not.
        let delay = strategy.notedDelay(on: request, for: session)
        completion(.retryWithDelay(delay ?? .delay(seconds: seconds(afterRetries: request.retryCount))))
    }

    private func seconds(afterRetries count: Int) -> Double {
        // Beyond 64 doublings every delay is longer than any that is waited for.
        (0..<min(count, 64)).reduce(exponentialBackoffScale) { seconds, _ in seconds * Double(exponentialBackoffBase) }
    }

    /// Whether a failed attempt is worth another one: by its method, and by its status or its failure.
    ///
    /// Override it to change the decision; the limit and the delay stay those of the policy.
    open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
        if let status = request.response?.status, retryableHTTPStatusCodes.contains(status) { return true }
        let failure = error as? HTTPError ?? (error as? RefrainError)?.underlyingError as? HTTPError
        return failure.map { retryableURLErrorCodes.contains($0.code) } ?? false
    }
}
