// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Other spellings of what the module offers, for names that are guessed before the documentation is read. Each calls
// the documented form.

extension HTTPRequest {
    /// Makes a request for a URL: ``init(_:method:headers:body:)-(URL,_,_,_)``.
    public init(url: URL, method: HTTPMethod = .get, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
        self.init(url, method: method, headers: headers, body: body)
    }

    /// Makes a request for a URL given as text.
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/badURL`` or ``HTTPError/Code/unsupportedURL``.
    public init(
        url text: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) throws(HTTPError) {
        try self.init(text, method: method, headers: headers, body: body)
    }

    /// The strategy for this request: ``retryStrategy``.
    public var retryPolicy: (any RetryStrategy)? {
        get { retryStrategy }
        set { retryStrategy = newValue }
    }
}

extension HTTPResponse {
    /// Decodes the body from JSON: ``decode(_:decoder:)``.
    ///
    /// ```swift
    /// let user: User = try response.json()
    /// ```
    ///
    /// - Throws: ``HTTPError`` with ``HTTPError/Code/cannotParseResponse`` if the body is not such a value or is
    ///   streamed.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws(HTTPError) -> Value {
        try decode(type, decoder: decoder)
    }
}

extension HTTPHeaders {
    /// The value of `Accept`, or nil (RFC 9110 §12.5.1).
    public var accept: String? {
        get { self["Accept"] }
        set { self["Accept"] = newValue }
    }

    /// The value of `Authorization`, or nil (RFC 9110 §11.6.2).
    public var authorization: String? {
        get { self["Authorization"] }
        set { self["Authorization"] = newValue }
    }

    /// The value of `Content-Length`, or nil (RFC 9110 §8.6).
    public var contentLength: String? {
        get { self["Content-Length"] }
        set { self["Content-Length"] = newValue }
    }

    /// The value of `Content-Type`, or nil (RFC 9110 §8.3).
    public var contentType: String? {
        get { self["Content-Type"] }
        set { self["Content-Type"] = newValue }
    }

    /// The value of `ETag`, or nil (RFC 9110 §8.8.3).
    public var eTag: String? {
        get { self["ETag"] }
        set { self["ETag"] = newValue }
    }

    /// The value of `Location`, or nil (RFC 9110 §10.2.2).
    public var location: String? {
        get { self["Location"] }
        set { self["Location"] = newValue }
    }

    /// The value of `Retry-After`, or nil (RFC 9110 §10.2.3).
    public var retryAfter: String? {
        get { self["Retry-After"] }
        set { self["Retry-After"] = newValue }
    }

    /// The value of `User-Agent`, or nil (RFC 9110 §10.1.5).
    public var userAgent: String? {
        get { self["User-Agent"] }
        set { self["User-Agent"] = newValue }
    }
}

extension HTTPLoader {
    /// Sends a GET request and returns the response, of any status.
    ///
    /// ```swift
    /// let response = try await loader.get(
    ///     "https://api.example.com/users/1"
    /// )
    /// ```
    ///
    /// - Throws: ``HTTPError`` if the text is not a URL or there is no response.
    public func get(_ url: String, headers: HTTPHeaders = [:]) async throws(HTTPError) -> HTTPResponse {
        try await response(for: HTTPRequest(url, headers: headers))
    }

    /// Sends a GET request and returns the response, of any status.
    ///
    /// - Throws: ``HTTPError`` if there is no response.
    public func get(_ url: URL, headers: HTTPHeaders = [:]) async throws(HTTPError) -> HTTPResponse {
        try await response(for: HTTPRequest(url, headers: headers))
    }

    /// Sends a HEAD request and returns the response, of any status.
    ///
    /// - Throws: ``HTTPError`` if the text is not a URL or there is no response.
    public func head(_ url: String, headers: HTTPHeaders = [:]) async throws(HTTPError) -> HTTPResponse {
        try await response(for: HTTPRequest(url, method: .head, headers: headers))
    }

    /// Sends a POST request and returns the response, of any status.
    ///
    /// - Throws: ``HTTPError`` if the text is not a URL or there is no response.
    public func post(
        _ url: String,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) async throws(HTTPError) -> HTTPResponse {
        try await response(for: HTTPRequest(url, method: .post, headers: headers, body: body))
    }

    /// Sends a PUT request and returns the response, of any status.
    ///
    /// - Throws: ``HTTPError`` if the text is not a URL or there is no response.
    public func put(
        _ url: String,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) async throws(HTTPError) -> HTTPResponse {
        try await response(for: HTTPRequest(url, method: .put, headers: headers, body: body))
    }

    /// Sends a PATCH request and returns the response, of any status.
    ///
    /// - Throws: ``HTTPError`` if the text is not a URL or there is no response.
    public func patch(
        _ url: String,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty
    ) async throws(HTTPError) -> HTTPResponse {
        try await response(for: HTTPRequest(url, method: .patch, headers: headers, body: body))
    }

    /// Sends a DELETE request and returns the response, of any status.
    ///
    /// - Throws: ``HTTPError`` if the text is not a URL or there is no response.
    public func delete(_ url: String, headers: HTTPHeaders = [:]) async throws(HTTPError) -> HTTPResponse {
        try await response(for: HTTPRequest(url, method: .delete, headers: headers))
    }

    /// Downloads a URL into a file, as ``download(_:to:)-(HTTPRequest,_)`` does for a request.
    ///
    /// - Throws: ``HTTPError``, or ``HTTPBody/FileError`` where the file cannot be written.
    @discardableResult
    public func download(_ url: String, to path: String) async throws -> HTTPResponse {
        try await download(HTTPRequest(url), to: path)
    }
}

extension Retry {
    /// Makes the stage with ``RetryPolicy/recommended`` and a number of attempts.
    ///
    /// - Parameters:
    ///   - maxAttempts: the number of attempts, the first one included. A number under 1 counts as 1.
    ///   - backoff: the delays. Defaults to those of `Backoff.standard`; a limit of its own has no effect.
    ///   - budgets: the budgets that retries draw on. By default all stages of the process share one for each origin.
    ///   - clocks: the clocks that waits are measured on and dates are compared with.
    public init(
        maxAttempts: Int,
        backoff: Backoff = .standard,
        budgets: Budgets? = .shared,
        clocks: RetryClocks = .system
    ) {
        let policy = RetryPolicy.recommended.with(schedule: backoff.limited(maxAttempts: maxAttempts))
        self.init(policy, budgets: budgets, clocks: clocks)
    }

    /// Makes the stage with one clock, for delays and, from the present on, for dates.
    public init(_ strategy: any RetryStrategy, budgets: Budgets? = .shared, clock: some Clock<Duration>) {
        self.init(strategy, budgets: budgets, clocks: RetryClocks(clock))
    }

    /// Makes the stage with a number of attempts and one clock, for delays and, from the present on, for dates.
    public init(
        maxAttempts: Int,
        backoff: Backoff = .standard,
        budgets: Budgets? = .shared,
        clock: some Clock<Duration>
    ) {
        self.init(maxAttempts: maxAttempts, backoff: backoff, budgets: budgets, clocks: RetryClocks(clock))
    }
}

extension Timeout {
    /// Makes the stage with a limit for each attempt as a whole: ``init(total:connect:firstByte:idle:clocks:)``.
    public init(_ total: Duration, clocks: RetryClocks = .system) {
        self.init(total: total, clocks: clocks)
    }
}
