/// Whether another attempt may have another outcome (rules R7 and R8).
package enum Classification: Hashable, Sendable {
    /// The exchange succeeded: a status below 400, or one that the caller accepts.
    case success
    /// Another attempt may have another outcome.
    case transient(RetryReason, Rules)
    /// Another attempt would have the same outcome.
    case final(RetryReason, Rules)

    /// Classifies an outcome by rules R7, R8 and R9.
    package static func recommended(_ context: RetryContext) -> Classification {
        switch context.outcome {
        case .status(let status): classify(status, context)
        case .failure(let code): classify(code, context)
        }
    }

    /// Whether the next attempt needs another connection: the server has tied its refusal to this one.
    package static func needsFreshConnection(_ context: RetryContext) -> Bool {
        context.outcome == .status(.requestTimeout) || context.outcome == .status(.misdirectedRequest)
    }

    /// Statuses over 499 by which the server refuses for good (rule R7).
    static let finalServerErrors: Set<HTTPStatus> = [501, 505, 506, 508, 510, 511]

    private static func classify(_ status: HTTPStatus, _ context: RetryContext) -> Classification {
        switch status.rawValue {
        case ..<400:
            return .success
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

    /// Whether a status alone says that another attempt may succeed.
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
    /// Whether a failure may pass by itself.
    public enum Retryability: String, Hashable, Sendable, Codable {
        /// Another attempt may succeed.
        case transient
        /// One more attempt may show that it was an accident.
        case transientOnce
        /// Another attempt would fail alike.
        case final
    }

    /// Whether this failure is worth another attempt under ``RetryPolicy/recommended`` (rule R8).
    public var retryability: Retryability { entry.retryability }

    /// Why, in a phrase.
    public var retryabilityReason: String { entry.why }

    /// Whether this failure alone proves that no byte of the request left (rule R2 a).
    public var isKnownUnsent: Bool {
        switch kind {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .secureConnectionFailed, .notConnectedToInternet,
            .internationalRoamingOff, .callIsActive, .dataNotAllowed, .badURL, .unsupportedURL, .invalidRequest,
            .proxyRefused, .cannotFindProxy, .destinationRefused, .appTransportSecurityRequiresSecureConnection,
            .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .proxyAuthenticationRequired,
            .resetInProgress:
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
        case .backgroundSessionWasDisconnected: (.transient, "the session can be joined again")
        case .badServerResponse: (.transientOnce, "garbage may be an accident on the way; twice is none")
        case .badURL: (.final, "the URL stays malformed")
        case .callIsActive: (.transient, "the call will end")
        case .cancelled: (.final, "the caller does not want it any more")
        case .cannotCloseFile: (.final, "a local file is the caller's to mend")
        case .cannotConnectToHost: (.transient, "the host may be restarting")
        case .cannotCreateFile: (.final, "a local file is the caller's to mend")
        case .cannotDecodeContentData: (.final, "the server encodes it alike again")
        case .cannotDecodeRawData: (.final, "the server encodes it alike again")
        case .cannotFindHost: (.transient, "name servers fail in passing")
        case .cannotLoadFromNetwork: (.transient, "the network may be allowed later")
        case .cannotMoveFile: (.final, "a local file is the caller's to mend")
        case .cannotOpenFile: (.final, "a local file is the caller's to mend")
        case .cannotParseResponse: (.transientOnce, "garbage may be an accident on the way; twice is none")
        case .cannotRemoveFile: (.final, "a local file is the caller's to mend")
        case .cannotWriteToFile: (.final, "a local file is the caller's to mend")
        case .clientCertificateRejected: (.final, "the certificate stays what it is")
        case .clientCertificateRequired: (.final, "no certificate appears by itself")
        case .dataLengthExceedsMaximum: (.final, "the response stays as large")
        case .dataNotAllowed: (.transient, "the network may change")
        case .dnsLookupFailed: (.transient, "name servers fail in passing")
        case .downloadDecodingFailedMidStream: (.final, "the server encodes it alike again")
        case .downloadDecodingFailedToComplete: (.final, "the server encodes it alike again")
        case .fileDoesNotExist: (.final, "a local file is the caller's to mend")
        case .fileIsDirectory: (.final, "a local file is the caller's to mend")
        case .httpTooManyRedirects: (.final, "the redirects stay as they are")
        case .internationalRoamingOff: (.transient, "the network may change")
        case .networkConnectionLost: (.transient, "a new connection may hold")
        case .noPermissionsToReadFile: (.final, "a local file is the caller's to mend")
        case .notConnectedToInternet: (.transient, "the network may come back")
        case .redirectToNonExistentLocation: (.final, "the redirects stay as they are")
        case .requestBodyStreamExhausted: (.final, "the body is spent")
        case .resourceUnavailable: (.transient, "it may be there again")
        case .secureConnectionFailed: (.transient, "handshakes break in passing")
        case .serverCertificateHasBadDate: (.final, "certificate problems are not repeated away")
        case .serverCertificateHasUnknownRoot: (.final, "certificate problems are not repeated away")
        case .serverCertificateNotYetValid: (.final, "certificate problems are not repeated away")
        case .serverCertificateUntrusted: (.final, "certificate problems are not repeated away")
        case .timedOut: (.transient, "the next attempt may be quicker")
        case .unknown: (.transient, "URLSession on Linux names most failures so")
        case .unsupportedURL: (.final, "the scheme stays unsupported")
        case .userAuthenticationRequired: (.final, "no credentials appear by themselves")
        case .userCancelledAuthentication: (.final, "the user said no")
        case .zeroByteResource: (.transient, "the content was lost on its way")
        case .invalidRequest: (.final, "the request stays invalid")
        case .requestNotProcessed: (.transient, "the server says that it did nothing")
        case .proxyAuthenticationRequired: (.final, "no credentials appear by themselves")
        case .proxyRefused: (.final, "the proxy says that it will not")
        case .cannotFindProxy: (.final, "a setting names a proxy that is not there")
        case .destinationRefused: (.final, "the policy stays as it is")
        case .insecureRedirect: (.final, "the redirects stay as they are")
        case .retryAfterTooLong: (.final, "the server said when")
        case .deadlineExceeded: (.final, "there is no time left")
        case .resetInProgress: (.final, "a reset ends what is under way")
        case .bodyAlreadyRead: (.final, "the body is spent")
        case .callerFailed: (.final, "the caller's code is the caller's to mend")
        case .sessionInvalidated: (.final, "the session will not come back")
        }
    }
}
