// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The policy of the command: that of the library, limited by time rather than by a count of attempts.
///
/// A script that waits for a server needs its response. So a request is repeated until its attempts have failed for
/// ``window``, with delays that grow to 8 s; a resumption that received bytes restarts the time. A name that does not
/// exist is looked up three times, because waiting rarely helps.
struct CommandPolicy: RetryStrategy {
    /// Which outcomes are repeated, and when.
    let policy: RetryPolicy
    /// How long attempts may fail before no further one begins; nil: only the schedule limits them.
    var window: Duration?
    /// The minimum number of attempts, whatever time they take: one attempt that times out may use all of it.
    var minimumAttempts = Self.minimumAttempts
    /// Whether a delay that would end after the window ends with it, so that the last attempt begins in time.
    var shortensWaits = true
    /// Whether every failure but those of this machine is repeated, as far as it is safe to send again.
    var retriesAll = false
    /// The condition that ends the request; nil: a successful response.
    var condition: PollCondition?

    /// The default of ``window``.
    static let standardWindow = Duration.seconds(60)
    /// The default of ``minimumAttempts``.
    static let minimumAttempts = 3

    /// The budget of an origin: a retry that it does not cover waits until the budget allows it.
    ///
    /// A command that downloads 5,000 files should complete all of them.
    static func budget() -> RetryBudget { RetryBudget(whenEmpty: .wait) }

    /// The same on another clock.
    static func budget(clock: some Clock<Duration>) -> RetryBudget { RetryBudget(whenEmpty: .wait, clock: clock) }

    /// The default delays: 0.25 to 0.5 s, doubling to 4 to 8 s.
    static let standardSchedule = Backoff.exponential(from: .milliseconds(500), maxAttempts: nil)
        .capped(at: .seconds(8)).jittered(.equal)

    /// Only a condition makes a success something to repeat.
    var decidesOnSuccess: Bool { condition != nil }

