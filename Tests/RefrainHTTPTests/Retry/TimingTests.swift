// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import TestSupport
import Testing

@Suite("When another attempt comes", .computing)
struct TimingTests {
    private let policy = RetryPolicy.recommended

    @Test("R12: the default schedule is 0.5 s doubled, full jitter, 3 attempts")
    func schedule() {
        #expect(policy.decide(in: context(.get, .status(503), attempt: 1)).range == .zero...(.milliseconds(500)))
        #expect(policy.decide(in: context(.get, .status(503), attempt: 2)).range == .zero...(.seconds(1)))
        #expect(policy.decide(in: context(.get, .status(503), attempt: 3)).reason == .attemptsUsedUp)
        #expect(Backoff.standard.cap == .seconds(30))
        #expect(Backoff.standard.maxAttempts == 3)
    }

    @Test("R32: a policy may wait longer after signs of overload than after other failures; R12's does not")
    func overload() {
        var policy = policy
        policy.overloadSchedule = .exponential(from: .seconds(2), maxAttempts: 2).jittered(.full)
        for (outcome, isOverload) in [
            (RetryContext.Outcome.status(503), true), (.status(429), true), (.failure(.timedOut), true),
            (.status(500), false), (.failure(.networkConnectionLost), false), (.failure(.cannotConnectToHost), false),
        ] {
            let usual = self.policy.decide(in: context(.get, outcome, attempt: 2))
            #expect(usual.range == .zero...(.seconds(1)) && !usual.rules.contains(Rules(32)))
            let longer = policy.decide(in: context(.get, outcome, attempt: 2))
            #expect(longer.range == .zero...(.seconds(isOverload ? 4 : 1)), "\(outcome)")
            #expect(longer.rules.contains(Rules(32)) == isOverload)
            // How many attempts there are is up to the schedule.
            #expect(policy.decide(in: context(.get, outcome, attempt: 3)).reason == .attemptsUsedUp)
        }
    }

    @Test("R15: Retry-After is honoured on every answer that is retried")
    func honoured() {
        for status: HTTPStatus in [403, 408, 413, 421, 425, 429, 500, 502, 503, 504, 507, 599] {
            let decision = policy.decide(in: context(.get, .status(status), headers: ["Retry-After": "7"]))
            #expect(decision.range == .seconds(7)...(.milliseconds(7700)), "\(status)")
            #expect(decision.rules.contains(Rules(15)))
        }
    }

    @Test("R15: a malformed Retry-After leaves the schedule in force")
    func malformed() {
        for value in [
            "", " ", "+1", "-1", "1.5", "1e3", "NaN", "∞", "٣", "30 Feb 2026", "Mon, 30 Feb 2026 00:00:00 GMT",
        ] {
            let decision = policy.decide(in: context(.get, .status(503), headers: ["Retry-After": value]))
            #expect(decision.range == .zero...(.milliseconds(500)), "\(value)")
        }
    }

    @Test("R15: a value of any length saturates, and ends the call")
    func saturation() {
        let value = String(repeating: "9", count: 1_000_000)
        let decision = policy.decide(in: context(.get, .status(503), headers: ["Retry-After": value]))
        guard case .retryAfterTooLong(let date) = decision.action else {
            Issue.record("\(decision)")
            return
        }
        #expect(date > WallClock.Instant.now)
    }

