// SPDX-License-Identifier: Apache-2.0
/// Replaces each request with the result of a closure.
///
/// ```swift
/// let tagged = ModifyRequest { request in
///     var request = request
///     request.headers["X-Client"] = "catalogue"
///     return request
/// }
/// ```
///
/// The closure may suspend and throw. An ``HTTPError`` that it throws is the request's result; any other error becomes
/// ``HTTPError/Code/callerFailed`` with the stage's name. If the deadline passes meanwhile, the closure is cancelled
/// and no request is sent. After ``Retry`` the closure runs for each attempt, on the original request.
///
/// A new request that the closure returns inherits the options that it does not set. Header fields that a redirect
/// removed are not added again.
public struct ModifyRequest: HTTPMiddleware {
    private let name: String
    private let clocks: RetryClocks
    private let modify: @Sendable (HTTPRequest) async throws -> HTTPRequest

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - name: the name of the stage in errors. Defaults to `ModifyRequest`.
    ///   - clocks: the clocks that measure the closure's time, if the request has a deadline.
    ///   - modify: returns the request to forward.
    public init(
        _ name: String = "ModifyRequest",
        clocks: RetryClocks = .system,
        _ modify: @escaping @Sendable (_ request: HTTPRequest) async throws -> HTTPRequest
    ) {
        self.name = name
        self.clocks = clocks
        self.modify = modify
    }

    /// Forwards the modified request, if it is ready before the deadline.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let request = request.beginningCall(on: clocks)
        let (modified, isLate) = await request.withinDeadline { await make(from: request) }
        switch modified {
        case .failure(let error): return .failure(isLate ? Self.late(request) : error)
        case .success(let sent):
            guard !request.isPastDeadline else { return .failure(Self.late(request)) }
            var sent = sent
            // A timeout that the closure has set begins with its end.
            if sent.timeout != request.timeout { sent.deadline = nil }
            return await next.load(sent.beginningCall(on: clocks))
        }
    }

    private func make(from request: HTTPRequest) async -> Result<HTTPRequest, HTTPError> {
        do {
            return .success(try await modify(request).keepingOptions(of: request))
        } catch let error as HTTPError {
            return .failure(error)
        } catch {
            let isCancelled = error is CancellationError
            return .failure(
                HTTPError(
                    isCancelled ? .cancelled : .callerFailed,
                    request: request,
                    underlyingError: error,
                    message: isCancelled ? "cancelled in \(name)" : "\(name) threw: \(error)",
                    bytesSent: 0
                )
            )
        }
    }

    private static func late(_ request: HTTPRequest) -> HTTPError {
        request.tooLate("before the request was ready to be sent")
    }
}
