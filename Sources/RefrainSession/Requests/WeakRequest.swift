internal import RefrainCore
internal import RefrainHTTP

/// A request that is not kept alive; on whose behalf an exchange was made does not tell it from others.
final class WeakRequest<Kind: Request>: NotCompared {
    private struct Reference { weak var request: Kind? }

    private let reference: Locked<Reference>

    init(_ request: Kind) { reference = Locked(Reference(request: request)) }

    /// The request, for as long as somebody keeps it.
    var request: Kind? { reference.withLock { $0.request } }
}
