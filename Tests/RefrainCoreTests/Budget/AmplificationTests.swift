// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@Suite("Amplification, on 60 seconds of virtual time", .computing)
struct AmplificationTests {
    /// What reaches a backend that fails every request, where each call would try up to ten times.
    private func sends(rate: Int, seconds: Int, budget: RetryBudget, clock: TestClock) async -> (calls: Int, sends: Int)
    {
        var (calls, sends) = (0, 0)
        let interval = Duration.nanoseconds(1_000_000_000 / rate)
        for _ in 0..<(rate * seconds) {
            budget.deposit()
            calls += 1
            sends += 1
            // All nine retries come at once, which is the hardest on the budget.
            for _ in 0..<9 where budget.withdraw() == .granted { sends += 1 }
            await clock.advance(by: interval)
        }
        return (calls, sends)
    }

    @Test(
        "R25: from 200 requests a second on, the backend sees under 1.25 times of them",
        arguments: [200, 400, 1000, 2000]
    )
    func fast(rate: Int) async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock))
        let seen = await sends(rate: rate, seconds: 60, budget: budget, clock: clock)
        #expect(Double(seen.sends) <= 1.25 * Double(seen.calls))
        // And it is no dead letter: a fifth does come through.
        #expect(Double(seen.sends) >= 1.2 * Double(seen.calls) - 1)
    }

    @Test("R25: it holds within the first second, too, where the store is still full", arguments: [1, 2, 3, 10])
    func firstSeconds(seconds: Int) async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock))
        let seen = await sends(rate: 200, seconds: seconds, budget: budget, clock: clock)
        #expect(Double(seen.sends) <= 1.25 * Double(seen.calls))
    }

    @Test(
        "R25: below 200 requests a second, at most 10 retries a second are added to the fifth",
        arguments: [1, 5, 20, 50, 100, 199]
    )
    func slow(rate: Int) async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock))
        let seen = await sends(rate: rate, seconds: 60, budget: budget, clock: clock)
        #expect(Double(seen.sends - seen.calls) <= 10 * 60 + 0.2 * Double(seen.calls))
    }

    @Test("R25: without a budget the same calls come to ten times as many, so the simulation is hard enough")
    func control() async throws {
        let clock = TestClock()
        let budget = RetryBudget(ratio: 1, minimumRetriesPerSecond: 1_000_000, clock: AnyClock(clock))
        let seen = await sends(rate: 200, seconds: 5, budget: budget, clock: clock)
        #expect(seen.sends == 10 * seen.calls)
    }

    @Test("R25: budgets whose retries wait for their turn add no more than those that fail")
    func waiting() async {
        let clock = TestClock()
        let budget = RetryBudget.standard(whenEmpty: .wait, clock: AnyClock(clock))
        var turns: [Duration] = []
        let calls = 200 * 60
        for _ in 0..<calls {
            budget.deposit()
            switch budget.withdraw(longestWait: .seconds(60)) {
            case .granted: turns.append(clock.now.offset)
            case .grantedAfter(let wait): turns.append(clock.now.offset + wait)
            case .refused: break
            }
            await clock.advance(by: .milliseconds(5))
        }
        for second in 1...60 {
            let added = turns.count { $0 < .seconds(second) }
            #expect(Double(added) <= 0.25 * Double(200 * second) + 1)
        }
    }
}
