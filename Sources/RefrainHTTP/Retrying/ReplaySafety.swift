/// What the caller says about sending a request again (rule R2 d).
public enum ReplayPermission: String, Hashable, Sendable, Codable, CaseIterable {
    /// The rules decide.
    case automatic
    /// The request may be sent again, whatever its method.
    case allowed
    /// The request must be sent once, whatever its method.
    case forbidden
}

/// Whether a request may be sent again (rules R1, R2, R4 and R5): a pure function of the facts.
///
/// The question is what a second copy could do: a request that is idempotent, or that was surely not processed,
/// may be repeated; any other must not.
public enum ReplaySafety {
    /// The answer, with its reason.
    public enum Verdict: Hashable, Sendable {
        /// A second copy does no harm, by these rules.
        case safe(Rules)
        /// A second copy could do harm, or cannot be made.
        case unsafe(RetryReason, Rules)
    }

    /// Judges whether the request of these facts may be sent again.
    ///
    /// - Parameters:
    ///   - facts: the request and what came of it.
    ///   - repeatable: methods that the caller declares to be idempotent, besides those of the registry.
    public static func judge(_ facts: RetryFacts, repeatable: Set<HTTPMethod> = []) -> Verdict {
        if facts.replay == .forbidden { return .unsafe(.replayForbidden, Rules(2)) }
        if facts.body == .onceAndRead { return .unsafe(.bodyNotReplayable, Rules(4)) }
        if facts.replay == .allowed { return .safe(Rules(2)) }
        if facts.method.isIdempotent || repeatable.contains(facts.method) { return .safe(Rules(1)) }
        if facts.hasIdempotencyKey { return .safe(Rules(2, 5)) }
        return wasNotProcessed(facts) ? .safe(Rules(2)) : .unsafe(.notReplayable, Rules(2))
    }

    /// Whether the request of a line of the record was surely not processed, as far as the line tells.
    static func wasNotProcessed(_ line: AttemptRecord) -> Bool {
        if let status = line.status { return status.saysThatNothingWasProcessed }
        guard let error = line.error else { return false }
        return error == .requestNotProcessed || (line.bytesSent.map { $0 == 0 } ?? error.precedesSending)
    }

    private static func wasNotProcessed(_ facts: RetryFacts) -> Bool {
        guard !facts.followsProcessed else { return false }
        switch facts.outcome {
        case .failure(.requestNotProcessed):
            return true
        case .failure(let code):
            // The transport's evidence goes before what the kind of failure suggests.
            return facts.bytesSent.map { $0 == 0 } ?? code.precedesSending
        case .status(.contentTooLarge), .status(.tooManyRequests):
            return ServerDelay.retryAfter(in: facts) != nil
        case .status(let status):
            return status.saysThatNothingWasProcessed
        }
    }
}

extension HTTPStatus {
    /// Whether the server says by this status alone that it has not processed the request (rule R2 b).
    fileprivate var saysThatNothingWasProcessed: Bool {
        self == .requestTimeout || self == .misdirectedRequest || self == .tooEarly || self == .unauthorized
    }
}

private enum ReplayOption: HTTPRequestOption {
    static let defaultValue = ReplayPermission.automatic
}

extension HTTPRequest {
    /// What the caller says about sending this request again.
    public var replay: ReplayPermission {
        get { self[option: ReplayOption.self] }
        set { self[option: ReplayOption.self] = newValue }
    }
}
