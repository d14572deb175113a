import RefrainHTTP
import Testing

@Suite("When another try comes")
struct TimingTests {
    private let policy = RetryPolicy.recommended

    @Test("R12: the default schedule is 0.5 s doubled, full jitter, 3 tries")
    func schedule() {
        #expect(policy.judge(facts(.get, .status(503), attempt: 1)).range == .zero...(.milliseconds(500)))
        #expect(policy.judge(facts(.get, .status(503), attempt: 2)).range == .zero...(.seconds(1)))
        #expect(policy.judge(facts(.get, .status(503), attempt: 3)).reason == .triesUsedUp)
        #expect(Backoff.standard.cap == .seconds(30))
        #expect(Backoff.standard.maximumNumberOfAttempts == 3)
    }

    @Test("R15: Retry-After is honoured on every answer that is retried")
    func honoured() {
        for status: HTTPStatus in [403, 408, 413, 421, 425, 429, 500, 502, 503, 504, 507, 599] {
            let judgement = policy.judge(facts(.get, .status(status), headers: ["Retry-After": "7"]))
            #expect(judgement.range == .seconds(7)...(.milliseconds(7700)), "\(status)")
            #expect(judgement.rules.contains(Rules(15)))
        }
    }

    @Test("R15: a malformed Retry-After leaves the schedule in force")
    func malformed() {
        for value in [
            "", " ", "+1", "-1", "1.5", "1e3", "NaN", "∞", "٣", "30 Feb 2026", "Mon, 30 Feb 2026 00:00:00 GMT",
        ] {
            let judgement = policy.judge(facts(.get, .status(503), headers: ["Retry-After": value]))
            #expect(judgement.range == .zero...(.milliseconds(500)), "\(value)")
        }
    }

    @Test("R15: a value of any length saturates, and ends the call")
    func saturation() {
        let value = String(repeating: "9", count: 1_000_000)
        let judgement = policy.judge(facts(.get, .status(503), headers: ["Retry-After": value]))
        guard case .comeBack(let date) = judgement.action else {
            Issue.record("\(judgement)")
            return
        }
        #expect(date > WallInstant.now)
    }

    @Test("R16: a date is read against the response's own Date, not ours; with Age, against ours")
    func dates() {
        let date = "Mon, 03 Jun 2019 11:00:09 GMT"
        let own = "Mon, 03 Jun 2019 11:00:00 GMT"
        // Our wall clock says 11:00:00 on the same day, five seconds off for this test.
        let now = WallInstant(sinceEpoch: .seconds(1_559_559_605))
        let byDate = policy.judge(facts(.get, .status(503), headers: ["Retry-After": date, "Date": own], now: now))
        #expect(byDate.range?.lowerBound == .seconds(9))
        let byWall = policy.judge(facts(.get, .status(503), headers: ["Retry-After": date], now: now))
        #expect(byWall.range?.lowerBound == .seconds(4))
        let stored: HTTPHeaders = ["Retry-After": date, "Date": own, "Age": "1"]
        #expect(policy.judge(facts(.get, .status(503), headers: stored, now: now)).range?.lowerBound == .seconds(4))
        let past: HTTPHeaders = ["Retry-After": own]
        #expect(policy.judge(facts(.get, .status(503), headers: past, now: now)).range?.lowerBound == .zero)
    }

