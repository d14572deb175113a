import Refrain
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("The default of the command: time, not a count of attempts")
struct CommandPolicyTests {
    /// What became of requests to a server that was down for a while.
    private struct Outage {
        var successes = 0
        var sends = 0
        /// The time from the end of the outage to the last success.
        var lag = Duration.zero
    }

    /// Plays requests that all begin as a server goes down, in virtual time.
    private func play(_ outage: Duration, requests: Int, seed: UInt64) async throws -> Outage {
        let clock = TestClock()
        let budget = RetryBudget(ratio: 0.2, minimumRetriesPerSecond: 10, whenEmpty: .wait, clock: AnyClock(clock))
        let policy = try PolicyText.commandPolicy(Arguments([], options: CommandSpec.get.options))
        let random = RandomSource(seed: seed)
        var result = Outage()
        var sends = (0..<requests).map { (at: Duration.zero, request: $0, attempt: Attempt.first) }
        while let index = sends.indices.min(by: { sends[$0].at < sends[$1].at }) {
            let send = sends.remove(at: index)
            await clock.advance(by: max(.zero, send.at - clock.now.offset))
            result.sends += 1
            guard send.at < outage else {
                result.successes += 1
                result.lag = max(result.lag, send.at - outage)
                continue
            }
            var context = RetryContext(method: .get, outcome: .failure(.cannotConnectToHost), now: .now)
            (context.attempt, context.failingFor, context.bytesSent) = (send.attempt, send.at, 0)
            guard case .retry(let wait) = policy.decide(in: context).action else { continue }
            var delay = wait.sample(using: random)
            if case .grantedAfter(let turn) = budget.withdraw() { delay = max(delay, turn) }
            let next = Attempt(number: send.attempt.number + 1, previousDelay: delay)
            sends.append((send.at + delay, send.request, next))
        }
        return result
    }

    @Test(
        "an outage of up to half a minute is bridged, by one request and by 64 at a time",
        arguments: [(1, 1), (3, 1), (10, 1), (30, 1), (1, 64), (3, 64), (10, 64), (30, 64)]
    )
    func bridges(seconds: Int, requests: Int) async throws {
        let outage = try await play(.seconds(seconds), requests: requests, seed: 7)
        #expect(outage.successes == requests)
        #expect(outage.lag <= .seconds(requests == 1 ? 8 : 12), "\(outage)")
        print("| \(seconds) s | \(requests) | \(outage.successes) | \(outage.sends) | \(outage.lag) |")
    }

    @Test("--retry-for holds: the last attempt comes at its end, and a server that wants more time gets none")
    func window() throws {
        let arguments = try Arguments(["--retry-for", "10s"], options: CommandSpec.get.options)
        let policy = try PolicyText.commandPolicy(arguments)
        let random = RandomSource(seed: 3)
        for start in stride(from: 0.0, to: 10, by: 0.5) {
            var context = RetryContext(method: .get, outcome: .failure(.cannotConnectToHost), now: .now)
            (context.attempt, context.bytesSent) = (Attempt(number: 6, previousDelay: .seconds(8)), 0)
            context.failingFor = .seconds(start)
            guard case .retry(let delay) = policy.decide(in: context).action else {
                Issue.record("no further attempt after \(start) s")
                continue
            }
            #expect(context.failingFor + delay.sample(using: random) <= .seconds(10), "\(start) s")
            context.outcome = .status(.serviceUnavailable)
            context.headers["Retry-After"] = "11"
            guard case .retryAfterTooLong = policy.decide(in: context).action else {
                Issue.record("waits for 11 s after \(start) s")
                continue
            }
        }
        var over = RetryContext(method: .get, outcome: .failure(.cannotConnectToHost), now: .now)
        (over.bytesSent, over.failingFor) = (0, .seconds(10))
        #expect(policy.decide(in: over).action == .finish)
    }

    @Test("a host name that is not found ends after three attempts, within seconds")
    func unknownName() async throws {
        let ended = try await Executable.run(["get", "http://refrain.invalid/", "--report", "-"])
        #expect(ended.status == 1 && ended.text.contains("cannotFindHost"))
        #expect(ended.text.contains(#""number":3"#) && !ended.text.contains(#""number":4"#), "\(ended.text)")
    }

    @Test("R12: the library's own schedule bridges an outage of one second in a quarter of all cases")
    func librarySchedule() throws {
        let random = RandomSource(seed: 1)
        let schedule = RetryPolicy.recommended.schedule
        let runs = 100_000
        let bridged = (0..<runs).count { _ in
            var total = Duration.zero
            var attempt = Attempt.first
            while let delay = schedule.delay(after: attempt, using: random) {
                total += delay
                attempt = Attempt(number: attempt.number + 1, previousDelay: delay)
            }
            return total >= .seconds(1)
        }
        // Two waits, drawn evenly from 0 … 0.5 s and from 0 … 1 s: their sum is 1 s or more in a quarter of the square.
        #expect(abs(Double(bridged) / Double(runs) - 0.25) < 0.01, "\(bridged) of \(runs)")
    }
}
