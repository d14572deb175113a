/// The adapters and the retriers of one request, the session's before its own, with composites taken apart.
///
/// Taken apart, each retrier is seen for what it is: a policy's decision keeps its schedule, its rules and its reason.
final class InterceptorLine: Sendable {
    let adapters: [any RequestAdapter]
    /// Whether there are adapters, those included that are known to change nothing and are not asked.
    let hasAdapters: Bool
    let retriers: [any RequestRetrier]
    /// The retriers as what can be asked without a wait, where they can; found out once, since that takes a while.
    let promptRetriers: [(any PromptStrategy)?]

    /// Whether there are some besides those of the session.
    let isRequestsOwn: Bool

    /// Whether nobody is asked but who can be asked without a wait.
    var isPrompt: Bool { adapters.isEmpty && !promptRetriers.contains { $0 == nil } }

    init(session: (any RequestInterceptor)?, request: (any RequestInterceptor)?) {
        var parts = Parts()
        for interceptor in [session, request] {
            guard let interceptor else { continue }
            parts.add(adapter: interceptor)
            parts.add(retrier: interceptor)
        }
        adapters = parts.adapters
        hasAdapters = parts.hasAdapters
        retriers = parts.retriers
        promptRetriers = parts.retriers.map { $0 as? any PromptStrategy }
        isRequestsOwn = request != nil
    }

    private struct Parts {
        var adapters: [any RequestAdapter] = []
        var hasAdapters = false
        var retriers: [any RequestRetrier] = []

        mutating func add(adapter: any RequestAdapter) {
            guard let composite = adapter as? Interceptor else {
                hasAdapters = true
                if !Self.adaptsNothing(adapter) { adapters.append(adapter) }
                return
            }
            for part in composite.adapters { add(adapter: part) }
        }

        /// Whether an interceptor is known to be here for its decisions alone.
        private static func adaptsNothing(_ adapter: any RequestAdapter) -> Bool {
            adapter is RetryPolicy || adapter is ConnectionLostRetryPolicy || adapter is Retrier
                || adapter is OfflineRetrier
        }

        mutating func add(retrier: any RequestRetrier) {
            guard let composite = retrier as? Interceptor else { return retriers.append(retrier) }
            for part in composite.retriers { add(retrier: part) }
        }
    }
}
