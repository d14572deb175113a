// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import TestSupport

/// Calls of which a test knows when all have begun, and each waits for something or has ended.
///
/// It is a stage, too: then it knows this of the stages that follow, which it runs on an executor of its own.
struct TrackedCalls: HTTPMiddleware {
    private let executor = TrackedExecutor()
    private let started = Counter()
    private let begun = Counter()

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await withTaskExecutorPreference(executor) {
            begun.increment()
            return await next.load(request)
        }
    }

    /// Starts a request.
    func start(_ request: HTTPRequest, on loader: any HTTPLoader) -> HTTPTask {
        started.increment()
        return AnyLoader { request in await load(request, next: loader) }.load(request) { _ in }
    }

    /// Returns when so many calls have begun, by default all that were started, and each waits or has ended.
    func settle(_ count: Int? = nil) async {
        await begun.reaches(count ?? started.value)
        await executor.idle()
    }
}