    func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        decision(on: result, in: context)
    }

    /// The decision of the policy within the limits of the command.
    func decision(on result: HTTPResult, in context: RetryContext) -> RetryDecision {
        if case .failure(let error) = result, error.underlyingError is HostIsDown {
            return .finish(.timeUsedUp, [.schedule])
        }
        guard let condition, case .success(let response) = result else { return decide(in: context) }
        if condition.holds(for: response) { return .finish(.succeeded) }
        // A response that does not meet the condition is handled as a server's failure: unless it is a refusal, the
        // request may have been processed, whatever time it names (rule R2).
        var waiting = context
        if ![.tooManyRequests, .serviceUnavailable].contains(response.status) {
            waiting.outcome = .status(.internalServerError)
        }
        var decision = decide(in: waiting)
        guard case .retry = decision.action else { return decision }
        (decision.reason, decision.drawsOnBudget) = (.conditionNotMet, false)
        return decision
    }

    /// The failures of files and outputs of this machine: another attempt would fetch the content again in vain.
    private static let localFailures: Set<RetryContext.Outcome> = [
        .failure(.callerFailed), .failure(.cannotCloseFile), .failure(.cannotCreateFile), .failure(.cannotMoveFile),
        .failure(.cannotOpenFile), .failure(.cannotRemoveFile), .failure(.cannotWriteToFile),
        .failure(.fileDoesNotExist), .failure(.fileIsDirectory), .failure(.noPermissionsToReadFile),
    ]

    /// The decision on the context alone.
    func decide(in context: RetryContext) -> RetryDecision {
        var decision = policy.decide(in: context)
        if retriesAll, decision.action == .finish, [.finalStatus, .finalFailure].contains(decision.reason),
            !Self.localFailures.contains(context.outcome)
        {
            var transient = context
            transient.outcome = .status(.internalServerError)
            decision = policy.decide(in: transient)
        }
        guard case .retry(let delay) = decision.action else {
            return decision.reason == .attemptsUsedUp ? retryAfterTooLong(in: context) ?? decision : decision
        }
        // A name server that has failed may come back; a name that does not exist will not.
        let isUnknownName = context.outcome == .failure(.cannotFindHost)
        let isOver =
            window.map { context.attempt.countedAttempts >= minimumAttempts && context.failingFor >= $0 } ?? false
        let isVain = isUnknownName && policy.schedule.maxAttempts == nil && context.attempt.countedAttempts >= 3
        guard !isOver, !isVain else {
            if let server = delay.server, server > .zero {
                return Self.retryAfterTooLong(after: server, decision, context)
            }
            return .finish(isVain ? .attemptsUsedUp : .timeUsedUp, decision.rules.union([.schedule]))
        }
        if resumesAtOnce(context), delay.server == nil { decision.action = .retry(.init(schedule: .zero...(.zero))) }
        // Nothing was sent, so the budget is not charged.
        if context.outcome == .failure(.cannotConnectToHost), context.bytesSent == 0 {
            decision.drawsOnBudget = false
        }
        if let window, context.attempt.countedAttempts >= minimumAttempts, case .retry(let delay) = decision.action {
            decision.action = within(window - context.failingFor, delay, now: context.now)
        }
        return decision
    }

    /// Whether a download goes on without a delay: its connection has brought enough to be worth another one.
    private func resumesAtOnce(_ context: RetryContext) -> Bool {
        guard let progress = context.progress else { return false }
        return progress >= Self.minimumProgress || (context.attempt.number == 1 && progress == 0)
    }

    /// With fewer bytes a connection, a server that ends all of them would be asked in a loop.
    private static let minimumProgress: Int64 = 16 << 10

    /// The decision after the last attempt if the server gave a delay; nil if it did not.
    private func retryAfterTooLong(in context: RetryContext) -> RetryDecision? {
        let further = policy.with(schedule: Self.standardSchedule).decide(in: context)
        switch further.action {
        case .retryAfterTooLong: return further
        case .retry(let delay):
            return delay.server.flatMap { $0 > .zero ? Self.retryAfterTooLong(after: $0, further, context) : nil }
        case .finish: return nil
        }
    }

    private static func retryAfterTooLong(
        after delay: Duration,
        _ decision: RetryDecision,
        _ context: RetryContext
    ) -> RetryDecision {
        var decision = decision
        decision.action = .retryAfterTooLong(until: context.now.advanced(by: delay))
        decision.reason = .retryAfterTooLong
        return decision
    }

    /// A delay that ends within a time; a longer delay of the server ends the request (rule R18).
    private func within(_ rest: Duration, _ delay: RetryDecision.Delay, now: WallClock.Instant) -> RetryDecision.Action
    {
        if let server = delay.server, server > rest { return .retryAfterTooLong(until: now.advanced(by: server)) }
        guard shortensWaits else { return .retry(delay) }
        var delay = delay
        delay.schedule = min(delay.schedule.lowerBound, rest)...min(delay.schedule.upperBound, rest)
        delay.bound = min(delay.bound ?? rest, rest)
        return .retry(delay)
    }
}

/// The cause of a failure without an attempt: another request has found that the host is down.
struct HostIsDown: Error {}

// MARK: In words

extension CommandPolicy {
    /// The waits, drawn as far as attempts may follow each other.
    var chart: ScheduleChart { ScheduleChart(policy.schedule, within: window) }

    /// The policy in a sentence.
    var words: String {
        var parts: [String] = []
        func short(_ duration: Duration) -> String { DurationText.plain(duration) }
        if let range = policy.schedule.delayRange(after: Attempt(number: 1)) {
            parts.append(
                "waits \(short(range.lowerBound)) to \(short(range.upperBound)) at first"
            )
            let late = policy.schedule.delayRange(after: Attempt(number: 20, previousDelay: range.upperBound))
            if let late, late.upperBound > range.upperBound {
                parts.append("growing to \(short(late.upperBound))")
            }
        }
        if let count = policy.schedule.maxAttempts { parts.append("\(count) \(count == 1 ? "attempt" : "attempts")") }
        if let window {
            let least = minimumAttempts > 1 ? ", and at least \(minimumAttempts) attempts" : ""
            parts.append("for \(short(window))\(least)")
        }
        return parts.joined(separator: ", ")
    }
}
