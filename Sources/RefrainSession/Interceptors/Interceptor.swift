// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Several adapters and retriers as one interceptor.
///
/// Adapters run in order until one throws. Retriers run in order until one returns something other than `.doNotRetry`.
public struct Interceptor: RequestInterceptor {
    /// The adapters, in order.
    public let adapters: [any RequestAdapter]
    /// The retriers, in order.
    public let retriers: [any RequestRetrier]

    /// Makes an interceptor from lists; `interceptors` are appended to both of the others.
    public init(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// Makes an interceptor from an adapter and a retrier.
    public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
        self.init(adapters: [adapter], retriers: [retrier])
    }

    /// Makes an interceptor from two asynchronous closures.
    public init(
        adaptHandler: @escaping Adapter.AsyncAdaptHandler,
        retryHandler: @escaping Retrier.AsyncRetryHandler
    ) {
        self.init(adapter: Adapter(adaptHandler), retrier: Retrier(retryHandler))
    }

    /// Makes an interceptor from two closures that call their completions.
    public init(adaptHandler: @escaping Adapter.AdaptHandler, retryHandler: @escaping Retrier.RetryHandler) {
        self.init(adapter: Adapter(adaptHandler), retrier: Retrier(retryHandler))
    }

    /// Runs the adapters one after the other.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request, for: session) }
        return request
    }

    /// Runs the adapters in order, with the given state.
    public func adapt(_ request: HTTPRequest, using state: RequestAdapterState) async throws -> HTTPRequest {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request, using: state) }
        return request
    }

    /// Runs the retriers in order.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        for retrier in retriers {
            let answer = await retrier.retry(request, for: session, dueTo: error)
            if case .doNotRetry = answer { continue }
            return answer
        }
        return .doNotRetry
    }
}

// The completion forms of the parts are called in the present thread, for code that calls them itself.
extension Interceptor {
    /// Calls the completion forms of the adapters, one after the other.
    public func adapt(_ request: HTTPRequest, for session: Session, completion: @escaping AdaptCompletion) {
        adapt(request, by: adapters[...], completion) { $0.adapt($1, for: session, completion: $2) }
    }

    /// Calls the completion forms of the adapters, one after the other.
    public func adapt(
        _ request: HTTPRequest,
        using state: RequestAdapterState,
        completion: @escaping AdaptCompletion
    ) {
        adapt(request, by: adapters[...], completion) { $0.adapt($1, using: state, completion: $2) }
    }

    /// Calls the completion forms of the retriers, until one decides.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) {
        retry(request, for: session, dueTo: error, by: retriers[...], completion)
    }

    private func adapt(
        _ request: HTTPRequest,
        by rest: ArraySlice<any RequestAdapter>,
        _ completion: @escaping AdaptCompletion,
        call: @escaping @Sendable (any RequestAdapter, HTTPRequest, @escaping AdaptCompletion) -> Void
    ) {
        guard let next = rest.first else { return completion(.success(request)) }
        call(next, request) { result in
            switch result {
            case .success(let adapted): adapt(adapted, by: rest.dropFirst(), completion, call: call)
            case .failure: completion(result)
            }
        }
    }

    private func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        by rest: ArraySlice<any RequestRetrier>,
        _ completion: @escaping RetryCompletion
    ) {
        guard let next = rest.first else { return completion(.doNotRetry) }
        next.retry(request, for: session, dueTo: error) { result in
            guard case .doNotRetry = result else { return completion(result) }
            retry(request, for: session, dueTo: error, by: rest.dropFirst(), completion)
        }
    }
}

extension RequestInterceptor where Self == Interceptor {
    /// An interceptor made from two closures that call their completions.
    public static func interceptor(
        adapter: @escaping Adapter.AdaptHandler,
        retrier: @escaping Retrier.RetryHandler
    ) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// An interceptor from two asynchronous closures.
    public static func interceptor(
        adapter: @escaping Adapter.AsyncAdaptHandler,
        retrier: @escaping Retrier.AsyncRetryHandler
    ) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// An interceptor from an adapter and a retrier.
    public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier)
    }

    /// An interceptor from lists; `interceptors` are appended to both of the others.
    public static func interceptor(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}

/// An adapter and a retrier in one; each half does nothing unless it is implemented, in either of its forms.
///
/// A type that implements neither half, for example because the methods have other types, ends its first failed request
/// with an error that names it. For a half that is misspelt beside one that is not, the compiler has a warning, "nearly
/// matches defaulted requirement", if the half stands in the extension that states the conformance. A type that is
/// meant to have one half conforms to ``RequestAdapter`` or ``RequestRetrier``, which require it, and becomes an
/// interceptor by ``Interceptor/init(adapters:retriers:interceptors:)``.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Calls the completion form; the request unchanged where that is not implemented.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        if let adapted = try await adaptByCompletion(request, for: session) { return adapted }
        AbsentAdapter.current?.note()
        return request
    }

    /// Calls the completion form, or else ``RequestAdapter/adapt(_:for:)``.
    public func adapt(_ request: HTTPRequest, using state: RequestAdapterState) async throws -> HTTPRequest {
        let result: Result<HTTPRequest, any Error>? = try await CompletionForm.waitIfImplemented(by: Self.self) {
            adapt(request, using: state, completion: $0)
        }
        if let result { return try result.get() }
        let absence = AbsentAdapter()
        let adapted = try await AbsentAdapter.$current.withValue(absence) {
            try await adapt(request, for: state.session)
        }
        if absence.isNoted { state.noteAbsentAdapter(of: Self.self) }
        return adapted
    }

    /// Calls the completion form; `.doNotRetry` where that is not implemented.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        guard let result = await retryByCompletion(request, for: session, dueTo: error) else {
            PendingDecision.noteNotImplemented()
            return .doNotRetry
        }
        return result
    }
}

/// Whether the call of an interceptor's adapting half came to its default implementation.
private final class AbsentAdapter: Sendable {
    @TaskLocal static var current: AbsentAdapter?

    private let noted = Atomic(false)

    var isNoted: Bool { noted.load(ordering: .acquiring) }

    func note() { noted.store(true, ordering: .releasing) }
}
