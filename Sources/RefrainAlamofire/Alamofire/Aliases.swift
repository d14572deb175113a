// SPDX-License-Identifier: Apache-2.0
@_exported public import Refrain

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The default session, under Alamofire's name for it.
public let AF = Session.default

/// The error of a session's request.
public typealias AFError = RefrainError
/// A value, or the error of a session's request.
public typealias AFResult<Success> = Result<Success, RefrainError>
/// One field line, under Alamofire's name for it.
public typealias HTTPHeader = HTTPHeaders.Field
/// The response of a data request.
public typealias AFDataResponse<Success: Sendable> = DataResponse<Success, RefrainError>
/// The response of a download, whose `fileURL` is set.
public typealias AFDownloadResponse<Success: Sendable> = DataResponse<Success, RefrainError>
/// The response of a download, whose `fileURL` is set.
public typealias DownloadResponse<Success: Sendable, Failure: Error> = DataResponse<Success, Failure>

/// A request, under the name that interceptors written for Alamofire have in their signatures.
///
/// With it they are called as they are pasted. A file that imports FoundationNetworking as well does not compile where
/// it says `URLRequest`: that would be another type, and its interceptors would not be called.
public typealias URLRequest = HTTPRequest
/// A response, under the name that authenticators and validations written for Alamofire have in their signatures.
public typealias HTTPURLResponse = HTTPResponse

/// Something that can be made into a request, under Alamofire's names.
public protocol URLRequestConvertible: Session.RequestConvertible {
    /// Returns the request.
    ///
    /// - Throws: an error if there is none; the request fails with `RefrainError.createRequestFailed(error:)`.
    func asURLRequest() throws -> HTTPRequest
}

extension URLRequestConvertible {
    /// Returns the request.
    public func asHTTPRequest() throws -> HTTPRequest { try asURLRequest() }
    /// The request, or nil.
    public var urlRequest: HTTPRequest? { try? asURLRequest() }
}

extension HTTPRequest: URLRequestConvertible {
    /// The request itself.
    public func asURLRequest() throws -> HTTPRequest { self }
}

extension HTTPRequest {
    /// Makes a request for a URL.
    public init(url: URL) { self.init(url) }

    /// Makes a request.
    ///
    /// - Throws: the error of `url`, if that is none.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        self.init(try url.asURL(), method: method, headers: headers ?? [:])
    }

    /// The method as text, as `URLRequest` has it; nil stands for GET.
    public var httpMethod: String? {
        get { method.rawValue }
        set { method = newValue.map { HTTPMethod(rawValue: $0) } ?? .get }
    }

    /// The limit of each attempt in seconds; zero if there is none.
    ///
    /// Set, it limits the wait for the first byte and for each further one, as `URLRequest` does.
    public var timeoutInterval: Double {
        get { timeouts.idle.map { $0 / .seconds(1) } ?? 0 }
        set {
            timeouts.idle = .delay(seconds: newValue)
            timeouts.firstByte = .delay(seconds: newValue)
        }
    }

    /// The body in memory; nil if there is none, or if it is a file or a stream.
    public var httpBody: Data? {
        get {
            guard let bytes = body.dataInMemory, !bytes.isEmpty else { return nil }
            return bytes
        }
        set { body = newValue.map { .data($0) } ?? .empty }
    }

    /// The header fields by name, the media type of the body among them; the lines of one name are joined by commas.
    public var allHTTPHeaderFields: [String: String]? {
        get { typed.dictionary }
        set { headers = HTTPHeaders(newValue ?? [:]) }
    }

    /// The value of a header field, or nil; `Content-Type` is the media type of the body, if it is not set.
    public func value(forHTTPHeaderField name: String) -> String? {
        headers[name] ?? (name.lowercased() == "content-type" ? body.contentType : nil)
    }

    private var typed: HTTPHeaders {
        var headers = headers
        if !headers.contains("Content-Type"), let type = body.contentType { headers["Content-Type"] = type }
        return headers
    }

    /// Sets a header field; nil removes it.
    public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) { headers[name] = value }

    /// Adds a line of a header field.
    public mutating func addValue(_ value: String, forHTTPHeaderField name: String) { headers.add(name, value) }
}

extension HTTPRequest: Equatable {
    /// Whether both are sent alike: method, URL, header fields, and a body of the same bytes in memory.
    public static func == (left: HTTPRequest, right: HTTPRequest) -> Bool {
        left.method == right.method && left.url == right.url && left.headers == right.headers
            && left.body.dataInMemory == right.body.dataInMemory
    }
}

extension HTTPResponse: Equatable {
    /// Whether both have the same head: URL, status and header fields.
    public static func == (left: HTTPResponse, right: HTTPResponse) -> Bool {
        left.url == right.url && left.status == right.status && left.headers == right.headers
    }
}

extension HTTPResponse {
    /// Makes a response without a body, as `HTTPURLResponse` is made; it is never nil.
    ///
    /// - Parameters:
    ///   - url: the URL of its request.
    ///   - statusCode: the status.
    ///   - httpVersion: the version, such as `HTTP/1.1`, the default.
    ///   - headerFields: the header fields by name.
    public init?(url: URL, statusCode: Int, httpVersion: String? = nil, headerFields: [String: String]? = nil) {
        let version = httpVersion.map { $0.hasPrefix("HTTP/") ? String($0.dropFirst(5)) : $0 } ?? "1.1"
        self.init(
            request: HTTPRequest(url),
            status: HTTPStatus(rawValue: statusCode),
            headers: HTTPHeaders(headerFields ?? [:]),
            exchange: HTTPResponse.Exchange(version: version)
        )
    }

    /// The header fields by name; the lines of one name are joined by commas.
    public var allHeaderFields: [String: String] { headers.dictionary }

    /// The value of a header field, or nil.
    public func value(forHTTPHeaderField name: String) -> String? { headers[name] }
}
