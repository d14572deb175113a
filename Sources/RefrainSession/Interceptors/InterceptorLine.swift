/// The adapters and the retriers of one request, the session's before its own, with composites taken apart.
///
/// Taken apart, each retrier is seen for what it is: a policy's decision keeps its schedule, its rules and its reason.
struct InterceptorLine: Sendable {
    private(set) var adapters: [any RequestAdapter] = []
    /// Whether there are adapters, those included that are known to change nothing and are not asked.
    private(set) var hasAdapters = false
    private(set) var retriers: [any RequestRetrier] = []
    /// The retriers as what can be asked without a wait, where they can; found out once, since that takes a while.
    private(set) var promptRetriers: [(any PromptStrategy)?] = []

    /// Whether nobody is asked but who can be asked without a wait.
    var isPrompt: Bool { adapters.isEmpty && !promptRetriers.contains { $0 == nil } }

    init(session: (any RequestInterceptor)?, request: (any RequestInterceptor)?) {
        for interceptor in [session, request] {
            guard let interceptor else { continue }
            add(adapter: interceptor)
            add(retrier: interceptor)
        }
    }

    private mutating func add(adapter: any RequestAdapter) {
        guard let composite = adapter as? Interceptor else {
            hasAdapters = true
            // A policy adapts nothing.
            if !(adapter is RetryPolicy) { adapters.append(adapter) }
            return
        }
        for part in composite.adapters { add(adapter: part) }
    }

    private mutating func add(retrier: any RequestRetrier) {
        guard let composite = retrier as? Interceptor else {
            retriers.append(retrier)
            promptRetriers.append(retrier as? any PromptStrategy)
            return
        }
        for part in composite.retriers { add(retrier: part) }
    }
}
