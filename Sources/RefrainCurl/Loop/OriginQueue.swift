/// The requests to one origin: how many are on their way, and who is next.
///
/// libcurl slows down with the number of requests that wait inside of it, so they wait here, first come, first served.
final class OriginQueue {
    /// libcurl's default maximum of streams per connection.
    static let streamsPerConnection = 100

    var active = 0
    /// How many of these were sent.
    var sent = 0
    /// What the origin spoke last, once that is known.
    var isMultiplexed: Bool?
    /// Whether the origin wants HTTP/1.1 (RFC 9113 §7: HTTP_1_1_REQUIRED).
    var wantsHTTP1 = false
    /// Whether the last connect failed: the name server is asked again before the next one (rule R33).
    var addressMayBeStale = false
    /// When a request was sent to which the peer's TCP has acknowledged nothing, as long as connections of before may
    /// be used.
    private var silentSince = MonotonicTime.never
    /// Whether it is on the list of those that have requests to start.
    var isListed = false
    /// Responses that are not read and whose connections may be reused; newest last.
    @exclusivity(unchecked) private var draining: [Transfer] = []
    /// Whether the origin has answered before, so that there is likely to be a connection to it.
    var hasAnswered = false
    /// How many answers in a row were short, the last one included.
    private var shortAnswers = 0
    private let connections: Int
    // No exclusivity checks: only the owner of the loop accesses these, and no access leads to another one.
    @exclusivity(unchecked) private var waiting: [Transfer?] = []
    @exclusivity(unchecked) private var first = 0
    private var abandoned = 0

    init(connections: Int) { self.connections = connections }

    /// Whether the next answer is likely to be short, too.
    var expectsShortAnswers: Bool { shortAnswers >= 16 }

    /// Notes how many bytes the body of an answer had.
    func noteAnswer(size: Int64) {
        // With its head, it is within a small buffer.
        shortAnswers = size > Int64(EasySettings.smallBufferSize / 2) ? 0 : min(shortAnswers + 1, 16)
    }

    /// Notes when a request was submitted whose connection turned out to lead nowhere.
    func noteSilence(since start: MonotonicTime) { silentSince = start }

    /// For how many seconds a connection may have been unused to be used again: not since before such a request, and
    /// not for longer than `limit`.
    func longestAge(now: MonotonicTime, limit: Int) -> Int {
        guard silentSince != .never else { return limit }
        let seconds = Int((now &- silentSince) / 1_000_000_000)
        let age = CurlVersion.measuresIdleExactly ? max(1, seconds) : seconds - 1
        if age >= limit { silentSince = .never }
        return min(max(0, age), limit)
    }

    var isUnused: Bool { active == 0 && waiting.isEmpty }

    var hasRoom: Bool {
        active
            < (isMultiplexed == true && !wantsHTTP1 ? Swift.max(connections, Self.streamsPerConnection) : connections)
    }

    /// Whether requests wait, some of which may have ended.
    var hasWaiting: Bool { first < waiting.count }

    func append(_ transfer: Transfer) { waiting.append(transfer) }

    /// Notes a response that is read only for the sake of its connection.
    func appendDraining(_ transfer: Transfer) { draining.append(transfer) }

    /// Forgets one that has ended, and what it held.
    func removeDraining(_ transfer: Transfer) { draining.removeAll { $0 === transfer } }

    /// A response that is still read for the sake of its connection, where there is one.
    func nextDraining() -> Transfer? {
        while let transfer = draining.popLast() {
            if !transfer.isFinished { return transfer }
        }
        return nil
    }

    /// The next transfer that still wants to be sent.
    func next() -> Transfer? {
        while first < waiting.count {
            defer { compactIfSparse() }
            let transfer = waiting[first]
            waiting[first] = nil
            first += 1
            if let transfer, !transfer.isFinished {
                transfer.isWaiting = false
                return transfer
            }
            abandoned -= 1
        }
        return nil
    }

    /// Records that a waiting transfer has finished; its slot is removed when there are many.
    func noteAbandoned() {
        abandoned += 1
        guard abandoned > 32, abandoned > (waiting.count - first) / 2 else { return }
        waiting = waiting[first...].filter { $0?.isFinished == false }
        first = 0
        abandoned = 0
    }

    /// The waiting transfers, in order.
    var all: [Transfer] { waiting[first...].compactMap { $0?.isFinished == false ? $0 : nil } }

    private func compactIfSparse() {
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: waiting.capacity < 256)
            first = 0
        } else if first > 64, first > waiting.count / 2 {
            waiting.removeSubrange(..<first)
            first = 0
        }
    }
}

/// A handle whose transfer has ended, and that libcurl still has.
struct HandleRemoval {
    let slot: EasyHandle
    let host: OriginQueue
    /// Whether the request was sent.
    let wasSent: Bool
    /// Whether another transfer may use the handle.
    let isReusable: Bool
}
