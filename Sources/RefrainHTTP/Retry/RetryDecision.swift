// SPDX-License-Identifier: Apache-2.0
/// What follows an attempt of a request, why, and by which rules: what a ``RetryStrategy`` returns.
///
/// ```swift
/// let decision: RetryDecision = context.attempt.number < 5
///     ? .retry(after: .seconds(1))
///     : .finish()
/// ```
///
/// A strategy's delay is a request. The stage applies the rules on repetition, the server's delay, the timeout of the
/// call and the retry budget to it. The decision of a ``RetryPolicy`` has applied these rules already, and keeps its
/// result when another strategy returns it.
public struct RetryDecision: Sendable {
    /// What follows.
    public enum Action: Sendable, Hashable {
        /// The call ends with the outcome.
        case finish
        /// Another attempt follows after this delay.
        case retry(Delay)
        /// The call ends, because the server requests a longer delay than is allowed (rule R18).
        case retryAfterTooLong(until: WallClock.Instant)
    }

    private var contents: CopyOnWriteBox<Details>

    /// What follows.
    public var action: Action {
        get { contents.fields.action }
        _modify { yield &contents.fields.action }
    }

    /// Why.
    public var reason: RetryReason {
        get { contents.fields.reason }
        _modify { yield &contents.fields.reason }
    }

    /// The rules that decided.
    public var rules: Rules {
        get { contents.fields.rules }
        _modify { yield &contents.fields.rules }
    }

    /// Whether the next attempt is not counted (rule R11).
    public var isFree: Bool {
        get { contents.fields.isFree }
        _modify { yield &contents.fields.isFree }
    }

    /// Whether the next attempt draws on the retry budget (rule R22); defaults to true.
    ///
    /// Polling does not: a resource that is not ready yet has not failed.
    public var drawsOnBudget: Bool {
        get { contents.fields.drawsOnBudget }
        _modify { yield &contents.fields.drawsOnBudget }
    }

    /// Whether the call ends with the outcome, so that another strategy may decide otherwise.
    package var isFinish: Bool { if case .finish = contents.fields.action { true } else { false } }

    /// The error that the call ends with in place of its outcome, or nil.
    package var error: (any Error)? { contents.fields.error }

    /// The values of the properties above, and those that are not public.
    package var details: Details {
        get { contents.fields }
        _modify { yield &contents.fields }
    }

    /// The values of a decision.
    package struct Details: Sendable {
        fileprivate(set) var action: Action
        fileprivate(set) var reason: RetryReason
        fileprivate(set) var rules: Rules = []
        fileprivate(set) var isFree = false
        /// Whether the next attempt needs another connection (rule R7).
        package var needsFreshConnection = false
        /// Whether the next attempt draws on the retry budget; the replay after a token refresh does not (rule R23).
        fileprivate var drawsOnBudget = true
        /// Whether a loop around the call makes the attempt, if the rules, the deadline and the budget allow it (rule
        /// R24).
        var isLeftToOuterLoop = false
        /// Whether the caller has named the number of attempts (rule R22).
        package var isLimitNamed = false
        /// The error that the call ends with in place of its outcome, or nil.
        package fileprivate(set) var error: (any Error)?
        /// Whether the rules on repetition and on server delays have been applied.
        fileprivate(set) var followsRules = true
    }

    private init(_ action: Action, _ reason: RetryReason, _ rules: Rules = []) {
        contents = CopyOnWriteBox(Details(action: action, reason: reason, rules: rules))
    }

    /// The call ends with the outcome, by these rules.
    public static func finish(_ reason: RetryReason = .strategyDeclined, _ rules: Rules = []) -> RetryDecision {
        RetryDecision(.finish, reason, rules)
    }

    /// Another attempt follows after this delay, if the rules allow it; negative delays count as zero.
    public static func retry(after delay: Duration, _ reason: RetryReason = .strategyRetried) -> RetryDecision {
        let delay = delay.clampedToDelay
        var decision = RetryDecision(.retry(Delay(schedule: delay...delay)), reason)
        decision.details.followsRules = false
        return decision
    }

    /// The call ends with this error in place of the outcome.
    package static func finish(_ reason: RetryReason, error: any Error) -> RetryDecision {
        var decision = RetryDecision(.finish, reason)
        decision.details.error = error
        return decision
    }

    /// Another attempt follows; the rules have been applied.
    package static func retry(_ delay: Delay, _ reason: RetryReason, _ rules: Rules = []) -> RetryDecision {
        RetryDecision(.retry(delay), reason, rules)
    }

    /// The call ends with the outcome, because the server requests a longer delay than is allowed.
    fileprivate static func retryAfterTooLong(until end: WallClock.Instant, _ rules: Rules) -> RetryDecision {
        RetryDecision(.retryAfterTooLong(until: end), .retryAfterTooLong, rules)
    }
}

extension RetryDecision {
    /// This decision after the rules on repetition and on server delays (rules R2, R4 and R15 to R20).
    func applyingRules(_ context: RetryContext) -> RetryDecision {
        guard !details.followsRules, case .retry(let delay) = action else { return self }
        switch ReplaySafety.decide(context) {
        case .unsafe(let reason, let rules):
            return .finish(reason, rules)
        case .safe(let safe):
            let rules = rules.union(safe)
            var decision = RetryTiming.decide(context, schedule: delay.schedule, reason: reason, rules: rules)
            decision.isFree = isFree
            decision.drawsOnBudget = details.drawsOnBudget
            return decision
        }
    }

