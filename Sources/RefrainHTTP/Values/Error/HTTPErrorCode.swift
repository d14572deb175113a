// SPDX-License-Identifier: Apache-2.0
extension HTTPError {
    /// The kind of a failure.
    ///
    /// The first 48 cases are those of `URLError.Code`, under the same names; the rest have no counterpart there. Which
    /// of them are retried, and why, is documented in Documentation/Failures.md.
    ///
    /// A structure, so that codes can be added in a minor version: a `switch` over a code has a `default`.
    public struct Code: Hashable, Sendable {
        let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        // Said here, since a type with a raw value is otherwise compared and hashed by that: by text.

        /// Whether two codes are the same.
        public static func == (left: Code, right: Code) -> Bool { left.kind == right.kind }

        /// Feeds the code to a hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

        // MARK: As in URLError

        /// App Transport Security refused a connection without TLS.
        public static let appTransportSecurityRequiresSecureConnection = Code(
            .appTransportSecurityRequiresSecureConnection
        )
        /// Another process uses the background session.
        public static let backgroundSessionInUseByAnotherProcess = Code(.backgroundSessionInUseByAnotherProcess)
        /// The background session lacks its shared container.
        public static let backgroundSessionRequiresSharedContainer = Code(.backgroundSessionRequiresSharedContainer)
        /// The background session was suspended or ended by the system.
        public static let backgroundSessionWasDisconnected = Code(.backgroundSessionWasDisconnected)
        /// The response was not HTTP.
        public static let badServerResponse = Code(.badServerResponse)
        /// The URL is malformed or incomplete.
        public static let badURL = Code(.badURL)
        /// A phone call keeps the network busy.
        public static let callIsActive = Code(.callIsActive)
        /// The request was cancelled by the caller or by a reset.
        public static let cancelled = Code(.cancelled)
        /// A local file could not be closed.
        public static let cannotCloseFile = Code(.cannotCloseFile)
        /// No connection to the host could be established.
        public static let cannotConnectToHost = Code(.cannotConnectToHost)
        /// A local file could not be created.
        public static let cannotCreateFile = Code(.cannotCreateFile)
        /// The content does not match its announced content coding.
        public static let cannotDecodeContentData = Code(.cannotDecodeContentData)
        /// The raw content could not be decoded.
        public static let cannotDecodeRawData = Code(.cannotDecodeRawData)
        /// The host's name could not be resolved.
        public static let cannotFindHost = Code(.cannotFindHost)
        /// Only the cache was allowed, and it had no response.
        public static let cannotLoadFromNetwork = Code(.cannotLoadFromNetwork)
        /// A local file could not be moved.
        public static let cannotMoveFile = Code(.cannotMoveFile)
        /// A local file could not be opened.
        public static let cannotOpenFile = Code(.cannotOpenFile)
        /// The response could not be parsed.
        public static let cannotParseResponse = Code(.cannotParseResponse)
        /// A local file could not be removed.
        public static let cannotRemoveFile = Code(.cannotRemoveFile)
        /// A local file could not be written.
        public static let cannotWriteToFile = Code(.cannotWriteToFile)
        /// The server rejected the client's certificate.
        public static let clientCertificateRejected = Code(.clientCertificateRejected)
        /// The server required a client certificate.
        public static let clientCertificateRequired = Code(.clientCertificateRequired)
        /// The response is larger than its limit.
        public static let dataLengthExceedsMaximum = Code(.dataLengthExceedsMaximum)
        /// The mobile network refused data.
        public static let dataNotAllowed = Code(.dataNotAllowed)
        /// The lookup of the host's name failed.
        public static let dnsLookupFailed = Code(.dnsLookupFailed)
        /// A download could not be decoded in its middle.
        public static let downloadDecodingFailedMidStream = Code(.downloadDecodingFailedMidStream)
        /// A download could not be decoded at its end.
        public static let downloadDecodingFailedToComplete = Code(.downloadDecodingFailedToComplete)
        /// The file of a file URL or of a body does not exist.
        public static let fileDoesNotExist = Code(.fileDoesNotExist)
        /// The file of a file URL or of a body is a folder.
        public static let fileIsDirectory = Code(.fileIsDirectory)
        /// More redirects than allowed, or a redirect loop.
        public static let httpTooManyRedirects = Code(.httpTooManyRedirects)
        /// International roaming is off.
        public static let internationalRoamingOff = Code(.internationalRoamingOff)
        /// The connection was lost before the response was complete.
        public static let networkConnectionLost = Code(.networkConnectionLost)
        /// The file of a body is not readable.
        public static let noPermissionsToReadFile = Code(.noPermissionsToReadFile)
        /// There is no network connection.
        public static let notConnectedToInternet = Code(.notConnectedToInternet)
        /// A redirect has no usable target.
        public static let redirectToNonExistentLocation = Code(.redirectToNonExistentLocation)
        /// A one-shot body would have to be sent again.
        public static let requestBodyStreamExhausted = Code(.requestBodyStreamExhausted)
        /// The resource is unavailable.
        public static let resourceUnavailable = Code(.resourceUnavailable)
        /// The TLS handshake failed for a reason other than a certificate.
        public static let secureConnectionFailed = Code(.secureConnectionFailed)
        /// The server's certificate has expired.
        public static let serverCertificateHasBadDate = Code(.serverCertificateHasBadDate)
        /// The server's certificate was issued by an unknown authority.
        public static let serverCertificateHasUnknownRoot = Code(.serverCertificateHasUnknownRoot)
        /// The server's certificate is not valid yet.
        public static let serverCertificateNotYetValid = Code(.serverCertificateNotYetValid)
        /// The server's certificate does not match the host, or is not trusted for another reason.
        public static let serverCertificateUntrusted = Code(.serverCertificateUntrusted)
        /// The attempt exceeded a timeout.
        public static let timedOut = Code(.timedOut)
        /// An unclassified failure.
        public static let unknown = Code(.unknown)
        /// The scheme is neither http nor https.
        public static let unsupportedURL = Code(.unsupportedURL)
        /// Credentials are required.
        public static let userAuthenticationRequired = Code(.userAuthenticationRequired)
        /// The user declined to provide credentials.
        public static let userCancelledAuthentication = Code(.userCancelledAuthentication)
        /// The server announced content and sent none.
        public static let zeroByteResource = Code(.zeroByteResource)

