#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Something that can be read as a URL.
public protocol URLConvertible: Sendable {
    /// A request for the URL.
    ///
    /// - Throws: an error that says why this is no URL.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// The URL that the text spells.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/badURL`` or ``HTTPError/Code/unsupportedURL``.
    public func asURL() throws -> URL { try URLText.parse(self) }
}

extension URL: URLConvertible {
    /// The URL itself.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// The URL of the parts.
    ///
    /// - Throws: ``InvalidArgument`` where the parts make no URL; it shows neither user nor password.
    public func asURL() throws -> URL {
        if let url { return url }
        var shown = self
        shown.user = nil
        shown.password = nil
        throw InvalidArgument("url", is: "\(shown)", expected: "parts that make a URL")
    }
}

/// Something that can be made into a request.
public protocol HTTPRequestConvertible: Sendable {
    /// The request.
    ///
    /// - Throws: an error that says why there is none; the request fails with
    ///   ``RefrainError/createRequestFailed(error:)``.
    func asHTTPRequest() throws -> HTTPRequest
}

extension HTTPRequest: HTTPRequestConvertible {
    /// The request itself.
    public func asHTTPRequest() throws -> HTTPRequest { self }
}
