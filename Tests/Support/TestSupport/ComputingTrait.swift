// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
public import Testing

/// Runs tests on threads of their own, two at a time, instead of on the pool that all tasks share.
///
/// The pool has one thread per core. A property over ten thousand cases holds one for seconds without awaiting, and the
/// steps of all other tests wait for it: what they bound in time would include that. The limit is also for simulations,
/// each of which computes on a thread of its own.
public struct ComputingTrait: TestTrait, SuiteTrait, TestScoping {
    /// Whether the current test has a thread already, by the trait of its suite.
    @TaskLocal private static var hasThread = false

    /// The trait of a suite is one of each of its tests.
    public let isRecursive = true

    /// Runs a test when fewer than two others compute.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard !Self.hasThread else { return try await body() }
        let thread = await ComputingThreads.shared.acquire()
        defer { ComputingThreads.shared.release(thread) }
        try await Self.$hasThread.withValue(true) {
            try await withTaskExecutorPreference(thread) { try await body() }
        }
    }
}

extension Trait where Self == ComputingTrait {
    /// The tests compute for long without awaiting.
    public static var computing: Self { Self() }
}

/// The threads for tests that compute.
private final class ComputingThreads: Sendable {
    static let shared = ComputingThreads(count: 2)

    private struct State {
        var free: [OwnThread]
        var waiters: ArraySlice<CheckedContinuation<OwnThread, Never>> = []
    }

    private let state: Locked<State>

    init(count: Int) { state = Locked(State(free: (0..<count).map { _ in OwnThread() })) }

    /// Returns a thread that no other test has.
    func acquire() async -> OwnThread {
        await withCheckedContinuation { continuation in
            let thread = state.withLock { state -> OwnThread? in
                if state.free.isEmpty { state.waiters.append(continuation) }
                return state.free.popLast()
            }
            if let thread { continuation.resume(returning: thread) }
        }
    }

    func release(_ thread: OwnThread) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.popFirst()
            if waiter == nil { state.free.append(thread) }
            return waiter
        }
        waiter?.resume(returning: thread)
    }
}
