// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@Suite("Budgets for a fleet", .computing)
struct FleetBudgetTests {
    private static func granted(_ budget: RetryBudget, _ cause: RetryBudget.Cause) -> Bool {
        budget.withdraw(for: cause) == .granted
    }

    @Test("R32: more than 4 timeouts in 20 outcomes close the minimum for timeouts, and for nothing else")
    func closes() async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        for _ in 0..<4 {
            #expect(Self.granted(budget, .timeout))
            budget.depositSuccess()
        }
        #expect(budget.covered(.init(after: .timeout)).credit == .closed)
        for cause in [RetryBudget.Cause.transient, .throttled, .unavailable] {
            #expect(Self.granted(budget, cause), "\(cause)")
        }
        // Successes push the timeouts out of the last 20 outcomes, one after the other.
        for _ in 0..<11 { budget.depositSuccess() }
        await clock.advance(by: .seconds(60))
        #expect(!Self.granted(budget, .timeout))
        for _ in 0..<5 { budget.depositSuccess() }
        #expect(Self.granted(budget, .timeout))
    }

    @Test("R32: a timeout after another one, or after a refusal, is not paid for by the minimum")
    func streaks() {
        let budget = RetryBudget.standard(clock: AnyClock(TestClock()), random: RandomSource(seed: 1))
        #expect(Self.granted(budget, .timeout))
        #expect(!Self.granted(budget, .timeout))
        budget.depositSuccess()
        for cause in [RetryBudget.Cause.unavailable, .throttled] {
            #expect(Self.granted(budget, cause))
            #expect(!Self.granted(budget, .timeout), "\(cause)")
            for _ in 0..<20 { budget.depositSuccess() }
        }
        #expect(Self.granted(budget, .timeout))
        #expect(Self.granted(budget, .transient))
    }

    @Test(
        "R32: a budget for a fleet counts 429 and 503 as well",
        arguments: [RetryBudget.Cause.throttled, .unavailable]
    )
    func fleet(cause: RetryBudget.Cause) {
        let budget = RetryBudget.fleet(clock: AnyClock(TestClock()), random: RandomSource(seed: 1))
        for _ in 0..<4 {
            #expect(Self.granted(budget, cause))
            budget.depositSuccess()
        }
        #expect(!Self.granted(budget, cause))
        #expect(Self.granted(budget, .transient))
        let fresh = RetryBudget.fleet(clock: AnyClock(TestClock()), random: RandomSource(seed: 1))
        for _ in 0..<3 { #expect(Self.granted(fresh, cause)) }
        #expect(!Self.granted(fresh, cause))
    }

    @Test("R32: a budget says which credit paid: deposits before the minimum, and chance where that is closed")
    func credits() {
        let clock = AnyClock(TestClock())
        let budget = RetryBudget.standard(clock: clock, random: RandomSource(seed: 1))
        for _ in 0..<5 { budget.deposit() }
        #expect(budget.preview(.init(after: .timeout)).credit == .deposit)
        #expect(budget.covered(.init(after: .timeout)).credit == .deposit)
        budget.deposit()
        // A preview withdraws nothing, and is no outcome.
        for _ in 0..<3 {
            let (credit, chance) = budget.preview(.init(after: .timeout))
            #expect(credit == .chance && abs(chance - 0.05) < 1e-9)
        }
        #expect(budget.preview(.init(after: .transient)).credit == .floor)
        let (old, tokens) = (RetryBudget(minimumRetriesPerSecond: 1, clock: clock), RetryBudget.tokens(capacity: 5))
        #expect(old.covered(.init(after: .timeout)).credit == .floor)
        #expect(old.covered(.init(after: .timeout)) == (.refused, .empty))
        #expect(tokens.covered(.init(after: .transient)).credit == .tokens)
        #expect(tokens.preview(.init(after: .transient)) == (.empty, 0))
    }

    @Test("R32: credit below one is spent by chance: 10,000 processes retry a fifth of their calls")
    func chance() {
        let random = RandomSource(seed: 20_261_122)
        var retries = 0
        for _ in 0..<10_000 {
            let budget = RetryBudget.fleet(minimumRetriesPerSecond: 0, clock: AnyClock(TestClock()), random: random)
            budget.deposit()
            if Self.granted(budget, .timeout) { retries += 1 }
        }
        // Five standard deviations of a binomial distribution are 200.
        #expect(abs(retries - 2000) < 200, "\(retries)")
    }

    @Test("R22: a whole retry in deposits covers one for certain")
    func wholeCredit() {
        let random = RandomSource(seed: 3)
        for _ in 0..<100 {
            let budget = RetryBudget.fleet(minimumRetriesPerSecond: 0, clock: AnyClock(TestClock()), random: random)
            for _ in 0..<5 { budget.deposit() }
            #expect(Self.granted(budget, .timeout))
            #expect(!Self.granted(budget, .timeout))
        }
    }

    @Test("R32: with independent timeouts of 5 % a process that is alone has 98 % of its first retries")
    func alone() async {
        let clock = TestClock()
        let random = RandomSource(seed: 11)
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: random)
        var (wanted, granted) = (0, 0)
        for _ in 0..<100_000 {
            await clock.advance(by: .seconds(100))
            budget.deposit()
            guard random.unit() < 0.05 else {
                budget.depositSuccess()
                continue
            }
            wanted += 1
            if Self.granted(budget, .timeout) { granted += 1 }
            budget.depositSuccess(after: .timeout)
        }
        #expect(Double(granted) / Double(wanted) > 0.98, "\(granted) of \(wanted)")
    }

    @Test("R22: the default bounds the retries of timeouts to a twentieth of the calls once they are in a row")
    func bound() async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 5))
        var retries = 0
        for _ in 0..<20_000 {
            await clock.advance(by: .milliseconds(50))
            budget.deposit()
            if Self.granted(budget, .timeout) { retries += 1 }
        }
        // The first is paid for by the minimum; a window after which chance was ahead leaves its debt behind.
        #expect(retries <= 1100 && retries > 800, "\(retries)")
    }

    @Test("R22: a retry that is not sent is paid back, and a budget that waits keeps its minimum")
    func others() {
        let clock = TestClock()
        let waiting = RetryBudget.standard(whenEmpty: .wait, clock: AnyClock(clock))
        for _ in 0..<10 { #expect(Self.granted(waiting, .timeout)) }
        #expect(waiting.withdraw(for: .timeout) != .refused)
        let standard = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        #expect(standard.ratio == 0.2 && standard.minimumRetriesPerSecond == 10 && standard.whenEmpty == .fail)
        #expect(standard.balance == 10)
    }
}
