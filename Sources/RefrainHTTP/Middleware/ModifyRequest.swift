/// Changes each request on its way.
///
/// ```swift
/// let tagged = ModifyRequest { request in
///     var request = request
///     request.headers["X-Client"] = "catalogue"
///     return request
/// }
/// ```
///
/// The closure may wait, and may throw. An ``HTTPError`` that it throws is the request's result; any other error gives
/// ``HTTPError/Code/callerFailed``, which names the stage. After ``Retry`` it runs for each try, on the original
/// request. The idea is from "HTTP in Swift".
public struct ModifyRequest: HTTPMiddleware {
    private let name: String
    private let modify: @Sendable (HTTPRequest) async throws -> HTTPRequest

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - name: what errors call the stage.
    ///   - modify: makes the request that is handed on.
    public init(
        _ name: String = "ModifyRequest",
        _ modify: @escaping @Sendable (_ request: HTTPRequest) async throws -> HTTPRequest
    ) {
        self.name = name
        self.modify = modify
    }

    /// Hands on the changed request.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let modified: HTTPRequest
        do {
            modified = try await modify(request)
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
        return await next.load(modified)
    }
}
