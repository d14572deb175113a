// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

/// Keeps the row of a claim true about whether its request is under way.
///
/// The end of a process counts against the requests that it had under way, since one of them may be what ends it, and
/// not against those that waited for an attempt or for a slot. A claim counts its request as under way until it waits.
///
/// A wait is written only after a killed worker (`claims` above 1): the first count alone ends nothing, and a claim
/// that has a result sets it back. The begin of a request that is sent once is written before its first byte, and
/// taken back when the server has certainly refused it.
final class SendMark: Sendable {
    /// Why a request was not sent.
    enum Refusal: Sendable {
        /// It is another worker's, or may be by now.
        case lost
        /// Its store failed.
        case failed(QueueError)
    }

    private struct State {
        /// Whether the row counts this claim.
        var isCounted = true
        /// Whether the row of a request that is sent once says that it was begun.
        var isBegun = false
        /// The last write that a wait has caused.
        var rest: Task<Void, Never>?
        var refusal: Refusal?
    }

    private let claim: Claim
    private let store: StoreThread
    private let state = Locked(State())

    /// Starts from the row as the claim has written it: counted, and not begun.
    init(_ claim: Claim, in store: StoreThread) {
        (self.claim, self.store) = (claim, store)
    }

    /// Why the request was not sent; nil: it was.
    var refusal: Refusal? { state.withLock { $0.refusal } }

    private var isSentOnce: Bool { claim.request.safety == .once }

    /// Notes that the request waits.
    ///
    /// - Parameter refused: the request of an attempt that has ended, and that another one follows. A method that is
    ///   not the claim's is that of a redirect: the claim's own request was processed.
    func rest(_ refused: HTTPRequest?) {
        let isUnsent = isSentOnce && refused?.method == claim.request.method
        state.withLock { state in
            guard state.isCounted && claim.claims > 1 || state.isBegun && isUnsent else { return }
            state.isCounted = false
            if isUnsent { state.isBegun = false }
            // Nothing depends on it: what it does not write counts as under way.
            state.rest = Task { [claim, store] in
                try? await store.call { store throws(QueueError) in try store.rest(claim, isUnsent: isUnsent) }
            }
        }
    }

    /// Returns whether the request may be sent now, after what its row must say was written.
    ///
    /// - Parameters:
    ///   - lease: how long the claim lasts.
    ///   - begin: writes that it has begun; false: another worker has it.
    func begin(_ lease: Lease, _ begin: () async throws(QueueError) -> Bool) async -> Bool {
        let (needsWrite, rest) = state.withLock { state in
            (!state.isCounted || isSentOnce && !state.isBegun, state.rest.take())
        }
        await rest?.value
        do throws(QueueError) {
            let isOwned = needsWrite ? try await begin() : true
            return state.withLock { state in
                guard isOwned, lease.isValid else {
                    state.refusal = .lost
                    return false
                }
                (state.isCounted, state.isBegun) = (true, true)
                return true
            }
        } catch {
            state.withLock { $0.refusal = .failed(error) }
            return false
        }
    }
}
