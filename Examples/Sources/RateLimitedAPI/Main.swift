import RefrainHTTP
import RefrainTesting

// An API with two habits of its own: a 429 says in `x-rate-limit-reset` at which second of the Unix epoch it takes
// requests again, and a 503 says in `retry-after` for how many seconds it is down. Ten lines teach them to the chain.

/// Waits as this API asks; everything else is final.
struct RateLimitedAPI: HTTPRetryStrategy {
    let clocks: ClockPair

    func retryDelay(for result: HTTPResult) -> Duration? {
        guard case .success(let response) = result else { return nil }
        func seconds(_ field: String) -> Duration? { response.headers[field].flatMap(Int64.init).map { .seconds($0) } }
        switch response.status {
        case 429: return seconds("x-rate-limit-reset").map { clocks.wallNow.duration(to: WallInstant(sinceEpoch: $0)) }
        case 503: return seconds("retry-after")
        default: return nil
        }
    }
}

@main
enum Program {
    static func main() async throws {
        // A stub in place of the network and a clock that jumps over waits, so that the program ends at once.
        let clocks = TestClock(.autoAdvancing).clockPair()
        let reset = clocks.wallNow.sinceEpoch.components.seconds + 42
        let server = MockLoader()
            .then(.status(429, headers: ["X-Rate-Limit-Reset": "\(reset)"]))
            .then(.status(503, headers: ["Retry-After": "7"]))
            .then(.status(200, body: .text("[]")))

        let loader = Retry(RateLimitedAPI(clocks: clocks), clocks: clocks) --> server
        var request = try HTTPRequest("https://api.example.com/people")
        request.deadline = .seconds(120)

        let response = try await loader.response(for: request)
        print("\(request): \(response.status) \(response.text ?? "")")
        for attempt in response.attempts { print("  \(attempt)") }
    }
}
