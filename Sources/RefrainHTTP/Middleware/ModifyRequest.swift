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
/// ``HTTPError/Code/callerFailed``, which names the stage. A deadline that passes meanwhile cancels the closure, and
/// nothing is sent. After ``Retry`` it runs for each try, on the original request.
///
/// A request that the closure makes anew has the options of the one that it stands for, unless it sets them, and what a
/// redirect has dropped stays dropped (rule R6). The idea is from "HTTP in Swift".
public struct ModifyRequest: HTTPMiddleware {
    private let name: String
    private let clocks: ClockPair
    private let modify: @Sendable (HTTPRequest) async throws -> HTTPRequest

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - name: what errors call the stage.
    ///   - clocks: the clocks that the closure's time is measured on, where the request has a deadline.
    ///   - modify: makes the request that is handed on.
    public init(
        _ name: String = "ModifyRequest",
        clocks: ClockPair = .system,
        _ modify: @escaping @Sendable (_ request: HTTPRequest) async throws -> HTTPRequest
    ) {
        self.name = name
        self.clocks = clocks
        self.modify = modify
    }

    /// Hands on the changed request, if it is ready before the deadline.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let began = request.deadline == nil ? nil : clocks.now
        let (modified, isLate) = await request.withinDeadline(on: clocks) { await make(from: request) }
        switch modified {
        case .failure(let error): return .failure(isLate ? Self.late(request) : error)
        case .success(let sent):
            guard let began else { return await next.load(sent) }
            guard let left = Self.limited(sent, of: request, after: clocks.now - began) else {
                return .failure(Self.late(request))
            }
            return await next.load(left)
        }
    }

    private func make(from request: HTTPRequest) async -> Result<HTTPRequest, HTTPError> {
        do {
            var modified = try await modify(request).keepingOptions(of: request)
            if modified.owner == nil { modified.owner = request.owner }
            return .success(modified)
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

    /// What is sent, with what is left of the deadline; nil where nothing is.
    ///
    /// A deadline that the closure has set begins with its end.
    private static func limited(
        _ modified: HTTPRequest,
        of request: HTTPRequest,
        after wait: Duration
    ) -> HTTPRequest? {
        guard request.afterWaiting(wait) != nil else { return nil }
        return modified.deadline == request.deadline ? modified.afterWaiting(wait) : modified
    }

    private static func late(_ request: HTTPRequest) -> HTTPError {
        request.tooLate("before the request was ready to be sent")
    }
}
