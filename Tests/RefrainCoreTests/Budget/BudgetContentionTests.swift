// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@Suite("Budgets under contention", .computing)
struct BudgetContentionTests {
    @Test("R22: of 16 threads that race for the last retry exactly one wins")
    func lastOne() async throws {
        for _ in 0..<200 {
            let budget = RetryBudget(ratio: 1, minimumRetriesPerSecond: 0, clock: AnyClock(TestClock()))
            budget.deposit()
            let winners = Counter()
            race(16) { if budget.withdraw() == .granted { winners.next() } }
            #expect(winners.value == 1)
        }
    }

    @Test("R22: 16 threads that credit and withdraw lose nothing and gain nothing")
    func exactUnderContention() throws {
        let budget = RetryBudget(ratio: 0.25, minimumRetriesPerSecond: 0, clock: AnyClock(TestClock()))
        let granted = Counter()
        race(16) {
            for _ in 0..<1000 {
                budget.deposit()
                if budget.withdraw() == .granted { granted.next() }
            }
        }
        while budget.withdraw() == .granted { granted.next() }
        #expect(granted.value == 4000)
    }

    @Test("R22: turns that 16 threads draw are all different, and 100 ms apart")
    func turns() {
        let budget = RetryBudget.standard(whenEmpty: .wait, clock: AnyClock(TestClock()))
        for _ in 0..<10 { _ = budget.withdraw() }
        let turns = Collected<Duration>()
        race(16) {
            if case .grantedAfter(let turn) = budget.withdraw() { turns.add(turn) }
        }
        #expect(turns.values.sorted() == (1...16).map { .milliseconds(1000 + 100 * $0) })
    }

    @Test("R22: of 16 threads that race for the last tokens exactly one wins")
    func lastTokens() throws {
        for _ in 0..<200 {
            let budget = RetryBudget.tokens(capacity: 9, costs: .init(transient: 5, timeout: 9))
            let winners = Counter()
            race(16) { if budget.withdraw() == .granted { winners.next() } }
            #expect(winners.value == 1)
        }
    }
}
