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

    /// The policy with all of Alamofire's defaults: waits of 0.5, 1, 2, 4 s …, no jitter, no cap.
    public init() {
        self.init(
            criteria: .lists(
                methods: Self.defaultRetryableHTTPMethods,
                statuses: Self.defaultRetryableHTTPStatusCodes,
                errors: Self.defaultRetryableErrorCodes
            ),
            schedule: .alamofire
        )
    }

    /// A policy with Alamofire's settings: the delay is `pow(base, retryCount) * scale` seconds, `retryCount` from 0.
    ///
    /// - Throws: `InvalidArgument` for a negative limit, a base under 2, or a scale that is negative or not finite.
    public init(
        retryLimit: Int = defaultRetryLimit,
        exponentialBackoffBase: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = defaultRetryableHTTPStatusCodes,
        retryableErrorCodes: Set<HTTPError.Code> = defaultRetryableErrorCodes
    ) throws(InvalidArgument) {
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
        self.init(
            criteria: .lists(
                methods: retryableHTTPMethods,
                statuses: retryableHTTPStatusCodes,
                errors: retryableErrorCodes
            ),
            schedule: try Backoff.exponential(
                from: .delay(seconds: exponentialBackoffScale),
                factor: Double(exponentialBackoffBase)
            ).limited(toRetries: retryLimit)
        )
    }
}

extension Backoff {
    /// Alamofire's default schedule: 0.5 s, then 1 s, in 3 tries.
    fileprivate static let alamofire: Backoff = {
        let schedule = try? Backoff.exponential(from: .milliseconds(500), factor: 2, maximumNumberOfAttempts: 3)
        return schedule ?? .never
    }()
}
