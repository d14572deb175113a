// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

/// Decides what follows from a claim, before anything is sent (rule R37).
enum ClaimDecision: Hashable, Sendable {
    /// It is sent; the call ends after this time, when the server may have forgotten its key.
    case send(within: Duration?)
    /// It ends without being sent.
    case end(ClaimResult.Outcome, because: String)

    /// Returns the decision for a claim.
    static func decide(_ claim: Claim, keyLifetime: Duration) -> ClaimDecision {
        switch (claim.request.safety, claim.age) {
        case (.once, .some):
            return .end(.unknown, because: "it may have been sent by a worker that ended before it wrote a result")
        case (.keyed, let age?) where age > keyLifetime:
            return .end(.unknown, because: "it may have been sent, and its key is older than \(keyLifetime)")
        case _ where claim.claims > RequestQueue.maxClaims:
            let workers = "\(RequestQueue.maxClaims) workers"
            return .end(.failed, because: "abandoned: \(workers) ended before they wrote a result")
        case (.keyed, let age): return .send(within: keyLifetime - (age ?? .zero))
        case (.once, nil), (.repeatable, _): return .send(within: nil)
        }
    }
}

/// Decides what a result of the engine means for a row (rule R37).
struct ResultDecision: Hashable, Sendable {
    var outcome: ClaimResult.Outcome
    var error: String?
    /// Whether the request was not processed for certain.
    var isUnsent = false

    /// Returns the decision.
    ///
    /// - Parameters:
    ///   - result: what the engine answered.
    ///   - claim: the claim that was sent.
    ///   - timeLeft: how long the key lasts; nil: it has none, or needs none.
    ///   - wait: what is left of the wait for its next attempt in which the call ended; nil: it did not end in one.
    ///   - fileError: why the file of its body could not be sent; nil: it was.
    ///   - now: the present time.
    static func decide(
        _ result: HTTPResult,
        _ claim: Claim,
        timeLeft: Duration?,
        wait: Duration? = nil,
        fileError: QueueError? = nil,
        now: WallClock.Instant
    ) -> ResultDecision {
        var context = RetryContext(result.request, result, attempt: .first, remaining: nil, now: now)
        // A key that the session has added is another one after the next claim.
        context.hasIdempotencyKey = context.hasIdempotencyKey && claim.request.key != nil
        if let fileError, case .failure(let error) = result {
            // Nothing can be sent any more, and what became of the attempts before is not known.
            return ResultDecision(
                outcome: isUnsent(error, claim) ? .failed : .unknown,
                error: fileError.description
            )
        }
        let decision = decide(result, claim, context, timeLeft, wait)
        // The server has answered it with a redirect to what it led to, so what became of that says nothing of it.
        let wasProcessed = claim.request.safety == .once && result.request.method != claim.request.method
        guard wasProcessed, decision.outcome != .done else { return decision }
        return ResultDecision(outcome: .unknown, error: "it may have been processed: \(decision.error ?? "")")
    }

    private static func decide(
        _ result: HTTPResult,
        _ claim: Claim,
        _ context: RetryContext,
        _ timeLeft: Duration?,
        _ wait: Duration?
    ) -> ResultDecision {
        switch result {
        case .success(let response):
            let isDone = (200..<300).contains(response.status.rawValue) || response.status == .notModified
            if isDone { return ResultDecision(outcome: .done) }
            return ended(result, claim, context, "the answer was \(response.status)")
        case .failure(let error):
            if let date = error.retryAfterDate {
                let delay = max(.zero, context.now.duration(to: date))
                let last = error.response.map { "the answer was \($0.status)" } ?? error.lastFailure?.rawValue
                if let timeLeft, delay >= timeLeft {
                    return ResultDecision(
                        outcome: .unknown,
                        error: "its key ends before its next attempt; \(last ?? "")"
                    )
                }
                // These are answers to a request that has been executed, which name a time for what they lead to.
                if claim.request.safety == .once, let status = error.response?.status.rawValue,
                    [301, 302, 303].contains(status)
                {
                    return ResultDecision(outcome: .unknown, error: "it may have been processed; \(last ?? "")")
                }
                // A retry of a request that is sent once follows a certain refusal only.
                return ResultDecision(outcome: .later(delay), error: last, isUnsent: claim.request.safety == .once)
            }
            if let wait, error.isCancellation {
                // As if it had been too long for memory: it is not cut short, and nothing was under way in it.
                let text = error.message ?? error.code.rawValue
                return ResultDecision(outcome: .later(wait), error: text, isUnsent: claim.request.safety == .once)
            }
            return ended(result, claim, context, error.message ?? error.code.rawValue)
        }
    }

    private static func ended(
        _ result: HTTPResult,
        _ claim: Claim,
        _ context: RetryContext,
        _ text: String
    ) -> ResultDecision {
        if case .failure(let error) = result, error.isCancellation {
            // The worker ends, or the session was reset: the request waits for another one.
            let isUnsent = isUnsent(error, claim)
            guard claim.request.safety == .once, !isUnsent else {
                return ResultDecision(outcome: .later(.zero), error: text, isUnsent: isUnsent)
            }
            return ResultDecision(outcome: .unknown, error: "cancelled after it may have been sent: \(text)")
        }
        let reason = RetryPolicy.recommended.decide(in: context).reason
        let mustNotRepeat = [.notReplayable, .replayForbidden, .bodyNotReplayable].contains(reason)
        if mustNotRepeat && context.bytesSent != 0 || claim.request.safety == .once && mayBeProcessed(result, context) {
            return ResultDecision(outcome: .unknown, error: "it may have been processed: \(text)")
        }
        if result.attempts.last?.reason == .deadlineExceeded, claim.request.safety == .keyed {
            return ResultDecision(outcome: .unknown, error: "its key ends before its next attempt: \(text)")
        }
        return ResultDecision(outcome: .failed, error: text)
    }

    /// Whether a request that is repeatable has not left this process, and one that is sent once was not processed.
    ///
    /// The error counts the bytes of the last attempt alone. What is sent once has another attempt only where those
    /// before were refused for certain.
    private static func isUnsent(_ error: HTTPError, _ claim: Claim) -> Bool {
        guard error.bytesSent == 0, claim.age == nil else { return false }
        return claim.request.safety == .once || error.attempts.allSatisfy { $0.bytesSent == 0 }
    }

    /// Whether the server may have processed a request that failed, whatever the code of the error: that of an answer
    /// which cannot be read, or of an interceptor of the caller's, says nothing about it.
    ///
    /// An answer which the caller alone has refused, such as one that is not valid, is one; of the others those of
    /// status 500 and more are, unless they refuse the request.
    private static func mayBeProcessed(_ result: HTTPResult, _ context: RetryContext) -> Bool {
        guard case .failure(let error) = result, case .unsafe = ReplaySafety.decide(context) else { return false }
        guard error.attempts.last?.error == nil, let response = error.response else { return true }
        guard response.status.rawValue >= 500 else { return false }
        let answer = RetryContext(error.request, .success(response), attempt: .first, remaining: nil, now: context.now)
        return if case .unsafe = ReplaySafety.decide(answer) { true } else { false }
    }
}
