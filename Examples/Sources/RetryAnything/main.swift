// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainCore
import RefrainTesting

// Retries any async operation: here reading a sensor over HTTP. It needs neither the session nor the chain; RefrainCore
// is sufficient.

struct Busy: Error {}
struct Broken: Error {}

let server = try FaultServer()
server.on("/sensor") { request in
    let isAwake = request.occurrence > 2
    return [.respond(isAwake ? .init(200, body: "21.5") : .init(503, body: "asleep"))]
}

/// Reads once; throws if there is no value.
func reading(of path: String) async throws -> Double {
    let response = try await PlatformLoader().response(for: HTTPRequest(server.baseURL + path))
    guard response.status.isSuccess else { throw response.status == 503 ? Busy() as any Error : Broken() }
    return Double(response.text ?? "") ?? 0
}

// A schedule with limits: at most five attempts, and none that begins after ten seconds.
let schedule = Backoff.exponential(from: .milliseconds(20), maxAttempts: 5).jittered(.equal)
let temperature = try await withRetry(schedule, timeout: .seconds(10)) { attempt in
    print("  try \(attempt.number)")
    return try await reading(of: "/sensor")
}
check(temperature == 21.5, "the sensor woke up")
check(server.count(path: "/sensor") == 3, "for the third attempt")

// Only transient errors are retried; others are thrown immediately.
do {
    _ = try await withRetry(schedule, while: { $0 is Busy }, operation: { try await reading(of: "/status/404") })
    check(false, "a sensor that is not there is an error")
} catch {
    check(error is Broken, "an error that stays is thrown as it is")
    check(server.count(path: "/status/404") == 1, "after one attempt")
}

// As a task: cancelling it also ends the delay before the next attempt.
let task = Task.retrying(maxRetryCount: 3, retryDelay: .seconds(3600)) { try await reading(of: "/status/503") }
while server.count(path: "/status/503") == 0 { await Task.yield() }
task.cancel()
if case .success = await task.result { check(false, "a cancelled task has no reading") }
check(server.count(path: "/status/503") == 1, "a cancelled task tries no more, and does not wait for an hour")
server.stop()
