#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension URLText {
    /// Makes a relative URL from a path and query items.
    static func relative(path: String, query: [URLQueryItem]) throws(HTTPError) -> URL {
        var parts = URLComponents()
        parts.path = path
        if !query.isEmpty { parts.queryItems = query }
        // Two leading slashes would start a host, and a colon in the first segment a scheme.
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

    /// Completes a relative URL with the scheme, host, port and prefix of a server; returns an absolute URL unchanged.
    ///
    /// The URL is assembled as text and parsed, because the setters of `URLComponents` trap on invalid values.
    ///
    /// - Throws: `InvalidArgument` if the environment does not make a valid URL.
    static func complete(_ url: URL, with environment: ServerEnvironment) throws(InvalidArgument) -> URL {
        let text = url.absoluteString
        guard url.scheme == nil else { return url }
        let server = try Self.text(of: environment)
        let completedText: String
        if text.hasPrefix("//") {
            completedText = "\(environment.scheme):\(text)"
        } else if text.hasPrefix("/") {
            completedText = server + text
        } else {
            var prefix = URLComponents()
            prefix.path = environment.pathPrefix
            var path = prefix.percentEncodedPath
            if !path.hasPrefix("/") { path = "/" + path }
            let continuesPath = !text.isEmpty && !text.hasPrefix("?") && !text.hasPrefix("#")
            if continuesPath, !path.hasSuffix("/") { path += "/" }
            completedText = server + path + text
        }
        guard let completed = URL(string: completedText) else {
            throw InvalidArgument("ServerEnvironment", is: completedText, expected: "a part of a URL")
        }
        return completed
    }

    /// Scheme, host and port of a server as text.
    ///
    /// Throws if one of them contains anything else.
    private static func text(of environment: ServerEnvironment) throws(InvalidArgument) -> String {
        let host = environment.host
        // A name has no colon; an IPv6 address has two or more, and hexadecimal digits.
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
