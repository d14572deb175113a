// SPDX-License-Identifier: Apache-2.0
/// A response's status code (RFC 9110 §15).
public struct HTTPStatus: RawRepresentable, Hashable, Sendable, Codable, Comparable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
{
    /// The three-digit code.
    public let rawValue: Int

    /// Makes a status from its code.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Makes a status from its code.
    public init(integerLiteral code: Int) { rawValue = code }

    /// The code as text.
    public var description: String { "\(rawValue)" }

    /// Whether the left code is the smaller one.
    public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool { left.rawValue < right.rawValue }

    /// Whether this is a 1xx status, which precedes the final response.
    public var isInformational: Bool { (100..<200).contains(rawValue) }
    /// Whether this is a 2xx status.
    public var isSuccess: Bool { (200..<300).contains(rawValue) }
    /// Whether this is a 3xx status.
    public var isRedirection: Bool { (300..<400).contains(rawValue) }
    /// Whether this is a 4xx status.
    public var isClientError: Bool { (400..<500).contains(rawValue) }
    /// Whether this is a 5xx status.
    public var isServerError: Bool { (500..<600).contains(rawValue) }

    /// 200 OK.
    public static let ok: HTTPStatus = 200
    /// 204 No Content.
    public static let noContent: HTTPStatus = 204
    /// 206 Partial Content.
    public static let partialContent: HTTPStatus = 206
    /// 304 Not Modified.
    public static let notModified: HTTPStatus = 304
    /// 401 Unauthorized.
    public static let unauthorized: HTTPStatus = 401
    /// 403 Forbidden.
    public static let forbidden: HTTPStatus = 403
    /// 404 Not Found.
    public static let notFound: HTTPStatus = 404
    /// 407 Proxy Authentication Required.
    public static let proxyAuthenticationRequired: HTTPStatus = 407
    /// 408 Request Timeout.
    public static let requestTimeout: HTTPStatus = 408
    /// 409 Conflict.
    public static let conflict: HTTPStatus = 409
    /// 413 Content Too Large.
    public static let contentTooLarge: HTTPStatus = 413
    /// 416 Range Not Satisfiable.
    public static let rangeNotSatisfiable: HTTPStatus = 416
    /// 421 Misdirected Request.
    public static let misdirectedRequest: HTTPStatus = 421
    /// 422 Unprocessable Content.
    public static let unprocessableContent: HTTPStatus = 422
    /// 425 Too Early.
    public static let tooEarly: HTTPStatus = 425
    /// 429 Too Many Requests.
    public static let tooManyRequests: HTTPStatus = 429
    /// 500 Internal Server Error.
    public static let internalServerError: HTTPStatus = 500
    /// 502 Bad Gateway.
    public static let badGateway: HTTPStatus = 502
    /// 503 Service Unavailable.
    public static let serviceUnavailable: HTTPStatus = 503
    /// 504 Gateway Timeout.
    public static let gatewayTimeout: HTTPStatus = 504
}
