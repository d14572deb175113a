// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One endpoint of an API: all values that a session needs to make the request.
///
/// ```swift
/// enum GitHub: TargetType {
///     case user(String)
///     case search(String)
///     var baseURL: URL { URL(string: "https://api.github.com")! }
///     var method: HTTPMethod { .get }
///     var headers: [String: String]? { nil }
///     var path: String {
///         switch self {
///         case .user(let name): "/users/\(name)"
///         case .search: "/search/users"
///         }
///     }
///     var task: TargetTask {
///         switch self {
///         case .user: .requestPlain
///         case .search(let text):
///             .requestParameters(["q": .string(text)])
///         }
///     }
///     var validationType: ValidationType { .successCodes }
/// }
/// let user = try await session.request(GitHub.user("ada"))
///     .serializingDecodable(User.self)
///     .value
/// ```
///
/// Names and types are Moya's. Properties without a default in Moya have none here, so that a property of another type
/// does not compile.
public protocol TargetType: Sendable {
    /// The base URL of the API.
    var baseURL: URL { get }
    /// The path, appended to the base URL; may be empty.
    var path: String { get }
    /// The method.
    var method: HTTPMethod { get }
    /// The body and the parameters.
    var task: TargetTask { get }
    /// The header fields; nil: none.
    var headers: [String: String]? { get }
    /// The statuses that are accepted; defaults to all.
    var validationType: ValidationType { get }
    /// Adapts and retries this request, after the session's interceptor; defaults to nil.
    var interceptor: (any RequestInterceptor)? { get }
    /// The data that ``Session/TargetStubs`` returns; defaults to none.
    var sampleData: Data { get }
}

extension TargetType {
    /// Returns `.none`, which accepts every status.
    public var validationType: ValidationType { .none }
    /// Returns nil.
    public var interceptor: (any RequestInterceptor)? { nil }
    /// Returns no bytes.
    public var sampleData: Data { Data() }

    /// Makes the request.
    ///
    /// - Parameter boundary: the boundary of a form.
    /// - Throws: ``RefrainError``, with which the request fails.
    fileprivate func makeRequest(boundary: String) throws -> HTTPRequest {
        let url = path.isEmpty ? baseURL : baseURL.appending(path: path)
        let bare = HTTPRequest(url, method: method, headers: HTTPHeaders(headers ?? [:]))
        var request = try task.apply(to: bare, boundary: boundary)
        request[option: TargetOption.self] = self
        return request
    }
}

/// The body and the parameters of a target's request.
public enum TargetTask: Sendable {
    /// Neither a body nor parameters.
    case requestPlain
    /// Bytes.
    case requestData(Data, contentType: String? = nil)
    /// A value as JSON.
    case requestJSONEncodable(any Encodable & Sendable)
    /// A value as JSON, with a custom encoder.
    case requestCustomJSONEncodable(any Encodable & Sendable, encoder: JSONEncoder)
    /// Named parameters, by default in the query or the body depending on the method.
    case requestParameters(Parameters, encoding: any ParameterEncoding = URLEncoding.default)
    /// Parameters in the query, and bytes in the body.
    case requestCompositeData(Data, query: Parameters, contentType: String? = nil)
    /// Parameters in the query and in the body.
    case requestCompositeParameters(query: Parameters, body: Parameters, encoding: any ParameterEncoding)
    /// A local file.
    case uploadFile(URL)
    /// A multipart form.
    case uploadMultipart([HTTPBody.Part])
    /// Parameters in the query, and a multipart form.
    case uploadCompositeMultipart([HTTPBody.Part], query: Parameters)

    /// Whether the request is an upload, whose progress is reported.
    var isUpload: Bool {
        switch self {
        case .uploadFile, .uploadMultipart, .uploadCompositeMultipart: true
        default: false
        }
    }

    fileprivate func apply(to request: HTTPRequest, boundary: String) throws -> HTTPRequest {
        var request = request
        switch self {
        case .requestPlain: break
        case .requestData(let data, let type): request.body = .bytes(data, contentType: type)
        case .requestJSONEncodable(let value): return try JSONParameterEncoder.default.encode(value, into: request)
        case .requestCustomJSONEncodable(let value, let encoder):
            return try JSONParameterEncoder(encoder: encoder).encode(value, into: request)
        case .requestParameters(let parameters, let encoding): return try encoding.encode(request, with: parameters)
        case .requestCompositeData(let data, let query, let type):
            request = try URLEncoding.queryString.encode(request, with: query)
            request.body = .bytes(data, contentType: type)
        case .requestCompositeParameters(let query, let body, let encoding):
            return try encoding.encode(URLEncoding.queryString.encode(request, with: query), with: body)
        case .uploadFile(let url): request.body = .file(url.localPath)
        case .uploadMultipart(let parts): request.setContent(try .multipart(parts, boundary: boundary))
        case .uploadCompositeMultipart(let parts, let query):
            request = try URLEncoding.queryString.encode(request, with: query)
            request.setContent(try .multipart(parts, boundary: boundary))
        }
        return request
    }
}

private enum TargetOption: HTTPRequestOption {
    static let defaultValue: (any TargetType)? = nil
}

/// The statuses that a target accepts.
public enum ValidationType: Hashable, Sendable {
    /// All statuses.
    case none
    /// 200 to 299.
    case successCodes
    /// 200 to 399.
    case successAndRedirectCodes
    /// These statuses; all if the list is empty.
    case customCodes([Int])

    /// The accepted statuses; nil means all.
    public var statusCodes: [Int]? {
        switch self {
        case .none: nil
        case .successCodes: Array(200..<300)
        case .successAndRedirectCodes: Array(200..<400)
        case .customCodes(let codes): codes.isEmpty ? nil : codes
        }
    }
}

extension Session {
    /// Makes the request of a target, with its validation and interceptor.
    public func request(_ target: some TargetType) -> DataRequest {
        let original = RequestFactory(Call(target: target))
        let request =
            target.task.isUpload
            ? UploadRequest(original, interceptors: interceptorChain(with: target.interceptor), session: box)
            : DataRequest(original, interceptors: interceptorChain(with: target.interceptor), session: box)
        if let codes = target.validationType.statusCodes { request.validate(statusCode: codes) }
        return adopting(request)
    }

    /// Makes a download of a target into a file.
    public func download(_ target: some TargetType, to fileURL: URL) -> DownloadRequest {
        let original = RequestFactory(Call(target: target))
        let request = DownloadRequest(
            original,
            to: .file(fileURL),
            interceptors: interceptorChain(with: target.interceptor),
            session: box
        )
        if let codes = target.validationType.statusCodes { request.validate(statusCode: codes) }
        return adopting(request)
    }
}

private struct Call: Session.RequestConvertible {
    let target: any TargetType
    /// One for all attempts, since a server may compare the bytes of requests with one idempotency key.
    private let boundary = HTTPBody.randomBoundary

    init(target: any TargetType) { self.target = target }

    func asHTTPRequest() throws -> HTTPRequest { try target.makeRequest(boundary: boundary) }
}

extension Session {
    /// A transport that returns the sample data of targets, for tests and previews.
    ///
    /// ```swift
    /// let session = Session(loader: Session.TargetStubs())
    /// let offline = Session(
    ///     loader: Session.TargetStubs { _ in
    ///         .networkError(.notConnectedToInternet)
    ///     }
    /// )
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
