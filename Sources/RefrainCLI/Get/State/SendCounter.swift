// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// Counts the sends of each request of a run, so that the state has those of a run that is killed.
///
/// Place it inside of the stage that makes the attempts. The send of a request that must not be done twice is in the
/// state before the request leaves. In a run that follows a killed one every send is, since one of the requests may be
/// what ends the process. Those of other requests wait until rows are written anyway; most of these have ended by then,
/// and their own rows have the count.
final class SendCounter: HTTPMiddleware {
    /// So many sends of a request that are not in the state yet.
    struct Sends: Sendable {
        let entry: TransferState.Entry
        let count: Int
        /// Whether the state has none of this run's sends before these.
        let areFirst: Bool
    }

    /// The sends of a request.
    final class Count: Sendable {
        fileprivate let entry: TransferState.Entry
        fileprivate let writesAtOnce: Bool
        private let counts = Locked((sent: 0, written: 0))

        fileprivate init(_ entry: TransferState.Entry, writesAtOnce: Bool) {
            self.entry = entry
            self.writesAtOnce = writesAtOnce
        }

        /// Notes that the state has counted the first send, which is yet to come.
        func noteFirst() { counts.withLock { $0.written = 1 } }

        fileprivate func send() { counts.withLock { $0.sent += 1 } }

        fileprivate var written: Int { counts.withLock { $0.written } }

        /// Takes the sends to be written; nil: there are none.
        fileprivate func take() -> Sends? {
            let (count, written) = counts.withLock { counts in
                defer { counts.written = max(counts.sent, counts.written) }
                return (counts.sent - counts.written, counts.written)
            }
            return count > 0 ? Sends(entry: entry, count: count, areFirst: written == 0) : nil
        }
    }

    private let state: any RunState
    private let running = Locked<[ObjectIdentifier: Count]>([:])

    init(_ state: any RunState) { self.state = state }

    /// Begins to count for a request.
    func begin(_ entry: TransferState.Entry, writesAtOnce: Bool) -> Count {
        let count = Count(entry, writesAtOnce: writesAtOnce || state.followsKill)
        running.withLock { $0[ObjectIdentifier(count)] = count }
        return count
    }

    /// Ends to count for a request; returns the number of its sends that were taken or written.
    func end(_ count: Count) -> Int {
        _ = running.withLock { $0.removeValue(forKey: ObjectIdentifier(count)) }
        return count.written
    }

    /// Takes the sends of all requests under way that are not in the state.
    func take() -> [Sends] { running.withLock { $0.values.compactMap { $0.take() } } }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard let count = request.sendCount else { return await next.load(request) }
        var maySend = state.maySend(count.entry)
        if !maySend { maySend = await state.regain(count.entry) }
        guard maySend else {
            let message = "it is not sent, since the claim of this run has ended: another one may have it"
            return .failure(HTTPError(.cannotWriteToFile, request: request, message: message, bytesSent: 0))
        }
        count.send()
        if count.writesAtOnce, let sends = count.take() {
            do throws(DatabaseError) {
                try await state.add([sends])
            } catch {
                let message = "it is not sent, since the state cannot be written: \(error)"
                return .failure(HTTPError(.cannotWriteToFile, request: request, message: message, bytesSent: 0))
            }
        }
        return await next.load(request)
    }
}

private enum SendCountOption: HTTPRequestOption {
    static let defaultValue: SendCounter.Count? = nil
}

extension HTTPRequest {
    /// Counts the sends of a request of a state; nil: it has none.
    var sendCount: SendCounter.Count? {
        get { self[option: SendCountOption.self] }
        set { self[option: SendCountOption.self] = newValue }
    }
}
