// SPDX-License-Identifier: Apache-2.0
/// The attributes of a call or an attempt, by the names of OpenTelemetry's conventions for HTTP clients.
///
/// <https://opentelemetry.io/docs/specs/semconv/http/http-spans/>
package struct CallAttributes: Sendable {
    /// The value of an attribute.
    package enum Value: Hashable, Sendable {
        case text(String)
        case number(Int)
    }

    /// The attributes in the order in which they were added.
    package private(set) var values: [(name: String, value: Value)] = []

    /// The name of a span: the method, or "HTTP" where it is not one that the conventions know.
    package private(set) var spanName = "HTTP"

    /// No attributes.
    package init() {}

    /// The attributes of a request: its method, where it goes, and its URL without secrets.
    package init(_ request: HTTPRequest, redaction: LogMonitor.Redaction) {
        // Unknown methods can have any number of names, which names of spans and dimensions of metrics must not have.
        let isKnown = Self.methods.contains(request.method.rawValue)
        if isKnown { spanName = request.method.rawValue }
        add("http.request.method", .text(isKnown ? request.method.rawValue : "_OTHER"))
        if !isKnown { add("http.request.method_original", .text(request.method.rawValue)) }
        if let origin = request.origin {
            add("server.address", .text(origin.host))
            add("server.port", .number(origin.port))
        }
        add("url.full", .text(redaction.text(of: request.url)))
    }

    /// Adds what a request has come to: the status, and the type of an error where it was one.
    package mutating func add(_ result: HTTPResult) {
        switch result {
        case .success(let response): add(status: response.status, error: nil)
        case .failure(let error): add(status: error.response?.status, error: error.code)
        }
    }

    /// Adds what an attempt has come to, and how many attempts came before it.
    package mutating func add(_ record: AttemptRecord) {
        add(status: record.status, error: record.error)
        add(resends: record.number - 1)
    }

    /// Adds how many times the request was sent before.
    package mutating func add(resends count: Int) {
        if count > 0 { add("http.request.resend_count", .number(count)) }
    }

    /// Adds an attribute.
    package mutating func add(_ name: String, _ value: Value) { values.append((name, value)) }

    /// The type of an error, for a status or the code of a failure; nil for a success.
    package static func errorType(status: HTTPStatus?, error: HTTPError.Code?) -> String? {
        if let error { return error.rawValue }
        return status.flatMap { $0.rawValue >= 400 ? "\($0)" : nil }
    }

    private mutating func add(status: HTTPStatus?, error: HTTPError.Code?) {
        if let status { add("http.response.status_code", .number(status.rawValue)) }
        if let type = Self.errorType(status: status, error: error) { add("error.type", .text(type)) }
    }

    private static let methods: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
    ]
}

extension LogMonitor.Redaction {
    /// The default of logs and traces, which hides the query parameters that carry a signature or a key, too.
    ///
    /// These are those that OpenTelemetry's conventions name, and `access_token`, `api_key`, `key` and `token`.
    public static let telemetry = LogMonitor.Redaction(queryParameters: [
        "AWSAccessKeyId", "Signature", "X-Amz-Credential", "X-Amz-Security-Token", "X-Amz-Signature",
        "X-Goog-Signature",
        "access_token", "api_key", "key", "sig", "token",
    ])
}

extension HTTPResult {
    /// Whether there is a response with a status below 400.
    package var isAcceptable: Bool {
        if case .success(let response) = self { response.status.rawValue < 400 } else { false }
    }

    /// The record of the call; a chain without a ``/RefrainHTTP/Retry`` stage has made one attempt.
    package func records(after duration: Duration) -> [AttemptRecord] {
        let (status, code, attempts): (HTTPStatus?, HTTPError.Code?, [AttemptRecord])
        switch self {
        case .success(let response): (status, code, attempts) = (response.status, nil, response.attempts)
        case .failure(let error): (status, code, attempts) = (nil, error.code, error.attempts)
        }
        guard attempts.isEmpty else { return attempts }
        let reason: RetryReason = isAcceptable ? .succeeded : .noStrategy
        return [
            AttemptRecord(
                number: 1,
                start: .zero,
                duration: duration,
                status: status,
                error: code,
                decision: .finish,
                reason: code == .cancelled ? .cancelled : reason,
                pacing: pacing
            )
        ]
    }
}

extension Request {
    /// What a request has come to that has ended, in the form of the chain.
    ///
    /// - Parameter sent: the request that stands for one that was never sent.
    package func result(of sent: HTTPRequest) -> HTTPResult {
        switch error {
        case nil:
            return response.map { .success($0) } ?? .failure(HTTPError(.unknown, request: sent))
        case .sessionTaskFailed(let error):
            return .failure(error)
        case .explicitlyCancelled, .sessionDeinitialized, .sessionInvalidated:
            return .failure(HTTPError(.cancelled, request: sent))
        case .some(let error):
            return .failure(HTTPError(.callerFailed, request: sent, response: response, underlyingError: error))
        }
    }
}
