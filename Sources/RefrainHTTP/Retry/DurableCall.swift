// SPDX-License-Identifier: Apache-2.0
/// What a durable queue tells the engine about a call that continues an earlier one, and what it is told by it.
///
/// The queue asks the engine once for each claim: a wait that is too long for memory ends the call with
/// ``HTTPError/Code/retryAfterTooLong`` and its date, and the queue begins another call then.
package struct DurableCall: Sendable {
    /// The attempts that earlier calls made; the schedule goes on after them.
    package var earlierAttempts: Int
    /// The longest wait in memory; a longer one ends the call with its date.
    package var longestWait: Duration
    /// Whether the caller still owns the request; nothing is sent when it does not.
    package var isOwned: @Sendable () -> Bool
    /// Called when the request begins to wait, with the request where an attempt of it has ended and another one
    /// follows; nil: no ``DurableGate`` follows that would tell of its end.
    package var willWait: (@Sendable (HTTPRequest?) -> Void)?
    /// Called before the request is sent; false: it is not.
    package var maySend: @Sendable () async -> Bool

    /// Describes a call.
    package init(
        earlierAttempts: Int,
        longestWait: Duration,
        isOwned: @escaping @Sendable () -> Bool,
        willWait: @escaping @Sendable (HTTPRequest?) -> Void,
        maySend: @escaping @Sendable () async -> Bool
    ) {
        self.earlierAttempts = max(0, earlierAttempts)
        (self.longestWait, self.isOwned, self.willWait, self.maySend) = (longestWait, isOwned, willWait, maySend)
    }

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
    /// Sends a request, if the queue that it is from, or none, allows it.
    package static func pass(_ request: HTTPRequest, send: (HTTPRequest) async -> HTTPResult) async -> HTTPResult {
        guard let durable = request.durableCall else { return await send(request) }
        guard await durable.maySend() else {
            let message = "it is not sent, since it is not this worker's any more, or its store cannot be written"
            return .failure(HTTPError(.cancelled, request: request, message: message, bytesSent: 0))
        }
        var request = request
        // What waits further in is not told of: nothing would tell of its end.
        request.durableCall?.willWait = nil
        return await send(request)
    }
}

extension HTTPLoader {
    /// The loader with the gate of durable queues before its transport; before the whole of it, where it is no chain.
    package var withDurableGate: any HTTPLoader {
        guard let chain = self as? ChainedLoader else { return DurableGateStage() --> self }
        return chain.replacingNext(chain.next.withDurableGate)
    }
}

private struct DurableGateStage: HTTPMiddleware {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await DurableGate.pass(request) { await next.load($0) }
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
