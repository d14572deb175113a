internal import RefrainHTTP

/// Transfers that have ended, but whose callers do not know yet.
///
/// To wake a thread takes longer than to tell a caller: while libcurl has more to do, 16 are told together, and none
/// later than 0.2 ms after the ones before.
struct EndedTransfers {
    private var ended: [(Transfer, HTTPError?)] = []
    private var tellBy = MonotonicTime.never

    private static let atOnce = 16
    /// In nanoseconds.
    private static let longestHold: MonotonicTime = 200_000

    /// Whether more may be added before their callers are told.
    func mayGrow(now: MonotonicTime) -> Bool { ended.count < Self.atOnce && now < tellBy }

    mutating func append(_ transfer: Transfer, _ error: HTTPError?) { ended.append((transfer, error)) }

    /// Tells the callers one right after the other: the first one wakes a thread, which finds the others in its queue.
    mutating func tellCallers(now: MonotonicTime) {
        tellBy = now &+ Self.longestHold
        guard !ended.isEmpty else { return }
        for (transfer, error) in ended { transfer.complete(error) }
        ended.removeAll(keepingCapacity: ended.capacity < 1024)
    }
}
