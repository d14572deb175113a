// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The policy that the options of a command describe.
enum PolicyText {
    /// Reads it; without options it is the recommended one.
    static func policy(_ arguments: Arguments) throws(UsageError) -> RetryPolicy {
        var policy = try base(arguments)
        let isScheduled = arguments.has(.attempts) || arguments.has(.backoff) || arguments.has(.jitter)
        if isScheduled { policy.schedule = try BackoffText.schedule(arguments, base: policy.schedule) }
        if let text = arguments.last(.overloadBackoff) {
            policy.overloadSchedule = try BackoffText.parse(text, option: "--overload-backoff").jittered(.full)
        }
        return try withStatuses(policy, arguments)
    }

    /// Reads the policy of a command that limits its attempts by time unless their number is given.
    static func commandPolicy(
        _ arguments: Arguments,
        profile: ServerProfile? = nil
    ) throws(UsageError) -> CommandPolicy {
        var policy = profile.map { .modelAPI($0) } ?? RetryPolicy.recommended
        var base = CommandPolicy.standardSchedule
        if let text = arguments.last(.retry) {
            guard !arguments.has(.attempts) else { throw UsageError("--retry and --attempts exclude each other") }
            // curl's delays with a little jitter, so that two requests do not wait in lock-step.
            base = .exponential(from: .seconds(1)).capped(at: .seconds(600)).jittered(.proportional(0.1))
            if let delay = try arguments.seconds(.retryDelay) { base = .constant(delay: delay) }
            base = base.limited(maxAttempts: try WholeNumber.parse(text, option: "--retry", in: 0...1_000_000) + 1)
        } else if arguments.has(.retryDelay) {
            throw UsageError("--retry-delay needs --retry N; --backoff constant:1s sets the wait without it")
        }
        policy.schedule = try BackoffText.schedule(arguments, base: base)
        var window: Duration? = policy.schedule.maxAttempts == nil ? CommandPolicy.standardWindow : nil
        if let time = try arguments.seconds(.retryMaxTime) { window = time }
        if let text = arguments.last(.retryFor) {
            window = try DurationText.parse(text, option: "--retry-for", allowsZero: true)
        }
        var command = CommandPolicy(policy: try withStatuses(policy, arguments), window: window)
        // A given time applies without a minimum of attempts.
        if arguments.has(.retryMaxTime) || arguments.has(.retryFor) { command.minimumAttempts = 1 }
        // With curl's options the delays are those of curl.
        command.shortensWaits = !arguments.has(.retryMaxTime)
        command.retriesAll = arguments.has(.retryAllErrors)
        command.condition = try PollCondition(arguments)
        if command.condition != nil, ![.attempts, .retry, .retryFor, .retryMaxTime].contains(where: arguments.has) {
            let hasDeadline = arguments.has(.deadline) || arguments.has(.maxTime)
            command.window = hasDeadline ? nil : PollCondition.standardWindow
        }
        return command
    }

    private static func withStatuses(
        _ policy: RetryPolicy,
        _ arguments: Arguments
    ) throws(UsageError) -> RetryPolicy {
        var policy = policy
        guard let text = arguments.last(.retryStatus) else { return policy }
        let list = try StatusListText(text, option: "--retry-status")
        guard list.statuses.allSatisfy({ $0.rawValue >= 400 }) else {
            let advice = "--until 'STATUS in 200' repeats a request until it has that one"
            throw .badValue(text, of: "--retry-status", "has a status below 400, which is a success; \(advice)")
        }
        switch policy.criteria {
        case .rules(let repeatable, _, _):
            policy.criteria =
                list.areAdded
                ? .rules(repeatable: repeatable, added: list.statuses)
                : .rules(repeatable: repeatable, statuses: list.statuses)
        case .lists(let methods, let statuses, let errors):
            let all = list.areAdded ? statuses.union(list.statuses) : list.statuses
            policy.criteria = .lists(methods: methods, statuses: all, errors: errors)
        }
        return policy
    }

    /// How far the server's delays are honoured.
    static func retryAfterPolicy(_ arguments: Arguments) throws(UsageError) -> RetryAfterPolicy {
        var delays = RetryAfterPolicy.honoured
        if let text = arguments.last(.maxServerDelay) {
            let cap = try DurationText.parse(text, option: "--max-server-delay", allowsZero: true)
            do throws(InvalidArgument) {
                delays = try .validated(upTo: cap)
            } catch {
                throw UsageError("--max-server-delay: \(error)")
            }
        }
        return arguments.has(.ignoreRetryAfter) ? .ignored : delays
    }

    private static func base(_ arguments: Arguments) throws(UsageError) -> RetryPolicy {
        switch arguments.last(.policy) {
        case nil, "recommended": return .recommended
        case "alamofire": return RetryPolicy()
        case .some(let other): throw .badValue(other, of: "--policy", "is neither recommended nor alamofire")
        }
    }
}

/// Lists of statuses as they are written on the command line: `500,502-504`, or `+404` for "besides the usual ones".
struct StatusListText: Hashable {
    /// The statuses of the list.
    let statuses: Set<HTTPStatus>
    /// Whether they are added to the usual ones instead of replacing them.
    let areAdded: Bool

    init(_ text: String, option: String) throws(UsageError) {
        areAdded = text.hasPrefix("+")
        var statuses: Set<HTTPStatus> = []
        for item in text.dropFirst(areAdded ? 1 : 0).split(separator: ",", omittingEmptySubsequences: false) {
            let ends = item.split(separator: "-", omittingEmptySubsequences: false).map { ASCIINumber.whole($0) }
            guard let first = ends.first, let low = first, let last = ends.last, let high = last, ends.count <= 2,
                (200...599).contains(low), (low...599).contains(high)
            else {
                throw .badValue(
                    String(item),
                    of: option,
                    "is neither a status from 200 to 599 nor a range of them such as 500-504"
                )
            }
            statuses.formUnion((low...high).map { HTTPStatus(rawValue: $0) })
        }
        self.statuses = statuses
    }
}
