/// The requests to one origin: how many are on their way, and who is next.
///
/// libcurl slows down with the number of requests that wait inside of it, so they wait here, first come, first served.
final class HostQueue {
    /// The streams that libcurl opens on one connection unless told otherwise.
    static let streamsPerConnection = 100

    var active = 0
    /// How many of these were sent.
    var sent = 0
    /// What the origin spoke last, once that is known.
    var isMultiplexed: Bool?
    /// Whether the origin has answered before, so that there is likely to be a connection to it.
    var hasAnswered = false
    private let connections: Int
    // Only whoever drives the loop comes here, and no access to these leads to another one: no checks.
    @exclusivity(unchecked) private var waiting: [Transfer?] = []
    @exclusivity(unchecked) private var first = 0
    private var abandoned = 0

    init(connections: Int) { self.connections = connections }

    var isUnused: Bool { active == 0 && waiting.isEmpty }

    var hasRoom: Bool {
        active < (isMultiplexed == true ? Swift.max(connections, Self.streamsPerConnection) : connections)
    }

    func append(_ transfer: Transfer) { waiting.append(transfer) }

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

    /// Notes that one of those who wait has finished; its place is given up when many have.
    func noteAbandoned() {
        abandoned += 1
        guard abandoned > 32, abandoned > (waiting.count - first) / 2 else { return }
        waiting = waiting[first...].filter { $0?.isFinished == false }
        first = 0
        abandoned = 0
    }

    /// Those who wait, in order.
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
