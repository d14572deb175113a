// SPDX-License-Identifier: Apache-2.0
#if OpenAPI
@_exported public import OpenAPIRuntime
@_exported public import RefrainHTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// As in RefrainHTTPTypes: hides the type of Refrain, which is `RefrainBody` there.

/// The body of OpenAPI's runtime.
public typealias HTTPBody = OpenAPIRuntime.HTTPBody

/// The transport of a generated OpenAPI client: sends its requests through a session or a chain.
///
/// ```swift
/// let client = Client(
///     serverURL: try Servers.Server1.url(),
///     transport: RefrainTransport()
/// )
/// ```
///
/// Every rule of the session or chain applies: attempts, timeouts, the budget, authentication. A body that can be
/// iterated several times is sent again where the rules allow it; one that cannot is sent once (rule R4). Any status is
/// a response, as OpenAPI wants it.
///
/// Responses are collected in memory first, up to `maximumBodySize` of the request (64 MiB by default), so that a
/// response that was cut short is retried. With `streamsResponses` they are passed on as they arrive.
public struct RefrainTransport: ClientTransport {
    /// Changes a request before it is sent; the second argument is the identifier of the operation.
    public typealias Configuration = @Sendable (inout RefrainRequest, _ operationID: String) -> Void

    private let load: @Sendable (RefrainRequest) async throws -> RefrainResponse
    private let streamsResponses: Bool
    private let configure: Configuration

    /// Makes a transport from a session.
    ///
    /// - Parameters:
    ///   - session: makes the requests. Defaults to `Session.default`.
    ///   - configure: changes each request before it is sent, to set an idempotency key or a timeout for instance.
    public init(_ session: Session = .default, configure: @escaping Configuration = { _, _ in }) {
        load = { request in
            switch await session.request(request).serializingResponse().result {
            case .success(let response): return response
            case .failure(.sessionTaskFailed(let error)): throw error
            case .failure(let error): throw error
            }
        }
        streamsResponses = false
        self.configure = configure
    }

    /// Makes a transport from a loader: a chain, or a transport of Refrain.
    ///
    /// - Parameters:
    ///   - loader: makes the requests.
    ///   - streamsResponses: whether bodies of responses are passed on as they arrive. Defaults to false.
    ///   - configure: changes each request before it is sent.
    public init(
        _ loader: some HTTPLoader,
        streamsResponses: Bool = false,
        configure: @escaping Configuration = { _, _ in }
    ) {
        load = { request in try await loader.response(for: request) }
        self.streamsResponses = streamsResponses
        self.configure = configure
    }

    /// Sends a request, as often as the rules of the session or chain allow.
    ///
    /// - Throws: `CancellationError` where the calling task was cancelled; otherwise `HTTPError`, or `RefrainError`
    ///   from a session. The client wraps it in a `ClientError`.
    public func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var outgoing = try RefrainRequest(request, relativeTo: baseURL, body: body.map(RefrainBody.init) ?? .empty)
        outgoing.streamsResponse = streamsResponses
        configure(&outgoing, operationID)
        do {
            let response = try await load(outgoing)
            return (try HTTPResponse(response), response.openAPIBody)
        } catch  where Task.isCancelled {
            throw CancellationError()
        }
    }
}

extension RefrainBody {
    /// Makes a body from one of OpenAPI's runtime: replayable where it can be iterated several times, otherwise a
    /// stream that is sent once (rule R4).
    ///
    /// The length is kept where it is known. Chunks are passed on as they are read.
    public init(_ body: HTTPBody) {
        var length: Int64?
        if case .known(let count) = body.length { length = count }
        switch body.iterationBehavior {
        case .multiple: self = .stream(length: length) { body.map { Array($0) } }
        case .single: self = .oneShot(body.map { Array($0) }, length: length)
        }
    }
}

extension HTTPBody {
    /// Makes a body of OpenAPI's runtime, which can be iterated as often as the body that it is made from.
    public convenience init(_ body: RefrainBody) {
        if let bytes = body.bytesInMemory {
            self.init(bytes)
        } else {
            let isReplayable = body.replayability == .replayable || body.replayability == .none
            let length = body.length.map { Length.known($0) } ?? .unknown
            self.init(body, length: length, iterationBehavior: isReplayable ? .multiple : .single)
        }
    }
}

extension RefrainResponse {
    /// The body for OpenAPI's runtime; nil where a response has none (RFC 9110 §6.4.1).
    var openAPIBody: HTTPBody? {
        let hasNone = request.method == .head || status.isInformational || [204, 205, 304].contains(status)
        return hasNone ? nil : HTTPBody(body)
    }
}
#endif
