// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue
internal import RefrainTesting

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An outbox in a file, and two processes that send its orders, of which one is killed while it waits for answers.
struct OutboxScene {
    /// How many orders there are.
    static let orders = 60
    /// How many answers the process gets that is killed; it waits for the rest.
    private static let answers = 7
    /// How soon the other one takes up what it had, where the machine is not busy.
    private static let promise = Duration.milliseconds(300)
    /// From when on that is wrong, however busy it is.
    private static let limit = Duration.seconds(10)

    /// What the server has seen.
    private final class Arrivals: Sendable {
        struct Order {
            let number: Int
            let key: String
            let worker: String
            let time: ContinuousClock.Instant
        }

        private let orders = Locked<[Order]>([])
        private let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

        /// Notes an order; returns how many of the worker have come.
        func note(_ order: Order) -> Int {
            defer { change.yield() }
            return orders.withLock { orders in
                orders.append(order)
                return orders.count { $0.worker == order.worker }
            }
        }

        var all: [Order] { orders.withLock { $0 } }

        /// Notes that a process has ended.
        func noteEnd() { change.yield() }

        /// Returns when a condition holds, a process has ended, or the task is cancelled.
        func wait(for process: OutboxWorker.Process, until holds: ([Order]) -> Bool) async {
            if holds(all) || process.isOver { return }
            for await _ in changes where holds(all) || process.isOver { return }
        }
    }

    private let server: FaultServer
    private let arrivals = Arrivals()

    /// Plays it, in a few seconds; what goes wrong is a claim that does not hold.
    static func play(on server: FaultServer) async throws -> [(holds: Bool, claim: String)] {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/refrain-demo.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(what: "cannot make a folder", code: errno) }
        let folder = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        let path = Directory.path(folder, "outbox.sqlite")
        defer {
            for ending in ["", "-wal", "-shm", "-lock"] { Directory.removeFile(path + ending) }
            Directory.remove([folder])
        }
        return try await OutboxScene(server: server).run(path)
    }

    private init(server: FaultServer) { self.server = server }

    private func run(_ path: String) async throws -> [(holds: Bool, claim: String)] {
        server.on("/outbox") { [arrivals] request in
            let order = Arrivals.Order(
                number: request.query("order").flatMap { Int($0) } ?? -1,
                key: request.header("Idempotency-Key") ?? "",
                worker: request.header("User-Agent") ?? "",
                time: .now
            )
            let count = arrivals.note(order)
            guard order.worker != "first" || count <= Self.answers else { return [.hang] }
            return [.respond(.init(200, body: "ok"))]
        }
        let queue = try await RequestQueue(.sqlite(path))
        try await queue.enqueue(
            (0..<Self.orders).map { number in
                let url = "\(server.baseURL)/outbox?order=\(number)"
                var order = try HTTPRequest(url, method: .post, body: .text("one tea"))
                order.idempotencyKey = .generated
                return order
            }
        )
        // It gets answers to some orders, and waits for those to as many as it may have in flight.
        let first = try OutboxWorker.Process(path, name: "first") { [arrivals] in arrivals.noteEnd() }
        let sent = Self.answers + OutboxWorker.concurrency
        await arrivals.wait(for: first) { orders in orders.count { $0.worker == "first" } == sent }
        let second = try OutboxWorker.Process(path, name: "second") { [arrivals] in arrivals.noteEnd() }
        await arrivals.wait(for: second) { orders in orders.contains { $0.worker == "second" } }
        let killed = ContinuousClock.now
        first.signal(SIGKILL)
        let ending = await first.end()
        await arrivals.wait(for: second) { orders in
            Set(orders.map(\.number)).count == Self.orders && Self.again(orders).count == OutboxWorker.concurrency
        }
        second.signal(SIGTERM)
        let status = await second.end()
        let done = try await queue.items(.done).count
        return checks(killed, sent: sent, done: done, endings: (ending, status))
    }

    /// The orders that came from both processes, as they came again.
    private static func again(_ orders: [Arrivals.Order]) -> [Arrivals.Order] {
        let before = Set(orders.filter { $0.worker == "first" }.map(\.number))
        return orders.filter { $0.worker == "second" && before.contains($0.number) }
    }

    private func checks(
        _ killed: ContinuousClock.Instant,
        sent: Int,
        done: Int,
        endings: (first: Int32?, second: Int32?)
    ) -> [(holds: Bool, claim: String)] {
        let orders = arrivals.all
        let again = Self.again(orders)
        let keys = Dictionary(grouping: orders, by: \.number).mapValues { Set($0.map(\.key)) }
        let placed = Set(orders.map(\.key)).count
        let delay = again.map { killed.duration(to: $0.time) }.max() ?? Self.limit
        let time = DurationText.short(delay)
        let promise = DurationText.short(Self.promise)
        return [
            (
                endings == (-SIGKILL, 0) && again.count == OutboxWorker.concurrency && delay < Self.limit,
                "killed with \(sent) sent and \(Self.answers) answered; the other process took up \(again.count) in \(time)"
                    + (delay > Self.promise ? " (\(promise) on a machine that is not busy)" : "")
            ),
            (
                keys.count == Self.orders && done == Self.orders && orders.count == Self.orders + again.count,
                "each of the \(Self.orders) orders arrived and is done: \(orders.count) sends, as the server counted them"
            ),
            (
                placed == Self.orders && keys.values.allSatisfy { $0.count == 1 && $0 != [""] },
                "none was placed twice: the server counted \(placed) keys, one for each order"
            ),
        ]
    }
}
