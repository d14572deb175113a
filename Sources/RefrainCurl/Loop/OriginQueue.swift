// SPDX-License-Identifier: Apache-2.0
/// The requests to one origin: the number of active ones, and those that wait, in the order of their submission.
///
/// Requests wait here and not in libcurl, which becomes slower with the number of requests that wait in it.
final class OriginQueue {
    /// libcurl's default maximum of streams per connection.
    static let streamsPerConnection = 100

    var active = 0
    /// The number of active requests that were sent.
    var sent = 0
    /// Whether the last response came over HTTP/2; nil if unknown.
    var isMultiplexed: Bool?
    /// Whether the origin requires HTTP/1.1 (RFC 9113 §7: HTTP_1_1_REQUIRED).
    var wantsHTTP1 = false
    /// Whether the last connect failed; the name is then resolved again before the next one (rule R33).
    var addressMayBeStale = false
    /// When a request was submitted of which the peer's TCP acknowledged nothing; ``MonotonicTime/never`` once older
    /// connections have expired.
    private var silentSince = MonotonicTime.never
    /// Whether the driver's list of queues with requests to start contains it.
    var isListed = false
    /// Responses of which a short rest is read so that their connections can be reused; newest last.
    private var draining: [Transfer] = []
    /// Whether the last request succeeded, so that an open connection is likely.
    var hasAnswered = false
    /// The number of short responses in a row, up to the last one.
    private var shortAnswers = 0
    private let connections: Int
    private var waiting: [Transfer?] = []
    private var first = 0
    private var abandoned = 0

    init(connections: Int) { self.connections = connections }

    /// Whether the next response is likely to be short.
    var expectsShortAnswers: Bool { shortAnswers >= 16 }

    /// Records the size of a response's body in bytes.
    func noteAnswer(size: Int64) {
        // With its head, a short response fits into a small buffer.
        shortAnswers = size > Int64(EasySettings.smallBufferSize / 2) ? 0 : min(shortAnswers + 1, 16)
    }

    /// Records when a request was submitted whose connection was dead.
    func noteSilence(since start: MonotonicTime) { silentSince = start }

    /// Returns for how many seconds a connection may have been idle to be reused: not since before such a request, and
    /// at most `limit`.
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

    /// Whether requests wait; some of them may have ended.
    var hasWaiting: Bool { first < waiting.count }

    func append(_ transfer: Transfer) { waiting.append(transfer) }

    /// Adds a response that is read only so that its connection can be reused.
    func appendDraining(_ transfer: Transfer) { draining.append(transfer) }

    /// Removes such a response that has ended.
    func removeDraining(_ transfer: Transfer) { draining.removeAll { $0 === transfer } }

    /// Removes and returns the newest such response that has not ended.
    func nextDraining() -> Transfer? {
        while let transfer = draining.popLast() {
            if !transfer.isFinished { return transfer }
        }
        return nil
    }

    /// Removes and returns the next transfer that has not ended.
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

    /// Records that a waiting transfer has ended; the queue is compacted when many have.
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

/// A handle whose transfer has ended, and which is still in libcurl's multi handle.
struct HandleRemoval {
    let handle: EasyHandle
    let host: OriginQueue
    /// Whether the request was sent.
    let wasSent: Bool
    /// Whether another transfer may use the handle.
    let isReusable: Bool
}
