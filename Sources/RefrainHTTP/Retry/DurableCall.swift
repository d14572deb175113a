// SPDX-License-Identifier: Apache-2.0
/// What a durable queue tells the engine about a call that continues an earlier one, and what it is told by it.
///
/// The queue asks the engine once for each claim: a wait that is too long for memory ends the call with
/// ``HTTPError/Code/retryAfterTooLong`` and its date, and the queue begins another call then.
package final class DurableCall: Sendable {
    /// The attempts that earlier calls made; the schedule goes on after them.
    let earlierAttempts: Int
    /// The longest wait in memory; a longer one ends the call with its date.
    let longestWait: Duration
    /// Whether the caller still owns the request; nothing is sent when it does not.
    let isOwned: @Sendable () -> Bool
    /// Called when the request begins to wait; nil behind the ``DurableGate``.
    ///
    /// It receives the request after an attempt that another one follows, and nil before an attempt.
    let willWait: (@Sendable (HTTPRequest?) -> Void)?
    /// Called before the request is sent; returns why it is not, or nil.
    package let refusal: @Sendable (HTTPRequest) async -> HTTPError?
    /// The longest wait for a pacer.
    let longestPause: Duration

    /// Describes a call.
    package init(
        earlierAttempts: Int,
        longestWait: Duration,
        isOwned: @escaping @Sendable () -> Bool,
        willWait: (@Sendable (HTTPRequest?) -> Void)?,
        refusal: @escaping @Sendable (HTTPRequest) async -> HTTPError?
    ) {
        self.earlierAttempts = max(0, earlierAttempts)
        (self.longestWait, self.isOwned, self.willWait, self.refusal) = (longestWait, isOwned, willWait, refusal)
        longestPause = longestWait
    }

    private init(_ call: DurableCall, willWait: (@Sendable (HTTPRequest?) -> Void)?, longestPause: Duration) {
        (earlierAttempts, longestWait, isOwned) = (call.earlierAttempts, call.longestWait, call.isOwned)
        (self.willWait, refusal, self.longestPause) = (willWait, call.refusal, longestPause)
    }

    /// The same call without ``willWait``, for stages behind the gate: it could not tell of the end of their waits.
    fileprivate var behindGate: DurableCall { DurableCall(self, willWait: nil, longestPause: longestPause) }

    /// The same call after the queue's request was executed, and answered with a redirect to what this one gets: what
    /// has not been sent waits for its turn, since the call must not begin again.
    var answered: DurableCall { DurableCall(self, willWait: willWait, longestPause: .longestDelay) }

    /// Returns an attempt of this call, counted from the first one of the earlier calls.
    func continuing(_ attempt: Attempt) -> Attempt {
        Attempt(
            number: earlierAttempts.addingSaturated(attempt.number),
            countedAttempts: earlierAttempts.addingSaturated(attempt.countedAttempts),
            previousDelay: attempt.previousDelay,
            remaining: attempt.remaining
        )
    }

    /// Returns a decision to retry as one that ends the call, with the date at which another call may follow.
    func later(_ decision: RetryDecision, after delay: Duration, now: WallClock.Instant) -> RetryDecision {
        var later = decision
        later.action = .retryAfterTooLong(until: now.advanced(by: delay))
        return later
    }
}

/// Asks a durable queue before each send of its requests; next to the transport, behind every stage that waits.
package enum DurableGate {
    /// Marks a request that is sent now, so that its queue is not told of waits inside the transport.
    package static func pass(_ request: inout HTTPRequest) {
        if let durable = request.durableCall { request.durableCall = durable.behindGate }
    }
}

extension HTTPLoader {
    /// This loader with the gate of durable queues before its transport, or before the loader if it is not a chain.
    package var withDurableGate: any HTTPLoader {
        guard let chain = self as? ChainedLoader else { return DurableGateStage() --> self }
        return chain.replacingNext(chain.next.withDurableGate)
    }
}

private struct DurableGateStage: HTTPMiddleware {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        if let refusal = await request.durableCall?.refusal(request) { return .failure(refusal) }
        var request = request
        DurableGate.pass(&request)
        return await next.load(request)
    }
}

private enum DurableCallOption: HTTPRequestOption {
    static let defaultValue: DurableCall? = nil
}

extension HTTPRequest {
    /// Set on requests that a durable queue sends.
    package var durableCall: DurableCall? {
        get { self[option: DurableCallOption.self] }
        set { self[option: DurableCallOption.self] = newValue }
    }
}
