internal import RefrainCore

/// A request that is not kept alive.
final class WeakRequest<Kind: Request>: Sendable {
    private struct Reference { weak var request: Kind? }

    private let reference: Locked<Reference>

    init(_ request: Kind) { reference = Locked(Reference(request: request)) }

    /// The request, for as long as somebody keeps it.
    var request: Kind? { reference.withLock { $0.request } }
}
