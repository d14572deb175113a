// SPDX-License-Identifier: Apache-2.0
import Refrain

/// Ways to wait for a second attempt.
enum Kind: String, CaseIterable {
    /// The standard library's sleep.
    case taskSleep = "Task.sleep"
    /// The engine alone.
    case withRetry
    /// A request in the retry stage of a chain.
    case retryStage = "Retry stage"
    /// A request of a session with all its stages.
    case session = "Session"

    /// Returns the work of one waiter, which receives its index on the board.
    func wait(for delay: Duration, _ board: Board) throws -> @Sendable (Int) async -> Void {
        let backoff = Backoff.constant(delay: delay, maxAttempts: 2)
        // The budget is there, and large: its purpose is that no hundred thousand requests are ever tried again.
        let budgets = Retry.Budgets { _ in
            RetryBudget(ratio: 1, minimumRetriesPerSecond: 1_000_000)
        }
        let policy = RetryPolicy.recommended.with(schedule: backoff)
        switch self {
        case .taskSleep:
            return { index in
                board.begins(index)
                do { try await Task.sleep(for: delay) } catch { return }
                board.wakes(index)
            }
        case .withRetry:
            return { index in
                _ = try? await RefrainCore.withRetry(backoff) { attempt in
                    try board.note(attempt.number, index)
                }
            }
        case .retryStage:
            let chain = Retry(policy, budgets: budgets) --> FirstFails(board: board)
            let request = try HTTPRequest("http://127.0.0.1/")
            return { index in
                await WaiterIndex.$number.withValue(index) { _ = await chain.load(request) }
            }
        case .session:
            var settings = Session.Settings()
            settings.budgets = budgets
            let session = Session(loader: FirstFails(board: board), interceptor: policy, settings: settings)
            let request = try HTTPRequest("http://127.0.0.1/")
            return { index in
                await WaiterIndex.$number.withValue(index) {
                    _ = await session.request(request).serializingData().response
                }
            }
        }
    }
}

extension Board {
    struct FailedAttempt: Error {}

    /// The first attempt fails, and the second one says that it is there.
    func note(_ attempt: Int, _ index: Int) throws {
        guard attempt > 1 else {
            begins(index)
            throw FailedAttempt()
        }
        wakes(index)
    }
}

/// The index on the board of the request that the task makes, as a task-local value: the request itself is ordinary.
enum WaiterIndex {
    @TaskLocal static var number = 0
}

/// A transport without a network: the first attempt of each request fails, and the second one succeeds.
struct FirstFails: HTTPLoader {
    let board: Board

    func load(_ request: HTTPRequest) async -> HTTPResult {
        let index = WaiterIndex.number
        guard board.hasBegun(index) else {
            board.begins(index)
            return .failure(HTTPError(.cannotConnectToHost, request: request, bytesSent: 0))
        }
        board.wakes(index)
        return .success(HTTPResponse(request: request, status: 200))
    }
}
