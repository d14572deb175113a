// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An HTTP request: method, URL, header fields, body and the options that the stages of a chain read.
///
/// ```swift
/// var request = try HTTPRequest(
///     "https://api.example.com/people",
///     method: .post,
///     body: .json(person)
/// )
/// request.headers["Accept"] = "application/json"
/// request.timeout = .seconds(20)
/// ```
public struct HTTPRequest: Sendable {
    private var contents: CopyOnWriteBox<Fields>

    // Beside the box: stages set it for each request, and no copy is made for it.
    /// Which responses may be handed over before their bodies are complete.
    package var deferredBodies: DeferredBodies = []

    /// Makes a request for a URL.
    public init(_ url: URL, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        contents = CopyOnWriteBox(Fields(method: method, url: url, headers: headers, body: body))
    }

    /// Makes a request for a URL given as text.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/badURL`` or ``HTTPError/Code/unsupportedURL``, whose message
    ///   quotes the text and describes the problem.
    public init(
        _ text: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) throws(HTTPError) {
        self.init(try URLText.parse(text), method: method, headers: headers, body: body)
    }

    /// The method.
    ///
    /// Defaults to GET.
    public var method: HTTPMethod {
        get { contents.fields.method }
        _modify { yield &contents.fields.method }
    }

    /// The URL.
    ///
    /// May be relative if a stage completes it (``ApplyEnvironment``).
    public var url: URL {
        get { contents.fields.url }
        _modify { yield &contents.fields.url }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { contents.fields.headers }
        _modify { yield &contents.fields.headers }
    }

    /// The body.
    ///
    /// Defaults to an empty one.
    public var body: HTTPBody {
        get { contents.fields.body }
        _modify { yield &contents.fields.body }
    }

    /// The number of body bytes in memory, or nil if the body is a file or a stream.
    package var bodySizeInMemory: Int? {
        // Read in place, so that the body is not copied.
        guard case .bytes(let bytes) = contents.fields.body.storage else { return nil }
        return bytes.count
    }

    /// The media type that the body brings along.
    private var bodyContentType: String? { contents.fields.body.contentType }

    /// The options that were set.
    var options: OptionValues {
        get { contents.fields.options }
        _modify { yield &contents.fields.options }
    }

    /// The origin of the URL, or nil if the URL is relative.
    public var origin: Origin? { Origin(contents.fields.url) }

    private struct Fields: Sendable {
        var method: HTTPMethod
        var url: URL
        var headers: HTTPHeaders
        var body: HTTPBody
        var options = OptionValues()
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// Method and URL, without the URL's user information.
    public var description: String { "\(method) \(URLText.redacted(url))" }
}

extension HTTPRequest {
    /// Makes a request whose URL is put together by its parts: ``host``, ``path`` and ``queryItems``.
    ///
    /// ```swift
    /// var request = HTTPRequest()
    /// request.host = "api.example.com"
    /// request.path = "/people"
    /// request.queryItems = [URLQueryItem(name: "page", value: "2")]
    /// ```
    ///
    /// Without a host the URL is relative, for a stage that completes it (``ApplyEnvironment``).
    ///
    /// - Parameters:
    ///   - scheme: the scheme that a host is given. One that is not valid (RFC 3986 §3.1) makes the URL invalid, as an
    ///     invalid host does. Defaults to `https`.
    ///   - method: the method. Defaults to GET.
    public init(scheme: String = "https", method: HTTPMethod = .get) {
        // `URLComponents` traps on any other one.
        let isValid = URLText.isScheme(scheme)
        self.init(isValid ? Self.relative : URLText.invalid, method: method)
        if isValid, scheme != "https" { self[option: SchemeOption.self] = scheme }
    }

    /// The host of the URL, or nil if the URL is relative.
    ///
    /// A host that is set on a relative URL makes it absolute, and nil makes the URL relative. One that is not valid,
    /// such as one with a port, makes the URL invalid: whatever part is set afterwards, the request fails when it is
    /// sent.
    public var host: String? {
        get { url.host() }
        set {
            let scheme = self[option: SchemeOption.self]
            change { parts in
                parts.scheme = newValue == nil ? nil : parts.scheme ?? scheme
                parts.host = newValue.map(URLText.bracketed)
                if newValue != nil, !parts.path.hasPrefix("/") { parts.path = "/" + parts.path }
                guard newValue == nil else { return }
                (parts.user, parts.password, parts.port) = (nil, nil, nil)
            }
        }
    }

    /// The path of the URL, not percent-encoded.
    ///
    /// With a host, a path without a leading slash gets one.
    public var path: String {
        get { url.path(percentEncoded: false) }
        set {
            change { parts in
                parts.path = parts.host == nil || newValue.hasPrefix("/") ? newValue : "/" + newValue
            }
        }
    }

    /// The items of the URL's query, not percent-encoded; nil: there is no query.
    public var queryItems: [URLQueryItem]? {
        get { URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems }
        set {
            change { $0.percentEncodedQuery = newValue.map(URLText.encoded) }
        }
    }

