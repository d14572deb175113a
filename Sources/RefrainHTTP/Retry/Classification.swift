/// Whether another attempt may have another outcome (rules R7 and R8).
package enum Classification: Hashable, Sendable {
    /// The exchange succeeded: a status below 400, or one that the caller accepts.
    case success
    /// Another attempt may have another outcome.
    case transient(RetryReason, Rules)
    /// Another attempt would have the same outcome.
    case final(RetryReason, Rules)

    /// Classifies an outcome by rules R7, R8 and R9.
    package static func recommended(_ context: RetryContext) -> Classification {
        switch context.outcome {
        case .status(let status): classify(status, context)
        case .failure(let code): classify(code, context)
        }
    }

    /// Whether the next attempt needs another connection: the server has tied its refusal to this one.
    package static func needsFreshConnection(_ context: RetryContext) -> Bool {
        context.outcome == .status(.requestTimeout) || context.outcome == .status(.misdirectedRequest)
    }

    /// Statuses over 499 by which the server refuses for good (rule R7).
    static let finalServerErrors: Set<HTTPStatus> = [501, 505, 506, 508, 510, 511]

    private static func classify(_ status: HTTPStatus, _ context: RetryContext) -> Classification {
        switch status.rawValue {
        case ..<400:
            return .success
        case 403, 413:
            let hasTime = context.retryAfterPolicy.isHonoured && ServerRetryDelay.retryAfter(in: context) != nil
            return hasTime
                ? .transient(.transientStatus, [.transientStatus, .retryAfter])
                : .final(.finalStatus, [.transientStatus])
        case 409:
            return context.hasIdempotencyKey
                ? .transient(.transientStatus, [.idempotencyKey, .transientStatus])
                : .final(.finalStatus, [.transientStatus])
        case 422 where context.hasIdempotencyKey:
            return .final(.finalStatus, [.idempotencyKey, .transientStatus])
        default:
            return isTransient(status)
                ? .transient(.transientStatus, [.transientStatus]) : .final(.finalStatus, [.transientStatus])
        }
    }

    /// Whether a status alone says that another attempt may succeed.
    package static func isTransient(_ status: HTTPStatus, hasRetryAfter: Bool = false) -> Bool {
        switch status.rawValue {
        case 408, 421, 425, 429: true
        case 403, 413: hasRetryAfter
        case 500..<600: !finalServerErrors.contains(status)
        default: false
        }
    }

    private static func classify(_ code: HTTPError.Code, _ context: RetryContext) -> Classification {
        switch code.retryability {
        case .transient:
            return .transient(.transientFailure, [.transientFailure])
        case .transientOnce:
            return context.attempt.countedAttempts <= 1
                ? .transient(.transientFailure, [.transientFailure]) : .final(.finalFailure, [.transientFailure])
        case .final:
            return code == .cancelled ? .final(.cancelled, [.cancellation]) : .final(.finalFailure, [.transientFailure])
        }
    }
}
