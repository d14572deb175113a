extension RetryPolicy {
    /// How often a failed request is repeated: 2.
    public static let defaultRetryLimit = 2
    /// The base of the exponential back-off: 2.
    public static let defaultExponentialBackoffBase = 2
    /// What the power is multiplied with, in seconds: 0.5.
    public static let defaultExponentialBackoffScale = 0.5

    /// The methods that are repeated: those that RFC 9110 §9.2.2 calls idempotent.
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]

    /// The statuses that are repeated.
    public static let defaultRetryableHTTPStatusCodes: Set<HTTPStatus> = [408, 500, 502, 503, 504]

    /// The failures that are repeated: Alamofire's list of 18.
    public static let defaultRetryableErrorCodes: Set<HTTPError.Code> = [
        .backgroundSessionInUseByAnotherProcess,
        .backgroundSessionWasDisconnected,
        .badServerResponse,
        .callIsActive,
        .cannotConnectToHost,
        .cannotFindHost,
        .cannotLoadFromNetwork,
        .dataNotAllowed,
        .dnsLookupFailed,
        .downloadDecodingFailedMidStream,
        .downloadDecodingFailedToComplete,
        .internationalRoamingOff,
        .networkConnectionLost,
        .notConnectedToInternet,
        .secureConnectionFailed,
        .serverCertificateHasBadDate,
        .serverCertificateNotYetValid,
        .timedOut,
    ]

    /// A policy with Alamofire's settings: the delay is `pow(base, retryCount) * scale` seconds, `retryCount` from 0.
    ///
    /// - Parameters:
    ///   - retryLimit: the number of retries. A negative one counts as 0. Defaults to nil, which is
    ///     ``defaultRetryLimit``; a number that is named is kept by the standard retry budget (rule R22).
    ///   - exponentialBackoffBase: the base of the power. Less than 2 counts as 2. Defaults to 2.
    ///   - exponentialBackoffScale: the factor in seconds. Negative or not finite counts as 0. Defaults to 0.5.
    ///   - retryableHTTPMethods: the methods that are sent again.
    ///   - retryableHTTPStatusCodes: the statuses that are retried.
    ///   - retryableErrorCodes: the failures that are retried.
    public init(
        retryLimit: Int? = nil,
        exponentialBackoffBase: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = defaultRetryableHTTPStatusCodes,
        retryableErrorCodes: Set<HTTPError.Code> = defaultRetryableErrorCodes
    ) {
        let scale = exponentialBackoffScale.isFinite ? max(0, exponentialBackoffScale) : 0
        let schedule = Backoff.exponential(
            from: .delay(seconds: scale),
            factor: Double(max(2, exponentialBackoffBase)),
            maxAttempts: Self.defaultRetryLimit + 1
        )
        self.init(
            criteria: .lists(
                methods: retryableHTTPMethods,
                statuses: retryableHTTPStatusCodes,
                errors: retryableErrorCodes
            ),
            schedule: retryLimit.map { schedule.limited(maxRetryCount: $0) } ?? schedule
        )
    }

    /// A policy with Alamofire's lists, and with numbers that come from outside.
    ///
    /// - Throws: `InvalidArgument` for a negative limit, a base under 2, or a scale that is negative or not finite.
    public static func validated(
        retryLimit: Int = defaultRetryLimit,
        exponentialBackoffBase: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale
    ) throws(InvalidArgument) -> RetryPolicy {
        guard retryLimit >= 0 else { throw InvalidArgument("retryLimit", is: retryLimit, expected: "zero or more") }
        guard exponentialBackoffBase >= 2 else {
            throw InvalidArgument("exponentialBackoffBase", is: exponentialBackoffBase, expected: "at least 2")
        }
        guard exponentialBackoffScale >= 0, exponentialBackoffScale.isFinite else {
            throw InvalidArgument(
                "exponentialBackoffScale",
                is: exponentialBackoffScale,
                expected: "a finite number of zero or more"
            )
        }
        return RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale
        )
    }
}
