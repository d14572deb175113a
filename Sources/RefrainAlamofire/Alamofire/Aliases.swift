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
/// The response of a data request.
public typealias AFDataResponse<Success: Sendable> = DataResponse<Success, RefrainError>
/// The response of a download, whose `fileURL` is set.
public typealias AFDownloadResponse<Success: Sendable> = DataResponse<Success, RefrainError>
/// The response of a download, whose `fileURL` is set.
public typealias DownloadResponse<Success: Sendable, Failure: Error> = DataResponse<Success, Failure>

/// Something that can be made into a request, under Alamofire's names.
public protocol URLRequestConvertible: HTTPRequestConvertible {
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

    /// The body in memory; nil if there is none, or if it is a file or a stream.
    public var httpBody: Data? {
        get {
            guard let bytes = body.dataInMemory, !bytes.isEmpty else { return nil }
            return bytes
        }
        set { body = newValue.map { .data($0) } ?? .empty }
    }

    /// The header fields by name; the lines of one name are joined by commas.
    public var allHTTPHeaderFields: [String: String]? {
        get { headers.dictionary }
        set { headers = HTTPHeaders(newValue ?? [:]) }
    }

    /// The value of a header field, or nil.
    public func value(forHTTPHeaderField name: String) -> String? { headers[name] }

    /// Sets a header field; nil removes it.
    public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) { headers[name] = value }

    /// Adds a line of a header field.
    public mutating func addValue(_ value: String, forHTTPHeaderField name: String) { headers.add(name, value) }
}

extension HTTPResponse {
    /// The header fields by name; the lines of one name are joined by commas.
    public var allHeaderFields: [String: String] { headers.dictionary }

    /// The value of a header field, or nil.
    public func value(forHTTPHeaderField name: String) -> String? { headers[name] }
}
