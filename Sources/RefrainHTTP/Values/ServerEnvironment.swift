// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The server of relative requests, such as production, staging or a test server.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = ServerEnvironment(
///         host: "api.example.com", pathPrefix: "/v1"
///     )
/// }
/// ```
///
/// ``ApplyEnvironment`` completes relative URLs with it.
public struct ServerEnvironment: Hashable, Sendable {
    /// `https` or `http`.
    public var scheme: String
    /// The host name or address.
    public var host: String
    /// The port; defaults to the scheme's.
    public var port: Int?
    /// The prefix of every relative path.
    public var pathPrefix: String
    /// Header fields, added to requests that do not have them.
    public var headers: HTTPHeaders
    /// Query items, added to requests that do not have them.
    public var query: [URLQueryItem]

    /// Makes an environment.
    ///
    /// Its values are checked when it is applied to a request, which fails if they are invalid.
    public init(
        scheme: String = "https",
        host: String,
        port: Int? = nil,
        pathPrefix: String = "/",
        headers: HTTPHeaders = [:],
        query: [URLQueryItem] = []
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.pathPrefix = pathPrefix
        self.headers = headers
        self.query = query
    }
}

private enum ServerEnvironmentOption: HTTPRequestOption {
    static let defaultValue: ServerEnvironment? = nil
}

extension HTTPRequest {
    /// The environment of this request; defaults to that of the ``ApplyEnvironment`` stage.
    public var serverEnvironment: ServerEnvironment? {
        get { self[option: ServerEnvironmentOption.self] }
        set { self[option: ServerEnvironmentOption.self] = newValue }
    }

    /// Makes a request with a relative URL, to be completed by a ``ServerEnvironment``.
    ///
    /// - Parameters:
    ///   - path: the path, not percent-encoded. A path without a leading slash is appended to the environment's prefix.
    ///   - query: the query items, not percent-encoded.
    ///   - method: the method. Defaults to GET.
    ///   - headers: the header fields.
    ///   - body: the body.
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/badURL`` if no URL can be made of the path.
    public init(
        path: String,
        query: [URLQueryItem] = [],
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) throws(HTTPError) {
        self.init(try URLText.relative(path: path, query: query), method: method, headers: headers, body: body)
    }
}
