// SPDX-License-Identifier: Apache-2.0
/// The built-in strategy: which outcomes are retried, how often, and when.
///
/// ``recommended`` is the policy of Documentation/Rules.md. `RetryPolicy()`, and the initializer with
/// Alamofire's six settings, decide by fixed lists as Alamofire's policy does.
///
/// ```swift
/// let loader = Retry(.recommended) --> PlatformLoader()
/// request.retryStrategy = RetryPolicy.recommended.with(
///     schedule: .constant(delay: .seconds(1))
/// )
/// ```
public struct RetryPolicy: HTTPRetryStrategy, Hashable {
    /// How outcomes are classified.
    public enum Criteria: Hashable, Sendable {
        /// By rules R1 to R11; further methods may be declared repeatable, and statuses replaced or added.
        case rules(repeatable: Set<HTTPMethod> = [], statuses: Set<HTTPStatus>? = nil, added: Set<HTTPStatus> = [])
        /// By three lists, in the order method, status, error code.
        case lists(methods: Set<HTTPMethod>, statuses: Set<HTTPStatus>, errors: Set<HTTPError.Code>)
    }

    /// How outcomes are classified.
    public var criteria: Criteria
    /// The delays between attempts, and their number.
    public var schedule: Backoff
    /// The delays after a timeout, 429 or 503; nil: those of ``schedule`` (rule R32).
    ///
    /// Defaults to nil, since rule R12 has one schedule for all. Longer waits, such as from 2 s, bring more requests
    /// over an interruption of a few seconds, and make each of them wait longer; from 5 s on, the retries of a large
    /// fleet come back as a wave (Documentation/Storms.md has the figures). How many attempts there are is up to
    /// ``schedule``.
    public var overloadSchedule: Backoff?
    /// How the server's rate-limit fields are read.
    public var rateLimitFields: RateLimitFields

    /// What the server's answers mean beyond HTTP; nil: nothing.
    ///
    /// ``modelAPI(_:)`` sets it.
    public var profile: ServerProfile? {
        didSet { rateLimitFields.families = profile?.families ?? [] }
    }

    /// Makes a policy.
    public init(
        criteria: Criteria,
        schedule: Backoff = .standard,
        rateLimitFields: RateLimitFields = RateLimitFields()
    ) {
        self.criteria = criteria
        self.schedule = schedule
        self.rateLimitFields = rateLimitFields
    }

    /// The policy that the rules describe: the default of `Session()` and `refrain get`.
    public static let recommended = RetryPolicy(criteria: .rules())

    /// The same policy with another schedule.
    public func with(schedule: Backoff) -> RetryPolicy {
        var copy = self
        copy.schedule = schedule
        return copy
    }

    /// Returns the delay after a first attempt, for strategies that fall back on a policy.
    public func retryDelay(for result: HTTPResult) -> Duration? {
        let context = RetryContext(result.request, result, attempt: .first, remaining: nil, now: .now)
        guard case .retry(let delay) = decide(in: context).action else { return nil }
        return delay.sample(using: .shared)
    }

    /// False: a success is never repeated.
    public var decidesOnSuccess: Bool { false }

    /// Returns the decision.
    public func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision { decide(in: context) }

    /// Returns the decision, which depends on the context alone: the chain and `refrain explain` both call it.
    public func decide(in context: RetryContext) -> RetryDecision {
        guard let profile, context.details.advice == nil else { return decideByRules(context) }
        var advised = context
        advised.details.advice = profile.advice(on: context)
        return decideByRules(advised)
    }

    private func decideByRules(_ context: RetryContext) -> RetryDecision {
        let cause: RetryReason
        var rules: Rules
        switch classification(of: context) {
        case .success: return .finish(.succeeded)
        case .final(let reason, let by): return .finish(reason, by)
        case .transient(let reason, let by): (cause, rules) = (reason, by)
        }
        switch ReplaySafety.decide(context, repeatable: repeatableMethods, fields: rateLimitFields) {
        case .unsafe(let reason, let by): return .finish(reason, by)
        case .safe(let by): rules.formUnion(by)
        }
        // A resumption that brought new bytes uses up no attempt, so it waits as after the attempts before it.
        let isFree = (context.progress ?? 0) > 0
        let attempt = Self.countedAttempt(context)
        guard var range = schedule.delayRange(after: attempt) else {
            return .finish(.attemptsUsedUp, rules.union([.schedule]))
        }
        if let overloadSchedule, RetryBudget.Cause.of(context.outcome, rules) != .transient,
            let longer = overloadSchedule.limited(maxAttempts: nil).delayRange(after: attempt)
        {
            range = longer
            rules.formUnion([.fleet])
        }
        let resumes = context.progress != nil
        let reason = resumes ? .resumed : cause
        rules.formUnion(resumes ? [.resumption] : [])
        var decision = RetryTiming.decide(
            context,
            schedule: range,
            reason: reason,
            rules: rules,
            fields: rateLimitFields
        )
        decision.isFree = isFree
        decision.details.isLimitNamed = schedule.isLimitNamed
        return decision
    }

