// SPDX-License-Identifier: Apache-2.0
#if OpenAPI
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The rest of a client's middlewares and its transport as a loader, for one call.
final class ForwardingLoader: HTTPLoader {
    /// What the rest of the client does with a request.
    typealias Next = @concurrent @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)

    private let request: HTTPRequest
    private let body: HTTPBody?
    private let baseURL: URL
    private let next: Next
    /// What the last attempt has come to.
    private let last = Locked(Last())

    private struct Last {
        var response: HTTPResponse?
        var error: (any Error)?
    }

    init(request: HTTPRequest, body: HTTPBody?, baseURL: URL, next: @escaping Next) {
        self.request = request
        self.body = body
        self.baseURL = baseURL
        self.next = next
    }

    /// Sends an attempt; the transport knows nothing of the timeout of the call, which cancels it.
    func load(_ attempt: RefrainRequest) async -> HTTPResult {
        let (result, isCut) = await attempt.withinDeadline { await self.send(attempt) }
        guard isCut, case .failure = result else { return result }
        // Not the transport's error, which tells of a cancellation.
        last.withLock { $0 = Last() }
        let message = "no complete answer within the timeout of the call"
        return .failure(HTTPError(.timedOut, request: attempt, message: message))
    }

    private func send(_ attempt: RefrainRequest) async -> HTTPResult {
        last.withLock { $0 = Last() }
        do {
            let (response, content) = try await next(head(of: attempt), content(of: attempt), baseURL)
            let body = try await collected(content, of: attempt)
            last.withLock { $0.response = response }
            return .success(RefrainResponse(response, to: attempt, body: body))
        } catch {
            last.withLock { $0.error = error }
            return .failure(Self.failure(error, of: attempt))
        }
    }

    /// The result of the call in the client's terms.
    func answer(to result: HTTPResult) throws -> (HTTPResponse, HTTPBody?) {
        let last = last.withLock { $0 }
        switch result {
        case .success(let response):
            return (try last.response ?? HTTPResponse(response), response.openAPIBody)
        case .failure(let error):
            if Task.isCancelled { throw CancellationError() }
            if let original = last.error { throw original }
            // Without a further attempt a response stands, unless the server said when to come again (rule R18).
            guard error.code != .retryAfterTooLong, let head = last.response, let response = error.response else {
                throw error
            }
            return (head, response.openAPIBody)
        }
    }

    /// The head as the client made it, with the fields that were added to it, such as an idempotency key.
    private func head(of attempt: RefrainRequest) throws -> HTTPRequest {
        var head = request
        for field in attempt.headers {
            guard let name = HTTPField.Name(field.name), !request.headerFields.contains(name) else { continue }
            head.headerFields.append(HTTPField(name: name, value: field.value))
        }
        return head
    }

    /// The body for one attempt: one that can be iterated only once passes through Refrain's, which notices a read.
    private func content(of attempt: RefrainRequest) -> HTTPBody? {
        guard let body, body.iterationBehavior == .single else { return body }
        return HTTPBody(attempt.body, length: body.length, iterationBehavior: .single)
    }

    private func collected(_ content: HTTPBody?, of attempt: RefrainRequest) async throws -> RefrainBody {
        guard let content else { return .empty }
        let body = RefrainBody(content)
        if attempt.streamsResponse { return body }
        return .bytes(try await body.collect(upTo: attempt.maximumBodySize ?? RefrainRequest.defaultMaximumBodySize))
    }

    /// What a transport's error is to the rules; an unknown one may have reached the server.
    private static func failure(_ error: any Error, of attempt: RefrainRequest) -> HTTPError {
        func failure(_ code: HTTPError.Code) -> HTTPError {
            HTTPError(code, request: attempt, underlyingError: error)
        }
        switch error {
        case let error as ClientError: return Self.failure(error.underlyingError, of: attempt)
        case let error as HTTPError: return error
        case RefrainError.sessionTaskFailed(let error): return error
        case RefrainError.explicitlyCancelled, is CancellationError: return failure(.cancelled)
        case is RefrainError: return failure(.callerFailed)
        case is RefrainBody.TooLarge: return failure(.dataLengthExceedsMaximum)
        default: return failure(.unknown)
        }
    }
}
#endif
