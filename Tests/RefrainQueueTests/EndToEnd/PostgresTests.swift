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
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
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

    @Test("the next request of a lane follows the one before it at once, whatever was claimed in between")
    func laneBehindOthers() throws {
        let server = try PostgresServer()
        let store = try Self.store(server)
        let lane = try store.enqueue([try Self.new(.put, lane: "a"), try Self.new(.put, lane: "a")])
        let first = try store.claim(1, token: 1, wantsBegun: false)
        #expect(first.map(\.id) == [lane[0]])
        usleep(5000)
        let other = try store.enqueue([try Self.new(.put)])
        #expect(try store.claim(1, token: 2, wantsBegun: false).map(\.id) == other)
        #expect(try store.finish([ClaimResult(first[0], .done)]) == [true])
        #expect(try store.claim(1, token: 3, wantsBegun: false).map(\.id) == [lane[1]])
    }

    @Test("a request that is settled to be sent again waits for the later one of its lane that is with a worker")
    func laneOfSettled() throws {
        let server = try PostgresServer()
        let store = try Self.store(server)
        let ids = try store.enqueue([
            try Self.new(.put, lane: "a"), try Self.new(.put, lane: "a"), try Self.new(.put, lane: "b"),
        ])
        let failed = try #require(try store.claim(1, token: 1, wantsBegun: false).first)
        #expect(try store.finish([ClaimResult(failed, .failed)]) == [true])
        let later = try #require(try store.claim(1, token: 2, wantsBegun: false).first)
        #expect(later.id == ids[1])
        #expect(try store.settle(failed.id, .again, newKey: ""))
        #expect(try store.claim(9, token: 3, wantsBegun: false).map(\.id) == [ids[2]])
        #expect(try store.finish([ClaimResult(later, .done)]) == [true])
        #expect(try store.claim(9, token: 4, wantsBegun: false).map(\.id) == [failed.id])
    }

    @Test("a claim takes the oldest of each lane, and does not look at the others, whatever becomes of them")
    func lanes() throws {
        let server = try PostgresServer()
        let own = try PostgresConnection(server.location)
        try LaneModel.check(try Self.store(server), { try Self.new(.put, lane: $0) }) { sql in
            try own.query(sql).compactMap { $0.first.flatMap { $0 }.flatMap { Int64($0) } }
        }
    }

    @Test("the next of a lane is taken, also if it was stored while the one before it ended", arguments: [false, true])
    func laneOfLateCommit(isRepeatable: Bool) async throws {
        let server = try PostgresServer()
        let store = try Self.store(server)
        let queue = try await RequestQueue(.postgres(server.location))
        let row = try queue.row(for: try HTTPRequest("https://example.com/", method: .put), lane: "a")
        let own = try PostgresConnection(server.location)
        for _ in 0..<2 { try Self.insert(row, own) }
        let first = try store.claim(9, token: 1, wantsBegun: false)
        try own.run("BEGIN" + (isRepeatable ? " ISOLATION LEVEL REPEATABLE READ" : ""))
        try Self.insert(row, own)
        #expect(try store.finish(first.map { ClaimResult($0, .done) }) == [true])
        let second = try store.claim(9, token: 2, wantsBegun: false)
        #expect(try store.finish(second.map { ClaimResult($0, .done) }) == [true])
        try own.run("COMMIT")
        #expect(try store.claim(9, token: 3, wantsBegun: false).count == 1)
    }

    @Test("what a request is behind does not end until that one is stored, so that its end sees it")
    func laneOfConcurrentEnd() async throws {
        let server = try PostgresServer()
        let queue = try await RequestQueue(.postgres(server.location))
        let row = try queue.row(for: try HTTPRequest("https://example.com/", method: .put), lane: "a")
        let (own, other) = (try PostgresConnection(server.location), try PostgresConnection(server.location))
        try Self.insert(row, own)
        try own.run("BEGIN")
        try Self.insert(row, own)
        // What happens at the commit.
        try own.run("SET CONSTRAINTS ALL IMMEDIATE")
        try other.run("SET lock_timeout = '200ms'")
        let end = "UPDATE refrain_request SET due = NULL, state = 2 WHERE id = 1"
        #expect(throws: QueueError.self) { try other.run(end) }
        try own.run("COMMIT")
        try other.run(end)
        #expect(try Self.store(server).claim(9, token: 1, wantsBegun: false).map(\.id) == [2])
    }

    @Test("a role that may only insert stores requests of a lane")
    func laneOfAnotherRole() async throws {
        let server = try PostgresServer()
        let store = try Self.store(server)
        let queue = try await RequestQueue(.postgres(server.location))
        let own = try PostgresConnection(server.location)
        try own.run("CREATE ROLE shop; GRANT INSERT ON refrain_request TO shop; SET ROLE shop")
        let row = try queue.row(for: try HTTPRequest("https://example.com/", method: .put), lane: "a")
        for _ in 0..<2 { try Self.insert(row, own) }
        #expect(try store.claim(9, token: 1, wantsBegun: false).count == 1)
    }

    @Test("processes that enqueue the same names in different orders do not end each other's transactions")
    func namesInAnyOrder() async throws {
        let server = try PostgresServer()
        let all = try (0..<300).map { try Self.new(.put, name: "n\($0)") }
        let location = server.location
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for isReversed in [false, true] {
                group.addTask {
                    let store = try PostgresStore(location, queue: "default", lease: .seconds(30))
                    return try (0..<20).reduce(0) { count, round in
                        let new = all.map { new in
                            var new = new
                            new.name = new.name.map { "\(round)/\($0)" }
                            return new
                        }
                        let ids = try store.enqueue(isReversed ? new.reversed() : new)
                        return count + ids.count { $0 != nil }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.reduce(0, +) == 6000)
        let store = try Self.store(server)
        let names = ["z", "y", nil, "x"]
        let ids = try store.enqueue(try names.map { try Self.new(.put, name: $0) })
        #expect(try ids.map { try store.rows(.id($0 ?? 0)).first?.name } == names)
    }

    @Test("a transaction that an application leaves open does not keep a process from renewing its claims")
    func laneThatIsHeld() async throws {
        let server = try PostgresServer()
        let store = try Self.store(server, lease: .seconds(1))
        let queue = try await RequestQueue(.postgres(server.location))
        let row = try queue.row(for: try HTTPRequest("https://example.com/", method: .put), lane: "a", dedupe: "x")
        let own = try PostgresConnection(server.location)
        try own.run("BEGIN")
        try Self.insert(row, own)
        for new in [try Self.new(lane: "a"), try Self.new(name: "x")] {
            #expect {
                _ = try store.enqueue([new])
            } throws: { ($0 as? QueueError)?.code == .busy }
        }
        try own.run("COMMIT")
        let ids = try store.enqueue([try Self.new(lane: "a"), try Self.new(name: "x")])
        #expect(ids.map { $0 == nil } == [false, true])
    }

    @Test("tables of the first version are changed to the present ones, and their lanes keep their order")
    func firstVersion() throws {
        let server = try PostgresServer()
        let ids = try Self.store(server).enqueue([
            try Self.new(.put, lane: "a"), try Self.new(.put, lane: "a"), try Self.new(.put),
            try Self.new(.put, lane: "a"),
        ])
        try PostgresConnection(server.location).run(
            """
            DROP FUNCTION refrain_request_lane() CASCADE; ALTER TABLE refrain_request DROP COLUMN behind;
            CREATE INDEX refrain_request_due ON refrain_request (queue, due, id) WHERE due IS NOT NULL;
            ALTER TABLE refrain_queue DROP COLUMN lists;
            UPDATE refrain_queue SET version = 1
            """
        )
        _ = try RequestList.SharedStore(server.location, name: "l", lease: .seconds(30)).note(list: "a", isRead: true)
        let store = try Self.store(server)
        #expect(try LaneModel.drain(store) == [ids[0], ids[2], ids[1], ids[3]])
    }

    private static func insert(_ row: RequestQueue.Row, _ connection: PostgresConnection) throws {
        _ = try connection.query(row.sql, parameters(of: row))
    }

    private static func parameters(of row: RequestQueue.Row) -> [String?] {
        row.values.map { value in
            switch value {
            case .null: nil
            case .integer(let number): "\(number)"
            case .text(let text): text
            case .bytes(let bytes): PostgresConnection.text(of: bytes)
            }
        }
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

    @Test("R31: a worker may have as many requests in flight as it likes")
    func manySlots() async throws {
        let server = try PostgresServer()
        let queue = try await RequestQueue(.postgres(server.location))
        let count = 2500
        try await queue.enqueue(try (0..<count).map { try HTTPRequest("https://example.com/\($0)") })
        let worker = queue.worker(on: MockLoader().otherwise(.status(200)), concurrency: .max)
        let ended = Counter()
        worker.onEnd { _ in ended.increment() }
        let run = Task { try await worker.run() }
        #expect(await eventually { ended.value == count })
        run.cancel()
        try await run.value
    }

    @Test("names and lanes are compared by their bytes, as the database does, and not as texts of Swift")
    func equalTexts() throws {
        let server = try PostgresServer()
        let store = try Self.store(server)
        // One character, and a letter with a combining accent.
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(try store.enqueue([try Self.new(name: composed)]) != [nil])
        let ids = try store.enqueue([try Self.new(name: composed), try Self.new(name: decomposed)])
        #expect(ids.first == .some(nil))
        #expect(try ids.last?.flatMap { try store.rows(.id($0)).first?.name?.utf8.count } == decomposed.utf8.count)
        // Each lane is locked: an enqueue waits for another session that holds the lock.
        let other = try PostgresConnection(server.location)
        let brief = try Self.store(server, lease: .seconds(1))
        for lane in [composed, decomposed] {
            try other.run("BEGIN")
            _ = try other.query(
                "SELECT pg_advisory_xact_lock(hashtextextended($1::text || '/' || $2::text, 0))",
                ["default", lane]
            )
            #expect(throws: QueueError.self) {
                try brief.enqueue([try Self.new(lane: composed), try Self.new(lane: decomposed)])
            }
            try other.run("ROLLBACK")
        }
    }

    @Test("R31: times beyond what the database can count are cut, and no error of it", .timeLimit(.minutes(1)))
    func longTimes() async throws {
        let server = try PostgresServer()
        var settings = RequestQueue.Settings()
        (settings.keep, settings.lease) = (Duration(attoseconds: .min), Duration(attoseconds: .max))
        let queue = try await RequestQueue(.postgres(server.location), settings: settings)
        let request = try HTTPRequest("https://example.com/", method: .put)
        #expect(try await queue.enqueue(request, after: Duration(attoseconds: .max)) != nil)
        #expect(try await queue.enqueue(request, after: Duration(attoseconds: .min)) != nil)
        let ended = Journal<RequestQueue.Item>()
        let worker = queue.worker(on: MockLoader().otherwise(.status(200)))
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        await ended.entries(atLeast: 1)
        run.cancel()
        try await run.value
        #expect(try await queue.items(.ready).count == 1)
    }

    @Test("R37: the row for the application's own transaction locks its lane until that ends")
    func transaction() async throws {
        let server = try PostgresServer()
        let queue = try await RequestQueue(.postgres(server.location))
        let row = try queue.row(for: try HTTPRequest("https://example.com/", method: .put), lane: "a", dedupe: "x")
        let parameters = Self.parameters(of: row)
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

    @Test("R37: tables of a newer version or of another program are refused with a remedy, and left as they are")
    func badTables() async throws {
        let server = try PostgresServer()
        func check(_ code: QueueError.Code, _ remedy: String) async {
            await #expect {
                _ = try await RequestQueue(.postgres(server.location), name: "new")
            } throws: { error in
                (error as? QueueError)?.code == code && "\(error)".contains(remedy)
            }
        }
        let own = try PostgresConnection(server.location)
        try own.run("CREATE TABLE refrain_request (id int)")
        await check(.foreign, "use another database")
        try own.run("DROP TABLE refrain_request")
        _ = try Self.store(server)
        // A newer version may have other columns, and other ones than this version are no reason to call it foreign.
        try own.run("UPDATE refrain_queue SET version = 3; ALTER TABLE refrain_request RENAME COLUMN head TO title")
        await check(.newerVersion, "update it")
        #expect(try own.query("SELECT name FROM refrain_queue") == [["default"]])
        try own.run("UPDATE refrain_queue SET version = 2")
        await check(.foreign, "use another database")
        #expect(try own.query("SELECT name FROM refrain_queue") == [["default"]])
        // Tables that were dropped are made again.
        try own.run("DROP TABLE refrain_request, refrain_queue")
        _ = try Self.store(server)
    }

    @Test("R37: a server that cannot be written is refused with a remedy")
    func readOnlyServer() async throws {
        let server = try PostgresServer()
        let queue = try await RequestQueue(.postgres(server.location))
        let own = try PostgresConnection(server.location)
        try own.run("ALTER DATABASE postgres SET default_transaction_read_only = on")
        await #expect {
            _ = try await RequestQueue(.postgres(server.location))
        } throws: { ($0 as? QueueError)?.code == .readOnly && "\($0)".contains("the primary server") }
        // A session that was made before may write.
        try await queue.enqueue(try HTTPRequest("https://example.com/"))
        #expect(try await queue.items(.ready).count == 1)
    }

    @Test("a pool that changes to another session is refused with a remedy")
    func pool() throws {
        let server = try PostgresServer()
        let own = try PostgresConnection(server.location)
        _ = try own.query("SELECT 1")
        try own.run("DEALLOCATE ALL")
        #expect {
            _ = try own.query("SELECT 1")
        } throws: { ($0 as? QueueError)?.code == .cannotOpen && "\($0)".contains("must be one of sessions") }
    }

    @Test("R37: bad defaults of a database or a role change nothing, also on a connection that was made again")
    func settings() throws {
        let server = try PostgresServer()
        let own = try PostgresConnection(server.location)
        for subject in ["DATABASE postgres", "ROLE postgres"] {
            try own.run("ALTER \(subject) SET default_transaction_isolation = 'serializable'")
            try own.run("ALTER \(subject) SET synchronous_commit = 'off'")
            try own.run("ALTER \(subject) SET bytea_output = 'escape'")
            try own.run("ALTER \(subject) SET client_encoding = 'LATIN1'")
            try own.run("ALTER \(subject) SET array_nulls = 'off'")
        }
        let store = try Self.store(server)
        let names = ["transaction_isolation", "synchronous_commit", "bytea_output", "client_encoding", "array_nulls"]
        let query = "SELECT \(names.map { "current_setting('\($0)')" }.joined(separator: ", ")), pg_backend_pid()"
        let before = try #require(try store.connection.query(query).first)
        let expected: [String?] = ["read committed", "on", "hex", "SQL_ASCII", "on"]
        #expect(before.dropLast() == expected[...])
        try Self.end(before[5], by: own)
        let after = try #require(try store.connection.query(query).first)
        #expect(after.dropLast() == expected[...] && after[5] != before[5])
    }

    @Test("a statement is planned once for all values, and again when its table has grown")
    func plans() throws {
        let server = try PostgresServer()
        let connection = try PostgresConnection(server.location)
        try connection.run("CREATE TABLE numbers (id bigint PRIMARY KEY, name text)")
        let sql = "UPDATE numbers t SET name = '' FROM unnest($1::bigint[]) AS u (id) WHERE t.id = u.id"
        func plan() throws -> String {
            for _ in 0..<10 { _ = try connection.query(sql, ["{7}"]) }
            return try connection.query("EXPLAIN EXECUTE s0 ('{7}')").compactMap { $0[0] }.joined(separator: "\n")
        }
        #expect(try plan().contains("Seq Scan on numbers"))
        let count = "SELECT custom_plans FROM pg_prepared_statements WHERE name = 's0'"
        #expect(try connection.query("SHOW plan_cache_mode") == [["force_generic_plan"]])
        try connection.run("INSERT INTO numbers SELECT generate_series(1, 50000), repeat('x', 100)")
        poll(nil, 0, 1100)
        #expect(try plan().contains("Index Scan using numbers_pkey"))
        if try connection.query("SHOW server_version_num")[0][0] ?? "" >= "140000" {
            #expect(try connection.query(count) == [["0"]])
        }
    }

    @Test("requests with large bodies are stored by several statements of one transaction")
    func largeBodies() throws {
        let server = try PostgresServer()
        let store = try Self.store(server)
        let large = try Self.new(.put, body: String(repeating: "x", count: 1 << 20))
        let small = try Self.new(.put, body: "small")
        #expect(PostgresStore.parts(of: []) == [0..<0] && PostgresStore.parts(of: [small, large]) == [0..<2])
        let all = [small] + [NewRequest](repeating: large, count: 4) + [small]
        #expect(PostgresStore.parts(of: all) == [0..<4, 4..<6])
        let ids = try store.enqueue(all).compactMap { $0 }
        #expect(ids.count == 6 && ids == ids.sorted())
        let sizes = try store.claim(6, token: 1, wantsBegun: false).map(\.request.body.count)
        #expect(sizes == [5] + [Int](repeating: 1 << 20, count: 4) + [5])
    }

    /// Ends a session, and waits until it is gone.
    private static func end(_ pid: String?, by own: PostgresConnection) throws {
        _ = try own.query("SELECT pg_terminate_backend($1::int, 30000)", [pid])
    }

    @Test("R37: a connection that the server has ended meanwhile is made again, but not within a transaction")
    func endedSession() throws {
        let server = try PostgresServer()
        let own = try PostgresConnection(server.location)
        let store = try Self.store(server)
        func pid() throws -> String? { try store.connection.query("SELECT pg_backend_pid()").first?.first ?? nil }
        try Self.end(try pid(), by: own)
        #expect(try store.enqueue([try Self.new(.post, lane: "a"), try Self.new()]).count == 2)
        #expect {
            try store.connection.transaction { () throws(QueueError) in
                try store.setPaused(true)
                do { try Self.end(try pid(), by: own) } catch { throw QueueError(.storeFailed, "\(error)") }
                try store.setPaused(true)
            }
        } throws: { ($0 as? QueueError)?.code == .disconnected }
        #expect(try !store.isPaused())
    }

    @Test("a URL is one whatever the letters of its scheme, and its password is in no error")
    func scheme() throws {
        let server = try PostgresServer()
        for scheme in ["postgres", "postgresql", "PostgreSQL", "POSTGRES"] {
            let url = server.url.replacing("postgres://postgres@", with: "\(scheme)://postgres:secret@")
            #expect(try PostgresConnection(url).query("SELECT 1") == [["1"]])
            #expect {
                _ = try PostgresConnection(url + "nowhere")
            } throws: { ($0 as? QueueError)?.code == .cannotOpen && !"\($0)".contains("secret") }
        }
    }

    @Test("a statement that a limit of time or the administrator has ended may be made again")
    func statementIsEnded() throws {
        let server = try PostgresServer()
        let own = try PostgresConnection(server.location)
        try own.run("SET statement_timeout = 50")
        #expect {
            _ = try own.query("SELECT pg_sleep(9)")
        } throws: { ($0 as? QueueError)?.isTransient == true }
    }

    @Test("R37: a server's clock that was set back holds no request longer, and makes no key young")
    func clockSetBack() throws {
        let server = try PostgresServer()
        let store = try Self.store(server, lease: .seconds(1))
        var request = try HTTPRequest("https://example.com/", method: .post)
        request.idempotencyKey = .custom("k")
        let new = NewRequest(request: try StoredRequest(request), lane: nil, name: nil, delay: .zero)
        _ = try store.enqueue([new, new])
        let claims = try store.claim(2, token: 1, wantsBegun: false)
        _ = try store.finish([ClaimResult(claims[0], .later(.zero))])
        // As it looks after a step of an hour, of rows that were begun two hours before it; one is a dead worker's.
        let (step, age) = (3_600_000, 7_200_000)
        try store.connection.run(
            "UPDATE refrain_request SET due = due + \(step), changed = changed + \(step), begun = begun + \(step - age)"
        )
        #expect(try store.claim(2, token: 2, wantsBegun: false).isEmpty)
        try store.tidy(keep: .seconds(3600))
        poll(nil, 0, 1100)
        let again = try store.claim(2, token: 2, wantsBegun: false)
        #expect(again.count == 2 && again.allSatisfy { ($0.age ?? .zero) >= .milliseconds(age) })
    }

    @Test("R37: the clock of a worker that is an hour off changes neither when a request is due nor the age of its key")
    func clocks() async throws {
        let server = try PostgresServer()
        let direct = try PostgresConnection(server.location)
        for hours in [-1, 1] {
            let clocks = RetryClocks(monotonic: ContinuousClock()) {
                WallClock.Instant.now.advanced(by: .seconds(3600 * hours))
            }
            var settings = RequestQueue.Settings()
            settings.keyLifetime = .seconds(1800)
            settings.lease = .seconds(1)
            let location = RequestQueue.Location.postgres(server.location)
            let queue = try await RequestQueue(location, name: "\(hours)", settings: settings, clocks: clocks)
            // One whose worker ended after it was begun, one that is not due yet, and one that is told to wait.
            let request = try CrashTableTests.Kind.keyed.request("https://example.com/begun")
            let begun = try #require(try await queue.enqueue(request))
            let lost = try await queue.store.call { store throws(QueueError) in
                try store.claim(1, token: 1, wantsBegun: false)
            }
            #expect(lost.count == 1)
            try await queue.enqueue(try HTTPRequest("https://example.com/early"), after: .seconds(600))
            let later = try #require(try await queue.enqueue(try HTTPRequest("https://example.com/later")))
            let mock = MockLoader { request in
                HTTPResponse(
                    request: request,
                    status: request.url.path() == "/later" ? 503 : 200,
                    headers: request.url.path() == "/later" ? ["Retry-After": "60"] : [:]
                )
            }
            let loader = Retry(.recommended, budgets: nil, clocks: clocks) --> mock
            let ended = Journal<RequestQueue.Item>()
            let worker = queue.worker(on: loader)
            worker.onEnd { ended.append($0) }
            let run = Task { try await worker.run() }
            await ended.entries(atLeast: 1)
            run.cancel()
            try await run.value
            #expect(ended.entries.map(\.id) == [begun] && ended.entries.first?.outcome == .done)
            #expect(Set(mock.requests.map { $0.url.path() }) == ["/begun", "/later"])
            let sql = "SELECT (due - \(PostgresStore.clock)) / 1000 FROM refrain_request WHERE id = $1::bigint"
            let wait = try #require(try direct.query(sql, ["\(later)"]).first?.first?.flatMap { Int($0) })
            #expect((50...60).contains(wait), "\(hours) h: \(wait) s")
        }
    }

    @Test("R37: a worker cut off from the database sends nothing after its lease, and its late result changes nothing")
    func partition() async throws {
        let database = try PostgresServer()
        let way = try PostgresProxy(to: database)
        defer { way.heal() }
        let server = try FaultServer()
        defer { server.stop() }
        let isCutOff = Locked(true)
        server.on("/order") { _ in
            guard isCutOff.withLock({ $0 }) else { return [.respond(.init(200, body: "ok"))] }
            // It would be sent again each second.
            way.cut()
            return [.respond(.init(503, headers: [("Retry-After", "1")], body: "busy"))]
        }
        let queue = try await RequestQueue(.postgres(database.location))
        let id = try #require(
            try await queue.enqueue(try CrashTableTests.Kind.keyed.request(server.baseURL + "/order"))
        )
        let first = try HelperProcess(["work", way.location])
        await server.requests(atLeast: 1)
        // The lease of the helper is 2 s.
        poll(nil, 0, 2500)
        let sends = server.count(path: "/order")
        poll(nil, 0, 2000)
        #expect(server.count(path: "/order") == sends && sends <= 2)
        isCutOff.withLock { $0 = false }
        #expect(try await HelperProcess(["work", database.location]).end() == 0)
        #expect(try await queue.item(id)?.outcome == .done)
        way.heal()
        #expect(await first.end() == 0)
        #expect(server.count(path: "/order") == sends + 1)
        let item = try #require(try await queue.item(id))
        #expect(item.outcome == .done && item.attempts.map(\.status) == [200])
        let keys = Set(server.requests(toPath: "/order").map { $0.header("Idempotency-Key") })
        #expect(keys == [item.key])
    }

    @Test("R37: a request that kills its sender is abandoned after five claims without a result, and this is told")
    func poison() async throws {
        let database = try PostgresServer()
        let server = try FaultServer()
        defer { server.stop() }
        let victim = Locked<pid_t?>(nil)
        server.on("/poison") { _ in
            if let pid = victim.withLock({ $0 }) { kill(pid, SIGKILL) }
            return [.hang]
        }
        let queue = try await RequestQueue(.postgres(database.location))
        let request = try CrashTableTests.Kind.keyed.request(server.baseURL + "/poison")
        let id = try #require(try await queue.enqueue(request))
        for _ in 0..<5 {
            let process = try HelperProcess(["work", database.location])
            victim.withLock { $0 = process.pid }
            #expect(await process.end() == -SIGKILL)
        }
        let mock = MockLoader().otherwise(.status(200))
        let worker = queue.worker(on: mock)
        let ended = Journal<RequestQueue.Item>()
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        await ended.entries(atLeast: 1)
        run.cancel()
        try await run.value
        #expect(mock.requests.isEmpty && server.count(path: "/poison") == 5)
        let item = try #require(ended.entries.first)
        #expect(item.id == id && item.outcome == .failed && item.error?.hasPrefix("abandoned: 5 workers") == true)
    }
}
#endif
