/// The sockets that were opened to send a request, in order.
struct OpenedSockets {
    /// A socket, where it leads, and since when.
    struct Entry {
        let socket: Int32
        let address: AddressKey
        let begin: MonotonicTime
    }

    private(set) var entries: [Entry] = []
    /// When libcurl is to work again, so that it goes on to the next address; never where it need not.
    private(set) var nextLook = MonotonicTime.never
    private var timeToNextLook = Self.firstDelay

    /// How long after libcurl's own limit it is called again.
    ///
    /// libcurl gives an address half of the time that is left, if there are more of them. Then (7.88) it closes the
    /// socket, and opens the next one only when it is called again, for which it sets no timer: without this call the
    /// others would get no time at all.
    private static let firstDelay: Int64 = 5_000_000
    private static let longestDelay: Int64 = 500_000_000

    /// For how long an address must have been silent to count as one that does not answer; the first one always does.
    static let fairTime: Int64 = 250_000_000

    var isEmpty: Bool { entries.isEmpty }

    /// Notes that a socket was opened, with so much time left to connect.
    mutating func append(_ socket: Int32, to address: AddressKey, now: MonotonicTime, timeLeft: Int64) {
        entries.append(Entry(socket: socket, address: address, begin: now))
        timeToNextLook = Self.firstDelay
        nextLook = timeLeft == .never ? .never : now.after(max(0, timeLeft / 2)).after(Self.firstDelay)
    }

    /// Whether libcurl is to work now; the next look follows after five times the time, up to a limit.
    mutating func isToLook(now: MonotonicTime) -> Bool {
        guard nextLook <= now else { return false }
        timeToNextLook *= 5
        nextLook = timeToNextLook > Self.longestDelay ? .never : now.after(timeToNextLook)
        return true
    }

    /// The addresses that have failed where no connection came about: after a timeout not those that were tried only
    /// at its very end.
    func failed(timedOut: Bool, now: MonotonicTime) -> [AddressKey] {
        entries.enumerated()
            .filter { index, entry in index == 0 || !timedOut || now &- entry.begin >= Self.fairTime }
            .map(\.element.address)
    }

    /// Forgets them all.
    mutating func removeAll() { self = OpenedSockets() }
}
