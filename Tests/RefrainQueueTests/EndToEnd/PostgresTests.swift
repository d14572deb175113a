// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainQueue

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite(
    "Queues in PostgreSQL",
    .serialized,
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is not installed"),
    .timeLimit(.minutes(10))
)
struct PostgresTests {
    private static func store(_ server: PostgresServer, lease: Duration = .seconds(30)) throws -> PostgresStore {
        try PostgresStore(server.location, queue: "default", lease: lease)
    }

    private static func new(
        _ method: HTTPMethod = .get,
        lane: String? = nil,
        name: String? = nil,
        body: String = ""
    ) throws -> NewRequest {
        let request = try StoredRequest(try HTTPRequest("https://example.com/", method: method, body: .text(body)))
        return NewRequest(request: request, lane: lane, name: name, delay: .zero)
    }

    @Test(
        "R37: rows come back as they were, names are refused, lanes keep their order, and late results change nothing"
    )
    func rows() throws {
        // A database whose defaults are bad: the session sets what it needs.
        let server = try PostgresServer(options: [
            "default_transaction_isolation=serializable", "synchronous_commit=off",
        ])
        let store = try Self.store(server)
        let text = "a\"b\\c{d},NULL'e\n"
        let all = [
            try Self.new(.post, lane: "a", name: "x", body: text), try Self.new(.post, lane: "a", name: "x"),
            try Self.new(.post, lane: "a"), try Self.new(.put, name: text.replacing("\n", with: "")),
        ]
        let ids = try store.enqueue(all)
        #expect(ids.map { $0 == nil } == [false, true, false, false])
        let claims = try store.claim(10, token: 1, wantsBegun: false)
        #expect(claims.map(\.id) == [ids[0], ids[3]])
        #expect(claims.first?.request == all[0].request)
        #expect(try store.claim(10, token: 2, wantsBegun: false).isEmpty)
        #expect(try store.begin([claims[0]]) == [true])
        var result = ClaimResult(claims[0], .later(.zero), error: text)
        result.record = RecordText.encode([], after: 0)
        result.isUnsent = true
        #expect(try store.finish([result, ClaimResult(claims[1], .done)]) == [true, true])
        #expect(try store.finish([result]) == [false])
        let again = try #require(try store.claim(1, token: 3, wantsBegun: false).first)
        #expect(again.id == ids[0] && again.claims == 1 && again.age == nil)
        try store.release([again])
        #expect(try store.rows(.id(again.id)).first?.error == text)
        #expect(try store.rows(.outcome(.done, after: 0, limit: 5)).count == 1)
    }

    @Test("R37: a request with an outcome is not due any more: its lane goes on, and in its time it is removed")
    func ended() throws {
        let server = try PostgresServer()
        let store = try Self.store(server)
        for outcome in [ClaimResult.Outcome.done, .failed, .unknown] {
            let ids = try store.enqueue([try Self.new(.post, lane: "a"), try Self.new(.post, lane: "a")])
            for id in ids {
                let claim = try #require(try store.claim(5, token: 1, wantsBegun: false).first)
                #expect(claim.id == id)
                #expect(try store.finish([ClaimResult(claim, outcome)]) == [true])
            }
            #expect(try store.rows(.unfinished).isEmpty)
        }
        poll(nil, 0, 5)
        try store.tidy(keep: .zero)
        let outcomes = try store.rows(.outcome(nil, after: 0, limit: 10)).map(\.outcome)
        #expect(outcomes == [.failed, .failed, .unknown, .unknown])
    }

    @Test("a claim that is not renewed is due again after its lease, one that is renewed is not")
    func leases() throws {
        let server = try PostgresServer()
        let (first, second) = (try Self.store(server, lease: .seconds(1)), try Self.store(server, lease: .seconds(1)))
        _ = try first.enqueue([try Self.new(.put), try Self.new(.put)])
        let lost = try #require(try first.claim(1, token: 1, wantsBegun: false).first)
        let kept = try #require(try first.claim(1, token: 2, wantsBegun: false).first)
        for _ in 0..<4 {
            poll(nil, 0, 400)
            #expect(try first.renew([2]) == [kept.id])
        }
        let taken = try second.claim(5, token: 3, wantsBegun: true)
        #expect(taken.map(\.id) == [lost.id])
        #expect(try first.finish([ClaimResult(lost, .failed), ClaimResult(kept, .done)]) == [false, true])
        #expect(try first.renew([1]).isEmpty)
        #expect(try second.finish([ClaimResult(taken[0], .done)]) == [true])
    }

