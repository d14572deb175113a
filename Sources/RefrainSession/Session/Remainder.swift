// SPDX-License-Identifier: Apache-2.0
/// The rest of the pipeline, for a stage that needs a loader after it.
struct Remainder: IdentifiableLoader {
    let pipeline: RequestPipeline
    let rest: @Sendable (HTTPRequest) async -> HTTPResult

    func load(_ request: HTTPRequest) async -> HTTPResult { await rest(request) }

    var keepsTimeouts: Bool { pipeline.transport.keepsTimeouts }

    func trace(_ identity: inout ChainIdentity) {
        if let pacer = pipeline.pacer { identity.trace(pacer) }
        if let throttle = pipeline.throttle { identity.trace(throttle) }
        identity.trace(pipeline.transport)
    }
}
