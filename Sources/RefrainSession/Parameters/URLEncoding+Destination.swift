#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension URLEncoding {
    /// The part of a request that encoded parameters are added to.
    public enum Destination: Hashable, Sendable {
        /// The query for GET, HEAD and DELETE, otherwise the body.
        case methodDependent
        /// The query.
        case queryString
        /// The body.
        case httpBody

        func isQuery(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method == .get || method == .head || method == .delete
            case .queryString: true
            case .httpBody: false
            }
        }

        /// Adds form text to the destination, after an existing query.
        func add(_ text: String, into request: HTTPRequest) throws(RefrainError) -> HTTPRequest {
            var request = request
            guard isQuery(for: request.method) else {
                let type = "application/x-www-form-urlencoded; charset=utf-8"
                request.body = .bytes(Array(text.utf8), contentType: type)
                return request
            }
            guard !text.isEmpty else { return request }
            guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else {
                let url = request.url.absoluteString
                throw .parameterEncodingFailed(
                    error: InvalidArgument("url", is: url, expected: "a URL that can have a query")
                )
            }
            parts.percentEncodedQuery = [parts.percentEncodedQuery, text].compactMap { $0 }.filter { !$0.isEmpty }
                .joined(separator: "&")
            guard let url = parts.url else {
                throw .parameterEncodingFailed(error: InvalidArgument("query", is: text, expected: "a valid query"))
            }
            request.url = url
            return request
        }
    }
}
