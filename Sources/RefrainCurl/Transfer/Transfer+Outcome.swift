internal import CurlShim
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Transfer {
    /// Makes an error of this transfer, with the bytes sent and the response so far.
    func failure(
        _ code: HTTPError.Code,
        message: String? = nil,
        underlyingError: (any Error)? = nil
    ) -> HTTPError {
        HTTPError(
            code,
            request: request,
            response: arrivedResponse,
            underlyingError: underlyingError,
            message: message,
            bytesSent: bytesSent
        )
    }

    /// Makes the error of a body that cannot be decoded.
    func undecodable(_ reason: String) -> HTTPError {
        failure(.cannotDecodeContentData, message: "the body cannot be decoded: \(reason)")
    }

    /// Returns the error for libcurl's result; nil if the response is complete.
    func outcome(of result: CURLcode) -> HTTPError? {
        guard let handle else { return nil }
        var result = result
        if result == CURLE_HTTP2_STREAM, head.isComplete, wireSize == wireLength {
            // The server has responded, and needs no more of the request (RFC 9113 §8.1).
            result = CURLE_OK
            isAnsweredEarly = true
        }
        if CurlVersion.hidesRefusal, result == CURLE_SEND_ERROR, handle.errorMessage == nil, !head.hasBegun {
            stream.noteRefusalIfOpen()
        }
        exchange.bytesReceived = refrain_get_offset(handle.easy, CURLINFO_SIZE_DOWNLOAD_T)
        exchange.bytesSent = bytesSent
        if let stopReason {
            var error = stopReason
            error.response = arrivedResponse
            error.bytesSent = bytesSent
            return error
        }
        if result == CURLE_OK || isWholeDespite(result) {
            // Guard 1: libcurl reports success also if the peer closed the connection within the head.
            guard head.isComplete else {
                // Newer versions (8.23) reuse this connection for the next request, which would be lost.
                if !stream.isKnown { connection?.isSerial = true }
                let message = "the connection was closed before the head of the response was complete"
                return failure(.networkConnectionLost, message: message)
            }
            guard !endOfTLSIsMissing else {
                let message = "the connection was closed without the end of TLS, so the body may be cut short"
                return failure(.networkConnectionLost, message: message)
            }
            // Guard 1: libcurl may interpret the fields with the length of the body differently.
            if let wireLength, wireSize != wireLength {
                let message = "\(wireSize) bytes of the body came, and the head of the response says \(wireLength)"
                return failure(wireSize < wireLength ? .networkConnectionLost : .badServerResponse, message: message)
            }
            guard !readsIgnoredLength(handle) else {
                let message = "a length beside a transfer coding says nothing (RFC 9112 §6.3), and libcurl went by it"
                return failure(.badServerResponse, message: message)
            }
            guard decoder?.isComplete ?? true else {
                return undecodable("all of it came, yet its \(head.coding) ends too soon")
            }
            return nil
        }
        if expectationFailed(result) {
            // The handle is not reused, as after any request that libcurl was prevented from sending again.
            isAnsweredEarly = true
            return nil
        }
        let text =
            if resendWasRefused {
                if streamWasRefused {
                    "the server did not process the request"
                } else if stream.inputWasRefused {
                    "the server's frames break the rules or limits of HTTP/2"
                } else if stream.wantsHTTP1 {
                    "the server wants the request over HTTP/1.1 (HTTP_1_1_REQUIRED)"
                } else {
                    "the connection was lost before an answer came"
                }
            } else if stream.answerWasDropped {
                "the server answered before it had the whole request, and libcurl has dropped the answer; over HTTP/1.1 "
                    + "it is read"
            } else if result == CURLE_COULDNT_RESOLVE_HOST, isNameServerSilent {
                "no name server has answered whether there is the host \(nameToLookUp ?? "")"
            } else if result == CURLE_SSL_PINNEDPUBKEYNOTMATCH {
                "the server's public key is none of those that are pinned for its host; it is "
                    + "\(shownKey ?? "unknown"), to be pinned only if you know from elsewhere that it is the server's"
            } else {
                handle.errorMessage ?? String(cString: curl_easy_strerror(result))
            }
        let proxyStatus = refrain_get_long(handle.easy, CURLINFO_HTTP_CONNECTCODE)
        let proxyAnswer =
            proxyStatus >= 300
            ? HTTPError.ProxyAnswer(status: HTTPStatus(rawValue: proxyStatus), headers: handle.proxyHead.headers) : nil
        if policyRefused, sends == 0, result == CURLE_COULDNT_CONNECT, opened.isEmpty {
            let message = "the address of the host is none that connections may be made to"
            return failure(.destinationRefused, message: message)
        }
        let failed = CurlLoader.Failure(code: Int32(result.rawValue), message: text)
        let facts = CurlErrorMapping(
            result: result,
            message: text,
            hasMessage: handle.errorMessage != nil,
            wasSent: sends > 0,
            isNameServerSilent: isNameServerSilent,
            headIsComplete: head.isComplete,
            isPaused: isReceivePaused,
            resendWasRefused: resendWasRefused,
            streamWasRefused: streamWasRefused,
            inputWasRefused: stream.inputWasRefused,
            systemError: Int32(truncatingIfNeeded: refrain_get_long(handle.easy, CURLINFO_OS_ERRNO)),
            verification: refrain_get_long(handle.easy, CURLINFO_SSL_VERIFYRESULT),
            hasClientCertificate: handle.trust.hasCertificate,
            proxyStatus: proxyStatus,
            proxyMayConnectLater: proxyAnswer?.isTransient ?? true
        )
        var error = failure(facts.code, message: text, underlyingError: failed)
        if facts.refusesTunnel { error.proxyAnswer = proxyAnswer }
        return error
    }

    /// Delivers the end of the transfer to the caller: a response, an error, or the end of a stream.
    func complete(_ error: HTTPError?) {
        // A partial response is delivered as a stream: first the response, then the data received.
        if streams || isBodyBroken(error), head.isComplete, pipe != nil || error != nil { openStream() }
        upload.close()
        upload = .none
        owner = nil
        if case .none = completion {
            pipe?.finish(error)
        } else if let error {
            finish(.failure(error))
        } else if head.isComplete {
            finish(.success(response(with: HTTPBody(.bytes(body.take())))))
        } else {
            finish(.failure(HTTPError(.unknown, request: request)))
        }
    }

    /// Whether this is the failure of a body that could have been delivered as a stream.
    ///
    /// The decision about its response then depends on the head, as if the body had failed later (rule R28): a redirect
    /// is followed, and a transient status is retried with its `Retry-After`.
    private func isBodyBroken(_ error: HTTPError?) -> Bool {
        guard handOverLimit != .never, let error else { return false }
        return error.code != .cancelled && error.code != .timedOut
    }

    /// Whether the response is complete although sending failed: a server that responds early may close the connection
    /// before it has read the whole request.
    private func isWholeDespite(_ result: CURLcode) -> Bool {
        guard result == CURLE_SEND_ERROR, head.isComplete, let wireLength else { return false }
        return wireSize == wireLength
    }

    /// Whether the server has rejected the request's `Expect` with a 417, whose body is complete.
    ///
    /// libcurl drops the body of a 417 in order to send the request again. If the connection stays open, it calls the
    /// callback before that only after it has read the body to its end; otherwise only an empty body is complete.
    private func expectationFailed(_ result: CURLcode) -> Bool {
        guard head.isComplete, head.status == 417 else { return false }
        // If it does not announce requests, the limit on redirects prevents that it sends again.
        guard resendWasRefused else { return result == CURLE_TOO_MANY_REDIRECTS }
        return result == CURLE_ABORTED_BY_CALLBACK || wireLength == 0 || CurlVersion.mayLeaveRefusalUnread
    }

    /// Whether libcurl (8.14) took the length of the body from a field that must be ignored.
    private func readsIgnoredLength(_ handle: EasyHandle) -> Bool {
        guard head.hasTransferCoding, !head.isChunked, wireLength == nil else { return false }
        return refrain_get_offset(handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) >= 0
    }

    /// The response as far as it was received; nil without a complete head.
    private var arrivedResponse: HTTPResponse? {
        guard pipe == nil, !streams, head.isComplete else { return nil }
        exchange.bytesSent = bytesSent
        return response(with: HTTPBody(.bytes(body.bytes)))
    }

    /// Makes the response with this body.
    func response(with body: HTTPBody) -> HTTPResponse {
        HTTPResponse(
            request: request,
            status: HTTPStatus(rawValue: head.status),
            headers: head.headers,
            body: body,
            exchange: exchange
        )
    }
}