    @Test("R37: the row for the application's own transaction locks its lane until that ends")
    func transaction() async throws {
        let server = try PostgresServer()
        let queue = try await RequestQueue(.postgres(server.location))
        let row = try queue.row(for: try HTTPRequest("https://example.com/", method: .put), lane: "a", dedupe: "x")
        let parameters = row.values.map { value -> String? in
            switch value {
            case .null: nil
            case .integer(let number): "\(number)"
            case .text(let text): text
            case .bytes(let bytes): PostgresConnection.text(of: bytes)
            }
        }
        let (own, other) = (try PostgresConnection(server.location), try PostgresConnection(server.location))
        try own.run("BEGIN")
        _ = try own.query(row.sql, parameters)
        try other.run("SET lock_timeout = '200ms'")
        var second = parameters
        second[1] = "y"
        #expect(throws: QueueError.self) { try other.query(row.sql, second) }
        try own.run("ROLLBACK")
        #expect(try await queue.items().isEmpty)
        _ = try other.query(row.sql, second)
        _ = try other.query(row.sql, second)
        #expect(try await queue.items().map(\.name) == ["y"])
    }

    @Test(
        "R37: killed at any point: with a key placed once, without one at most once and else unknown, nothing lost",
        arguments: CrashTableTests.Kind.allCases
    )
    func killed(kind: CrashTableTests.Kind) async throws {
        let server = try PostgresServer()
        for (number, point) in CrashTableTests.points.enumerated() {
            let queue = try await RequestQueue(.postgres(server.location), name: "default")
            try await CrashTableTests.check(queue, server.location, point, kind, count: 6, reachedAt: 1 + number % 2)
            try PostgresConnection(server.location).run("TRUNCATE refrain_request")
        }
    }

    @Test("R37: a worker that was stopped beyond its lease sends nothing more and changes nothing")
    func stopped() async throws {
        let database = try PostgresServer()
        let server = try FaultServer()
        defer { server.stop() }
        let victim = Locked<pid_t?>(nil)
        server.on("/order") { request in
            // Stopped while its answer is on its way; the first attempt fails, so that it would send another one.
            if request.occurrence == 1, let pid = victim.withLock({ $0 }) {
                kill(pid, SIGSTOP)
                return [.respond(.init(503, body: "busy"))]
            }
            return [.respond(.init(200, body: "ok"))]
        }
        let queue = try await RequestQueue(.postgres(database.location))
        let id = try #require(
            try await queue.enqueue(try CrashTableTests.Kind.keyed.request(server.baseURL + "/order"))
        )
        let first = try HelperProcess(["work", database.location])
        victim.withLock { $0 = first.pid }
        await server.requests(atLeast: 1)
        // The lease of the helper is 2 s.
        let second = try HelperProcess(["work", database.location])
        #expect(await second.end() == 0)
        #expect(try await queue.item(id)?.outcome == .done)
        first.signal(SIGCONT)
        #expect(await first.end() == 0)
        #expect(server.count(path: "/order") == 2)
        #expect(try await queue.item(id)?.attempts.map(\.status) == [200])
    }

    @Test("R37: PostgreSQL killed in the middle: workers connect again, nothing is lost, and orders are placed once")
    func databaseKilled() async throws {
        let database = try PostgresServer()
        let server = try FaultServer()
        defer { server.stop() }
        let keys = Locked(Set<String>())
        for id in 0..<60 {
            server.on("/\(id)") { request in
                keys.withLock { _ = $0.insert(request.header("Idempotency-Key") ?? "") }
                return [.sleep(.milliseconds(20)), .respond(.init(200, body: "ok"))]
            }
        }
        let queue = try await RequestQueue(.postgres(database.location))
        try await queue.enqueue(try (0..<60).map { try CrashTableTests.Kind.keyed.request(server.baseURL + "/\($0)") })
        let worker = try HelperProcess(["work", database.location])
        await server.requests(atLeast: 10)
        database.kill()
        try database.start()
        _ = await worker.end()
        // The helper's own look at the queue may have met the gap; a worker ends the rest.
        #expect(try await HelperProcess(["work", database.location]).end() == 0)
        let after = try await RequestQueue(.postgres(database.location))
        #expect(try await after.items(.done).count == 60)
        #expect(keys.withLock { $0.count } == 60)
    }
}
#endif
