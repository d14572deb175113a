// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The head of an answer, as it is shown.
struct ResponseHead: Sendable {
    let version: String
    let status: HTTPStatus
    let headers: HTTPHeaders
    /// Whether the connection was reused.
    let reusedConnection: Bool
    /// What is known of the connection; nil unless an option shows it.
    let connection: HTTPResponse.Exchange.Connection?
    /// The URL that answered.
    let url: String
    /// The target of a redirect; nil if it is none.
    let target: String?

    init(_ response: HTTPResponse) {
        version = response.exchange.version
        status = response.status
        headers = response.headers
        reusedConnection = response.exchange.reusedConnection
        connection = response.exchange.connection
        url = SanitizedURL.text(response.request.url.absoluteString)
        target = response.headers["Location"].flatMap { URL(string: $0, relativeTo: response.request.url) }
            .map { SanitizedURL.withPath(SanitizedURL.text($0.absoluteString)) }
    }

    /// Whether it is a redirect that was followed.
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status.rawValue) && headers.contains("Location") }

    /// The head as it was sent, with the blank line at its end.
    var bytes: [UInt8] {
        var text = "HTTP/\(version) \(status)"
        // HTTP/2 has no reason phrase.
        if version.hasPrefix("1") { text += " \(Self.reason(of: status))" } else { text += " " }
        var bytes = Array((text + "\r\n").utf8)
        for field in headers { bytes += Array("\(field.name): ".utf8) + field.bytes + [0x0D, 0x0A] }
        return bytes + [0x0D, 0x0A]
    }

    /// The reason phrase of a status; empty for an unknown one.
    static func reason(of status: HTTPStatus) -> String { reasons[status.rawValue] ?? "" }

    /// The reason phrase of RFC 9110 §15; the server's own one is not kept.
    private static let reasons: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently",
        302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early",
        426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported", 511: "Network Authentication Required",
    ]
}

/// The heads of the answers to one request, those of redirects included.
final class ResponseLog: Sendable {
    private let heads = Locked<[ResponseHead]>([])

    /// The heads that lead to the last one: those of redirects, and the last one itself.
    var shown: [ResponseHead] {
        heads.withLock { heads in
            heads.indices.filter { $0 == heads.count - 1 || heads[$0].isRedirect }.map { heads[$0] }
        }
    }

    func add(_ response: HTTPResponse) { heads.withLock { $0.append(ResponseHead(response)) } }
}

enum ResponseLogOption: HTTPRequestOption {
    static var defaultValue: ResponseLog? { nil }
}

/// Keeps the heads of the answers to requests that ask for it; next to the transport, so that it sees all of them.
struct RecordResponses: HTTPMiddleware {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let result = await next.load(request)
        if case .success(let response) = result { request[option: ResponseLogOption.self]?.add(response) }
        return result
    }

    func reset() async {}
}
