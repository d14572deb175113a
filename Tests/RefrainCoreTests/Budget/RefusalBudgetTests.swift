// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

/// What the standard budget grants after a refusal: 503 or 429 without a time to come back at.
@Suite("The standard budget and refusals", .computing)
struct RefusalBudgetTests {
    private static let refusals = [RetryBudget.Cause.unavailable, .throttled]

    private static func retry(
        after cause: RetryBudget.Cause = .unavailable,
        took duration: Duration = .zero,
        delay: Duration = .zero,
        of call: RetryBudget.Call? = nil
    ) -> RetryBudget.WantedRetry {
        var retry = RetryBudget.WantedRetry(after: cause)
        (retry.duration, retry.delay, retry.call) = (duration, delay, call)
        return retry
    }

    @Test("R32: the first second of refusals is free, however many come in a row", arguments: refusals)
    func firstSecond(cause: RetryBudget.Cause) async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        for step in 0...10 {
            #expect(budget.preview(Self.retry(after: cause)).chance == (step < 10 ? 1 : 0), "\(step)")
            #expect(budget.covered(Self.retry(after: cause)).credit == (step < 10 ? .floor : .empty), "\(step)")
            await clock.advance(by: step < 10 ? .milliseconds(100) : .zero)
        }
    }

    @Test("R32: a refusal is retried with the chance (1 s + its attempt + its delay) ÷ the time of failing")
    func chance() async {
        let generator = RandomSource(seed: 20_261_126)
        for _ in 0..<300 {
            let clock = TestClock()
            let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
            func upTo(_ seconds: Double) -> Duration { .milliseconds(Int(seconds * 1000 * generator.unit())) }
            let (age, took, delay) = (upTo(290), upTo(20), upTo(60))
            await clock.advance(by: .seconds(400))
            #expect(budget.covered(Self.retry()).withdrawal == .granted)
            await clock.advance(by: age)
            let (_, chance) = budget.preview(Self.retry(took: took, delay: delay))
            let expected = (Duration.seconds(1) + took + delay) / max(age, .nanoseconds(1))
            #expect(abs(chance - min(1, expected)) < 1e-9, "\(age) \(took) \(delay)")
            // A retry that waits as long as the origin has been failing is free.
            #expect(budget.preview(Self.retry(delay: age)).chance == 1)
        }
    }

    @Test("R32: of 10,000 processes that have been refused for 40 s, a tenth retries after a delay of 3 s")
    func share() async {
        let (clock, random) = (TestClock(), RandomSource(seed: 5))
        await clock.advance(by: .seconds(400))
        let budgets = (0..<10_000).map { _ in RetryBudget.standard(clock: AnyClock(clock), random: random) }
        for budget in budgets { _ = budget.covered(Self.retry()) }
        await clock.advance(by: .seconds(40))
        let granted = budgets.count { $0.covered(Self.retry(delay: .seconds(3))).credit == .chance }
        // Five standard deviations of a binomial distribution are 150.
        #expect(abs(granted - 1000) < 150, "\(granted)")
    }

    @Test("R32: the time of failing begins with the first attempt that failed, not with its answer")
    func beginning() async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        await clock.advance(by: .seconds(1000))
        #expect(budget.covered(Self.retry(took: .seconds(9))).withdrawal == .granted)
        await clock.advance(by: .seconds(1))
        #expect(abs(budget.preview(Self.retry()).chance - 0.1) < 1e-9)
    }

    @Test("R32: a success ends the time of failing, and so do five minutes without a sign of it")
    func ends() async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        await clock.advance(by: .seconds(1000))
        _ = budget.covered(Self.retry())
        await clock.advance(by: .seconds(100))
        #expect(budget.preview(Self.retry()).chance == 0.01)
        budget.depositSuccess()
        #expect(budget.preview(Self.retry()).chance == 1)
        for _ in 0..<3 {
            _ = budget.covered(Self.retry())
            await clock.advance(by: .seconds(299))
        }
        #expect(budget.preview(Self.retry()).chance < 0.01)
        await clock.advance(by: .seconds(2))
        #expect(budget.preview(Self.retry()).chance == 1)
    }

    @Test("R32: a success does not end it while more than 4 of the last 20 outcomes are timeouts")
    func timeouts() async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        await clock.advance(by: .seconds(1000))
        for _ in 0..<5 {
            _ = budget.covered(.init(after: .timeout))
            budget.depositSuccess()
        }
        await clock.advance(by: .seconds(100))
        budget.depositSuccess()
        #expect(budget.preview(Self.retry()).chance == 0.01)
        for _ in 0..<15 { budget.depositSuccess() }
        #expect(budget.preview(Self.retry()).chance == 1)
    }

    @Test("R22: a limit that was named is kept, one call at a time, and the next has its turn when that one ends")
    func namedLimits() async {
        for cause in [RetryBudget.Cause.unavailable, .throttled, .timeout] {
            let clock = TestClock()
            let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
            await clock.advance(by: .seconds(1000))
            _ = budget.covered(.init(after: cause))
            await clock.advance(by: .seconds(200))
            var first: RetryBudget.Call? = RetryBudget.Call()
            let second = RetryBudget.Call()
            for _ in 0..<3 {
                #expect(budget.covered(Self.retry(after: cause, of: first)).withdrawal == .granted, "\(cause)")
                #expect(budget.covered(Self.retry(after: cause, of: second)) == (.refused, .closed), "\(cause)")
                #expect(budget.covered(Self.retry(after: cause)) == (.refused, .closed), "\(cause)")
            }
            first = nil
            #expect(budget.covered(Self.retry(after: cause, of: second)).withdrawal == .granted, "\(cause)")
        }
    }

    @Test("R22: 10 retries a second bound a named limit, too, and a budget for a fleet keeps none")
    func namedLimitsAreBounded() async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        let call = RetryBudget.Call()
        let granted = (0..<100).count { _ in budget.covered(Self.retry(after: .timeout, of: call)).credit.isGranted }
        #expect(granted == 10)
        let fleet = RetryBudget.fleet(clock: AnyClock(clock), random: RandomSource(seed: 1))
        #expect(fleet.covered(Self.retry(after: .timeout, of: call)).credit == .floor)
        #expect(fleet.covered(Self.retry(after: .timeout, of: call)).credit == .closed)
    }

    @Test("R22: a refusal that names its time waits until the budget covers it, and is no sign of failing")
    func namedTimes() async {
        let clock = TestClock()
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        var retry = RetryBudget.WantedRetry(after: .throttled)
        retry.namesTime = true
        for _ in 0..<10 { #expect(budget.covered(retry).withdrawal == .granted) }
        for turn in 11...50 {
            // The minimum accrues again a second after it was full.
            let wait = Duration.milliseconds(1000 + (turn - 10) * 100)
            #expect(budget.covered(retry).withdrawal == .grantedAfter(wait), "\(turn)")
        }
        #expect(budget.covered(retry, longestWait: .seconds(5)) == (.refused, .empty))
        await clock.advance(by: .seconds(200))
        #expect(budget.preview(Self.retry()).chance == 1)
    }
}
