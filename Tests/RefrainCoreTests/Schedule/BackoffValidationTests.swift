// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import Testing

@Suite("Backoff values out of range")
struct BackoffValidationTests {
    /// The argument that `validated()` refuses.
    private func refused(_ schedule: Backoff) -> String {
        do throws(InvalidArgument) {
            _ = try schedule.validated()
            return "none"
        } catch {
            return error.argument
        }
    }

    @Test("R31: validated() refuses fewer than one attempt; a schedule makes one", arguments: [0, -1, Int.min])
    func attempts(count: Int) {
        let schedules: [Backoff] = [
            .immediately(maxAttempts: count), .constant(delay: .zero, maxAttempts: count),
            .linear(from: .zero, maxAttempts: count), .exponential(from: .zero, maxAttempts: count),
            .exponential(delay: .zero, maxAttempts: count), .fibonacci(from: .zero, maxAttempts: count),
            .decorrelated(from: .zero, maxAttempts: count), .explicit([.seconds(1)], maxAttempts: count),
            .standard.limited(maxAttempts: count),
        ]
        for schedule in schedules {
            #expect(refused(schedule) == "maxAttempts")
            #expect(schedule.delay(after: .first) == nil)
        }
    }

    @Test(
        "R31: validated() refuses negative times; a schedule counts them as zero",
        arguments: [Duration.nanoseconds(-1), Duration(attoseconds: .min)]
    )
    func times(negative: Duration) {
        let schedules: [(Backoff, String)] = [
            (.constant(delay: negative), "delay"), (.exponential(delay: negative), "from"),
            (.exponential(from: negative), "from"), (.linear(from: negative), "from"),
            (.linear(from: .zero, increment: negative), "increment"), (.fibonacci(from: negative), "from"),
            (.decorrelated(from: negative), "from"), (.explicit([negative, negative]), "delays"),
            (.constant(delay: .seconds(5)).capped(at: negative), "cap"),
            (.constant(delay: negative).jittered(.proportional(1)), "delay"),
        ]
        for (schedule, argument) in schedules {
            #expect(refused(schedule) == argument)
            for number in 1...2 { #expect(schedule.delay(after: Attempt(number: number)) == .zero) }
        }
        #expect(refused(.immediately().capped(at: negative)) == "cap")
    }

    @Test("R31: validated() refuses a factor under 1; a schedule counts it as 1", arguments: [0.99, 0, -2, .nan])
    func lowFactor(factor: Double) {
        let schedule = Backoff.exponential(from: .seconds(1), factor: factor)
        #expect(refused(schedule) == "factor")
        for number in 1...2 { #expect(schedule.delay(after: Attempt(number: number)) == .seconds(1)) }
    }

    @Test("R31: validated() refuses an infinite factor; a schedule counts it as the greatest number")
    func infiniteFactor() {
        let schedule = Backoff.exponential(from: .seconds(1), factor: .infinity)
        #expect(refused(schedule) == "factor")
        #expect(schedule.delay(after: .first) == .seconds(1))
        #expect(schedule.delay(after: Attempt(number: 2)) == .longestDelay)
    }

    @Test(
        "R31: validated() refuses a proportion outside of 0 to 1; a schedule clamps it",
        arguments: [(-0.01, 10.0...10), (.nan, 10...10), (1.01, 0...20), (.infinity, 0...20)]
    )
    func proportion(fraction: Double, range: ClosedRange<Double>) {
        let schedule = Backoff.constant(delay: .seconds(10)).jittered(.proportional(fraction))
        #expect(refused(schedule) == "jitter")
        #expect(schedule.delayRange(after: .first) == .seconds(range.lowerBound) ... .seconds(range.upperBound))
    }

    @Test("R31: validated() refuses a cap below the first delay; a schedule keeps to the cap")
    func cap() throws {
        let schedule = Backoff.exponential(from: .seconds(2))
        let low = schedule.capped(at: .seconds(1))
        #expect(refused(low) == "cap")
        #expect(low.delay(after: .first) == .seconds(1))
        #expect(try schedule.capped(at: .seconds(2)).validated().cap == .seconds(2))
    }

    @Test("a schedule whose values are in range is returned unchanged")
    func valid() throws {
        let schedules: [Backoff] = [
            .standard, .never, .immediately(), .constant(delay: .seconds(1)), .linear(from: .seconds(1)),
            .exponential(from: .seconds(1)), .fibonacci(from: .seconds(1)), .decorrelated(from: .seconds(1)),
            .explicit([]), .exponential(from: .seconds(1), maxAttempts: nil).jittered(.proportional(0.2)),
        ]
        for schedule in schedules { #expect(try schedule.validated() == schedule) }
    }

    @Test("a refusal has the name, the value and what was expected")
    func wording() {
        let refusal = InvalidArgument("factor", is: 0.5, expected: "a finite number of at least 1")
        #expect(throws: refusal) { try Backoff.exponential(from: .seconds(1), factor: 0.5).validated() }
        #expect("\(refusal)" == "factor is 0.5, but must be a finite number of at least 1")
    }
}
