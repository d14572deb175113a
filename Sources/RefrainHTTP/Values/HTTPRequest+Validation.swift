#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPRequest {
    /// Returns this request as a transport may send it, with its idempotency key in its header fields.
    ///
    /// Transports call this first, so that no CR, LF or NUL reaches a header field, no request breaks HTTP framing, and
    /// a key that was set is sent.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidRequest``, ``HTTPError/Code/badURL`` or
    ///   ``HTTPError/Code/unsupportedURL``, whose message names the invalid part.
    public func validated() throws(HTTPError) -> HTTPRequest {
        let request = try withIdempotencyKeyWritten()
        try request.validate()
        return request
    }

    /// Checks the request as ``validated()`` does, without the key and without returning a copy.
    ///
    /// - Returns: the offset in the URL's text where the origin ends, if the origin consists of a scheme, an ASCII host
    ///   and an optional port; nil for all other URLs.
    @discardableResult
    package func validate() throws(HTTPError) -> Int? {
        func refuse(_ code: HTTPError.Code, _ message: String) -> HTTPError {
            HTTPError(code, request: self, message: message, bytesSent: 0)
        }
        let endOfOrigin = endOfPlainOrigin
        if endOfOrigin == nil {
            guard let scheme = url.scheme else {
                throw refuse(.badURL, "the URL is relative; name a host, or put ApplyEnvironment into the chain")
            }
            guard origin != nil else {
                let isHTTP = ["http", "https"].contains(scheme.lowercased())
                guard isHTTP else {
                    throw refuse(.unsupportedURL, "the scheme \(scheme) is not supported; only http and https are")
                }
                throw (url.host() ?? "").isEmpty
                    ? refuse(.badURL, "the URL names no host")
                    : refuse(.badURL, "the host is none that DNS knows; spell it as it stands there (xn--…)")
            }
        }
        guard method == .get || method.isValid else {
            throw refuse(.invalidRequest, "the method \"\(method)\" is not a token (RFC 9110 §5.6.2)")
        }
        for field in headers {
            guard HTTPToken.isValid(field.name) else {
                throw refuse(.invalidRequest, "the header name \"\(field.name)\" is not a token (RFC 9110 §5.1)")
            }
            guard HTTPToken.isValidFieldValue(field.value) else {
                throw refuse(
                    .invalidRequest,
                    "the value of the header \(field.name) contains a control character or white space at an end"
                )
            }
            guard !Self.fieldsOfTheTransport.contains(where: { HTTPHeaders.isSame($0, field.name) }) else {
                throw refuse(.invalidRequest, "the header \(field.name) is the transport's to set")
            }
        }
        if let contentType = bodyContentType, contentType.isEmpty || !HTTPToken.isValidFieldValue(contentType) {
            throw refuse(
                .invalidRequest,
                "the content type of the body is empty, or contains a control character or white space at an end; "
                    + "expected a media type such as text/plain (RFC 9110 §8.3.1)"
            )
        }
        return endOfOrigin
    }

    /// The offset where a plain origin ends, or nil if the URL needs a full parse.
    private var endOfPlainOrigin: Int? {
        url.absoluteString.utf8.withContiguousStorageIfAvailable(URLText.endOfPlainOrigin) ?? nil
    }

    /// Fields that frame the message.
    ///
    /// The transport derives them from the body; a caller's value could contradict it.
    private static let fieldsOfTheTransport = [
        "Transfer-Encoding", "Content-Length", "Upgrade",
    ]
}