    @Test("R17: the wait is the longer of both, and jitter only ever adds to the server's")
    func longer() throws {
        let slow = try RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(20)))
        #expect(
            slow.judge(facts(.get, .status(503), headers: ["Retry-After": "7"])).range == .seconds(20)...(.seconds(20))
        )
        let random = RandomSource(seed: 17)
        for server in [0, 1, 5, 60, 299] {
            let judgement = policy.judge(facts(.get, .status(503), headers: ["Retry-After": "\(server)"]))
            guard case .retry(let wait) = judgement.action else {
                Issue.record("\(judgement)")
                continue
            }
            let most = max(Duration.seconds(server) + min(.seconds(server) / 10, .seconds(1)), .milliseconds(500))
            for _ in 0..<10_000 {
                let drawn = wait.drawn(using: random)
                #expect(drawn >= .seconds(server) && drawn <= most, "\(server): \(drawn), seed 17")
            }
        }
    }

    @Test("R18: a server delay over its cap ends the call with the date to come back at")
    func overTheCap() throws {
        let now = WallInstant(sinceEpoch: .seconds(1_559_559_600))
        let exactly = policy.judge(facts(.get, .status(503), headers: ["Retry-After": "300"]))
        #expect(exactly.range == .seconds(300)...(.seconds(300)))
        let over = policy.judge(facts(.get, .status(503), headers: ["Retry-After": "301"]))
        #expect(over.action == .comeBack(at: WallInstant(sinceEpoch: now.sinceEpoch + .seconds(301))))
        let raised = try ServerDelays.honoured(upTo: .seconds(1000))
        #expect(policy.judge(facts(.get, .status(503), headers: ["Retry-After": "301"], serverDelays: raised)).retries)
    }

    @Test("R18: a server delay that reaches the deadline ends the call at once, and jitter never pushes it over")
    func pastTheDeadline() {
        let reaches = facts(.get, .status(503), headers: ["Retry-After": "7"], remaining: .seconds(7))
        #expect(policy.judge(reaches).reason == .comeBackLater)
        let fits = policy.judge(
            facts(.get, .status(503), headers: ["Retry-After": "7"], remaining: .milliseconds(7100))
        )
        #expect(fits.range?.lowerBound == .seconds(7))
        #expect((fits.range?.upperBound ?? .seconds(99)) < .milliseconds(7100))
    }

    @Test("R19: a 429 without Retry-After waits for the reset of its limit; Retry-After wins over it")
    func rateLimits() {
        let limit: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "12"]
        #expect(policy.judge(facts(.get, .status(429), headers: limit)).range?.lowerBound == .seconds(12))
        var both = limit
        both["Retry-After"] = "3"
        #expect(policy.judge(facts(.get, .status(429), headers: both)).range?.lowerBound == .seconds(3))
        #expect(
            policy.judge(facts(.get, .status(503), headers: ["X-RateLimit-Reset": "12"])).range?.lowerBound == .zero
        )
        var stored = limit
        stored["Age"] = "3"
        #expect(policy.judge(facts(.get, .status(429), headers: stored)).range?.lowerBound == .zero)
    }

    @Test(
        "R31: no wait that a caller describes ends the process, however long",
        arguments: [Duration(attoseconds: .max), Duration(attoseconds: .min), .longestDelay, .zero - .longestDelay]
    )
    func extremeWaits(server: Duration) {
        for bound: Duration? in [nil, server, .seconds(1)] {
            let wait = RetryWait(schedule: .zero ... .seconds(1), server: server, bound: bound)
            #expect(wait.range.lowerBound == max(server, .zero))
            #expect(wait.range.upperBound >= wait.range.lowerBound)
            #expect(wait.range.contains(wait.drawn(using: RandomSource(seed: 31))))
        }
    }

    @Test("R20: a scheduled delay that must pass the deadline is not waited")
    func scheduledPastDeadline() throws {
        let slow = try RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(2)))
        #expect(slow.judge(facts(.get, .status(503), remaining: .seconds(2))).reason == .deadlineExceeded)
        #expect(slow.judge(facts(.get, .status(503), remaining: .milliseconds(2001))).retries)
    }

    @Test("R11: a resumption that gained bytes uses up no try, one that gained none does")
    func resumption() {
        let gained = policy.judge(facts(.get, .failure(.networkConnectionLost), attempt: 3, progress: 10))
        #expect(gained.retries && gained.isFree && gained.reason == .resumed)
        let nothing = policy.judge(facts(.get, .failure(.networkConnectionLost), attempt: 3, progress: 0))
        #expect(nothing.reason == .triesUsedUp)
        let first = policy.judge(facts(.get, .failure(.networkConnectionLost), progress: 0))
        #expect(first.retries && !first.isFree && first.reason == .resumed)
        #expect(!policy.judge(facts(.get, .failure(.cancelled), attempt: 1, progress: 10)).retries)
    }

    @Test("Statuses can be replaced and added; failures are judged as before")
    func otherStatuses() {
        let replaced = RetryPolicy(criteria: .rules(statuses: [404]))
        #expect(replaced.judge(facts(.get, .status(404))).retries)
        #expect(!replaced.judge(facts(.get, .status(503))).retries)
        #expect(replaced.judge(facts(.get, .failure(.networkConnectionLost))).retries)
        #expect(!replaced.judge(facts(.post, .status(404))).retries)
        let added = RetryPolicy(criteria: .rules(added: [404]))
        #expect(added.judge(facts(.get, .status(404))).retries)
        #expect(added.judge(facts(.get, .status(503))).retries)
    }
}
