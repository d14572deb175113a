// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Something that can be read as a URL.
public protocol URLConvertible: Sendable {
    /// Returns the URL.
    ///
    /// - Throws: an error if there is no valid URL.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// The URL that the text spells.
    ///
    /// Text without a scheme is a relative URL, which an adapter can complete; a request for one fails when it is sent.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/badURL`` or ``HTTPError/Code/unsupportedURL``.
    public func asURL() throws -> URL { try URLText.parse(self, isComplete: false) }
}

extension URL: URLConvertible {
    /// The URL itself.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// Returns the URL of the components.
    ///
    /// - Throws: ``InvalidArgument`` if the components are not a valid URL; its message contains no user information.
    public func asURL() throws -> URL {
        if let url { return url }
        var shown = self
        shown.user = nil
        shown.password = nil
        throw InvalidArgument("url", is: "\(shown)", expected: "parts that make a URL")
    }
}

extension Session {
    /// Something that can be made into a request.
    public protocol RequestConvertible: Sendable {
        /// Returns the request.
        ///
        /// - Throws: an error if there is none; the request fails with ``RefrainError/createRequestFailed(error:)``.
        func asHTTPRequest() throws -> HTTPRequest
    }
}

extension HTTPRequest: Session.RequestConvertible {
    /// The request itself.
    public func asHTTPRequest() throws -> HTTPRequest { self }
}
