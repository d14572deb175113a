import Checks
import Refrain
import RefrainTesting

// A strategy of your own: a value that says how long to wait before the next try, or that there is none. This one waits
// for a job: the server answers 202 until it is done, which is a success, and yet no answer.

/// Asks again while the job runs, a little later each time; what may pass by itself is tried again soon.
struct UntilDone: HTTPRetryStrategy {
    var step = Duration.milliseconds(20)
    var maximumNumberOfAttempts = 10

    func retryDelay(for result: HTTPResult, attempt: Attempt) -> Duration? {
        guard attempt.number < maximumNumberOfAttempts else { return nil }
        switch result {
        case .success(let response) where response.status == 202: return step * attempt.number
        case .success(let response) where response.status.isServerError: return step
        case .success: return nil
        case .failure(let error): return error.code == .networkConnectionLost ? step : nil
        }
    }

    /// The form that does not count is asked where nobody counts.
    func retryDelay(for result: HTTPResult) -> Duration? { retryDelay(for: result, attempt: .first) }
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

let loader = Retry(UntilDone()) --> CurlLoader()
let response = try await loader.response(for: HTTPRequest(server.baseURL + "/jobs/7"))
for attempt in response.attempts { print("  \(attempt)") }
check(response.text == "42", "the job is done")
check(response.attempts.map(\.status) == [202, 202, nil, 202, 200], "after four tries that were not the end of it")
check(response.attempts.dropLast().map(\.delay) == [20, 40, 20, 80].map(Duration.milliseconds), "at its own pace")

// A strategy says what it would like; the rules on what may be sent again hold all the same.
do {
    _ = try await loader.response(for: HTTPRequest(server.baseURL + "/jobs", method: .post, body: .text("a new job")))
    check(false, "the answer to the POST was lost")
} catch {
    check(error.code == .networkConnectionLost, "a POST whose answer was lost is an error")
    check(error.attempts.map(\.reason) == [.notReplayable], "since it may have been done, it is not sent again")
}
check(server.count(path: "/jobs") == 1, "the server saw it once")
server.stop()
