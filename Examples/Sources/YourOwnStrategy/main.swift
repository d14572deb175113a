// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

// A custom strategy: a value that returns the delay before the next attempt, or ends the call. This one waits for a
// job: the server returns 202 until it is done, which is a success status without a result.

/// Retries while the job runs, with increasing delays; retries transient failures soon.
struct UntilDone: RetryStrategy {
    var step = Duration.milliseconds(20)
    var maxAttempts = 10

    func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        guard context.attempt.number < maxAttempts else { return .finish(.attemptsUsedUp) }
        switch result {
        case .success(let response) where response.status == 202: return .retry(after: step * context.attempt.number)
        case .success(let response) where response.status.isServerError: return .retry(after: step)
        case .failure(let error) where error.code == .networkConnectionLost: return .retry(after: step)
        default: return .finish()
        }
    }
}

let server = try FaultServer()
server.on("/jobs/7") { request in
    switch request.occurrence {
    case 1, 2, 4: [.respond(.init(202, body: "running"))]
    case 3: [.reset]
    default: [.respond(.init(200, body: "42"))]
    }
}
server.on("/jobs") { _ in [.reset] }

let loader = Retry(UntilDone()) --> PlatformLoader()
let response = try await loader.response(for: HTTPRequest(server.baseURL + "/jobs/7"))
for attempt in response.attempts { print("  \(attempt)") }
check(response.text == "42", "the job is done")
check(response.attempts.map(\.status) == [202, 202, nil, 202, 200], "after four attempts that were not the end of it")
check(response.attempts.dropLast().map(\.delay) == [20, 40, 20, 80].map(Duration.milliseconds), "at its own pace")

// The rules of replay safety apply in addition to a strategy.
do {
    _ = try await loader.response(for: HTTPRequest(server.baseURL + "/jobs", method: .post, body: .text("a new job")))
    check(false, "the answer to the POST was lost")
} catch {
    check(error.code == .networkConnectionLost, "a POST whose answer was lost is an error")
    check(error.attempts.map(\.reason) == [.notReplayable], "since it may have been done, it is not sent again")
}
check(server.count(path: "/jobs") == 1, "the server saw it once")
server.stop()
