// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@Suite("RetryBudget of tokens", .computing)
struct TokenBudgetTests {
    private func drain(_ budget: RetryBudget, _ cause: RetryBudget.Cause) -> Int {
        var granted = 0
        while budget.withdraw(for: cause) == .granted { granted += 1 }
        return granted
    }

    @Test("R22: of 500 tokens a retry costs 5, and 10 after a timeout")
    func standardCosts() throws {
        #expect(drain(.tokens(), .transient) == 100)
        #expect(drain(.tokens(), .throttled) == 100)
        #expect(drain(.tokens(), .timeout) == 50)
        #expect(RetryBudget.tokens().balance == 100)
    }

    @Test("R22: each cause takes its own price")
    func ownPrices() throws {
        let costs = RetryBudget.Costs(transient: 1, timeout: 4, throttled: 2)
        let budget = RetryBudget.tokens(capacity: 7, costs: costs)
        #expect(budget.withdraw(for: .timeout) == .granted)
        #expect(budget.withdraw(for: .timeout) == .refused)
        #expect(budget.withdraw(for: .throttled) == .granted)
        #expect(budget.withdraw(for: .throttled) == .refused)
        #expect(budget.withdraw() == .granted)
        #expect(budget.withdraw() == .refused)
    }

    @Test("R22: a success gives back what its last retry took, or 1 where it made none")
    func refunds() throws {
        let budget = RetryBudget.tokens()
        #expect(drain(budget, .transient) == 100)
        budget.depositSuccess(after: .timeout)
        #expect(budget.balance == 2)
        #expect(budget.withdraw(for: .timeout) == .granted)
        for _ in 0..<4 { budget.depositSuccess() }
        #expect(budget.withdraw() == .refused)
        budget.depositSuccess()
        #expect(budget.withdraw() == .granted)
        budget.depositSuccess(after: .throttled)
        #expect(budget.withdraw() == .granted)
    }

    @Test("R22: a retry that is not made after all gives back what it took")
    func givenBack() throws {
        let budget = RetryBudget.tokens()
        #expect(drain(budget, .timeout) == 50)
        budget.refund(for: .timeout)
        #expect(budget.balance == 2)
    }

    @Test("R22: a full store stays full")
    func saturates() throws {
        let budget = RetryBudget.tokens(capacity: 10, refund: 10)
        #expect(budget.withdraw() == .granted)
        for _ in 0..<1000 { budget.depositSuccess() }
        for _ in 0..<1000 { budget.depositSuccess(after: .timeout) }
        #expect(drain(budget, .transient) == 2)
    }

    @Test("R22: a client that only fails comes to its end after 100 retries, and time does not help")
    func onlyFailures() throws {
        let budget = RetryBudget.tokens()
        for _ in 0..<10_000 { budget.deposit() }
        #expect(drain(budget, .transient) == 100)
        for _ in 0..<10_000 { budget.deposit() }
        #expect(budget.withdraw(longestWait: .seconds(3600)) == .refused)
    }

    @Test("a budget that is no budget of tokens takes no notice of successes or causes")
    func otherForm() throws {
        let budget = RetryBudget(ratio: 1, minimumRetriesPerSecond: 0)
        budget.depositSuccess()
        budget.depositSuccess(after: .timeout)
        #expect(budget.balance == 0)
        budget.deposit()
        #expect(budget.withdraw(for: .timeout) == .granted)
    }

    @Test("the store never leaves its bounds, whatever happens")
    func bounds() throws {
        forCases(1000) { seed, random in
            let capacity = Int.random(in: 10...100, using: &random)
            let budget = RetryBudget.tokens(
                capacity: capacity,
                costs: .init(transient: 1, timeout: 10, throttled: 3)
            )
            var expected = capacity
            for _ in 0..<200 {
                let cause = RetryBudget.Cause.allCases.randomElement(using: &random) ?? .transient
                let price = RetryBudget.Costs(transient: 1, timeout: 10, throttled: 3)[cause]
                switch Int.random(in: 0...2, using: &random) {
                case 0:
                    budget.depositSuccess(after: cause)
                    expected = min(capacity, expected + price)
                default:
                    let isGranted = budget.withdraw(for: cause) == .granted
                    guard isGranted == (price <= expected) else { return false }
                    if isGranted { expected -= price }
                }
                guard budget.balance == Double(expected) else { return false }
            }
            return true
        }
    }

    @Test(
        "R31: validatedTokens() refuses arguments out of their range; a budget clamps them",
        arguments: [
            (capacity: 0, costs: RetryBudget.Costs(), refund: 1, name: "capacity"),
            (-1, .init(), 1, "capacity"),
            (.max, .init(), 1, "capacity"),
            (500, .init(transient: 0), 1, "costs.transient"),
            (500, .init(timeout: 501), 1, "costs.timeout"),
            (500, .init(throttled: -3), 1, "costs.throttled"),
            (500, .init(), -1, "refund"),
            (500, .init(), 501, "refund"),
        ]
    )
    func outOfRange(capacity: Int, costs: RetryBudget.Costs, refund: Int, name: String) {
        do {
            _ = try RetryBudget.validatedTokens(capacity: capacity, costs: costs, refund: refund)
            Issue.record("\(name) was accepted")
        } catch {
            #expect(error.argument == name)
        }
        let budget = RetryBudget.tokens(capacity: capacity, costs: costs, refund: refund)
        #expect(budget.withdraw() == .granted)
        let left = budget.balance
        budget.depositSuccess()
        #expect(budget.balance >= left)
    }
}
