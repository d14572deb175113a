internal import RefrainCore
internal import RefrainHTTP

private enum SessionStrategyOption: HTTPRequestOption {
    static let defaultValue: (any HTTPRetryStrategy)? = nil
}

extension HTTPRequest {
    /// The session's request that this one is a try of.
    var sessionRequest: Request? { owner?.caller as? Request }

    /// The strategy that was set on the request itself; it goes before the session's policies.
    var ownStrategy: (any HTTPRetryStrategy)? { self[option: SessionStrategyOption.self] }

    /// This request, on its way through the chain on behalf of `owner`.
    func carrying(_ owner: Request) -> HTTPRequest {
        var copy = self
        copy.owner = CallOwner(owner)
        if let strategy = retryStrategy {
            // The session's own strategy asks the interceptors, and then this one.
            copy[option: SessionStrategyOption.self] = strategy
            copy.retryStrategy = nil
        }
        return copy
    }

    /// This request as `original` must have it to stay within the chain, whatever an adapter made of it.
    func keepingPlace(of original: HTTPRequest) -> HTTPRequest {
        let dropped = original.headersDroppedByRedirect
        guard owner !== original.owner || !dropped.isEmpty else { return self }
        var copy = self
        if copy.owner !== original.owner {
            // The adapter made a request of its own: what the chain reads is carried over, whatever that one sets.
            copy.owner = original.owner
            copy.attemptObserver = original.attemptObserver
            copy[option: TargetOption.self] = original[option: TargetOption.self]
            copy.download = original.download
            copy.streamsResponse = original.streamsResponse
            copy.timeouts = original.timeouts
            copy.deadline = original.deadline
            copy.needsFreshConnection = original.needsFreshConnection
            copy.idempotencyKey = original.idempotencyKey
            copy.secretHeaders.formUnion(original.secretHeaders)
        }
        for name in dropped { copy.headers.remove(name) }
        return copy
    }

    /// This request with the idempotency key of `original`, by which that may be sent again (rules R2 and R5), where an
    /// adapter has put all header fields anew.
    func keepingKey(of original: HTTPRequest) -> HTTPRequest {
        let name = IdempotencyKey.fieldName
        guard let key = original.headers[name], !headers.contains(name) else { return self }
        var copy = self
        copy.headers[name] = key
        return copy
    }
}
