// SPDX-License-Identifier: Apache-2.0
extension HTTPRequest {
    /// Whether the caller allows a request to be sent again (rule R2 d).
    public enum Replay: String, Hashable, Sendable, Codable, CaseIterable {
        /// The rules decide.
        case automatic
        /// The request may be sent again, whatever its method.
        case allowed
        /// The request must be sent once, whatever its method.
        case forbidden
    }
}

/// Whether a request may be sent again (rules R1, R2, R4 and R5).
///
/// An idempotent request, or one that was provably not processed, may be sent again; any other must not.
package enum ReplaySafety: Hashable, Sendable {
    /// The request may be sent again, by these rules.
    case safe(Rules)
    /// The request must not be sent again, or its body cannot be.
    case unsafe(RetryReason, Rules)

    /// Returns whether the request of this context may be sent again.
    ///
    /// - Parameters:
    ///   - context: the request and its outcome.
    ///   - repeatable: methods that the caller declares to be idempotent, besides those of the registry.
    ///   - fields: how the server's rate-limit fields are read.
    package static func decide(
        _ context: RetryContext,
        repeatable: Set<HTTPMethod> = [],
        fields: RateLimitFields = RateLimitFields()
    ) -> ReplaySafety {
        if context.replay == .forbidden { return .unsafe(.replayForbidden, [.replaySafety]) }
        if context.body == .onceAndRead { return .unsafe(.bodyNotReplayable, [.bodyReplay]) }
        if context.replay == .allowed { return .safe([.replaySafety]) }
        if context.method.isIdempotent || repeatable.contains(context.method) { return .safe([.idempotentMethods]) }
        if context.hasIdempotencyKey { return .safe([.replaySafety, .idempotencyKey]) }
        return wasNotProcessed(context, fields) ? .safe([.replaySafety]) : .unsafe(.notReplayable, [.replaySafety])
    }

    /// Whether a line of the record proves that its request was not processed.
    static func wasNotProcessed(_ line: AttemptRecord) -> Bool {
        if let status = line.status { return status.provesNotProcessed }
        guard let error = line.error else { return false }
        return error == .requestNotProcessed || (line.bytesSent.map { $0 == 0 } ?? error.isKnownUnsent)
    }

    private static func wasNotProcessed(_ context: RetryContext, _ fields: RateLimitFields) -> Bool {
        guard !context.followsProcessed else { return false }
        if let advice = context.details.advice, advice.isRefusal || advice.allowsRetry == true { return true }
        switch context.outcome {
        case .failure(.requestNotProcessed):
            return true
        case .failure(let code):
            // The transport's count of bytes takes precedence over the kind of failure.
            return context.bytesSent.map { $0 == 0 } ?? code.isKnownUnsent
        case .status(.contentTooLarge), .status(.serviceUnavailable):
            // A server that names the time to come back at has refused the request; one that is merely unavailable may
            // have failed halfway.
            return ServerRetryDelay.retryAfter(in: context) != nil
        case .status(.forbidden):
            return ServerRetryDelay.isRateLimited(context, fields: fields)
        case .status(let status):
            return status.provesNotProcessed
        }
    }
}

extension HTTPStatus {
    /// Whether this status alone proves that the server has not processed the request (rule R2 b and e).
    fileprivate var provesNotProcessed: Bool {
        [.requestTimeout, .misdirectedRequest, .tooEarly, .unauthorized, .tooManyRequests].contains(self)
    }
}

private enum ReplayOption: HTTPRequestOption {
    static let defaultValue = HTTPRequest.Replay.automatic
}

extension HTTPRequest {
    /// Whether the caller allows this request to be sent again.
    public var replay: Replay {
        get { self[option: ReplayOption.self] }
        set { self[option: ReplayOption.self] = newValue }
    }
}
