// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@Suite("RetryBudget", .computing)
struct RetryBudgetTests {
    let clock = TestClock()
    var time: AnyClock { AnyClock(clock) }

    /// How many retries a budget grants in a row.
    private func drain(_ budget: RetryBudget) -> Int {
        var granted = 0
        while budget.withdraw() == .granted { granted += 1 }
        return granted
    }

    @Test("R22: each first attempt credits its ratio exactly: 10,000 attempts at ratios from 0.0001 to 0.9999")
    func ratios() throws {
        forCases(150) { seed, random in
            let ratio = Double(Int.random(in: 1...9999, using: &random)) / 10_000
            let budget = RetryBudget(ratio: ratio, minimumRetriesPerSecond: 0, clock: time)
            for _ in 0..<10_000 { budget.deposit() }
            return abs(drain(budget) - Int((10_000 * ratio).rounded())) <= 1
        }
    }

    @Test("R22: the ratios at the ends are exact, too", arguments: [0, 0.0001, 0.2, 1.0 / 3, 0.9999, 1])
    func endRatios(ratio: Double) throws {
        let budget = RetryBudget(ratio: ratio, minimumRetriesPerSecond: 0, clock: time)
        for _ in 0..<10_000 { budget.deposit() }
        #expect(abs(drain(budget) - Int((10_000 * ratio).rounded())) <= 1)
    }

    @Test("R22: credits and withdrawals that alternate come to the same")
    func alternating() throws {
        let budget = RetryBudget(ratio: 0.2, minimumRetriesPerSecond: 0, clock: time)
        var granted = 0
        for _ in 0..<10_000 {
            budget.deposit()
            if budget.withdraw() == .granted { granted += 1 }
        }
        #expect(granted == 2000)
    }

    @Test("R22: by default a fifth is credited, 10 are in store, and an empty budget fails")
    func standard() {
        let budget = RetryBudget.standard(clock: time)
        #expect(budget.ratio == 0.2)
        #expect(budget.minimumRetriesPerSecond == 10)
        #expect(budget.whenEmpty == .fail)
        #expect(budget.balance == 10)
        #expect(drain(budget) == 10)
        #expect(budget.withdraw() == .refused)
        for _ in 0..<5 { budget.deposit() }
        #expect(budget.balance == 1)
        #expect(drain(budget) == 1)
    }

    @Test("R22: credit lasts for nine seconds and is forgotten after ten")
    func expiry() async throws {
        for offset in [0, 250, 999] {
            let budget = RetryBudget(ratio: 1, minimumRetriesPerSecond: 0, clock: time)
            await clock.advance(by: .milliseconds(offset))
            for _ in 0..<100 { budget.deposit() }
            await clock.advance(by: .seconds(9))
            #expect(budget.balance == 100)
            await clock.advance(by: .seconds(1))
            #expect(budget.balance == 0)
            #expect(budget.withdraw() == .refused)
        }
    }

    @Test("R22: what is left of credit expires in the order in which it came")
    func expiryInSteps() async throws {
        let budget = RetryBudget(ratio: 1, minimumRetriesPerSecond: 0, clock: time)
        for _ in 0..<10 {
            for _ in 0..<10 { budget.deposit() }
            await clock.advance(by: .seconds(1))
        }
        // The first second's ten are gone; of the rest, those that came first are spent first.
        #expect(budget.balance == 90)
        for _ in 0..<15 { #expect(budget.withdraw() == .granted) }
        await clock.advance(by: .seconds(1))
        #expect(budget.balance == 75)
        await clock.advance(by: .seconds(1))
        #expect(budget.balance == 70)
        await clock.advance(by: .seconds(3600))
        #expect(budget.balance == 0)
    }

    @Test("R22: the floor accrues steadily, a tenth of a second for each retry, and holds ten at most")
    func floor() async {
        let budget = RetryBudget.standard(clock: time)
        #expect(drain(budget) == 10)
        // A store that was full begins to refill a second after it was first drawn on (R25 from the first second on).
        await clock.advance(by: .seconds(1))
        #expect(budget.withdraw() == .refused)
        for _ in 0..<50 {
            await clock.advance(by: .milliseconds(99))
            #expect(budget.withdraw() == .refused)
            await clock.advance(by: .milliseconds(1))
            #expect(drain(budget) == 1)
        }
        await clock.advance(by: .seconds(3600))
        #expect(budget.balance == 10)
        #expect(drain(budget) == 10)
    }

    @Test("R22: nothing is lost or gained where the floor is asked at odd moments")
    func floorAtOddMoments() async throws {
        await clock.advance(by: .seconds(1))
        for perSecond in [3, 7, 10, 333] {
            let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: perSecond, clock: time)
            var random = RandomSource(seed: UInt64(perSecond))
            var granted = drain(budget)
            await clock.advance(by: .seconds(1))
            var elapsed = Duration.zero
            while elapsed < .seconds(20) {
                let step = Duration.nanoseconds(Int64.random(in: 1...(900_000_000 / Int64(perSecond)), using: &random))
                await clock.advance(by: step)
                elapsed += step
                granted += drain(budget)
            }
            #expect(abs(granted - perSecond - Int(elapsed / .seconds(1) * Double(perSecond))) <= 1)
        }
    }

