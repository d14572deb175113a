internal import Synchronization

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
