// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Completes requests with a relative URL from a server's scheme, host, path prefix, header fields and query items.
///
/// ```swift
/// let loader = ApplyEnvironment(.production) --> PlatformLoader()
/// let people = try await loader.response(
///     for: HTTPRequest(path: "people")
/// )
/// ```
///
/// ``HTTPRequest/serverEnvironment`` takes precedence over the stage's environment. The request's own values take
/// precedence over the environment's: its header fields, its query items, and a path that begins with a slash. A
/// request with an absolute URL is changed only if it goes to the same origin, so that credentials of one server are
/// not sent to another. Header fields that a redirect removed are not added again.
public struct ApplyEnvironment: HTTPMiddleware {
    /// The environment of requests that set none; nil leaves these unchanged.
    public let environment: ServerEnvironment?

    /// Makes the stage.
    public init(_ environment: ServerEnvironment? = nil) {
        self.environment = environment
    }

    /// Forwards the completed request.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard let environment = request.serverEnvironment ?? environment else { return await next.load(request) }
        do throws(InvalidArgument) {
            return await next.load(try request.completed(with: environment))
        } catch {
            return .failure(
                HTTPError(
                    .badURL,
                    request: request,
                    underlyingError: error,
                    message: error.description,
                    bytesSent: 0
                )
            )
        }
    }
}

extension HTTPRequest {
    /// Returns this request completed for a server.
    func completed(with environment: ServerEnvironment) throws(InvalidArgument) -> HTTPRequest {
        var request = self
        request.url = try URLText.complete(url, with: environment)
        let server = HTTPRequest(try URLText.complete(URLText.root, with: environment)).origin
        guard let server, request.origin == server else { return request }
        for field in environment.headers where !headers.contains(field.name) {
            request.headers.add(field.name, field.value)
        }
        // Also if a redirect leads back to this origin: the other origin must not use the caller's credentials.
        request = request.withoutDroppedHeaders()
        guard !environment.query.isEmpty,
            var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        else { return request }
        let own = Set((parts.queryItems ?? []).map(\.name))
        let missing = URLText.encoded(environment.query.filter { !own.contains($0.name) })
        guard !missing.isEmpty else { return request }
        // The request's own items keep their encoding.
        parts.percentEncodedQuery = [parts.percentEncodedQuery ?? "", missing].filter { !$0.isEmpty }
            .joined(separator: "&")
        request.url = parts.url ?? request.url
        return request
    }
}

extension URLText {
    /// The relative URL of the root path.
    fileprivate static var root: URL { URL(string: "/") ?? URL(filePath: "/") }
}
