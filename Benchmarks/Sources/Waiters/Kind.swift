import Refrain

/// Ways to wait for a second try.
enum Kind: String, CaseIterable {
    /// The standard library's sleep.
    case taskSleep = "Task.sleep"
    /// The engine alone.
    case withRetry
    /// A request in the retry stage of a chain.
    case retryStage = "Retry stage"
    /// A request of a session with all its stages.
    case session = "Session"

    /// What one waiter does: it is handed its place on the board.
    func wait(for delay: Duration, _ board: Board) throws -> @Sendable (Int) async -> Void {
        let backoff = try Backoff.constant(delay: delay, maximumNumberOfAttempts: 2)
        // The budget is there, and large: its purpose is that no hundred thousand requests are ever tried again.
        let budgets = RetryBudgets { _ in
            (try? RetryBudget(ratio: 1, floorPerSecond: 1_000_000)) ?? .standard()
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
                await Place.$number.withValue(index) { _ = await chain.load(request) }
            }
        case .session:
            var settings = Session.Settings()
            settings.budgets = budgets
            let session = Session(loader: FirstFails(board: board), interceptor: policy, settings: settings)
            let request = try HTTPRequest("http://127.0.0.1/")
            return { index in
                await Place.$number.withValue(index) {
                    _ = await session.request(request).serializingData().response
                }
            }
        }
    }
}

extension Board {
    struct FirstTry: Error {}

    /// The first try fails, and the second one says that it is there.
    func note(_ attempt: Int, _ index: Int) throws {
        guard attempt > 1 else {
            begins(index)
            throw FirstTry()
        }
        wakes(index)
    }
}

/// The place on the board of the request that the task makes: the task knows, so that the request is like any other.
enum Place {
    @TaskLocal static var number = 0
}

/// A transport without a network: the first try of each request fails in a way that is worth another.
///
/// It can be handed requests without a task, as the transport that sessions have by themselves.
struct FirstFails: PromptLoader {
    let board: Board

    func load(_ request: HTTPRequest) async -> HTTPResult { answer(request) }

    func begin(_ request: HTTPRequest, for receiver: any ResultReceiver) -> AnyObject? {
        receiver.receive(answer(request))
        return nil
    }

    func cancel(_ exchange: AnyObject) {}

    private func answer(_ request: HTTPRequest) -> HTTPResult {
        let index = Place.number
        guard board.hasBegun(index) else {
            board.begins(index)
            return .failure(HTTPError(.cannotConnectToHost, request: request, bytesSent: 0))
        }
        board.wakes(index)
        return .success(HTTPResponse(request: request, status: 200))
    }
}
