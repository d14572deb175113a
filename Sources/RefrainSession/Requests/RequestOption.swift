private enum SessionRequestOption: HTTPRequestOption {
    static let defaultValue: WeakRequest<Request>? = nil
}

private enum SessionStrategyOption: HTTPRequestOption {
    static let defaultValue: (any HTTPRetryStrategy)? = nil
}

extension HTTPRequest {
    /// The session's request that this one is a try of.
    var sessionRequest: Request? { self[option: SessionRequestOption.self]?.request }

    /// The strategy that was set on the request itself; it goes before the session's policies.
    var ownStrategy: (any HTTPRetryStrategy)? { self[option: SessionStrategyOption.self] }

    /// This request, on its way through the chain on behalf of `owner`.
    func carrying(_ owner: Request) -> HTTPRequest {
        var copy = self
        // Weak: the request keeps what it has sent, and whoever logs requests must not keep it. It is kept by its own
        // task while it is under way.
        let reference = WeakRequest(owner)
        copy[option: SessionRequestOption.self] = reference
        // The session's own strategy asks the interceptors, and then this one.
        copy[option: SessionStrategyOption.self] = retryStrategy
        copy.retryStrategy = nil
        copy.attemptRecorder = AttemptRecorder { reference.request?.note($0) }
        return copy
    }

    /// This request as `original` must have it to stay within the chain, whatever an adapter made of it.
    func keepingPlace(of original: HTTPRequest) -> HTTPRequest {
        var copy = self
        if copy.sessionRequest !== original.sessionRequest {
            // The adapter made a request of its own: what the chain reads is carried over.
            copy[option: SessionRequestOption.self] = original[option: SessionRequestOption.self]
            copy.attemptObserver = original.attemptObserver
            copy.attemptRecorder = original.attemptRecorder
            copy[option: TargetOption.self] = original[option: TargetOption.self]
            copy.download = original.download
            copy.streamsResponse = original.streamsResponse
            copy.timeouts = original.timeouts
            copy.deadline = original.deadline
            copy.needsFreshConnection = original.needsFreshConnection
        }
        for name in original.headersDroppedByRedirect { copy.headers.remove(name) }
        return copy
    }
}
