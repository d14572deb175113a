extension HTTPError {
    /// The kind of a failure.
    ///
    /// The first 48 cases are those of `URLError.Code`, under the same names; the rest have no counterpart there. Which
    /// of them are retried, and why, is documented in Documentation/Failures.md.
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
        /// The response was not HTTP.
        case badServerResponse
        /// The URL is malformed or incomplete.
        case badURL
        /// A phone call keeps the network busy.
        case callIsActive
        /// The request was cancelled by the caller or by a reset.
        case cancelled
        /// A local file could not be closed.
        case cannotCloseFile
        /// No connection to the host could be established.
        case cannotConnectToHost
        /// A local file could not be created.
        case cannotCreateFile
        /// The content does not match its announced content coding.
        case cannotDecodeContentData
        /// The raw content could not be decoded.
        case cannotDecodeRawData
        /// The host's name could not be resolved.
        case cannotFindHost
        /// Only the cache was allowed, and it had no response.
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
        /// The server required a client certificate.
        case clientCertificateRequired
        /// The response is larger than its limit.
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
        /// More redirects than allowed, or a redirect loop.
        case httpTooManyRedirects
        /// International roaming is off.
        case internationalRoamingOff
        /// The connection was lost before the response was complete.
        case networkConnectionLost
        /// The file of a body is not readable.
        case noPermissionsToReadFile
        /// There is no network connection.
        case notConnectedToInternet
        /// A redirect has no usable target.
        case redirectToNonExistentLocation
        /// A one-shot body would have to be sent again.
        case requestBodyStreamExhausted
        /// The resource is unavailable.
        case resourceUnavailable
        /// The TLS handshake failed for a reason other than a certificate.
        case secureConnectionFailed
        /// The server's certificate has expired.
        case serverCertificateHasBadDate
        /// The server's certificate was issued by an unknown authority.
        case serverCertificateHasUnknownRoot
        /// The server's certificate is not valid yet.
        case serverCertificateNotYetValid
        /// The server's certificate does not match the host, or is not trusted for another reason.
        case serverCertificateUntrusted
        /// The attempt exceeded a timeout.
        case timedOut
        /// An unclassified failure.
        case unknown
        /// The scheme is neither http nor https.
        case unsupportedURL
        /// Credentials are required.
        case userAuthenticationRequired
        /// The user declined to provide credentials.
        case userCancelledAuthentication
        /// The server announced content and sent none.
        case zeroByteResource

        // MARK: Refrain's own

        /// The request is not valid HTTP, and was not sent.
        case invalidRequest
        /// The server reported that it did not process the request (HTTP/2 REFUSED_STREAM, or GOAWAY below the stream).
        case requestNotProcessed
        /// The proxy requires credentials.
        case proxyAuthenticationRequired
        /// The proxy refused to connect to the host, with a status that is final.
        case proxyRefused
        /// The name of the proxy could not be resolved.
        case cannotFindProxy
        /// The address of the host is one that the transport may not connect to (``DestinationPolicy``).
        case destinationRefused
        /// A redirect leads from https to http.
        case insecureRedirect
        /// The server requested a longer delay than allowed; see ``HTTPError/retryAfterDate``.
        case retryAfterTooLong
        /// The deadline of the whole call passed.
        case deadlineExceeded
        /// The chain is being reset and accepts no requests.
        case resetInProgress
        /// The body of a response cannot be read a second time.
        case bodyAlreadyRead
        /// An interceptor, a stage or a body source of the caller failed.
        case callerFailed
        /// The session was invalidated.
        case sessionInvalidated
    }
}
