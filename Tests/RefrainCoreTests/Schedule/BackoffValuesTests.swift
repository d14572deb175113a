// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import Testing

@Suite("Values of the schedules")
struct BackoffValuesTests {
    @Test("R12: the standard schedule doubles from half a second to 30 s, with full jitter, and makes 3 attempts")
    func standard() {
        #expect(Backoff.standard.maxAttempts == 3)
        #expect(Backoff.standard.jitter == .full)
        #expect(Backoff.standard.cap == .seconds(30))
        #expect(Backoff.standard.delayRange(after: Attempt(number: 1)) == .zero ... .milliseconds(500))
        #expect(Backoff.standard.delayRange(after: Attempt(number: 2)) == .zero ... .seconds(1))
        #expect(Backoff.standard.delayRange(after: Attempt(number: 3)) == nil)
    }

    @Test("R12: with more attempts the standard schedule stays at its cap of 30 s")
    func standardGoesOn() throws {
        let endless = Backoff.standard.limited(maxAttempts: nil)
        let highest = (1...9).compactMap { endless.delayRange(after: Attempt(number: $0))?.upperBound }
        #expect(highest == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    }

    @Test("never makes one attempt, immediately waits for nothing")
    func neverAndImmediately() throws {
        #expect(Backoff.never.delay(after: .first) == nil)
        #expect(delays(.immediately(maxAttempts: 3)) == [.zero, .zero])
    }

    @Test("constant waits the same each time")
    func constant() throws {
        #expect(
            delays(.constant(delay: .seconds(2), maxAttempts: 4)) == [2, 2, 2].map { .seconds($0) }
        )
        #expect(delays(.constant(delay: .seconds(2))).count == 2)
    }

    @Test("linear grows by its increment, or by its base")
    func linear() throws {
        let own = Backoff.linear(from: .milliseconds(100), increment: .seconds(1), maxAttempts: 5)
        #expect(delays(own) == [100, 1100, 2100, 3100].map { .milliseconds($0) })
        let base = Backoff.linear(from: .milliseconds(100), maxAttempts: 5)
        #expect(delays(base) == [100, 200, 300, 400].map { .milliseconds($0) })
    }

    @Test("exponential doubles, or grows by its factor; both spellings agree")
    func exponential() throws {
        let doubling = Backoff.exponential(from: .milliseconds(100), maxAttempts: 6)
        #expect(delays(doubling) == [100, 200, 400, 800, 1600].map { .milliseconds($0) })
        #expect(Backoff.exponential(delay: .milliseconds(100), maxAttempts: 6) == doubling)
        let slow = Backoff.exponential(from: .seconds(1), factor: 1.5, maxAttempts: 4)
        #expect(delays(slow) == [1000, 1500, 2250].map { .milliseconds($0) })
    }

    @Test("fibonacci waits 1, 1, 2, 3, 5, 8 times its base")
    func fibonacci() throws {
        let schedule = Backoff.fibonacci(from: .milliseconds(100), maxAttempts: 9)
        #expect(delays(schedule) == [1, 1, 2, 3, 5, 8, 13, 21].map { .milliseconds($0 * 100) })
    }

    @Test("explicit waits the listed times, and stops when its list or its attempts are at their end")
    func explicit() throws {
        let list: [Duration] = [.seconds(3), .milliseconds(1), .zero]
        #expect(delays(.explicit(list)) == list)
        #expect(delays(.explicit(list, maxAttempts: 2)) == [.seconds(3)])
        #expect(delays(.explicit([])) == [])
    }

    @Test("decorrelated waits between its base and three times the wait before")
    func decorrelated() throws {
        let schedule = Backoff.decorrelated(from: .seconds(1)).capped(at: .seconds(20))
        #expect(schedule.delayRange(after: Attempt(number: 1)) == .seconds(1) ... .seconds(3))
        let later = Attempt(number: 2, previousDelay: .seconds(5))
        #expect(schedule.delayRange(after: later) == .seconds(1) ... .seconds(15))
        let last = Attempt(number: 2, previousDelay: .seconds(19))
        #expect(schedule.delayRange(after: last) == .seconds(1) ... .seconds(20))
    }

    @Test("each jitter spreads a delay as it says, within the cap")
    func jitter() throws {
        let base = Backoff.constant(delay: .seconds(10))
        #expect(base.jittered(.none).delayRange(after: .first) == .seconds(10) ... .seconds(10))
        #expect(base.jittered(.full).delayRange(after: .first) == .zero ... .seconds(10))
        #expect(base.jittered(.equal).delayRange(after: .first) == .seconds(5) ... .seconds(10))
        let proportional = base.jittered(.proportional(0.2))
        #expect(proportional.delayRange(after: .first) == .seconds(8) ... .seconds(12))
        #expect(proportional.capped(at: .seconds(11)).delayRange(after: .first) == .seconds(8) ... .seconds(11))
        #expect(base.jittered(.proportional(1)).delayRange(after: .first) == .zero ... .seconds(20))
    }

    @Test("a schedule counts the counted attempts: those that were free do not make it wait longer")
    func countsTries() throws {
        let schedule = Backoff.exponential(from: .seconds(1), maxAttempts: 3)
        #expect(schedule.delay(after: Attempt(number: 90, countedAttempts: 2)) == .seconds(2))
    }

    private func delays(_ schedule: Backoff) -> [Duration] {
        var delays: [Duration] = []
        while let delay = schedule.delay(after: Attempt(number: delays.count + 1)) { delays.append(delay) }
        return delays
    }
}
