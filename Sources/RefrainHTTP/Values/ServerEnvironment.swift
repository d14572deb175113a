#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A server that requests are meant for: production, staging, a test server.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = ServerEnvironment(host: "api.example.com", pathPrefix: "/v1")
/// }
/// ```
///
/// A stage ``ApplyEnvironment`` completes relative URLs with it. The idea is from "HTTP in Swift".
public struct ServerEnvironment: Hashable, Sendable {
    /// `https` or `http`.
    public var scheme: String
    /// The host's name or address.
    public var host: String
    /// The port; nil: the scheme's own.
    public var port: Int?
    /// What stands before every relative path.
    public var pathPrefix: String
    /// Header fields for requests that do not have them.
    public var headers: HTTPHeaders
    /// Query items for requests that do not have them.
    public var query: [URLQueryItem]

    /// Describes a server; what is wrong with it is told with the first request that it is applied to.
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
    /// The server that this request is meant for; nil: that of the stage ``ApplyEnvironment``.
    public var serverEnvironment: ServerEnvironment? {
        get { self[option: ServerEnvironmentOption.self] }
        set { self[option: ServerEnvironmentOption.self] = newValue }
    }

    /// Makes a request whose server is yet to be named, by ``ServerEnvironment``.
    ///
    /// - Parameters:
    ///   - path: the path, not percent-encoded. One without a slash in front comes after the server's prefix.
    ///   - query: the items of the query, not percent-encoded.
    ///   - method: what is to be done.
    ///   - headers: the header fields.
    ///   - body: what is sent along.
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/badURL`` for a path that none can be made of.
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
