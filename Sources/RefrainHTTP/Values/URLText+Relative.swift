#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension URLText {
    /// A relative URL of a path and a query.
    static func relative(path: String, query: [URLQueryItem]) throws(HTTPError) -> URL {
        var parts = URLComponents()
        parts.path = path
        if !query.isEmpty { parts.queryItems = query }
        // Two slashes would begin a host, and a colon in the first segment a scheme.
        let firstSegment = path.prefix { $0 != "/" }
        guard !path.hasPrefix("//"), !firstSegment.contains(":"), let url = parts.url else {
            let unknown = URL(string: "about:invalid") ?? URL(filePath: "/")
            throw HTTPError(
                .badURL,
                request: HTTPRequest(unknown),
                message: "\"\(path.prefix(200))\" is not a path; one such as people/1 is wanted",
                bytesSent: 0
            )
        }
        return url
    }

    /// The URL, completed by a server where it is relative.
    ///
    /// - Throws: `InvalidArgument` for a server that no URL can be made of.
    static func complete(_ url: URL, with environment: ServerEnvironment) throws(InvalidArgument) -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        guard parts.scheme == nil else { return url }
        parts.scheme = environment.scheme
        if parts.host == nil {
            try complete(&parts, with: environment)
        }
        guard let completed = parts.url else {
            throw InvalidArgument("ServerEnvironment.pathPrefix", is: environment.pathPrefix, expected: "a path")
        }
        return completed
    }

    private static func complete(
        _ parts: inout URLComponents,
        with environment: ServerEnvironment
    ) throws(InvalidArgument) {
        let host = environment.host
        let isAddress = host.contains(":") && !host.hasPrefix("[")
        let spelled = isAddress ? "[\(host)]" : host
        let port = environment.port.map { ":\($0)" } ?? ""
        // Read back as a whole, so that a host can be nothing but a host.
        let probe = try? parse("\(environment.scheme)://\(spelled)\(port)/")
        guard let probe, URLComponents(url: probe, resolvingAgainstBaseURL: false)?.percentEncodedPath == "/",
            probe.user() == nil, probe.password() == nil, probe.query() == nil, probe.fragment() == nil
        else {
            throw InvalidArgument(
                "ServerEnvironment",
                is: "\(environment.scheme)://\(spelled)\(port)",
                expected: "the scheme http or https, a host and a port from 1 to 65535"
            )
        }
        parts.encodedHost = URLComponents(url: probe, resolvingAgainstBaseURL: false)?.encodedHost
        parts.port = environment.port
        if !parts.percentEncodedPath.hasPrefix("/") {
            var prefix = URLComponents()
            prefix.path = environment.pathPrefix
            var path = prefix.percentEncodedPath
            if !path.hasPrefix("/") { path = "/" + path }
            if !path.hasSuffix("/"), !parts.percentEncodedPath.isEmpty { path += "/" }
            parts.percentEncodedPath = path + parts.percentEncodedPath
        }
    }
}
