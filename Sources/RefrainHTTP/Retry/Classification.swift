// SPDX-License-Identifier: Apache-2.0
/// Whether another attempt may have another outcome (rules R7 and R8).
package enum Classification: Hashable, Sendable {
    /// The exchange succeeded: a status below 400, or one that the caller accepts.
    case success
    /// Another attempt may have another outcome.
    case transient(RetryReason, Rules)
    /// Another attempt would have the same outcome.
    case final(RetryReason, Rules)

    /// Classifies an outcome by rules R7, R8 and R9.
    ///
    /// - Parameter fields: how the server's rate-limit fields are read: a 403 that they explain is a 429.
    package static func recommended(
        _ context: RetryContext,
        fields: RateLimitFields = RateLimitFields()
    ) -> Classification {
        switch context.outcome {
        case .status(let status): classify(status, context, fields)
        case .failure(let code): classify(code, context)
        }
    }

    /// Whether the next attempt needs another connection, because the server refused on this connection.
    package static func needsFreshConnection(_ context: RetryContext) -> Bool {
        context.outcome == .status(.requestTimeout) || context.outcome == .status(.misdirectedRequest)
    }

    /// Statuses from 500 on that are final (rule R7).
    static let finalServerErrors: Set<HTTPStatus> = [501, 505, 506, 508, 510, 511]

    private static func classify(
        _ status: HTTPStatus,
        _ context: RetryContext,
        _ fields: RateLimitFields
    ) -> Classification {
        switch status.rawValue {
        case ..<400:
            return .success
        case 403 where ServerRetryDelay.isRateLimited(context, fields: fields):
            return .transient(.transientStatus, [.transientStatus, .rateLimit])
        case 403, 413:
            let hasTime = context.retryAfterPolicy.isHonoured && ServerRetryDelay.retryAfter(in: context) != nil
            return hasTime
                ? .transient(.transientStatus, [.transientStatus, .retryAfter])
                : .final(.finalStatus, [.transientStatus])
        case 409:
            return context.hasIdempotencyKey
                ? .transient(.transientStatus, [.idempotencyKey, .transientStatus])
                : .final(.finalStatus, [.transientStatus])
        case 422 where context.hasIdempotencyKey:
            return .final(.finalStatus, [.idempotencyKey, .transientStatus])
        default:
            return isTransient(status)
                ? .transient(.transientStatus, [.transientStatus]) : .final(.finalStatus, [.transientStatus])
        }
    }

    /// Whether another attempt may succeed after a status, by the status alone.
    package static func isTransient(_ status: HTTPStatus, hasRetryAfter: Bool = false) -> Bool {
        switch status.rawValue {
        case 408, 421, 425, 429: true
        case 403, 413: hasRetryAfter
        case 500..<600: !finalServerErrors.contains(status)
        default: false
        }
    }

    private static func classify(_ code: HTTPError.Code, _ context: RetryContext) -> Classification {
        switch code.retryability {
        case .transient:
            return .transient(.transientFailure, [.transientFailure])
        case .transientOnce:
            return context.attempt.countedAttempts <= 1
                ? .transient(.transientFailure, [.transientFailure]) : .final(.finalFailure, [.transientFailure])
        case .final:
            return code == .cancelled ? .final(.cancelled, [.cancellation]) : .final(.finalFailure, [.transientFailure])
        }
    }
}

extension HTTPError.Code {
    /// Whether another attempt may succeed after a failure.
    public enum Retryability: String, Hashable, Sendable, Codable {
        /// Another attempt may succeed.
        case transient
        /// One more attempt may succeed; a second failure of the kind is final.
        case transientOnce
        /// Another attempt would fail in the same way.
        case final
    }

    /// Whether another attempt may succeed after this failure, under ``RetryPolicy/recommended`` (rule R8).
    public var retryability: Retryability { entry.retryability }

    /// The reason for ``retryability``, as a phrase.
    public var retryabilityReason: String { entry.why }

    /// Whether this failure alone proves that no byte of the request left (rule R2 a).
    public var isKnownUnsent: Bool {
        switch kind {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .secureConnectionFailed, .notConnectedToInternet,
            .internationalRoamingOff, .callIsActive, .dataNotAllowed, .badURL, .unsupportedURL, .invalidRequest,
            .proxyRefused, .cannotFindProxy, .destinationRefused, .appTransportSecurityRequiresSecureConnection,
            .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .proxyAuthenticationRequired,
            .circuitOpen, .resetInProgress:
            true
        default:
            false
        }
    }

