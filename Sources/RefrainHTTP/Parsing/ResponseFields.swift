// SPDX-License-Identifier: Apache-2.0
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

extension HTTPHeaders {
    /// The digests in a field such as `Repr-Digest` or `Content-Digest` (RFC 9530).
    ///
    /// Their keys are the names of the hash functions, such as `sha-256`. They are of the content as it is sent, before
    /// a `Content-Encoding` is undone. Nothing is compared with them.
    ///
    /// - Returns: The bytes of each digest; empty if the field is missing or malformed.
    public func digests(in name: String) -> [String: [UInt8]] {
        let members = StructuredField.dictionary(fieldValues: self[values: name]) ?? StructuredField.Dictionary()
        var digests: [String: [UInt8]] = [:]
        for key in members.keys {
            guard case .item(let item)? = members[key], case .bytes(let bytes) = item.value else { continue }
            digests[key] = bytes
        }
        return digests
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

extension HTTPResponse {
    /// The bytes of the body, or nil if the response is streamed.
    public var data: Data? { body.dataInMemory }

    /// The body as text, or nil if the response is streamed.
    ///
    /// Decoded as UTF-8, or as ISO-8859-1, Windows-1252, UTF-16 or UTF-32 if `Content-Type` says so. Invalid bytes
    /// become U+FFFD.
    public var text: String? {
        guard let bytes = body.dataInMemory else { return nil }
        let type = MediaType.parse(fieldValues: headers[values: "Content-Type"])
        switch type?[parameter: "charset"].flatMap(TextEncoding.named) {
        case .isoLatin1, .ascii: return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case nil, .utf8: return String(decoding: bytes, as: UTF8.self)
        case let encoding?: return String(bytes: bytes, encoding: encoding) ?? String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Decodes the body from JSON.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/cannotParseResponse`` if the body is not such a value or is
    ///   streamed.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws(HTTPError) -> Value {
        guard let data else {
            throw cannotParse("the body is a stream; collect its bytes first", nil)
        }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw cannotParse("the body is not a \(type) in JSON: \(error)", error)
        }
    }

    private func cannotParse(_ message: String, _ underlying: (any Error)?) -> HTTPError {
        HTTPError(
            .cannotParseResponse,
            request: request,
            response: self,
            underlyingError: underlying,
            message: message,
            bytesSent: exchange.bytesSent
        )
    }
}

/// The value of a `Content-Length` field (RFC 9110 §8.6, RFC 9112 §6.3).
package enum ContentLength: Hashable, Sendable {
    /// There is no such field.
    case absent
    /// The number of bytes in the body.
    case bytes(Int64)
    /// The field is malformed, has different values or exceeds 2⁶³ − 1; it cannot frame the message.
    case invalid

    /// Parses the field's lines.
    ///
    /// A repeated number (`5, 5`) is valid.
    package static func parse(fieldValues: [String]) -> ContentLength {
        // Nearly every response has one line with one number; no list is made for it.
        if fieldValues.count == 1, let count = FieldNumber.exact(fieldValues[0].utf8) { return .bytes(count) }
        var result = ContentLength.absent
        for element in FieldValues.elements(fieldValues) {
            guard let count = FieldNumber.exact(element) else { return .invalid }
            guard result == .absent || result == .bytes(count) else { return .invalid }
            result = .bytes(count)
        }
        return result
    }
}

/// The value of a `Content-Range` field in bytes (RFC 9110 §14.4).
package enum ContentRange: Hashable, Sendable {
    /// The part from the first to the last position, inclusive; `total` is `nil` if unknown (`*`).
    case part(first: Int64, last: Int64, total: Int64?)
    /// The requested range is outside the content, which has `total` bytes.
    case unsatisfied(total: Int64)

    /// Parses the field's lines; returns `nil` if they are malformed, contradictory, beyond 2⁶³ − 1 or not in bytes.
    package static func parse(fieldValues: [String]) -> ContentRange? {
        guard let value = FieldValues.single(fieldValues) else { return nil }
        var scanner = FieldScanner(value)
        guard scanner.takeToken()?.lowercased() == "bytes", scanner.take(.space) else { return nil }
        let range: ContentRange?
        if scanner.take("*/") {
            range = takePosition(&scanner).map(ContentRange.unsatisfied)
        } else {
            range = takePart(&scanner)
        }
        return scanner.isAtEnd ? range : nil
    }

    private static func takePart(_ scanner: inout FieldScanner) -> ContentRange? {
        guard let first = takePosition(&scanner), scanner.take("-") else { return nil }
        guard let last = takePosition(&scanner), first <= last, scanner.take("/") else { return nil }
        if scanner.take("*") { return .part(first: first, last: last, total: nil) }
        guard let total = takePosition(&scanner), last < total else { return nil }
        return .part(first: first, last: last, total: total)
    }

    private static func takePosition(_ scanner: inout FieldScanner) -> Int64? {
        FieldNumber.exact(scanner.take { $0.isDigit })
    }
}
