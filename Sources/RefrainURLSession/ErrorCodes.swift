// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import RefrainHTTP

extension HTTPError.Code {
    /// Makes the code for a `URLError.Code`; ``unknown`` if there is no such code.
    public init(_ code: URLError.Code) { self = ErrorCodes.ours[code] ?? .unknown }
}

extension URLError.Code {
    /// Makes the `URLError.Code` of a code, or nil for codes that only Refrain has.
    public init?(_ code: HTTPError.Code) {
        guard let code = ErrorCodes.theirs[code] else { return nil }
        self = code
    }
}

/// The 48 codes that both types have.
private enum ErrorCodes {
    static let ours = Dictionary(pairs.map { ($0.1, $0.0) }) { first, _ in first }
    static let theirs = Dictionary(pairs) { first, _ in first }

    private static let pairs: [(HTTPError.Code, URLError.Code)] = [
        (.appTransportSecurityRequiresSecureConnection, .appTransportSecurityRequiresSecureConnection),
        (.backgroundSessionInUseByAnotherProcess, .backgroundSessionInUseByAnotherProcess),
        (.backgroundSessionRequiresSharedContainer, .backgroundSessionRequiresSharedContainer),
        (.backgroundSessionWasDisconnected, .backgroundSessionWasDisconnected),
        (.badServerResponse, .badServerResponse),
        (.badURL, .badURL),
        (.callIsActive, .callIsActive),
        (.cancelled, .cancelled),
        (.cannotCloseFile, .cannotCloseFile),
        (.cannotConnectToHost, .cannotConnectToHost),
        (.cannotCreateFile, .cannotCreateFile),
        (.cannotDecodeContentData, .cannotDecodeContentData),
        (.cannotDecodeRawData, .cannotDecodeRawData),
        (.cannotFindHost, .cannotFindHost),
        (.cannotLoadFromNetwork, .cannotLoadFromNetwork),
        (.cannotMoveFile, .cannotMoveFile),
        (.cannotOpenFile, .cannotOpenFile),
        (.cannotParseResponse, .cannotParseResponse),
        (.cannotRemoveFile, .cannotRemoveFile),
        (.cannotWriteToFile, .cannotWriteToFile),
        (.clientCertificateRejected, .clientCertificateRejected),
        (.clientCertificateRequired, .clientCertificateRequired),
        (.dataLengthExceedsMaximum, .dataLengthExceedsMaximum),
        (.dataNotAllowed, .dataNotAllowed),
        (.dnsLookupFailed, .dnsLookupFailed),
        (.downloadDecodingFailedMidStream, .downloadDecodingFailedMidStream),
        (.downloadDecodingFailedToComplete, .downloadDecodingFailedToComplete),
        (.fileDoesNotExist, .fileDoesNotExist),
        (.fileIsDirectory, .fileIsDirectory),
        (.httpTooManyRedirects, .httpTooManyRedirects),
        (.internationalRoamingOff, .internationalRoamingOff),
        (.networkConnectionLost, .networkConnectionLost),
        (.noPermissionsToReadFile, .noPermissionsToReadFile),
        (.notConnectedToInternet, .notConnectedToInternet),
        (.redirectToNonExistentLocation, .redirectToNonExistentLocation),
        (.requestBodyStreamExhausted, .requestBodyStreamExhausted),
        (.resourceUnavailable, .resourceUnavailable),
        (.secureConnectionFailed, .secureConnectionFailed),
        (.serverCertificateHasBadDate, .serverCertificateHasBadDate),
        (.serverCertificateHasUnknownRoot, .serverCertificateHasUnknownRoot),
        (.serverCertificateNotYetValid, .serverCertificateNotYetValid),
        (.serverCertificateUntrusted, .serverCertificateUntrusted),
        (.timedOut, .timedOut),
        (.unknown, .unknown),
        (.unsupportedURL, .unsupportedURL),
        (.userAuthenticationRequired, .userAuthenticationRequired),
        (.userCancelledAuthentication, .userCancelledAuthentication),
        (.zeroByteResource, .zeroByteResource),
    ]
}

extension RetryPolicy {
    /// Makes a policy with Alamofire's six settings, and with error codes of `URLError`.
    ///
    /// Codes without an ``HTTPError/Code`` are ignored.
    ///
    /// Numbers out of range are clamped.
    public init(
        retryLimit: Int = defaultRetryLimit,
        exponentialBackoffBase: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code>
    ) {
        self.init(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale,
            retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes,
            retryableErrorCodes: Set(
                retryableURLErrorCodes.compactMap { code in
                    let ours = HTTPError.Code(code)
                    return ours != .unknown || code == .unknown ? ours : nil
                }
            )
        )
    }
}
