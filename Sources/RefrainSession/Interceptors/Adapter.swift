// SPDX-License-Identifier: Apache-2.0
/// An adapter made from a closure.
public struct Adapter: RequestInterceptor {
    /// A closure with a completion.
    public typealias AdaptHandler =
        @Sendable (
            _ request: HTTPRequest, _ session: Session,
            _ completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
        ) -> Void
    /// An asynchronous closure.
    public typealias AsyncAdaptHandler = @Sendable (HTTPRequest, Session) async throws -> HTTPRequest

    private let handler: AsyncAdaptHandler
    private var completionHandler: AdaptHandler?

    /// Makes an adapter from an asynchronous closure.
    public init(_ handler: @escaping AsyncAdaptHandler) { self.handler = handler }

    /// Makes an adapter from a closure that calls its completion, at once or later, on any thread.
    public init(_ handler: @escaping AdaptHandler) {
        self.handler = { request, session in
            try await CompletionForm.wait { handler(request, session, $0) }.get()
        }
        completionHandler = handler
    }

    /// Calls the closure.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        try await handler(request, session)
    }

    /// Calls the closure, in the present thread if it is one that calls its completion.
    public func adapt(_ request: HTTPRequest, for session: Session, completion: @escaping AdaptCompletion) {
        guard let completionHandler else {
            return CompletionForm.run {
                do {
                    completion(.success(try await handler(request, session)))
                } catch {
                    completion(.failure(error))
                }
            }
        }
        completionHandler(request, session, completion)
    }

    /// Calls the closure, in the present thread if it is one that calls its completion.
    public func adapt(
        _ request: HTTPRequest,
        using state: RequestAdapterState,
        completion: @escaping AdaptCompletion
    ) { adapt(request, for: state.session, completion: completion) }

    /// Calls the closure.
    public func adapt(_ request: HTTPRequest, using state: RequestAdapterState) async throws -> HTTPRequest {
        try await handler(request, state.session)
    }

    /// Returns `.doNotRetry`; later retriers decide.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        // Not a refusal: a retrier that declines also decides for outer loops (rule R24).
        PendingDecision.noteNotImplemented()
        return .doNotRetry
    }

    /// Calls `completion` with `.doNotRetry`, in the present thread.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) { completion(.doNotRetry) }
}

extension RequestAdapter where Self == Adapter {
    /// An adapter made from an asynchronous closure.
    public static func adapter(using handler: @escaping Adapter.AsyncAdaptHandler) -> Adapter { Adapter(handler) }

    /// An adapter made from a closure that calls its completion.
    public static func adapter(using handler: @escaping Adapter.AdaptHandler) -> Adapter { Adapter(handler) }
}
