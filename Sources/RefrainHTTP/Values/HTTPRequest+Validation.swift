#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPRequest {
    /// This request, if a transport may send it.
    ///
    /// Transports call this before they touch the network, so that no CR, LF or NUL reaches a header field, and no
    /// request breaks the framing of HTTP.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidRequest``, ``HTTPError/Code/badURL`` or
    ///   ``HTTPError/Code/unsupportedURL``, which names the culprit.
    public func validated() throws(HTTPError) -> HTTPRequest {
        try validate()
        return self
    }

    /// As ``validated()``, for those who have the request already.
    ///
    /// - Returns: where the origin ends in the text of the URL, if that was seen at a glance: if it consists of a
    ///   scheme, a host in plain ASCII and perhaps a port.
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
        return endOfOrigin
    }

    /// Where the origin ends if the URL obviously names a host; nil where it takes more than a glance to tell.
    private var endOfPlainOrigin: Int? {
        url.absoluteString.utf8.withContiguousStorageIfAvailable(URLText.endOfPlainOrigin) ?? nil
    }

    /// Fields that frame the message: what a caller set here could only contradict the body.
    private static let fieldsOfTheTransport = [
        "Transfer-Encoding", "Content-Length", "Upgrade",
    ]
}
