// SPDX-License-Identifier: Apache-2.0
import Refrain
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainQueue

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A worker that ends at a given point, for the tests of queues, and the queue's benchmark.
///
///     QueueLoad work STORE [POINT COUNT]   sends what is in the store; kills itself when the point is reached the
///                                          COUNTth time; ends when nothing is left to do
///     QueueLoad order STORE URL COUNT      enqueues orders, and kills itself before the commit of the next one
///     QueueLoad bench STORE                prints how many requests a store takes and gives a second
///     QueueLoad bench-held STORE           does so beside a transaction that stays open, in PostgreSQL
///     QueueLoad bench-lanes STORE          prints what a claim costs where many requests wait in lanes
@main
struct QueueLoad {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "work" where arguments.count >= 3:
            let point = arguments.count >= 5 ? CrashPoint(arguments[3], Int(arguments[4]) ?? 1) : nil
            try await work(arguments[2], point)
        case "order" where arguments.count >= 5:
            try await order(arguments[2], arguments[3], Int(arguments[4]) ?? 0)
        case "bench" where arguments.count >= 3:
            try await Benchmark(arguments[2]).run()
        case "bench-held" where arguments.count >= 3:
            try await Benchmark(arguments[2]).runBesideOldTransaction()
        case "bench-lanes" where arguments.count >= 3:
            try await Benchmark(arguments[2]).runInLanes()
        default:
            print("usage: QueueLoad work STORE [POINT COUNT] | order STORE URL COUNT | bench[-held|-lanes] STORE")
            exit(2)
        }
    }

    /// Sends everything, and ends when every request has an outcome.
    private static func work(_ store: String, _ point: CrashPoint?) async throws {
        let queue = try await RequestQueue(.named(store), settings: settings) { CrashingStore($0, point) }
        let policy = RetryPolicy.recommended.with(
            schedule: .constant(delay: .milliseconds(20), maxAttempts: 5)
        )
        let loader = Retry(policy, budgets: nil) --> CrashingLoader(point: point, transport: CurlLoader())
        let worker = queue.worker(on: loader, concurrency: 4)
        let run = Task { try await worker.run() }
        while try await queue.hasWork() {
            // No event: another process may have the rest.
            usleep(20_000)
        }
        run.cancel()
        try await run.value
    }

    private static func order(_ store: String, _ url: String, _ count: Int) async throws {
        let queue = try await RequestQueue(.named(store), settings: settings) { $0 }
        var request = try HTTPRequest(url, method: .post, body: .text("one tea"))
        request.idempotencyKey = .generated
        for number in 0..<count {
            let id = try await queue.enqueue(request, dedupe: "order \(number)")
            print(id ?? 0)
        }
        fflush(nil)
        let row = try queue.row(for: request, dedupe: "never")
        let database = try Database(path: store)
        try database.run("BEGIN IMMEDIATE")
        try database.prepare(row.sql).run(
            row.values.map { value in
                switch value {
                case .null: .null
                case .integer(let number): .integer(number)
                case .text(let text): .text(text)
                case .bytes(let bytes): .blob(bytes)
                }
            }
        )
        kill(getpid(), SIGKILL)
    }

    private static var settings: RequestQueue.Settings {
        var settings = RequestQueue.Settings()
        settings.lease = .seconds(2)
        return settings
    }
}

/// Where a process kills itself.
final class CrashPoint: Sendable {
    private let name: String
    private let left: Locked<Int>

    init(_ name: String, _ count: Int) {
        self.name = name
        left = Locked(count)
    }

    /// Kills the process if this is the point, and it is reached often enough.
    func pass(_ name: String) {
        guard name == self.name else { return }
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { kill(getpid(), SIGKILL) }
    }
}

/// A store that passes the points before and after its writes.
final class CrashingStore: QueueStore {
    private let store: any QueueStore
    private let point: CrashPoint?

    init(_ store: any QueueStore, _ point: CrashPoint?) {
        (self.store, self.point) = (store, point)
    }

    var lease: Duration? { store.lease }
    var pollInterval: Duration { store.pollInterval }

    func enqueue(_ requests: [NewRequest]) throws(QueueError) -> [Int64?] { try store.enqueue(requests) }

    func claim(_ limit: Int, token: Int64, wantsBegun: Bool) throws(QueueError) -> [Claim] {
        let claims = try store.claim(limit, token: token, wantsBegun: wantsBegun)
        if !claims.isEmpty { point?.pass("claimed") }
        return claims
    }

    func begin(_ claims: [Claim]) throws(QueueError) -> [Bool] {
        point?.pass("before-begin")
        let begun = try store.begin(claims)
        point?.pass("begun")
        return begun
    }

    func rest(_ claim: Claim, isUnsent: Bool) throws(QueueError) { try store.rest(claim, isUnsent: isUnsent) }

    func renew(_ tokens: Set<Int64>) throws(QueueError) -> Set<Int64> {
        point?.pass("before-renewal")
        let owned = try store.renew(tokens)
        point?.pass("renewed")
        return owned
    }

    func finish(_ results: [ClaimResult]) throws(QueueError) -> [Bool] {
        point?.pass("before-result")
        let written = try store.finish(results)
        point?.pass("written")
        return written
    }

    func release(_ claims: [Claim]) throws(QueueError) { try store.release(claims) }
    func tidy(keep: Duration) throws(QueueError) { try store.tidy(keep: keep) }
    func rows(_ selection: RowSelection) throws(QueueError) -> [RequestQueue.Item] { try store.rows(selection) }
    func isPaused() throws(QueueError) -> Bool { try store.isPaused() }
    func setPaused(_ isPaused: Bool) throws(QueueError) { try store.setPaused(isPaused) }

    func settle(
        _ id: Int64,
        _ settlement: RequestQueue.Settlement,
        newKey: String
    ) throws(QueueError) -> Bool { try store.settle(id, settlement, newKey: newKey) }
}

/// A transport that passes the points before and after an exchange.
struct CrashingLoader: HTTPLoader {
    let point: CrashPoint?
    let transport: CurlLoader

    func load(_ request: HTTPRequest) async -> HTTPResult {
        point?.pass("before-send")
        let result = await transport.load(request)
        point?.pass("answered")
        return result
    }
}

extension RequestQueue {
    /// Whether a request waits or is with a worker.
    ///
    /// One query: between one for those that wait and another for those that are claimed, a request can pass from the
    /// one to the other.
    func hasWork() async throws(QueueError) -> Bool {
        try await !store.call { store throws(QueueError) in try store.rows(.unfinished) }.isEmpty
    }
}

extension RequestQueue.Location {
    /// Whether the workers of several machines share it.
    var isShared: Bool {
        #if PostgreSQL
        if case .postgres = kind { return true }
        #endif
        return false
    }

    /// A transaction that has read, and stays open as long as the value.
    func transaction() throws -> AnyObject? {
        #if PostgreSQL
        if case .postgres(let text) = kind {
            let connection = try PostgresConnection(text)
            try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM refrain_queue")
            return connection
        }
        #endif
        return nil
    }

    /// A database of PostgreSQL where the text says so, otherwise a file of SQLite.
    static func named(_ text: String) -> RequestQueue.Location {
        #if PostgreSQL
        if text.contains("host=") || text.hasPrefix("postgres://") { return .postgres(text) }
        #endif
        return .sqlite(text)
    }
}