    private var entry: (retryability: Retryability, why: String) {
        switch kind {
        case .appTransportSecurityRequiresSecureConnection: (.final, "a setting of the app forbids it")
        case .backgroundSessionInUseByAnotherProcess: (.transient, "the other process may finish")
        case .backgroundSessionRequiresSharedContainer: (.final, "a setting of the app is missing")
        case .backgroundSessionWasDisconnected: (.transient, "the session can be reconnected")
        case .badServerResponse: (.transientOnce, "a malformed response can be accidental; a second one is not")
        case .badURL: (.final, "the URL is malformed")
        case .callIsActive: (.transient, "the call will end")
        case .cancelled: (.final, "the caller cancelled the request")
        case .cannotCloseFile: (.final, "the caller must correct a problem with a local file")
        case .cannotConnectToHost: (.transient, "the host may be restarting")
        case .cannotCreateFile: (.final, "the caller must correct a problem with a local file")
        case .cannotDecodeContentData: (.final, "the server would encode the content in the same way")
        case .cannotDecodeRawData: (.final, "the server would encode the content in the same way")
        case .cannotFindHost: (.transient, "failures of name servers are often temporary")
        case .cannotLoadFromNetwork: (.transient, "the network may be allowed later")
        case .cannotMoveFile: (.final, "the caller must correct a problem with a local file")
        case .cannotOpenFile: (.final, "the caller must correct a problem with a local file")
        case .cannotParseResponse: (.transientOnce, "a malformed response can be accidental; a second one is not")
        case .cannotRemoveFile: (.final, "the caller must correct a problem with a local file")
        case .cannotWriteToFile: (.final, "the caller must correct a problem with a local file")
        case .clientCertificateRejected: (.final, "the certificate does not change")
        case .clientCertificateRequired: (.final, "the caller must configure a certificate")
        case .dataLengthExceedsMaximum: (.final, "the response would be as large again")
        case .dataNotAllowed: (.transient, "the network may change")
        case .dnsLookupFailed: (.transient, "failures of name servers are often temporary")
        case .downloadDecodingFailedMidStream: (.final, "the server would encode the content in the same way")
        case .downloadDecodingFailedToComplete: (.final, "the server would encode the content in the same way")
        case .fileDoesNotExist: (.final, "the caller must correct a problem with a local file")
        case .fileIsDirectory: (.final, "the caller must correct a problem with a local file")
        case .httpTooManyRedirects: (.final, "the redirects do not change")
        case .internationalRoamingOff: (.transient, "the network may change")
        case .networkConnectionLost: (.transient, "a new connection may succeed")
        case .noPermissionsToReadFile: (.final, "the caller must correct a problem with a local file")
        case .notConnectedToInternet: (.transient, "the network may become available")
        case .redirectToNonExistentLocation: (.final, "the redirects do not change")
        case .requestBodyStreamExhausted: (.final, "the body was already read")
        case .resourceUnavailable: (.transient, "the resource may become available")
        case .secureConnectionFailed: (.transient, "failures of handshakes are often temporary")
        case .serverCertificateHasBadDate: (.final, "another attempt meets the same certificate")
        case .serverCertificateHasUnknownRoot: (.final, "another attempt meets the same certificate")
        case .serverCertificateNotYetValid: (.final, "another attempt meets the same certificate")
        case .serverCertificateUntrusted: (.final, "another attempt meets the same certificate")
        case .timedOut: (.transient, "the next attempt may be faster")
        case .unknown: (.transient, "URLSession on Linux reports most failures with this code")
        case .unsupportedURL: (.final, "the scheme is not supported")
        case .userAuthenticationRequired: (.final, "the caller must provide credentials")
        case .userCancelledAuthentication: (.final, "the user declined")
        case .zeroByteResource: (.transient, "the content was lost in transit")
        case .invalidRequest: (.final, "the request is invalid")
        case .requestNotProcessed: (.transient, "the server did not process the request")
        case .proxyAuthenticationRequired: (.final, "the caller must provide credentials")
        case .proxyRefused: (.final, "the proxy refuses the request")
        case .cannotFindProxy: (.final, "the configured proxy does not exist")
        case .destinationRefused: (.final, "the policy does not change")
        case .insecureRedirect: (.final, "the redirects do not change")
        case .retryAfterTooLong: (.final, "the server named a later time")
        case .circuitOpen: (.final, "its server is not asked before the break is over")
        case .deadlineExceeded: (.final, "there is no time left")
        case .resetInProgress: (.final, "a reset cancels the requests in flight")
        case .bodyAlreadyRead: (.final, "the body was already read")
        case .callerFailed: (.final, "the caller must correct its own code")
        case .sessionInvalidated: (.final, "the session is closed")
        }
    }
}
