#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A transport that answers targets with their sample data, for tests and previews.
///
/// ```swift
/// let session = Session(loader: TargetStubs())
/// let offline = Session(loader: TargetStubs { _ in .networkError(.notConnectedToInternet) })
/// ```
public struct TargetStubs: HTTPLoader {
    /// What a target is answered with.
    public enum Stub: Sendable {
        /// A response with a body.
        case networkResponse(Int, Data, headers: HTTPHeaders = [:])
        /// No response.
        case networkError(HTTPError.Code)
        /// What the loader for all others brings.
        case never
    }

    private let stub: @Sendable (any TargetType) -> Stub
    private let others: (any HTTPLoader)?

    /// Makes the transport.
    ///
    /// - Parameters:
    ///   - others: loads requests that are no targets, and targets without a stub; nil: these fail with
    ///     `HTTPError.Code.resourceUnavailable`.
    ///   - stub: what a target is answered with; unless told otherwise, 200 and its sample data.
    public init(
        others: (any HTTPLoader)? = nil,
        stub: @escaping @Sendable (any TargetType) -> Stub = { .networkResponse(200, $0.sampleData) }
    ) {
        self.others = others
        self.stub = stub
    }

    /// Answers a request.
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        switch request[option: TargetOption.self].map(stub) ?? .never {
        case .networkResponse(let status, let data, let headers):
            return .success(
                HTTPResponse(
                    request: request,
                    status: HTTPStatus(rawValue: status),
                    headers: headers,
                    body: .bytes(data)
                )
            )
        case .networkError(let code):
            return .failure(HTTPError(code, request: request, message: "a stub said so", bytesSent: 0))
        case .never:
            if let others { return await others.load(request) }
            let message = "there is no stub for this request"
            return .failure(HTTPError(.resourceUnavailable, request: request, message: message, bytesSent: 0))
        }
    }
}
