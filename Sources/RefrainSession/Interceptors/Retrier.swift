// SPDX-License-Identifier: Apache-2.0
/// A retrier made from a closure.
public struct Retrier: RequestInterceptor {
    /// A closure with a completion.
    public typealias RetryHandler =
        @Sendable (
            _ request: Request, _ session: Session, _ error: any Error,
            _ completion: @escaping @Sendable (RetryResult) -> Void
        ) -> Void
    /// An asynchronous closure.
    public typealias AsyncRetryHandler = @Sendable (Request, Session, any Error) async -> RetryResult

    private let handler: AsyncRetryHandler
    private var completionHandler: RetryHandler?

    /// Makes a retrier from an asynchronous closure.
    public init(_ handler: @escaping AsyncRetryHandler) { self.handler = handler }

    /// Makes a retrier from a closure that calls its completion, at once or later, on any thread.
    ///
    /// A completion that is never called fails the request with `RefrainError.requestRetryFailed`.
    public init(_ handler: @escaping RetryHandler) {
        self.handler = { request, session, error in
            do {
                return try await CompletionForm.wait { handler(request, session, error, $0) }
            } catch {
                return .doNotRetryWithError(error)
            }
        }
        completionHandler = handler
    }

    /// Calls the closure.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        await handler(request, session, error)
    }

    /// Calls the closure, in the present thread if it is one that calls its completion.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) {
        guard let completionHandler else {
            return CompletionForm.run { completion(await handler(request, session, error)) }
        }
        completionHandler(request, session, error, completion)
    }

    /// Calls `completion` with the request unchanged, in the present thread.
    public func adapt(_ request: HTTPRequest, for session: Session, completion: @escaping AdaptCompletion) {
        completion(.success(request))
    }

    /// Calls `completion` with the request unchanged, in the present thread.
    public func adapt(
        _ request: HTTPRequest,
        using state: RequestAdapterState,
        completion: @escaping AdaptCompletion
    ) { completion(.success(request)) }
}

extension RequestRetrier where Self == Retrier {
    /// A retrier made from an asynchronous closure.
    public static func retrier(using handler: @escaping Retrier.AsyncRetryHandler) -> Retrier { Retrier(handler) }

    /// A retrier made from a closure that calls its completion.
    public static func retrier(using handler: @escaping Retrier.RetryHandler) -> Retrier { Retrier(handler) }
}