    /// The attempt as the schedule counts it: one that was free leaves the count where it was.
    private static func countedAttempt(_ context: RetryContext) -> Attempt {
        let attempt = context.attempt
        guard (context.progress ?? 0) > 0 else { return attempt }
        return Attempt(
            number: attempt.number,
            countedAttempts: max(1, attempt.countedAttempts - 1),
            previousDelay: attempt.previousDelay,
            remaining: attempt.remaining
        )
    }

    private var repeatableMethods: Set<HTTPMethod> {
        switch criteria {
        case .rules(let repeatable, _, _): repeatable
        case .lists(let methods, _, _): methods
        }
    }

    private func classification(of context: RetryContext) -> Classification {
        guard !context.isStatusAccepted else { return .success }
        if let advice = context.details.advice {
            if advice.isFinal { return .final(.quotaSpent, [.transientStatus]) }
            if advice.allowsRetry == false { return .final(.declinedByServer, [.transientStatus]) }
            if advice.allowsRetry == true || advice.isRefusal {
                return .transient(.transientStatus, [.transientStatus])
            }
        }
        switch criteria {
        case .lists(let methods, let statuses, let errors):
            return listed(context, methods, statuses, errors)
        case .rules(_, nil, let added) where added.isEmpty:
            return Classification.recommended(context, fields: rateLimitFields)
        case .rules(_, let statuses, let added):
            let usual = Classification.recommended(context, fields: rateLimitFields)
            guard case .status(let status) = context.outcome else { return usual }
            if added.contains(status) || statuses?.contains(status) == true {
                return .transient(.transientStatus, [.transientStatus])
            }
            guard statuses != nil, case .transient = usual else { return usual }
            return .final(.finalStatus, [.transientStatus])
        }
    }

    /// Classifies by lists, in Alamofire's order: the limit, then the method, then the status or the failure.
    private func listed(
        _ context: RetryContext,
        _ methods: Set<HTTPMethod>,
        _ statuses: Set<HTTPStatus>,
        _ errors: Set<HTTPError.Code>
    ) -> Classification {
        let isSpent = schedule.delayRange(after: Self.countedAttempt(context)) == nil
        switch context.outcome {
        case .status(let status):
            guard status.rawValue >= 400 || statuses.contains(status) else { return .success }
            guard !isSpent else { return .final(.attemptsUsedUp, [.schedule]) }
            guard methods.contains(context.method) else { return .final(.notReplayable, [.replaySafety]) }
            return statuses.contains(status)
                ? .transient(.transientStatus, [.transientStatus]) : .final(.finalStatus, [.transientStatus])
        case .failure(let code):
            guard code != .cancelled else { return .final(.cancelled, [.cancellation]) }
            guard !isSpent else { return .final(.attemptsUsedUp, [.schedule]) }
            guard methods.contains(context.method) else { return .final(.notReplayable, [.replaySafety]) }
            // The lists have let the download go on, or try to: to start over is a part of that.
            if context.startsOver { return .transient(.transientFailure, [.resumption]) }
            return errors.contains(code)
                ? .transient(.transientFailure, [.transientFailure]) : .final(.finalFailure, [.transientFailure])
        }
    }
}

extension RetryPolicy {
    private static let withinTaskRetrying: RetryPolicy = {
        var policy = recommended.with(schedule: .immediately(maxAttempts: nil))
        policy.overloadSchedule = nil
        return policy
    }()

    /// Returns the decision of ``recommended``; within `Task.retrying` the attempts are the task's, and the rules are
    /// not.
    package static func decideByDefault(in context: RetryContext) -> RetryDecision {
        guard OuterRetry.isInside else { return recommended.decide(in: context) }
        var decision = withinTaskRetrying.decide(in: context)
        decision.details.isLeftToOuterLoop = true
        return decision
    }
}

