/// The sockets opened to send a request, in order.
struct OpenedSockets {
    /// A socket, its destination, and when it was opened.
    struct Entry {
        let socket: Int32
        let address: AddressKey
        let begin: MonotonicTime
    }

    private(set) var entries: [Entry] = []
    /// When to call libcurl again so that it tries the next address; ``MonotonicTime/never`` if that is not needed.
    private(set) var nextCheck = MonotonicTime.never
    private var delay = Self.firstDelay

    /// How long after libcurl's own limit it is called again.
    ///
    /// libcurl limits an address to half of the remaining time if there are more addresses. After that it (7.88) closes
    /// the socket, and opens the next one only when it is called again, without a timer of its own. Without this call
    /// the other addresses would not be tried.
    private static let firstDelay: Int64 = 5_000_000
    private static let longestDelay: Int64 = 500_000_000

    /// How long an address must have been silent to count as failed after a timeout; the first one always does.
    static let fairTime: Int64 = 250_000_000

    var isEmpty: Bool { entries.isEmpty }

    /// Adds a socket; `timeLeft` is the remaining time to connect.
    mutating func append(_ socket: Int32, to address: AddressKey, now: MonotonicTime, timeLeft: Int64) {
        entries.append(Entry(socket: socket, address: address, begin: now))
        delay = Self.firstDelay
        nextCheck = timeLeft == .never ? .never : now.after(max(0, timeLeft / 2)).after(Self.firstDelay)
    }

    /// Returns whether to call libcurl now; the next call follows after five times the delay, up to a limit.
    mutating func isDue(now: MonotonicTime) -> Bool {
        guard nextCheck <= now else { return false }
        delay *= 5
        nextCheck = delay > Self.longestDelay ? .never : now.after(delay)
        return true
    }

    /// Returns the addresses that have failed if no connection was made.
    ///
    /// After a timeout these do not include addresses that were tried only shortly before it.
    func failed(timedOut: Bool, now: MonotonicTime) -> [AddressKey] {
        entries.enumerated()
            .filter { index, entry in index == 0 || !timedOut || now &- entry.begin >= Self.fairTime }
            .map(\.element.address)
    }

    /// Removes all sockets.
    mutating func removeAll() { self = OpenedSockets() }
}