    private mutating func change(_ body: (inout URLComponents) -> Void) {
        guard url != URLText.invalid else { return }
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) ?? URLComponents()
        body(&parts)
        // Without a host, two slashes would begin one (RFC 3986 §3.3).
        if parts.host != nil, parts.path.hasPrefix("/.//") { parts.path.removeFirst(2) }
        if parts.host == nil, parts.path.hasPrefix("//") { parts.path = "/." + parts.path }
        url = parts.url ?? URLText.invalid
    }

    /// The URL of a request without parts.
    private static var relative: URL { URL(string: "/") ?? URL(filePath: "/") }
}

/// The scheme of a request that has no host so far.
private enum SchemeOption: HTTPRequestOption {
    static let defaultValue = "https"
}

// The names of "HTTP in Swift", where bodies are types.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A body with a value encoded as JSON, as ``HTTPBody/json(_:encoder:)``.
///
/// A value that cannot be encoded fails the request.
public func JSONBody(_ value: some Encodable, encoder: JSONEncoder? = nil) -> HTTPBody {
    do {
        return try .json(value, encoder: encoder)
    } catch {
        return HTTPBody(.restartable(length: nil) { throw error }, contentType: "application/json")
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A body with the fields of a web form, as ``HTTPBody/form(_:)``.
public func FormBody(_ fields: [URLQueryItem]) -> HTTPBody {
    .form(fields.map { (name: $0.name, value: $0.value ?? "") })
}

extension HTTPRequest {
    /// Returns this request as a transport may send it, with its idempotency key in its header fields.
    ///
    /// Transports call this first, so that no CR, LF or NUL reaches a header field, no request breaks HTTP framing, and
    /// a key that was set is sent.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/invalidRequest``, ``HTTPError/Code/badURL`` or
    ///   ``HTTPError/Code/unsupportedURL``, whose message names the invalid part.
    public func validated() throws(HTTPError) -> HTTPRequest {
        let request = try withIdempotencyKeyWritten()
        try request.validate()
        return request
    }

    /// Checks the request as ``validated()`` does, without the key and without returning a copy.
    ///
    /// - Returns: the offset in the URL's text where the origin ends, if the origin consists of a scheme, an ASCII host
    ///   and an optional port; nil for all other URLs.
    @discardableResult
    package func validate() throws(HTTPError) -> Int? {
        func refuse(_ code: HTTPError.Code, _ message: String) -> HTTPError {
            HTTPError(code, request: self, message: message, bytesSent: 0)
        }
        let endOfOrigin = endOfPlainOrigin
        if endOfOrigin == nil {
            guard url != URLText.invalid else {
                throw refuse(.badURL, "a part of the URL was set that is invalid, such as a host with a port")
            }
            guard let scheme = url.scheme else {
                let advice = "begin it with https://, or put ApplyEnvironment into the chain"
                throw refuse(.badURL, "the URL has no scheme; \(advice)")
            }
            guard origin != nil else {
                let isHTTP = ["http", "https"].contains(scheme.lowercased())
                guard isHTTP else {
                    throw refuse(.unsupportedURL, "the scheme \(scheme) is not supported; only http and https are")
                }
                throw (url.host() ?? "").isEmpty
                    ? refuse(.badURL, "the URL names no host")
                    : refuse(.badURL, "the host is none that DNS knows; spell it as it stands there (xn--…)")
            }
        }
        guard method == .get || method.isValid else {
            throw refuse(.invalidRequest, "the method \"\(method)\" is not a token (RFC 9110 §5.6.2)")
        }
        for field in headers {
            guard HTTPToken.isValid(field.name) else {
                throw refuse(.invalidRequest, "the header name \"\(field.name)\" is not a token (RFC 9110 §5.1)")
            }
            guard HTTPToken.isValidFieldValue(field.value) else {
                throw refuse(
                    .invalidRequest,
                    "the value of the header \(field.name) contains a control character or white space at an end"
                )
            }
            guard !Self.fieldsOfTheTransport.contains(where: { HTTPHeaders.isSame($0, field.name) }) else {
                throw refuse(.invalidRequest, "the header \(field.name) is the transport's to set")
            }
        }
        if let contentType = bodyContentType, contentType.isEmpty || !HTTPToken.isValidFieldValue(contentType) {
            throw refuse(
                .invalidRequest,
                "the content type of the body is empty, or contains a control character or white space at an end; "
                    + "expected a media type such as text/plain (RFC 9110 §8.3.1)"
            )
        }
        return endOfOrigin
    }

    /// The offset where a plain origin ends, or nil if the URL needs a full parse.
    private var endOfPlainOrigin: Int? {
        url.absoluteString.utf8.withContiguousStorageIfAvailable(URLText.endOfPlainOrigin) ?? nil
    }

    /// Fields that frame the message.
    ///
    /// The transport derives them from the body; a caller's value could contradict it.
    private static let fieldsOfTheTransport = [
        "Transfer-Encoding", "Content-Length", "Upgrade",
    ]
}
