// SPDX-License-Identifier: Apache-2.0
import Refrain
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("The default of the command: time, not a count of attempts", .timeLimit(.minutes(10)))
struct CommandPolicyTests {
    /// What became of requests to a server that was down for a while.
    private struct Outage {
        var successes = 0
        var sends = 0
        /// The time from the end of the outage to the last success.
        var lag = Duration.zero
    }

    /// Plays requests that all begin as a server goes down, in virtual time.
    private func play(
        _ outage: Duration,
        _ outcome: RetryContext.Outcome,
        requests: Int,
        seed: UInt64
    ) async throws -> Outage {
        let clock = TestClock()
        let budget = CommandPolicy.budget(clock: AnyClock(clock))
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
            var context = RetryContext(method: .get, outcome: outcome, now: .now)
            (context.attempt, context.failingFor, context.bytesSent) = (send.attempt, send.at, 0)
            let decision = policy.decide(in: context)
            guard case .retry(let wait) = decision.action else { continue }
            var delay = wait.sample(using: random)
            if decision.drawsOnBudget, case .grantedAfter(let turn) = budget.withdraw() {
                delay = max(delay, turn)
            }
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
        let outcomes: [(RetryContext.Outcome, String)] = [
            (.failure(.cannotConnectToHost), "refused"), (.status(.serviceUnavailable), "503"),
        ]
        for (outcome, name) in outcomes {
            let outage = try await play(.seconds(seconds), outcome, requests: requests, seed: 7)
            #expect(outage.successes == requests)
            let most = requests > 1 && name == "503" ? 12 : 8
            #expect(outage.lag <= .seconds(most), "\(name): \(outage)")
            let cells = "\(seconds) s | \(requests) | \(outage.successes) | \(outage.sends) | \(outage.lag)"
            print("| \(name) | \(cells) |")
        }
    }

    @Test("what ended a request is its time, or its number of attempts")
    func reasons() throws {
        func reason(_ words: [String], _ outcome: RetryContext.Outcome, after time: Duration) throws -> RetryReason {
            let policy = try PolicyText.commandPolicy(Arguments(words, options: CommandSpec.get.options))
            var context = RetryContext(method: .get, outcome: outcome, now: .now)
            (context.attempt, context.failingFor) = (Attempt(number: 4, previousDelay: .seconds(1)), time)
            context.bytesSent = 0
            return policy.decide(in: context).reason
        }
        let refused = RetryContext.Outcome.failure(.cannotConnectToHost)
        #expect(try reason(["--retry-for", "10s"], refused, after: .seconds(10)) == .timeUsedUp)
        #expect(try reason([], .status(.serviceUnavailable), after: .seconds(61)) == .timeUsedUp)
        #expect(try reason(["--attempts", "4"], refused, after: .seconds(1)) == .attemptsUsedUp)
        #expect(try reason([], .failure(.cannotFindHost), after: .seconds(2)) == .attemptsUsedUp)
        #expect(try reason([], .status(.notFound), after: .seconds(70)) == .finalStatus)
    }

    @Test("the report, the line on standard error and explain name the time that is over")
    func reasonShown() async throws {
        let refusing = try FaultServer(mode: .refuse)
        let words = ["get", "--retry-for", "300ms", "--report", "-", refusing.baseURL + "/"]
        let ended = try await Executable.run(words)
        #expect(ended.status == 1)
        #expect(ended.text.contains(#""reason":"timeUsedUp""#), "\(ended.text)")
        #expect(ended.errors.contains("the time for attempts is over [timeUsedUp]"), "\(ended.errors)")
        let question = ["explain", "--status", "503", "--attempt", "5", "--retry-for", "1m", "--json"]
        #expect(try await Executable.run(question + ["--elapsed", "60s"]).text.contains(#""reason":"timeUsedUp""#))
        #expect(try await Executable.run(question + ["--elapsed", "50s"]).text.contains(#""decision":"retry""#))
    }

    @Test("a refused connection takes nothing of the budget; an answer does")
    func free() throws {
        let policy = try PolicyText.commandPolicy(Arguments([], options: CommandSpec.get.options))
        func draws(_ outcome: RetryContext.Outcome, sent: Int64?) -> Bool {
            var context = RetryContext(method: .get, outcome: outcome, now: .now)
            context.bytesSent = sent
            return policy.decide(in: context).drawsOnBudget
        }
        #expect(!draws(.failure(.cannotConnectToHost), sent: 0))
        #expect(draws(.failure(.cannotConnectToHost), sent: nil))
        #expect(draws(.failure(.networkConnectionLost), sent: 0))
        #expect(draws(.failure(.timedOut), sent: 0))
        #expect(draws(.status(.serviceUnavailable), sent: 100))
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

    @Test("a response is waited for as long as the options say, and for ten minutes without them")
    func windowOfCondition() throws {
        for (words, window) in [
            ([], .seconds(600)), (["--deadline", "5m"], nil), (["--max-time", "1200"], nil), (["--retry", "9"], nil),
            (["--retry-for", "2s"], .seconds(2)), (["--retry", "9", "--retry-max-time", "30"], .seconds(30)),
        ] as [([String], Duration?)] {
            let all = ["--until", "STATUS in 200"] + words
            let policy = try PolicyText.commandPolicy(Arguments(all, options: CommandSpec.get.options))
            #expect(policy.window == window, "\(words)")
        }
    }

    @Test("a host name that is not found ends after three attempts, within seconds")
    func unknownName() async throws {
        // A name server that does not answer is asked once, and for a second.
        let line = "RES_OPTIONS='timeout:1 attempts:1' exec \"$@\""
        let words = ["-c", line, "sh", Executable.path, "get", "http://refrain.invalid/", "--report", "-"]
        let ended = try await Executable.run(words, program: "/bin/sh")
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
