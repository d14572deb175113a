// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@Suite("Properties of the schedules", .computing)
struct BackoffPropertyTests {
    @Test("R13: no delay exceeds its cap or is negative, for every attempt up to Int.max and every scale")
    func withinCap() throws {
        try forCases { seed, random in
            let schedule = try Backoff.random(&random)
            let attempt = Attempt(number: .extreme(&random), previousDelay: .extreme(&random))
            guard let range = schedule.delayRange(after: attempt) else { return true }
            let delay = try #require(schedule.delay(after: attempt, using: random))
            let cap = schedule.cap ?? .longestDelay
            return range.lowerBound >= .zero && range.upperBound <= cap && range.upperBound <= .longestDelay
                && range.contains(delay)
        }
    }

    @Test("R13: the last attempt that there can be has a delay like any other")
    func lastAttempt() throws {
        let last = Attempt(number: .max)
        let long = Duration(attoseconds: .max)
        for base in [Duration(attoseconds: 1), .milliseconds(500), long] {
            #expect(
                Backoff.exponential(from: base, maxAttempts: nil).delay(after: last) == .longestDelay
            )
            #expect(Backoff.fibonacci(from: base, maxAttempts: nil).delay(after: last) == .longestDelay)
        }
        let linear = Backoff.linear(from: .zero, increment: long, maxAttempts: nil)
        #expect(linear.delay(after: last) == .longestDelay)
        #expect(Backoff.constant(delay: long, maxAttempts: nil).delay(after: last) == .longestDelay)
        let zero = Backoff.exponential(from: .zero, factor: 1e308, maxAttempts: nil)
        #expect(zero.delay(after: last) == .zero)
    }

    @Test("R13: without jitter, delays of the growing kinds never shrink up to their cap")
    func growing() throws {
        try forCases(2000) { seed, random in
            let base = Duration.milliseconds(.random(in: 1...10_000, using: &random))
            let kinds = [
                Backoff.linear(from: base, maxAttempts: nil),
                Backoff.exponential(
                    from: base,
                    factor: .random(in: 1...4, using: &random),
                    maxAttempts: nil
                ),
                Backoff.fibonacci(from: base, maxAttempts: nil),
            ]
            let number = Int.random(in: 1...200, using: &random)
            return try kinds.allSatisfy { kind in
                let schedule = kind.capped(at: .seconds(3600))
                let first = try #require(schedule.delay(after: Attempt(number: number)))
                let second = try #require(schedule.delay(after: Attempt(number: number + 1)))
                return first <= second
            }
        }
    }

    @Test("R14: the same seed gives the same delays, another seed gives others")
    func reproducible() throws {
        let schedule = Backoff.standard.limited(maxAttempts: nil)
        func delays(_ seed: UInt64) -> [Duration?] {
            let random = RandomSource(seed: seed)
            return (1...20).map { schedule.delay(after: Attempt(number: $0), using: random) }
        }
        forCases(1000) { seed, _ in delays(seed) == delays(seed) && delays(seed) != delays(seed &+ 1) }
    }

    @Test("R14: two calls that are not seeded never wait in lock-step")
    func noLockStep() {
        let attempts = (1...2).map { Attempt(number: $0) }
        let calls = (0..<1000).map { _ in attempts.map { Backoff.standard.delay(after: $0) } }
        #expect(Set(calls).count == calls.count)
    }

    @Test("R14: copies of one source draw on one state, so that requests that share it differ")
    func copiesShare() {
        let source = RandomSource(seed: 1)
        let copy = source
        let sample = (0..<500).flatMap { _ in
            [source, copy].map { Backoff.standard.delay(after: .first, using: $0) }
        }
        #expect(Set(sample).count == sample.count)
    }

    @Test("full jitter is uniform: its mean is half the delay, and each tenth gets its tenth")
    func uniform() {
        let random = RandomSource(seed: 42)
        var tenths = [Int](repeating: 0, count: 10)
        var sum = 0.0
        for _ in 0..<10_000 {
            let delay = Backoff.standard.delay(after: .first, using: random) ?? .zero
            let share = delay / .milliseconds(500)
            sum += share
            tenths[min(Int(share * 10), 9)] += 1
        }
        #expect(abs(sum / 10_000 - 0.5) < 0.02)
        #expect(tenths.allSatisfy { (850...1150).contains($0) })
    }
}

extension Backoff {
    /// Any schedule: each kind, scale, jitter and cap.
    fileprivate static func random(_ random: inout RandomSource) throws -> Backoff {
        let base = Duration.extreme(&random)
        var schedule: Backoff
        switch Int.random(in: 0...5, using: &random) {
        case 0: schedule = .constant(delay: base, maxAttempts: nil)
        case 1: schedule = .linear(from: base, increment: .extreme(&random), maxAttempts: nil)
        case 2:
            let factor = Bool.random(using: &random) ? 2 : Double.random(in: 1...1e300, using: &random)
            schedule = .exponential(from: base, factor: factor, maxAttempts: nil)
        case 3: schedule = .fibonacci(from: base, maxAttempts: nil)
        case 4: schedule = .decorrelated(from: base, maxAttempts: nil)
        default: schedule = .explicit([base, .extreme(&random), .extreme(&random)])
        }
        switch Int.random(in: 0...3, using: &random) {
        case 0: break
        case 1: schedule = schedule.jittered(.full)
        case 2: schedule = schedule.jittered(.equal)
        default: schedule = schedule.jittered(.proportional(.random(in: 0...1, using: &random)))
        }
        // A cap that is too low for the schedule is refused, and leaves it as it is.
        return schedule.capped(at: .extreme(&random))
    }
}

extension Int {
    /// A number from 1 to the end of the range, of any magnitude.
    fileprivate static func extreme(_ random: inout RandomSource) -> Int {
        let number = Int.random(in: 1 ... .max, using: &random) >> Int.random(in: 0...62, using: &random)
        return Swift.max(1, number)
    }
}

extension Duration {
    /// A duration from zero to the end of the range, of any magnitude.
    fileprivate static func extreme(_ random: inout RandomSource) -> Duration {
        let attoseconds = Int128.random(in: 0 ... .max, using: &random) >> Int128.random(in: 0...126, using: &random)
        return Duration(attoseconds: attoseconds)
    }
}
