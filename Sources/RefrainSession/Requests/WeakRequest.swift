// SPDX-License-Identifier: Apache-2.0
/// A request that is not kept alive.
final class WeakRequest<Kind: Request>: @unchecked Sendable {
    // @unchecked Sendable: set once, before others see it; reading a weak reference is safe from any thread.

    /// The request, or nil after it was deallocated.
    private(set) weak var request: Kind?

    init(_ request: Kind) { self.request = request }
}