extension RetryStrategy where Self == RetryPolicy {
    /// The policy that the rules describe.
    public static var recommended: RetryPolicy { .recommended }
}

extension RetryPolicy {
    /// How often a failed request is repeated: 2.
    public static let defaultRetryLimit = 2
    /// The base of the exponential back-off: 2.
    public static let defaultExponentialBackoffBase = 2
    /// What the power is multiplied with, in seconds: 0.5.
    public static let defaultExponentialBackoffScale = 0.5

    /// The methods that are repeated: those that RFC 9110 §9.2.2 calls idempotent.
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]

    /// The statuses that are repeated.
    public static let defaultRetryableHTTPStatusCodes: Set<HTTPStatus> = [408, 500, 502, 503, 504]

    /// The failures that are repeated: Alamofire's list of 18.
    public static let defaultRetryableErrorCodes: Set<HTTPError.Code> = [
        .backgroundSessionInUseByAnotherProcess,
        .backgroundSessionWasDisconnected,
        .badServerResponse,
        .callIsActive,
        .cannotConnectToHost,
        .cannotFindHost,
        .cannotLoadFromNetwork,
        .dataNotAllowed,
        .dnsLookupFailed,
        .downloadDecodingFailedMidStream,
        .downloadDecodingFailedToComplete,
        .internationalRoamingOff,
        .networkConnectionLost,
        .notConnectedToInternet,
        .secureConnectionFailed,
        .serverCertificateHasBadDate,
        .serverCertificateNotYetValid,
        .timedOut,
    ]

    /// A policy with Alamofire's settings: the delay is `pow(base, retryCount) * scale` seconds, `retryCount` from 0.
    ///
    /// - Parameters:
    ///   - retryLimit: the number of retries. A negative one counts as 0. Defaults to nil, which is
    ///     ``defaultRetryLimit``; a number that is named is kept by the standard retry budget (rule R22).
    ///   - exponentialBackoffBase: the base of the power. Less than 2 counts as 2. Defaults to 2.
    ///   - exponentialBackoffScale: the factor in seconds. Negative or not finite counts as 0. Defaults to 0.5.
    ///   - retryableHTTPMethods: the methods that are sent again.
    ///   - retryableHTTPStatusCodes: the statuses that are retried.
    ///   - retryableErrorCodes: the failures that are retried.
    public init(
        retryLimit: Int? = nil,
        exponentialBackoffBase: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<HTTPStatus> = defaultRetryableHTTPStatusCodes,
        retryableErrorCodes: Set<HTTPError.Code> = defaultRetryableErrorCodes
    ) {
        let scale = exponentialBackoffScale.isFinite ? max(0, exponentialBackoffScale) : 0
        let schedule = Backoff.exponential(
            from: .delay(seconds: scale),
            factor: Double(max(2, exponentialBackoffBase)),
            maxAttempts: Self.defaultRetryLimit + 1
        )
        self.init(
            criteria: .lists(
                methods: retryableHTTPMethods,
                statuses: retryableHTTPStatusCodes,
                errors: retryableErrorCodes
            ),
            schedule: retryLimit.map { schedule.limited(maxRetryCount: $0) } ?? schedule
        )
    }

    /// A policy with Alamofire's lists, and with numbers that come from outside.
    ///
    /// - Throws: `InvalidArgument` for a negative limit, a base under 2, or a scale that is negative or not finite.
    public static func validated(
        retryLimit: Int = defaultRetryLimit,
        exponentialBackoffBase: Int = defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = defaultExponentialBackoffScale
    ) throws(InvalidArgument) -> RetryPolicy {
        guard retryLimit >= 0 else { throw InvalidArgument("retryLimit", is: retryLimit, expected: "zero or more") }
        guard exponentialBackoffBase >= 2 else {
            throw InvalidArgument("exponentialBackoffBase", is: exponentialBackoffBase, expected: "at least 2")
        }
        guard exponentialBackoffScale >= 0, exponentialBackoffScale.isFinite else {
            throw InvalidArgument(
                "exponentialBackoffScale",
                is: exponentialBackoffScale,
                expected: "a finite number of zero or more"
            )
        }
        return RetryPolicy(
            retryLimit: retryLimit,
            exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale
        )
    }
}
