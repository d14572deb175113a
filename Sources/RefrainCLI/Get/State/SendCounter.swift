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
        let entry: ListEntry
        let count: Int
        /// What is added to the runs of which the state says that they had it under way: 1, 0 or -1.
        let claims: Int
    }

    /// The sends of a request.
    final class Count: Sendable {
        fileprivate let entry: ListEntry
        /// Whether each send is in the state before the request leaves.
        let writesAtOnce: Bool
        private let counts = Locked(Counts())

        private struct Counts {
            var sent = 0
            var written = 0
            /// Whether it is under way, and not waiting for its next attempt.
            var isUnderWay = false
            /// Whether the state says so.
            var isClaimed = false
        }

        fileprivate init(_ entry: ListEntry, writesAtOnce: Bool) {
            self.entry = entry
            self.writesAtOnce = writesAtOnce
        }

        /// Notes that the state has counted the first send, which is yet to come.
        func noteFirst() { counts.withLock { ($0.written, $0.isUnderWay, $0.isClaimed) = (1, true, true) } }

        /// Notes that an attempt has ended and another one follows: that attempt has not ended the process.
        func rest() { counts.withLock { $0.isUnderWay = false } }

        fileprivate func send() {
            counts.withLock { counts in
                counts.sent += 1
                counts.isUnderWay = true
            }
        }

        /// Whether the state says that it is under way, and it waits for its next attempt.
        fileprivate var hasRested: Bool { counts.withLock { $0.isClaimed && !$0.isUnderWay } }

        fileprivate var written: Int { counts.withLock { $0.written } }

        /// Takes what is to be written; nil: there is nothing.
        fileprivate func take() -> Sends? {
            let (count, claims) = counts.withLock { counts in
                defer {
                    counts.written = max(counts.sent, counts.written)
                    counts.isClaimed = counts.isUnderWay
                }
                let change = (counts.isUnderWay ? 1 : 0) - (counts.isClaimed ? 1 : 0)
                return (max(0, counts.sent - counts.written), change)
            }
            return count > 0 || claims != 0 ? Sends(entry: entry, count: count, claims: claims) : nil
        }
    }

    private let state: ListState
    private let running = Locked<[ObjectIdentifier: Count]>([:])

    init(_ state: ListState) { self.state = state }

    /// Begins to count for a request.
    func begin(_ entry: ListEntry, writesAtOnce: Bool) -> Count {
        let count = Count(entry, writesAtOnce: writesAtOnce || entry.isLeftBehind)
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

    /// Takes what became of the attempts before the waits of requests whose sends are written at once, too.
    func takeRests() -> [Sends] {
        running.withLock { $0.values.filter { $0.writesAtOnce && $0.hasRested } }.compactMap { $0.take() }
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard let count = request.sendCount else { return await next.load(request) }
        var maySend = state.maySend(count.entry)
        if !maySend { maySend = await state.regain(count.entry) }
        var message = "it is not sent, since the claim of this run has ended: another one may have it"
        if maySend { count.send() }
        if maySend, count.writesAtOnce, let sends = count.take() {
            do throws(DatabaseError) {
                maySend = try await state.add([sends])
            } catch {
                (maySend, message) = (false, "it is not sent, since the state cannot be written: \(error)")
            }
        }
        guard maySend else {
            return .failure(HTTPError(.cannotWriteToFile, request: request, message: message, bytesSent: 0))
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
