import RefrainHTTP
import RefrainTesting

// What a user who logs out expects: nothing of theirs is under way any more, and nothing of it comes back later.
// One request waits for its answer, one for a slot of the throttle and one for its next try; a reset ends all three.

@main
enum Program {
    static func main() async throws {
        let clock = TestClock()
        let answers = MockHold()
        let server = MockLoader()
            .then(.status(503))
            .otherwise(.held(by: answers, .status(200)))

        let throttle = try Throttle(maximumNumberOfRequests: 1)
        let retry = Retry(try Backoff.constant(delay: .seconds(60)), clocks: clock.clockPair())
        let loader = ResetGuard() --> retry --> throttle --> server

        let waitsForNextTry = loader.load(try HTTPRequest("https://api.example.com/mail")) {
            print("mail:", outcome($0))
        }
        await clock.sleepers(atLeast: 1)
        let waitsForAnswer = loader.load(try HTTPRequest("https://api.example.com/photos")) {
            print("photos:", outcome($0))
        }
        await answers.arrivals(atLeast: 1)
        let waitsForSlot = loader.load(try HTTPRequest("https://api.example.com/notes")) {
            print("notes:", outcome($0))
        }

        while throttle.numberOfWaitingRequests == 0 { await Task.yield() }

        await loader.reset()
        for task in [waitsForNextTry, waitsForAnswer, waitsForSlot] { _ = await task.result }
        print("requests that reached the server: \(server.requests.count)")
    }

    static func outcome(_ result: HTTPResult) -> String {
        switch result {
        case .success(let response): "\(response.status)"
        case .failure(let error): error.code.rawValue
        }
    }
}
