// SPDX-License-Identifier: Apache-2.0
#if HTTPTypes
@_exported public import HTTPTypes
@_exported public import Refrain

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

// A file that imports this module in the place of `Refrain` sees the types of HTTPTypes under their own names, since a
// module's own declarations hide those that it exports again, and the types of Refrain under the names below.

/// The request of HTTPTypes.
public typealias HTTPRequest = HTTPTypes.HTTPRequest
/// The response of HTTPTypes.
public typealias HTTPResponse = HTTPTypes.HTTPResponse

/// The request of Refrain, which has a body and options.
public typealias RefrainRequest = RefrainHTTP.HTTPRequest
/// The response of Refrain, which has a body and the record of its attempts.
public typealias RefrainResponse = RefrainHTTP.HTTPResponse
/// The method of a request of Refrain.
public typealias RefrainMethod = RefrainHTTP.HTTPMethod
/// The status of a response of Refrain.
public typealias RefrainStatus = RefrainHTTP.HTTPStatus
/// The header fields of Refrain.
public typealias RefrainHeaders = RefrainHTTP.HTTPHeaders
/// The body of a request or a response of Refrain.
public typealias RefrainBody = RefrainHTTP.HTTPBody

extension RefrainMethod {
    /// Makes a method from one of HTTPTypes.
    public init(_ method: HTTPRequest.Method) { self.init(rawValue: method.rawValue) }
}

extension HTTPRequest.Method {
    /// Makes a method of HTTPTypes, or nil where the name is not a token (RFC 9110 §9.1).
    public init?(_ method: RefrainMethod) { self.init(rawValue: method.rawValue) }
}

extension RefrainRequest {
    /// Makes a request from one of HTTPTypes and a body.
    ///
    /// Fields whose values HTTPTypes keeps out of compression tables (`.disallow`) become ``secretHeaders``.
    /// `Content-Length` and `Transfer-Encoding` are left out, because the transport sets them from the body.
    ///
    /// - Parameters:
    ///   - request: the request, with scheme, authority and path.
    ///   - body: the body, which is not copied. Defaults to no body.
    /// - Throws: `HTTPError` with the code `badURL` or `unsupportedURL` where scheme, authority and path make no URL of
    ///   http or https.
    public init(_ request: HTTPRequest, body: RefrainBody = .empty) throws(HTTPError) {
        let authority = request.authority ?? ""
        let isPlain = !authority.contains { $0 == "/" || $0 == "?" || $0 == "#" }
        try self.init(request, at: isPlain ? "\(request.scheme ?? "")://\(authority)" : nil, body: body)
    }

    /// Makes a request from one of HTTPTypes whose path belongs behind a base URL, as OpenAPI's do.
    package init(_ request: HTTPRequest, relativeTo base: URL, body: RefrainBody) throws(HTTPError) {
        var text = base.absoluteString
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = String(text[..<end]) }
        if text.hasSuffix("/") { text.removeLast() }
        try self.init(request, at: text, body: body)
    }

    private init(_ request: HTTPRequest, at base: String?, body: RefrainBody) throws(HTTPError) {
        let path = request.path ?? ""
        // Any other path could become a part of the host's name.
        guard let base, path.isEmpty || path.hasPrefix("/") || path.hasPrefix("?") else {
            let message = "the authority and the path \"\(path)\" make no URL"
            throw HTTPError(.badURL, request: RefrainRequest(URL(filePath: "/")), message: message, bytesSent: 0)
        }
        try self.init(base + path, method: RefrainMethod(request.method), body: body)
        headers.reserveCapacity(request.headerFields.count)
        for field in request.headerFields where field.name != .contentLength && field.name != .transferEncoding {
            headers.add(field.name.rawName, field.value)
            if field.indexingStrategy == .disallow { secretHeaders.insert(field.name.rawName) }
        }
    }
}

extension HTTPRequest {
    /// Makes a request of HTTPTypes; the body stays with the request that it is made from.
    ///
    /// The fields of `secretHeaders` are kept out of compression tables (`.disallow`), and the idempotency key is among
    /// the fields (rule R5). The authority has the host in its ASCII form. User and password of the URL and its
    /// fragment are left out (RFC 9110 §4.2.4).
    ///
    /// - Throws: `InvalidArgument` for a method or header fields that HTTPTypes cannot hold, and for an idempotency key
    ///   that cannot be written.
    public init(_ request: RefrainRequest) throws(InvalidArgument) {
        guard let method = Method(request.method) else {
            throw InvalidArgument("method", is: request.method, expected: "a token")
        }
        let headers: RefrainHeaders
        do {
            headers = try request.withIdempotencyKeyWritten().headers
        } catch {
            throw InvalidArgument("idempotencyKey", is: "invalid", expected: "printable ASCII, and not empty")
        }
        let target = Target(URLText.sent(request.url))
        var fields = try HTTPFields(headers)
        for secret in request.secretHeaders {
            guard let name = HTTPField.Name(secret), fields.contains(name) else { continue }
            fields[fields: name] = fields[fields: name].map { field in
                var field = field
                field.indexingStrategy = .disallow
                return field
            }
        }
        self.init(
            method: method,
            scheme: target.scheme,
            authority: target.authority,
            path: target.path,
            headerFields: fields
        )
    }

    /// The parts of a URL that HTTPTypes keeps.
    private struct Target {
        var scheme: String?
        var authority: String?
        var path: String

        init(_ url: String) {
            var rest = url[...]
            if let end = rest.firstIndex(of: "#") { rest = rest[..<end] }
            if let colon = rest.firstIndex(of: ":"), rest[colon...].hasPrefix("://") {
                scheme = String(rest[..<colon])
                rest = rest[rest.index(colon, offsetBy: 3)...]
                let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
                var host = rest[..<end]
                if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
                authority = String(host)
                rest = rest[end...]
            }
            path = rest.hasPrefix("/") ? String(rest) : "/" + rest
        }
    }
}
#endif
