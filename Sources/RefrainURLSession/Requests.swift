public import RefrainHTTP

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest {
    /// The request with its method, URL, fields and body of bytes, or nil where the body is not in memory.
    ///
    /// Options and time limits stay behind: they are the chain's. `URLRequest` has no form of a body of a file or a
    /// stream that Linux and Apple share; collect it first.
    public init?(_ request: HTTPRequest) {
        guard request.body.isEmpty || request.body.dataInMemory != nil else { return nil }
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        add(request.headers)
        if let type = request.body.contentType, !request.headers.contains("Content-Type") {
            setValue(type, forHTTPHeaderField: "Content-Type")
        }
        if !request.body.isEmpty { httpBody = request.body.dataInMemory }
    }
}

extension URLRequest {
    /// Adds fields; those of one name become one.
    ///
    /// Commas separate their values, and semicolons cookies (RFC 9113 §8.2.3).
    mutating func add(_ fields: HTTPHeaders) {
        for field in fields {
            if HTTPHeaders.isSame(field.name, "Cookie"), let others = value(forHTTPHeaderField: "Cookie") {
                setValue("\(others); \(field.value)", forHTTPHeaderField: "Cookie")
            } else {
                addValue(field.value, forHTTPHeaderField: field.name)
            }
        }
    }
}

extension HTTPRequest {
    /// The request with its method, URL, fields and body of bytes, or nil where it has no URL or a body stream.
    ///
    /// The fields come in alphabetical order, since `URLRequest` keeps none. `Content-Length` and
    /// `Transfer-Encoding` are left out: the transport sets them.
    public init?(_ request: URLRequest) {
        guard let url = request.url, request.httpBodyStream == nil else { return nil }
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
            .filter { name, _ in
                !HTTPHeaders.isSame(name, "Content-Length") && !HTTPHeaders.isSame(name, "Transfer-Encoding")
            }
        self.init(
            url,
            method: HTTPMethod(rawValue: request.httpMethod ?? "GET"),
            headers: HTTPHeaders(fields.map { ($0.key, $0.value) }),
            body: request.httpBody.map { .bytes($0) } ?? .empty
        )
    }
}

extension HTTPResponse {
    /// The response with its status, fields and body, or nil where it is none of HTTP.
    ///
    /// The fields come in alphabetical order, and repeated ones joined, as `HTTPURLResponse` hands them out.
    public init?(_ response: URLResponse, to request: HTTPRequest, body: HTTPBody = .empty) {
        guard let response = response as? HTTPURLResponse else { return nil }
        let fields = response.allHeaderFields.map { ("\($0.key)", "\($0.value)") }.sorted { $0.0 < $1.0 }
        self.init(
            request: request,
            status: HTTPStatus(rawValue: response.statusCode),
            headers: HTTPHeaders(fields),
            body: body
        )
    }
}
