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
    /// It is put together as text, and read back: the setters of `URLComponents` trap on what they do not like.
    ///
    /// - Throws: `InvalidArgument` for a server that no URL can be made of.
    static func complete(_ url: URL, with environment: ServerEnvironment) throws(InvalidArgument) -> URL {
        let text = url.absoluteString
        guard url.scheme == nil else { return url }
        let server = try Self.text(of: environment)
        let whole: String
        if text.hasPrefix("//") {
            whole = "\(environment.scheme):\(text)"
        } else if text.hasPrefix("/") {
            whole = server + text
        } else {
            var prefix = URLComponents()
            prefix.path = environment.pathPrefix
            var path = prefix.percentEncodedPath
            if !path.hasPrefix("/") { path = "/" + path }
            let continuesPath = !text.isEmpty && !text.hasPrefix("?") && !text.hasPrefix("#")
            if continuesPath, !path.hasSuffix("/") { path += "/" }
            whole = server + path + text
        }
        guard let completed = URL(string: whole) else {
            throw InvalidArgument("ServerEnvironment", is: whole, expected: "a part of a URL")
        }
        return completed
    }

    /// Scheme, host and port of a server, checked to be these and nothing else.
    private static func text(of environment: ServerEnvironment) throws(InvalidArgument) -> String {
        let host = environment.host
        // A name has no colon; an address has two or more, and hexadecimal digits.
        let isAddress =
            host.utf8.count { $0 == UInt8(ascii: ":") } >= 2
            && host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        let port = environment.port.map { ":\($0)" } ?? ""
        let text = "\(environment.scheme)://\(isAddress ? "[\(host)]" : host)\(port)"
        guard let url = try? parse(text + "/"), url.path(percentEncoded: true) == "/", url.port == environment.port,
            url.user() == nil, url.password() == nil, url.query() == nil, url.fragment() == nil
        else {
            throw InvalidArgument(
                "ServerEnvironment",
                is: withoutUserinfo(text),
                expected: "the scheme http or https, a host and a port from 1 to 65535"
            )
        }
        return text
    }
}
