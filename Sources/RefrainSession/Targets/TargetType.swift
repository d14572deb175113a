#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One call of an API, as a case of an enumeration or a value: everything that a session needs to make it.
///
/// ```swift
/// enum GitHub: TargetType {
///     case user(String)
///     case search(String)
///     var baseURL: URL { URL(string: "https://api.github.com")! }
///     var path: String { switch self { case .user(let name): "/users/\(name)"; case .search: "/search/users" } }
///     var task: TargetTask {
///         switch self { case .user: .requestPlain; case .search(let text): .requestParameters(["q": .string(text)]) }
///     }
///     var validationType: ValidationType { .successCodes }
/// }
/// let user = try await session.request(GitHub.user("ada")).serializingDecodable(User.self).value
/// ```
///
/// The idea is from Moya.
public protocol TargetType: Sendable {
    /// What all calls of the API have in common.
    var baseURL: URL { get }
    /// The path of this call; it is appended to the base, and may be empty.
    var path: String { get }
    /// What is asked.
    var method: HTTPMethod { get }
    /// What is sent along.
    var task: TargetTask { get }
    /// The header fields.
    var headers: HTTPHeaders { get }
    /// Which statuses are accepted.
    var validationType: ValidationType { get }
    /// Adapts and retries this call, after the session's interceptor.
    var interceptor: (any RequestInterceptor)? { get }
    /// What ``TargetStubs`` answers.
    var sampleData: Data { get }
}

extension TargetType {
    /// GET.
    public var method: HTTPMethod { .get }
    /// Nothing.
    public var task: TargetTask { .requestPlain }
    /// None.
    public var headers: HTTPHeaders { [:] }
    /// Every status.
    public var validationType: ValidationType { .none }
    /// None.
    public var interceptor: (any RequestInterceptor)? { nil }
    /// Nothing.
    public var sampleData: Data { Data() }

    /// The request for this call.
    ///
    /// - Throws: ``RefrainError``, which the call fails with.
    func makeRequest() throws -> HTTPRequest {
        let url = path.isEmpty ? baseURL : baseURL.appending(path: path)
        var request = try task.apply(to: HTTPRequest(url, method: method, headers: headers))
        request[option: TargetOption.self] = self
        return request
    }
}

/// What a call sends along.
public enum TargetTask: Sendable {
    /// Nothing.
    case requestPlain
    /// Bytes.
    case requestData(Data, contentType: String? = nil)
    /// A value as JSON.
    case requestJSONEncodable(any Encodable & Sendable)
    /// A value as JSON, by an encoder of the caller's.
    case requestCustomJSONEncodable(any Encodable & Sendable, encoder: JSONEncoder)
    /// Named parameters, by method in the query or the body unless told otherwise.
    case requestParameters(Parameters, encoding: any ParameterEncoding = URLEncoding.default)
    /// Parameters in the query, and bytes in the body.
    case requestCompositeData(Data, query: Parameters, contentType: String? = nil)
    /// Parameters in the query, and others in the body.
    case requestCompositeParameters(query: Parameters, body: Parameters, encoding: any ParameterEncoding)
    /// A local file.
    case uploadFile(URL)
    /// A form of several parts.
    case uploadMultipart([HTTPBody.Part])
    /// Parameters in the query, and a form of several parts.
    case uploadCompositeMultipart([HTTPBody.Part], query: Parameters)

    /// Whether the call is an upload, whose progress is counted.
    var isUpload: Bool {
        switch self {
        case .uploadFile, .uploadMultipart, .uploadCompositeMultipart: true
        default: false
        }
    }

    fileprivate func apply(to request: HTTPRequest) throws -> HTTPRequest {
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
        case .uploadFile(let url): request.body = .file(url.path(percentEncoded: false))
        case .uploadMultipart(let parts): request.body = try .multipart(parts)
        case .uploadCompositeMultipart(let parts, let query):
            request = try URLEncoding.queryString.encode(request, with: query)
            request.body = try .multipart(parts)
        }
        return request
    }
}

enum TargetOption: HTTPRequestOption {
    static let defaultValue: (any TargetType)? = nil
}
