public import Foundation
public import RefrainHTTP

extension HTTPError.Code {
    /// The kind of failure that a code of `URLError` names; a code that has no name here is ``unknown``.
    public init(_ code: URLError.Code) { self = ErrorCodes.ours[code] ?? .unknown }
}

extension URLError.Code {
    /// The code of `URLError` for a kind of failure, or nil for the kinds that only Refrain tells apart.
    public init?(_ code: HTTPError.Code) {
        guard let code = ErrorCodes.theirs[code] else { return nil }
        self = code
    }
}

/// The 48 failures that both sides name.
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