    @Test("R16: a date is read against the response's own Date, not ours; with Age, against ours")
    func dates() {
        let date = "Mon, 03 Jun 2019 11:00:09 GMT"
        let own = "Mon, 03 Jun 2019 11:00:00 GMT"
        // Our wall clock says 11:00:00 on the same day, five seconds off for this test.
        let now = WallClock.Instant(sinceEpoch: .seconds(1_559_559_605))
        let byDate = policy.decide(
            in: context(.get, .status(503), headers: ["Retry-After": date, "Date": own], now: now)
        )
        #expect(byDate.range?.lowerBound == .seconds(9))
        let byWall = policy.decide(in: context(.get, .status(503), headers: ["Retry-After": date], now: now))
        #expect(byWall.range?.lowerBound == .seconds(4))
        let stored: HTTPHeaders = ["Retry-After": date, "Date": own, "Age": "1"]
        #expect(
            policy.decide(in: context(.get, .status(503), headers: stored, now: now)).range?.lowerBound == .seconds(4)
        )
        let past: HTTPHeaders = ["Retry-After": own]
        #expect(policy.decide(in: context(.get, .status(503), headers: past, now: now)).range?.lowerBound == .zero)
    }

    @Test("R17: the wait is the longer of both, and jitter only ever adds to the server's")
    func longer() throws {
        let slow = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(20)))
        #expect(
            slow.decide(in: context(.get, .status(503), headers: ["Retry-After": "7"])).range == .seconds(
                20
            )...(.seconds(20))
        )
        let random = RandomSource(seed: 17)
        for server in [0, 1, 5, 60, 299] {
            let decision = policy.decide(in: context(.get, .status(503), headers: ["Retry-After": "\(server)"]))
            guard case .retry(let wait) = decision.action else {
                Issue.record("\(decision)")
                continue
            }
            let most = max(Duration.seconds(server) + min(.seconds(server) / 10, .seconds(1)), .milliseconds(500))
            for _ in 0..<10_000 {
                let sample = wait.sample(using: random)
                #expect(sample >= .seconds(server) && sample <= most, "\(server): \(sample), seed 17")
            }
        }
    }

    @Test("R18: a server delay over its cap ends the call with the date to come back at")
    func overTheCap() throws {
        let now = WallClock.Instant(sinceEpoch: .seconds(1_559_559_600))
        let exactly = policy.decide(in: context(.get, .status(503), headers: ["Retry-After": "300"]))
        #expect(exactly.range == .seconds(300)...(.seconds(300)))
        let over = policy.decide(in: context(.get, .status(503), headers: ["Retry-After": "301"]))
        #expect(over.action == .retryAfterTooLong(until: WallClock.Instant(sinceEpoch: now.sinceEpoch + .seconds(301))))
        let raised = RetryAfterPolicy.honoured(upTo: .seconds(1000))
        #expect(
            policy.decide(in: context(.get, .status(503), headers: ["Retry-After": "301"], retryAfterPolicy: raised))
                .retries
        )
    }

    @Test("R18: a server delay that reaches the deadline ends the call at once, and jitter never pushes it over")
    func pastTheDeadline() {
        let reaches = context(.get, .status(503), headers: ["Retry-After": "7"], remaining: .seconds(7))
        #expect(policy.decide(in: reaches).reason == .retryAfterTooLong)
        let fits = policy.decide(
            in:
                context(.get, .status(503), headers: ["Retry-After": "7"], remaining: .milliseconds(7100))
        )
        #expect(fits.range?.lowerBound == .seconds(7))
        #expect((fits.range?.upperBound ?? .seconds(99)) < .milliseconds(7100))
    }

    @Test("R19: a 429 without Retry-After waits for the reset of its limit; Retry-After wins over it")
    func rateLimits() {
        let limit: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "12"]
        #expect(policy.decide(in: context(.get, .status(429), headers: limit)).range?.lowerBound == .seconds(12))
        var both = limit
        both["Retry-After"] = "3"
        #expect(policy.decide(in: context(.get, .status(429), headers: both)).range?.lowerBound == .seconds(3))
        #expect(
            policy.decide(in: context(.get, .status(503), headers: ["X-RateLimit-Reset": "12"])).range?.lowerBound
                == .zero
        )
        var stored = limit
        stored["Age"] = "3"
        #expect(policy.decide(in: context(.get, .status(429), headers: stored)).range?.lowerBound == .zero)
    }

    @Test(
        "R31: no wait that a caller describes ends the process, however long",
        arguments: [Duration(attoseconds: .max), Duration(attoseconds: .min), .longestDelay, .zero - .longestDelay]
    )
    func extremeWaits(server: Duration) {
        for bound: Duration? in [nil, server, .seconds(1)] {
            let wait = RetryDecision.Delay(schedule: .zero ... .seconds(1), server: server, bound: bound)
            #expect(wait.range.lowerBound == max(server, .zero))
            #expect(wait.range.upperBound >= wait.range.lowerBound)
            #expect(wait.range.contains(wait.sample(using: RandomSource(seed: 31))))
        }
    }

    @Test("R20: a scheduled delay that must pass the deadline is not waited")
    func scheduledPastDeadline() throws {
        let slow = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(2)))
        #expect(slow.decide(in: context(.get, .status(503), remaining: .seconds(2))).reason == .deadlineExceeded)
        #expect(slow.decide(in: context(.get, .status(503), remaining: .milliseconds(2001))).retries)
    }

    @Test("R11: a resumption that gained bytes uses up no attempt, one that gained none does")
    func resumption() {
        let gained = policy.decide(in: context(.get, .failure(.networkConnectionLost), attempt: 3, progress: 10))
        #expect(gained.retries && gained.isFree && gained.reason == .resumed)
        let nothing = policy.decide(in: context(.get, .failure(.networkConnectionLost), attempt: 3, progress: 0))
        #expect(nothing.reason == .attemptsUsedUp)
        let first = policy.decide(in: context(.get, .failure(.networkConnectionLost), progress: 0))
        #expect(first.retries && !first.isFree && first.reason == .resumed)
        #expect(!policy.decide(in: context(.get, .failure(.cancelled), attempt: 1, progress: 10)).retries)
    }

    @Test("Statuses can be replaced and added; failures are judged as before")
    func otherStatuses() {
        let replaced = RetryPolicy(criteria: .rules(statuses: [404]))
        #expect(replaced.decide(in: context(.get, .status(404))).retries)
        #expect(!replaced.decide(in: context(.get, .status(503))).retries)
        #expect(replaced.decide(in: context(.get, .failure(.networkConnectionLost))).retries)
        #expect(!replaced.decide(in: context(.post, .status(404))).retries)
        let added = RetryPolicy(criteria: .rules(added: [404]))
        #expect(added.decide(in: context(.get, .status(404))).retries)
        #expect(added.decide(in: context(.get, .status(503))).retries)
    }
}
