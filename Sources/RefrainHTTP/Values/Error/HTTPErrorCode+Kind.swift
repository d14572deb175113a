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
        case insecureRedirect, retryAfterTooLong, deadlineExceeded, resetInProgress, bodyAlreadyRead, callerFailed
        case sessionInvalidated
    }
}
