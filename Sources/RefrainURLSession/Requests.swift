// SPDX-License-Identifier: Apache-2.0
public import RefrainHTTP

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest {
    /// Makes a request with method, URL, header fields and body, or nil if the body is not in memory.
    ///
    /// The idempotency key is among the fields (rule R5); with one that cannot be written the result is nil. Other
    /// options and timeouts are not copied, because the chain applies them. `URLRequest` has no representation of a
    /// file or stream body that is common to Linux and Apple platforms; collect such a body first.
    public init?(_ request: HTTPRequest) {
        guard request.body.isEmpty || request.body.dataInMemory != nil,
            let request = try? request.withIdempotencyKeyWritten()
        else { return nil }
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
    /// Adds header fields, and combines those of the same name.
    ///
    /// Values are separated by commas, cookies by semicolons (RFC 9113 §8.2.3).
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
    /// Makes a request with method, URL, header fields and body, or nil without a URL or with a body stream.
    ///
    /// The fields are in alphabetical order, because `URLRequest` keeps none. `Content-Length` and `Transfer-Encoding`
    /// are omitted; the transport sets them.
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
    /// Makes a response with status, header fields and body, or nil if it is not an HTTP response.
    ///
    /// The fields are in alphabetical order and repeated ones are combined, as `HTTPURLResponse` returns them.
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
