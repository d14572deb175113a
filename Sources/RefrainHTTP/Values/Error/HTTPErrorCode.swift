extension HTTPError {
    /// What kind of failure it was.
    ///
    /// The first 48 are those of `URLError.Code`, under the same names; the rest say what `URLError` cannot. Which
    /// of them are tried again, and why, stands in `FailureTable`.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        // MARK: As in URLError

        /// App Transport Security refused a connection without TLS.
        case appTransportSecurityRequiresSecureConnection
        /// Another process uses the background session.
        case backgroundSessionInUseByAnotherProcess
        /// The background session lacks its shared container.
        case backgroundSessionRequiresSharedContainer
        /// The background session was suspended or ended by the system.
        case backgroundSessionWasDisconnected
        /// What arrived was not HTTP.
        case badServerResponse
        /// The URL is malformed or incomplete.
        case badURL
        /// A phone call keeps the network busy.
        case callIsActive
        /// The caller, or a reset, ended the request.
        case cancelled
        /// A local file could not be closed.
        case cannotCloseFile
        /// No connection to the host could be made.
        case cannotConnectToHost
        /// A local file could not be created.
        case cannotCreateFile
        /// The content coding was announced, and could not be undone.
        case cannotDecodeContentData
        /// The raw content could not be decoded.
        case cannotDecodeRawData
        /// The host's name could not be resolved.
        case cannotFindHost
        /// Only the cache was allowed, and it had nothing.
        case cannotLoadFromNetwork
        /// A local file could not be moved.
        case cannotMoveFile
        /// A local file could not be opened.
        case cannotOpenFile
        /// The response could not be parsed.
        case cannotParseResponse
        /// A local file could not be removed.
        case cannotRemoveFile
        /// A local file could not be written.
        case cannotWriteToFile
        /// The server rejected the client's certificate.
        case clientCertificateRejected
        /// The server wanted a client certificate.
        case clientCertificateRequired
        /// The response is larger than the caller allowed.
        case dataLengthExceedsMaximum
        /// The mobile network refused data.
        case dataNotAllowed
        /// The lookup of the host's name failed.
        case dnsLookupFailed
        /// A download could not be decoded in its middle.
        case downloadDecodingFailedMidStream
        /// A download could not be decoded at its end.
        case downloadDecodingFailedToComplete
        /// The file of a file URL or of a body does not exist.
        case fileDoesNotExist
        /// The file of a file URL or of a body is a folder.
        case fileIsDirectory
        /// More redirects than are allowed, or a loop of them.
        case httpTooManyRedirects
        /// International roaming is off.
        case internationalRoamingOff
        /// The connection broke before the response was complete.
        case networkConnectionLost
        /// The file of a body may not be read.
        case noPermissionsToReadFile
        /// There is no network.
        case notConnectedToInternet
        /// A redirect has no usable target.
        case redirectToNonExistentLocation
        /// A body that can be read only once would have to be sent again.
        case requestBodyStreamExhausted
        /// The resource could not be had.
        case resourceUnavailable
        /// The TLS handshake failed, for another reason than a certificate.
        case secureConnectionFailed
        /// The server's certificate has expired.
        case serverCertificateHasBadDate
        /// The server's certificate comes from an unknown authority.
        case serverCertificateHasUnknownRoot
        /// The server's certificate is not valid yet.
        case serverCertificateNotYetValid
        /// The server's certificate does not fit the host, or is not trusted for another reason.
        case serverCertificateUntrusted
        /// The try's own time was up.
        case timedOut
        /// The failure has no name.
        case unknown
        /// The scheme is neither http nor https.
        case unsupportedURL
        /// Credentials are wanted.
        case userAuthenticationRequired
        /// The user refused to give credentials.
        case userCancelledAuthentication
        /// The server announced content and sent none.
        case zeroByteResource

        // MARK: Refrain's own

        /// The request breaks HTTP's rules, and was not sent.
        case invalidRequest
        /// The server says that it did not process the request (HTTP/2 REFUSED_STREAM, or GOAWAY below the stream).
        case requestNotProcessed
        /// The proxy wants credentials.
        case proxyAuthenticationRequired
        /// A redirect leads from https to http.
        case insecureRedirect
        /// The local retry budget is empty; the server was not asked again (rule R22).
        case budgetExhausted
        /// The server asked for a longer wait than is allowed; ``HTTPError/comeBackAt`` says until when (rule R18).
        case comeBackLater
        /// The deadline of the whole call passed (rule R20).
        case deadlineExceeded
        /// The chain is being reset, and takes no requests.
        case resetInProgress
        /// The body of a response cannot be read a second time.
        case bodyAlreadyRead
        /// An interceptor, a stage or a body source of the caller's failed.
        case callerFailed
        /// The session is no longer usable.
        case sessionInvalidated
    }
}
