// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainTesting

// Ends all requests when a user logs out. One request is in flight, one waits for a slot of the throttle, and one for
// its next attempt; a reset ends all three.

let clock = TestClock()
let answers = MockLoader.Gate()
let server = MockLoader()
    .then(.status(503))
    .otherwise(.held(by: answers, .status(200)))

let throttle = Throttle(maximumNumberOfRequests: 1)
let retry = Retry(Backoff.constant(delay: .seconds(60)), clocks: clock.retryClocks())
let loader = ResetGuard() --> retry --> throttle --> server

func load(_ path: String) throws -> HTTPTask {
    loader.load(try HTTPRequest("https://api.example.com/\(path)")) { result in print("  \(path): \(outcome(result))") }
}

func outcome(_ result: HTTPResult) -> String {
    switch result {
    case .success(let response): "\(response.status)"
    case .failure(let error): error.code.rawValue
    }
}

let waitsForNextTry = try load("mail")
await clock.sleepers(atLeast: 1)
let waitsForAnswer = try load("photos")
await answers.arrivals(atLeast: 1)
let waitsForSlot = try load("notes")
while throttle.numberOfWaitingRequests == 0 { await Task.yield() }

await loader.reset()
for task in [waitsForNextTry, waitsForAnswer, waitsForSlot] {
    check(outcome(await task.result) == "cancelled", "a request was ended")
}
check(server.requests.count == 2, "two of them had reached the server")
await clock.advance(by: .seconds(3600))
check(server.requests.count == 2, "and nothing comes back an hour later")
