/// The rest of the pipeline, for a stage that needs a loader after it.
struct Remainder: IdentifiableLoader {
    let pipeline: RequestPipeline
    let rest: @Sendable (HTTPRequest) async -> HTTPResult

    func load(_ request: HTTPRequest) async -> HTTPResult { await rest(request) }

    var keepsTimeouts: Bool { pipeline.transport.keepsTimeouts }

    func trace(_ identity: inout ChainIdentity) {
        if let throttle = pipeline.throttle { identity.trace(throttle) }
        identity.trace(pipeline.transport)
    }
}

extension HTTPRequest {
    // Not inlined, all of these: the frames of all requests in flight would have room for them.

    /// Whether it has a retry strategy of its own.
    @inline(never)
    var hasStrategy: Bool { retryStrategy != nil }

    /// This request without a retry strategy of its own.
    @inline(never)
    var withoutStrategy: HTTPRequest {
        guard hasStrategy else { return self }
        var copy = self
        copy.retryStrategy = nil
        return copy
    }

    /// This request as one that no call has sent.
    @inline(never)
    var withoutDeadline: HTTPRequest {
        guard deadline != nil else { return self }
        var copy = self
        copy.deadline = nil
        return copy
    }
}
