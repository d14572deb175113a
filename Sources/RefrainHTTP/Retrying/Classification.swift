/// Whether an outcome is worth another try (rules R7 and R8): a pure function of the facts.
public enum Classification {
    /// The worth of another try, with its reason.
    public enum Verdict: Hashable, Sendable {
        /// The exchange succeeded: a status below 400.
        case success
        /// Another try may bring another outcome.
        case transient(RetryReason, Rules)
        /// Another try would bring the same.
        case final(RetryReason, Rules)
    }

    /// Judges an outcome as RULES R7, R8 and R9 say.
    public static func recommended(_ facts: RetryFacts) -> Verdict {
        switch facts.outcome {
        case .status(let status): judge(status, facts)
        case .failure(let code): judge(code, facts)
        }
    }

    /// Whether the next try must avoid the connection of this one: the server has tied its refusal to it.
    public static func needsFreshConnection(_ facts: RetryFacts) -> Bool {
        facts.outcome == .status(.requestTimeout) || facts.outcome == .status(.misdirectedRequest)
    }

    /// Statuses over 499 that say that the server will never do it (rule R7).
    static let finalServerErrors: Set<HTTPStatus> = [501, 505, 506, 508, 510, 511]

    private static func judge(_ status: HTTPStatus, _ facts: RetryFacts) -> Verdict {
        switch status.rawValue {
        case ..<400:
            return .success
        case 408, 421, 425, 429:
            return .transient(.transientStatus, Rules(7))
        case 403, 413:
            let hasTime = facts.serverDelays.isHonoured && ServerDelay.retryAfter(in: facts) != nil
            return hasTime ? .transient(.transientStatus, Rules(7, 15)) : .final(.finalStatus, Rules(7))
        case 409:
            return facts.hasIdempotencyKey
                ? .transient(.transientStatus, Rules(5, 7)) : .final(.finalStatus, Rules(7))
        case 422 where facts.hasIdempotencyKey:
            return .final(.finalStatus, Rules(5, 7))
        case 500..<600 where !finalServerErrors.contains(status):
            return .transient(.transientStatus, Rules(7))
        default:
            return .final(.finalStatus, Rules(7))
        }
    }

    private static func judge(_ code: HTTPError.Code, _ facts: RetryFacts) -> Verdict {
        switch code.worth {
        case .transient:
            return .transient(.transientFailure, Rules(8))
        case .transientOnce:
            return facts.attempt.tries <= 1
                ? .transient(.transientFailure, Rules(8)) : .final(.finalFailure, Rules(8))
        case .final:
            return code == .cancelled ? .final(.cancelled, Rules(9)) : .final(.finalFailure, Rules(8))
        }
    }
}
