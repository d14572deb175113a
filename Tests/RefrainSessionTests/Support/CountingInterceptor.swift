// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport

struct TestError: Error, Equatable { var name = "test" }

/// An interceptor that counts how often it is asked, and answers from scripts; the last answer goes on.
final class CountingInterceptor: RequestInterceptor {
    let adapts = Counter()
    let retries = Counter()
    private let adaptFailures: Set<Int>
    private let answers: [RetryResult]

    /// Fails the adapts with these numbers, from 1, and answers retries in order.
    init(failAdapts: Set<Int> = [], _ answers: RetryResult...) {
        adaptFailures = failAdapts
        self.answers = answers
    }

    func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        if adaptFailures.contains(adapts.increment()) { throw TestError(name: "adapt") }
        var request = request
        request.headers.add("X-Adapted", "\(adapts.value)")
        return request
    }

    func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        let index = retries.increment() - 1
        guard !answers.isEmpty else { return .doNotRetry }
        return answers[min(index, answers.count - 1)]
    }
}
