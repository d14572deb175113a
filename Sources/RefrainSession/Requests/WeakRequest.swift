internal import RefrainCore

/// A session's request that is not kept alive.
///
/// What a request has sent and received it also keeps, for those who ask. So nothing of that may keep the request:
/// neither would ever go.
final class WeakRequest<Kind: Request>: Sendable {
    private struct Reference { weak var request: Kind? }

    private let reference: Locked<Reference>

    init(_ request: Kind) { reference = Locked(Reference(request: request)) }

    var request: Kind? { reference.withLock { $0.request } }
}
