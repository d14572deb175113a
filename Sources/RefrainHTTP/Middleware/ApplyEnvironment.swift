#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Completes requests whose URL is relative: scheme, host, path prefix, header fields and query of a server.
///
/// ```swift
/// let loader = ApplyEnvironment(.production) --> CurlLoader()
/// let people = try await loader.response(for: HTTPRequest(path: "people"))
/// ```
///
/// The request's own environment (``HTTPRequest/serverEnvironment``) comes before that of the stage. What a request
/// says itself stays: its header fields, its query items, a path that begins with a slash. A request whose URL is
/// absolute is left alone unless it goes to the same origin, so that no key of one server is sent to another. What a
/// redirect has taken from a request is not given back to it. The idea is from "HTTP in Swift".
public struct ApplyEnvironment: HTTPMiddleware {
    /// The server of requests that name none; nil: these go on as they are.
    public let environment: ServerEnvironment?

    /// Makes the stage.
    public init(_ environment: ServerEnvironment? = nil) {
        self.environment = environment
    }

    /// Hands on the completed request.
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
    /// This request as it goes to a server.
    func completed(with environment: ServerEnvironment) throws(InvalidArgument) -> HTTPRequest {
        var request = self
        request.url = try URLText.complete(url, with: environment)
        let server = HTTPRequest(try URLText.complete(URLText.root, with: environment)).origin
        guard let server, request.origin == server else { return request }
        for field in environment.headers where !headers.contains(field.name) {
            request.headers.add(field.name, field.value)
        }
        // Also on its way back here: whoever sent it here is not to speak for the caller (rules R6, R26).
        request = request.withoutDroppedHeaders()
        guard !environment.query.isEmpty,
            var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        else { return request }
        let own = Set((parts.queryItems ?? []).map(\.name))
        let missing = URLText.encoded(environment.query.filter { !own.contains($0.name) })
        guard !missing.isEmpty else { return request }
        // The request's own items stay byte for byte as they were spelled.
        parts.percentEncodedQuery = [parts.percentEncodedQuery ?? "", missing].filter { !$0.isEmpty }
            .joined(separator: "&")
        request.url = parts.url ?? request.url
        return request
    }
}

extension URLText {
    /// The relative URL of a server's root.
    fileprivate static var root: URL { URL(string: "/") ?? URL(filePath: "/") }

    /// Query items, percent-encoded; a plus sign, too, since many servers read it as a space.
    fileprivate static func encoded(_ items: [URLQueryItem]) -> String {
        var parts = URLComponents()
        parts.queryItems = items
        return (parts.percentEncodedQuery ?? "").replacing("+", with: "%2B")
    }
}