        // MARK: Refrain's own

        /// The request is not valid HTTP, and was not sent.
        public static let invalidRequest = Code(.invalidRequest)
        /// The server reported that it did not process the request (HTTP/2 REFUSED_STREAM, or GOAWAY below the stream).
        public static let requestNotProcessed = Code(.requestNotProcessed)
        /// The proxy requires credentials.
        public static let proxyAuthenticationRequired = Code(.proxyAuthenticationRequired)
        /// The proxy refused to connect to the host, with a status that is final.
        public static let proxyRefused = Code(.proxyRefused)
        /// The name of the proxy could not be resolved.
        public static let cannotFindProxy = Code(.cannotFindProxy)
        /// The address of the host is one that the transport may not connect to, by the `destinations` of `CurlLoader`.
        public static let destinationRefused = Code(.destinationRefused)
        /// A redirect leads from https to http.
        public static let insecureRedirect = Code(.insecureRedirect)
        /// The server requested a longer delay than allowed; see ``HTTPError/retryAfterDate``.
        public static let retryAfterTooLong = Code(.retryAfterTooLong)
        /// A ``CircuitBreaker`` has refused the request; see ``HTTPError/retryAfterDate``.
        public static let circuitOpen = Code(.circuitOpen)
        /// The deadline of the whole call passed.
        public static let deadlineExceeded = Code(.deadlineExceeded)
        /// The chain is being reset and accepts no requests.
        public static let resetInProgress = Code(.resetInProgress)
        /// The body of a response cannot be read a second time.
        public static let bodyAlreadyRead = Code(.bodyAlreadyRead)
        /// An interceptor, a stage or a body source of the caller failed.
        public static let callerFailed = Code(.callerFailed)
        /// The session was invalidated.
        public static let sessionInvalidated = Code(.sessionInvalidated)
    }
}

extension HTTPError.Code: RawRepresentable, Codable, CaseIterable {
    /// The name of the code, such as `timedOut`.
    public var rawValue: String { kind.rawValue }

    /// Returns the code of a name, or nil for a name that is not known.
    public init?(rawValue: String) {
        guard let kind = Kind(rawValue: rawValue) else { return nil }
        self.init(kind)
    }

    /// All codes, in the order of their documentation.
    public static var allCases: [Self] { Kind.allCases.map { Self($0) } }
}

extension HTTPError.Code: CustomStringConvertible {
    /// The name of the code.
    public var description: String { rawValue }
}

extension HTTPError.Code {
    /// The known codes, for tables that name each of them.
    enum Kind: String, CaseIterable {
        case appTransportSecurityRequiresSecureConnection, backgroundSessionInUseByAnotherProcess
        case backgroundSessionRequiresSharedContainer, backgroundSessionWasDisconnected, badServerResponse, badURL
        case callIsActive, cancelled, cannotCloseFile, cannotConnectToHost, cannotCreateFile
        case cannotDecodeContentData, cannotDecodeRawData, cannotFindHost, cannotLoadFromNetwork, cannotMoveFile
        case cannotOpenFile, cannotParseResponse, cannotRemoveFile, cannotWriteToFile, clientCertificateRejected
        case clientCertificateRequired, dataLengthExceedsMaximum, dataNotAllowed, dnsLookupFailed
        case downloadDecodingFailedMidStream, downloadDecodingFailedToComplete, fileDoesNotExist, fileIsDirectory
        case httpTooManyRedirects, internationalRoamingOff, networkConnectionLost, noPermissionsToReadFile
        case notConnectedToInternet, redirectToNonExistentLocation, requestBodyStreamExhausted, resourceUnavailable
        case secureConnectionFailed, serverCertificateHasBadDate, serverCertificateHasUnknownRoot
        case serverCertificateNotYetValid, serverCertificateUntrusted, timedOut, unknown, unsupportedURL
        case userAuthenticationRequired, userCancelledAuthentication, zeroByteResource, invalidRequest
        case requestNotProcessed, proxyAuthenticationRequired, proxyRefused, cannotFindProxy, destinationRefused
        case insecureRedirect, retryAfterTooLong, circuitOpen, deadlineExceeded, resetInProgress, bodyAlreadyRead
        case callerFailed, sessionInvalidated
    }
}
