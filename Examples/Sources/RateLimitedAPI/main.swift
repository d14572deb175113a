// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

// An API with its own fields: a 429 contains in `x-rate-limit-reset` the Unix time at which it accepts requests again,
// and a 503 in `retry-after` its downtime in seconds. The strategy below reads both.

/// Waits as this API specifies; retries nothing else.
struct RateLimitedAPI: HTTPRetryStrategy {
    let clocks: RetryClocks

    func retryDelay(for result: HTTPResult) -> Duration? {
        guard case .success(let response) = result else { return nil }
        func seconds(_ field: String) -> Duration? { response.headers[field].flatMap(Int64.init).map { .seconds($0) } }
        switch response.status {
        case 429:
            return seconds("x-rate-limit-reset").map { clocks.wallNow.duration(to: WallClock.Instant(sinceEpoch: $0)) }
        case 503: return seconds("retry-after")
        default: return nil
        }
    }
}

// The sockets are real; the delays are on a clock that skips them, so that the program ends immediately.
let clock = TestClock(.autoAdvancing)
let clocks = clock.retryClocks()
let reset = clocks.wallNow.sinceEpoch.components.seconds + 42

let server = try FaultServer()
server.on("/people") { request in
    switch request.occurrence {
    case 1: [.respond(.init(429, headers: [("X-Rate-Limit-Reset", "\(reset)")]))]
    case 2: [.respond(.init(503, headers: [("Retry-After", "7")]))]
    default: [.respond(.init(200, body: "[]"))]
    }
}

let loader = Retry(RateLimitedAPI(clocks: clocks), clocks: clocks) --> PlatformLoader()
var request = try HTTPRequest(server.baseURL + "/people")
request.timeout = .seconds(120)

let response = try await loader.response(for: request)
print("\(request): \(response.status) \(response.text ?? "")")
for attempt in response.attempts { print("  \(attempt)") }
check(response.status == .ok && response.attempts.count == 3, "the third attempt was let through")
let waits = response.attempts.map(\.delay)
check(waits[0] >= .seconds(42) && waits[0] < .seconds(44), "the first wait was until the reset")
check(waits[1] >= .seconds(7) && waits[1] < .seconds(9), "the second one as long as the server asked for")

// A built-in strategy reads the common fields: this path is limited to one request per second.
let polite = Retry(RetryPolicy.recommended) --> PlatformLoader()
for _ in 1...2 {
    let answer = try await polite.response(for: HTTPRequest(server.baseURL + "/rate-limited?limit=1&window=1"))
    check(answer.status == .ok, "answered by try \(answer.attempts.count)")
}
server.stop()
