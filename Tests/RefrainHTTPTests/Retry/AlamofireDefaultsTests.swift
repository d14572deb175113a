// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

/// The bare policy, held against lists that were written by hand from Alamofire's, not from the code.
@Suite("Alamofire's defaults")
struct AlamofireDefaultsTests {
    private let policy = RetryPolicy()

    private func reason(_ policy: RetryPolicy, _ context: RetryContext) -> RetryReason {
        policy.decide(in: context).reason
    }

    @Test("A: default methods: DELETE, GET, HEAD, OPTIONS, PUT and TRACE, and none besides")
    func methods() {
        #expect(RetryPolicy.defaultRetryableHTTPMethods == ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"])
        for method: HTTPMethod in ["get", "POST", "PATCH", "CONNECT", "QUERY", "PROPFIND"] {
            #expect(!policy.decide(in: context(method, .status(503))).retries, "\(method)")
        }
    }

    @Test("A: default statuses: of all there can be, 408, 500, 502, 503 and 504")
    func statuses() {
        #expect(RetryPolicy.defaultRetryableHTTPStatusCodes == [408, 500, 502, 503, 504])
        let retried = (100...999).filter { policy.decide(in: context(.get, .status(HTTPStatus(rawValue: $0)))).retries }
        #expect(retried == [408, 500, 502, 503, 504])
    }

    private let retryable: Set<HTTPError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse, .callIsActive,
        .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed, .dnsLookupFailed,
        .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete, .internationalRoamingOff,
        .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed, .serverCertificateHasBadDate,
        .serverCertificateNotYetValid, .timedOut,
    ]

    private let others: Set<HTTPError.Code> = [
        .appTransportSecurityRequiresSecureConnection, .backgroundSessionRequiresSharedContainer, .badURL, .cancelled,
        .cannotCloseFile, .cannotCreateFile, .cannotDecodeContentData, .cannotDecodeRawData, .cannotMoveFile,
        .cannotOpenFile, .cannotParseResponse, .cannotRemoveFile, .cannotWriteToFile, .clientCertificateRejected,
        .clientCertificateRequired, .dataLengthExceedsMaximum, .fileDoesNotExist, .fileIsDirectory,
        .httpTooManyRedirects, .noPermissionsToReadFile, .redirectToNonExistentLocation,
        .requestBodyStreamExhausted, .resourceUnavailable, .serverCertificateHasUnknownRoot,
        .serverCertificateUntrusted, .unknown, .unsupportedURL, .userAuthenticationRequired,
        .userCancelledAuthentication, .zeroByteResource,
    ]

    @Test("A: default error codes: of URLError's 48 these 18 are tried again, and each code says why or why not")
    func errorCodes() {
        #expect(retryable.count == 18 && retryable.union(others).count == 48)
        #expect(RetryPolicy.defaultRetryableErrorCodes == retryable)
        for code in retryable.union(others) {
            #expect(policy.decide(in: context(.get, .failure(code))).retries == retryable.contains(code), "\(code)")
            #expect(code.retryabilityReason.count > 10, "\(code)")
        }
    }

    @Test("A: decision order: the limit decides first, then the method, then the status, then the error code")
    func order() throws {
        // Whatever the later ones say, an earlier one has the word.
        let open = RetryPolicy(retryableHTTPMethods: [.post], retryableHTTPStatusCodes: [503])
        #expect(reason(open, context(.post, .status(503), attempt: 3)) == .attemptsUsedUp)
        #expect(reason(open, context(.get, .status(404), attempt: 3)) == .attemptsUsedUp)
        #expect(reason(open, context(.get, .failure(.badURL), attempt: 3)) == .attemptsUsedUp)
        #expect(reason(open, context(.get, .status(503))) == .notReplayable)
        #expect(reason(open, context(.get, .status(404))) == .notReplayable)
        #expect(reason(open, context(.get, .failure(.timedOut))) == .notReplayable)
        #expect(reason(open, context(.post, .status(404))) == .finalStatus)
        #expect(reason(open, context(.post, .failure(.badURL))) == .finalFailure)
        #expect(open.decide(in: context(.post, .status(503))).retries)
        #expect(open.decide(in: context(.post, .failure(.timedOut))).retries)
        // Neither a success nor a cancellation is a matter of attempts.
        #expect(reason(open, context(.post, .status(200), attempt: 3)) == .succeeded)
        #expect(reason(open, context(.post, .failure(.cancelled), attempt: 3)) == .cancelled)
    }

    @Test("A: RetryPolicy: 0.5, 1, 2, 4 s are its delays, and they grow with each of its settings")
    func delays() throws {
        let longer = RetryPolicy(retryLimit: 4)
        #expect(
            (1...5).map { longer.decide(in: context(.get, .status(503), attempt: $0)).range?.upperBound } == [
                .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), nil,
            ]
        )
        let steep = RetryPolicy(retryLimit: 3, exponentialBackoffBase: 10, exponentialBackoffScale: 0.001)
        #expect(
            (1...4).map { steep.decide(in: context(.get, .status(503), attempt: $0)).range } == [
                .milliseconds(1)...(.milliseconds(1)), .milliseconds(10)...(.milliseconds(10)),
                .milliseconds(100)...(.milliseconds(100)), nil,
            ]
        )
    }
}
