// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainCore
import RefrainTesting

// Tests code that waits, without delays, by passing its loader and clocks. `Weather` is the code under test; the rest
// corresponds to its tests, with `check` instead of `#expect`.

/// The code under test: retries after a failure, and falls back to the last known value.
struct Weather: Sendable {
    let loader: any HTTPLoader
    let url: String

    init(_ transport: some HTTPLoader, url: String = "https://weather.example.com/", clocks: RetryClocks = .system) {
        loader = AnyLoader(Retry(RetryPolicy.recommended, budgets: nil, clocks: clocks) --> transport)
        self.url = url
    }

    func forecast() async -> String {
        guard let request = try? HTTPRequest(url), let response = try? await loader.response(for: request) else {
            return "as yesterday"
        }
        return response.status.isSuccess ? response.text ?? "" : "as yesterday"
    }
}

let real = ContinuousClock.now

// A clock that skips every wait, and a loader with prepared replies.
let jumping = TestClock(.autoAdvancing)
let mock = MockLoader()
    .then(.status(503, headers: ["Retry-After": "240"]))
    .then(.failure(.networkConnectionLost))
    .then(.status(200, body: .text("sunny")))
let patient = await Weather(mock, clocks: jumping.retryClocks()).forecast()
check(patient == "sunny" && mock.requests.count == 3, "the third attempt brought the forecast")
check(jumping.sleeps.count == 2 && jumping.sleeps[0] >= .seconds(240), "the server was left alone for four minutes")

// A clock that the test advances, to examine the state during a wait.
let clock = TestClock()
let outage = MockLoader().otherwise(.status(503, headers: ["Retry-After": "60"]))
let waiting = Task { [weather = Weather(outage, clocks: clock.retryClocks())] in await weather.forecast() }
await clock.sleepers(atLeast: 1)
await clock.advance(by: .seconds(59))
check(outage.requests.count == 1, "nothing is asked a second too early")
waiting.cancel()
check(await waiting.value == "as yesterday", "a cancelled call returns the old value at once")
check(outage.requests.count == 1, "and nothing is asked again")

// Real sockets with virtual delays: the requests are real, the hour is not.
let server = try FaultServer()
let path = "/status/503?times=1&retry-after=200"
let wired = Weather(PlatformLoader(), url: server.baseURL + path, clocks: TestClock(.autoAdvancing).retryClocks())
check(await wired.forecast() == "ok\n", "the server's fault passed")
check(server.count(path: path) == 2, "which took two requests over real sockets")
server.stop()

print("in real time, all of this took \(real.duration(to: .now))")