    @Test("R22: turns are in order and 100 ms apart where the budget waits")
    func turns() {
        let budget = RetryBudget.standard(whenEmpty: .wait, clock: time)
        for _ in 0..<10 { #expect(budget.withdraw() == .granted) }
        for turn in 1...50 {
            #expect(budget.withdraw() == .grantedAfter(.seconds(1) + .milliseconds(100 * turn)))
        }
    }

    @Test("R22: a turn that comes later than the retry can wait is refused, and takes no other's place")
    func turnsThatAreTooLate() async {
        let budget = RetryBudget.standard(whenEmpty: .wait, clock: time)
        #expect(drain(budget) == 10)
        #expect(budget.withdraw(longestWait: .milliseconds(1200)) == .grantedAfter(.milliseconds(1200)))
        #expect(budget.withdraw(longestWait: .milliseconds(1200)) == .refused)
        #expect(budget.withdraw(longestWait: .zero) == .refused)
        #expect(budget.withdraw(longestWait: .seconds(-1)) == .refused)
        #expect(budget.withdraw(longestWait: .milliseconds(1300)) == .grantedAfter(.milliseconds(1300)))
        await clock.advance(by: .milliseconds(1300))
        #expect(budget.withdraw() == .grantedAfter(.milliseconds(100)))
    }

    @Test("R22: turns that are given back are free for others, and leave no more than would be there without them")
    func turnsGivenBack() async {
        let budget = RetryBudget.standard(whenEmpty: .wait, clock: time)
        for _ in 0..<40 { _ = budget.withdraw() }
        for _ in 0..<30 { budget.refund() }
        #expect(budget.withdraw() == .grantedAfter(.milliseconds(1100)))
        budget.refund()
        await clock.advance(by: .seconds(1) + .milliseconds(500))
        #expect(budget.balance == 5)
        await clock.advance(by: .seconds(60))
        for _ in 0..<20 { budget.refund() }
        #expect(budget.balance == 10)
    }

    @Test("R22: a budget without a floor never comes to a turn, and refuses")
    func noFloor() throws {
        let budget = RetryBudget(ratio: 0.5, minimumRetriesPerSecond: 0, whenEmpty: .wait, clock: time)
        #expect(budget.withdraw() == .refused)
    }

    @Test("R22: a clock that goes backwards neither traps nor gives anything away")
    func backwards() async throws {
        let jumping = Locked(Duration.seconds(100))
        struct Jumping: Clock {
            let time: Locked<Duration>
            var now: TestClock.Instant { TestClock.Instant(offset: time.withLock { $0 }) }
            var minimumResolution: Duration { .zero }
            func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {}
        }
        let budget = RetryBudget(ratio: 1, clock: AnyClock(Jumping(time: jumping)))
        jumping.withLock { $0 = .seconds(200) }
        budget.deposit()
        #expect(drain(budget) == 11)
        jumping.withLock { $0 = .seconds(50) }
        #expect(budget.withdraw() == .refused)
        jumping.withLock { $0 = .longestDelay }
        #expect(drain(budget) == 10)
    }

    @Test(
        "R31: validated() refuses arguments out of their range; a budget clamps them",
        arguments: [
            (ratio: -0.1, floor: 10, window: Duration.seconds(10), name: "ratio"),
            (1.1, 10, .seconds(10), "ratio"),
            (.nan, 10, .seconds(10), "ratio"),
            (.infinity, 10, .seconds(10), "ratio"),
            (0.2, -1, .seconds(10), "minimumRetriesPerSecond"),
            (0.2, 1_000_001, .seconds(10), "minimumRetriesPerSecond"),
            (0.2, 10, .zero, "window"),
            (0.2, 10, .seconds(-10), "window"),
            (0.2, 10, .seconds(3601), "window"),
        ]
    )
    func outOfRange(ratio: Double, floor: Int, window: Duration, name: String) {
        do {
            _ = try RetryBudget.validated(ratio: ratio, minimumRetriesPerSecond: floor, window: window)
            Issue.record("\(name) was accepted")
        } catch {
            #expect(error.argument == name)
        }
        let budget = RetryBudget(ratio: ratio, minimumRetriesPerSecond: floor, window: window, clock: time)
        #expect((0...1).contains(budget.ratio))
        #expect((0...1_000_000).contains(budget.minimumRetriesPerSecond))
        for _ in 0..<10 { budget.deposit() }
        #expect(abs(Double(drain(budget)) - 10 * budget.ratio - Double(budget.minimumRetriesPerSecond)) <= 1)
    }

    @Test("R31: a window out of range lasts for the nearest one in range", arguments: [Duration.seconds(-1), .zero])
    func shortWindow(window: Duration) async {
        let budget = RetryBudget(ratio: 1, minimumRetriesPerSecond: 0, window: window, clock: time)
        budget.deposit()
        await clock.advance(by: .milliseconds(900))
        #expect(budget.balance == 1)
        await clock.advance(by: .milliseconds(100))
        #expect(budget.balance == 0)
    }

    @Test("R22: the largest budget that is accepted does not overflow")
    func largest() async throws {
        let budget = RetryBudget(
            ratio: 1,
            minimumRetriesPerSecond: 1_000_000,
            window: .seconds(3600),
            whenEmpty: .wait,
            clock: time
        )
        await clock.advance(by: .longestDelay)
        for _ in 0..<1000 { budget.deposit() }
        #expect(budget.balance == 1_001_000)
        #expect(budget.withdraw() == .granted)
    }
}
