// SPDX-License-Identifier: Apache-2.0
import Testing

/// Runs tests that block on threads of their own, so that they hold up no asynchronous test of the same process.
struct OffPool: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OwnThreads.shared) { try await function() }
    }
}

extension Trait where Self == OffPool {
    static var offPool: Self { Self() }
}

private final class OwnThreads: TaskExecutor {
    static let shared = OwnThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        OwnThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }.detach()
    }
}
