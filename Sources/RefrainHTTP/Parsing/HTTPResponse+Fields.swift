#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPResponse {
    /// The status code as a number.
    public var statusCode: Int { status.rawValue }

    /// The standard's phrase for the status, such as `Not Found` (RFC 9110 §15); that of the class for others.
    public var message: String { status.message }

    /// The URL that the response came from: that of the last request, after redirects.
    public var url: URL? { request.url }

    /// The media type of the content without its parameters, such as `application/json`; nil if there is none.
    public var mimeType: String? { MediaType.parse(fieldValues: headers[values: "Content-Type"])?.essence }

    /// The delay in `Retry-After` (RFC 9110 §10.2.3), or nil without a valid field.
    ///
    /// Never negative, at most `Duration.longestDelay`. `retry-after-ms` and `x-ms-retry-after-ms`, which Azure and
    /// OpenAI send, are read where `Retry-After` is missing or malformed, and where they say its delay to less than a
    /// second. A date is compared with the response's `Date`, or with the wall clock if that is missing or invalid.
    public var retryAfter: Duration? { retryAfter(now: .now) }

    /// The delay in `Retry-After` for a response that was received at `now`.
    public func retryAfter(now: WallClock.Instant) -> Duration? {
        RetryAfter.read(headers, now: now)?
            .delay(date: headers[values: "Date"], age: headers[values: "Age"], wallClock: now)
    }

    /// The length of the body according to the fields, or nil if unknown.
    ///
    /// Nil for a content-coded body, which is decoded, and if `Transfer-Encoding` overrides the length (RFC 9112 §6.3).
    /// A 204 and a 304 end with their head, whatever length they name (the same section).
    package var expectedLength: Int64? {
        guard status.rawValue != 204, status.rawValue != 304, !headers.contains("Content-Encoding"),
            !headers.contains("Transfer-Encoding"),
            case .bytes(let count) = ContentLength.parse(fieldValues: headers[values: "Content-Length"])
        else { return nil }
        return count
    }
}

extension HTTPResult {
    /// The response, or what an error has of one.
    public var response: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// The request that was sent, or that failed.
    public var request: HTTPRequest {
        switch self {
        case .success(let response): response.request
        case .failure(let error): error.request
        }
    }
}

extension HTTPStatus {
    /// The standard's phrase for the status, such as `Not Found` (RFC 9110 §15); that of the class for others.
    public var message: String { Self.phrases[rawValue] ?? classPhrase }

    private var classPhrase: String {
        switch rawValue {
        case 100..<200: "Informational"
        case 200..<300: "Success"
        case 300..<400: "Redirection"
        case 400..<500: "Client Error"
        case 500..<600: "Server Error"
        default: "Unknown"
        }
    }

    private static let phrases = table()

    private static func table() -> [Int: String] {
        [
            100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
            200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
            205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
            300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
            305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
            400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
            405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
            408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
            413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
            417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
            424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
            429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
            500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
            504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
            507: "Insufficient Storage", 508: "Loop Detected", 510: "Not Extended",
            511: "Network Authentication Required",
        ]
    }
}
