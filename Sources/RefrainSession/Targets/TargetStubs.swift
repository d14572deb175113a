#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// A transport that returns the sample data of targets, for tests and previews.
    ///
    /// ```swift
    /// let session = Session(loader: Session.TargetStubs())
    /// let offline = Session(loader: Session.TargetStubs { _ in .networkError(.notConnectedToInternet) })
    /// ```
    public struct TargetStubs: HTTPLoader {
        /// The response to a target.
        public enum Stub: Sendable {
            /// A response with a status, a body and header fields.
            case networkResponse(Int, Data, headers: HTTPHeaders = [:])
            /// An error instead of a response.
            case networkError(HTTPError.Code)
            /// The response of the other loader.
            case never
        }

        private let stub: @Sendable (any TargetType) -> Stub
        private let others: (any HTTPLoader)?

        /// Makes the transport.
        ///
        /// - Parameters:
        ///   - others: loads requests without a target, and targets without a stub. If nil, the default, these fail
        ///     with `HTTPError.Code.resourceUnavailable`.
        ///   - stub: the response to a target. Defaults to status 200 with its sample data.
        public init(
            others: (any HTTPLoader)? = nil,
            stub: @escaping @Sendable (any TargetType) -> Stub = { .networkResponse(200, $0.sampleData) }
        ) {
            self.others = others
            self.stub = stub
        }

        /// Returns the stub of a request.
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
}
