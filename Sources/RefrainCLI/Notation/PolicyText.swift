internal import Refrain

/// The policy that the options of a command describe.
enum PolicyText {
    /// Reads it; without options it is the recommended one.
    static func policy(_ arguments: Arguments) throws(UsageError) -> RetryPolicy {
        var policy = try base(arguments)
        let isScheduled = arguments.has(.attempts) || arguments.has(.backoff) || arguments.has(.jitter)
        if isScheduled { policy.schedule = try BackoffText.schedule(arguments, base: policy.schedule) }
        guard let text = arguments.last(.retryStatus) else { return policy }
        let list = try StatusListText(text, option: "--retry-status")
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

    /// How far the server's delays count.
    static func serverDelays(_ arguments: Arguments) throws(UsageError) -> ServerDelays {
        var delays = ServerDelays.honoured
        if let text = arguments.last(.maxServerDelay) {
            let cap = try DurationText.parse(text, option: "--max-server-delay", allowsZero: true)
            do throws(InvalidArgument) {
                delays = try .honoured(upTo: cap)
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