    /// This decision with another delay; a server's delay is kept if it is longer (rule R17).
    package func withDelay(_ wanted: Duration) -> RetryDecision {
        guard case .retry(let delay) = action else { return self }
        let wanted = wanted.clampedToDelay
        let server = delay.server.flatMap { $0 > wanted ? $0 : nil }
        var decision = self
        decision.action = .retry(Delay(schedule: wanted...wanted, server: server, bound: delay.bound))
        return decision
    }
}

extension RetryDecision {
    /// The delay before another attempt: the longer of the server's and the schedule's (rules R17 and R18).
    public struct Delay: Sendable, Hashable {
        /// The delay of the schedule, jitter included.
        public var schedule: ClosedRange<Duration>
        /// The server's delay; nil: none.
        public var server: Duration?
        /// The longest delay that jitter can make of a server's delay: its cap, or the deadline.
        public var bound: Duration?

        /// Makes a delay.
        public init(schedule: ClosedRange<Duration>, server: Duration? = nil, bound: Duration? = nil) {
            self.schedule = schedule
            self.server = server
            self.bound = bound
        }

        /// The shortest and the longest delay that ``sample(using:)`` can return.
        public var range: ClosedRange<Duration> {
            guard let server else { return schedule }
            return max(server, schedule.lowerBound)...max(jitteredRetryAfter(1), schedule.upperBound)
        }

        /// Returns one delay out of the range.
        public func sample(using random: RandomSource) -> Duration {
            let spread = schedule.upperBound.inSeconds - schedule.lowerBound.inSeconds
            let planned =
                spread > 0
                ? Duration.delay(seconds: schedule.lowerBound.inSeconds + spread * random.unit()) : schedule.upperBound
            let scheduled = min(max(planned, schedule.lowerBound), schedule.upperBound)
            guard server != nil else { return scheduled }
            return max(jitteredRetryAfter(random.unit()), scheduled)
        }

        /// The server's delay with a share of its jitter, which is a tenth of the delay, and at most a second.
        ///
        /// Jitter spreads clients that received the same time. It is added only, so that no client returns earlier.
        private func jitteredRetryAfter(_ share: Double) -> Duration {
            guard let server else { return .zero }
            let added = Duration.delay(seconds: min(server.inSeconds / 10, 1) * share)
            let longest = server.addingSaturated(added)
            guard let bound else { return longest }
            return max(server, min(longest, bound))
        }
    }
}

/// Decides when another attempt follows, and whether there is time for it (rules R15 to R20).
enum RetryTiming {
    /// Returns the decision for a requested retry: the delay after which it follows, or why it does not.
    static func decide(
        _ context: RetryContext,
        schedule: ClosedRange<Duration>,
        reason: RetryReason,
        rules: Rules,
        fields: RateLimitFields = RateLimitFields()
    ) -> RetryDecision {
        var decision: RetryDecision
        let cap = context.retryAfterPolicy.cap
        if let server = ServerRetryDelay.read(context, fields: fields) {
            let rules = rules.union(server.rules)
            if server.delay > cap || context.remaining.map({ server.delay >= $0 }) ?? false {
                return .retryAfterTooLong(until: context.now.advanced(by: server.delay), rules.union([.delayCap]))
            }
            // A delay that ends at the deadline leaves no time for the attempt: jitter adds at most half of the rest.
            let bound = min(cap, context.remaining.map { server.delay + ($0 - server.delay) / 2 } ?? cap)
            let delay = RetryDecision.Delay(schedule: schedule, server: server.delay, bound: bound)
            decision = .retry(delay, reason, rules.union([.longerDelay]))
        } else {
            decision = .retry(RetryDecision.Delay(schedule: schedule), reason, rules.union([.schedule]))
        }
        if let remaining = context.remaining, case .retry(let delay) = decision.action,
            delay.range.lowerBound >= remaining
        {
            return .finish(.deadlineExceeded, decision.rules.union([.deadline]))
        }
        decision.details.needsFreshConnection = Classification.needsFreshConnection(context)
        return decision
    }
}

extension RetryBudget {
    /// What would cover the retry of a decision now, and with which chance it would; nothing is withdrawn.
    ///
    /// Nil where the decision is not to retry. The delay that counts is the middle of the decision's range.
    public func preview(
        of decision: RetryDecision,
        after outcome: RetryContext.Outcome
    ) -> (credit: Credit, chance: Double)? {
        guard case .retry(let delay) = decision.action else { return nil }
        var retry = WantedRetry(after: outcome, decision)
        retry.delay = (delay.range.lowerBound + delay.range.upperBound) / 2
        return preview(retry)
    }
}

extension RetryBudget.WantedRetry {
    /// The retry that a decision wants after an outcome, as far as the decision tells.
    init(after outcome: RetryContext.Outcome, _ decision: RetryDecision) {
        self.init(after: .of(outcome, decision.rules))
        if case .status = outcome { namesTime = !decision.rules.isDisjoint(with: [.retryAfter, .rateLimit]) }
    }
}

extension RetryBudget.Cause {
    /// The cause of a retry after an outcome, by the rules that decided on it.
    public static func of(_ outcome: RetryContext.Outcome, _ rules: Rules = []) -> RetryBudget.Cause {
        switch outcome {
        case .failure(let code): code == .timedOut ? .timeout : .transient
        // A server that sends a delay requests fewer requests, whatever its status.
        case .status where !rules.isDisjoint(with: [.retryAfter, .rateLimit]): .throttled
        case .status(.tooManyRequests): .throttled
        case .status(let status): status == .serviceUnavailable ? .unavailable : .transient
        }
    }
}

extension RetryContext.Outcome {
    /// The outcome that a result is.
    init(_ result: HTTPResult) {
        switch result {
        case .success(let response): self = .status(response.status)
        case .failure(let error): self = .failure(error.code)
        }
    }
}
