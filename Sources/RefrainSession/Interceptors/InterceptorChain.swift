// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// The adapters and the retriers of one request, the session's before its own, with composites taken apart.
///
/// Taken apart, each retrier is known for what it is: a policy's decision keeps its schedule, its rules and its reason.
final class InterceptorChain: Sendable {
    let adapters: [any RequestAdapter]
    /// Whether there are adapters, those included that are known to change nothing and are not called.
    let hasAdapters: Bool
    let retriers: [any RequestRetrier]
    /// Whether ``DefaultRetryPolicy`` decides if no retrier of the request does.
    let hasDefaultPolicy: Bool
    /// Whether the request may share an exchange: it is sent as it is, and has the session's retriers alone.
    let sharesExchanges: Bool

    /// The chain without interceptors.
    static let none = InterceptorChain(session: nil, request: nil)

    init(session: (any RequestInterceptor)?, request: (any RequestInterceptor)?) {
        var parts = Parts()
        for interceptor in [session, request] {
            guard let interceptor, !(interceptor is DefaultRetryPolicy) else { continue }
            parts.add(adapter: interceptor)
            parts.add(retrier: interceptor)
        }
        adapters = parts.adapters
        hasAdapters = parts.hasAdapters
        hasDefaultPolicy = session is DefaultRetryPolicy
        retriers = parts.retriers
        sharesExchanges = request == nil && parts.adapters.isEmpty
    }

    /// Makes the chain with a further interceptor of the request.
    private init(_ chain: InterceptorChain, adding interceptor: any RequestInterceptor) {
        var parts = Parts(adapters: chain.adapters, hasAdapters: chain.hasAdapters, retriers: chain.retriers)
        parts.add(adapter: interceptor)
        parts.add(retrier: interceptor)
        adapters = parts.adapters
        hasAdapters = parts.hasAdapters
        retriers = parts.retriers
        hasDefaultPolicy = chain.hasDefaultPolicy
        sharesExchanges = false
    }

    /// This chain with a further interceptor of the request.
    func adding(_ interceptor: any RequestInterceptor) -> InterceptorChain {
        InterceptorChain(self, adding: interceptor)
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

        /// Whether an interceptor is known to decide on retries alone.
        private static func adaptsNothing(_ adapter: any RequestAdapter) -> Bool {
            adapter is RetryPolicy || adapter is ConnectionLostRetryPolicy || adapter is Retrier
                || adapter is any RetrierOnly
        }

        mutating func add(retrier: any RequestRetrier) {
            guard let composite = retrier as? Interceptor else { return retriers.append(retrier) }
            for part in composite.retriers { add(retrier: part) }
        }
    }
}

/// An interceptor of this module that decides on retries alone, so that its adapting half is not called.
protocol RetrierOnly: RequestInterceptor {}

/// The policy of sessions that are given none: `RetryPolicy.recommended` where nothing that was named decides.
struct DefaultRetryPolicy: RequestInterceptor {
    /// Returns the policy's decision, for interceptors that wrap this one.
    func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        await RetryPolicy.recommended.retry(request, for: session, dueTo: error)
    }
}
