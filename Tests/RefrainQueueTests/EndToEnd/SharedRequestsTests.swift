// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainCLI
@testable import RefrainQueue

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite(
    "Lists that several machines share",
    .serialized,
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is not installed"),
    .timeLimit(.minutes(10))
)
struct SharedRequestsTests {
    private static func run(
        _ server: PostgresServer,
        lease: Duration = .seconds(30)
    ) throws -> RequestList.SharedStore {
        try RequestList.SharedStore(server.location, name: "l", lease: lease)
    }

    private static func new(_ count: Int) -> [RequestList.New] {
        (0..<count).map { .init(name: "n\($0)", method: "POST", url: "https://example.com/\($0)", key: "k\($0)") }
    }

    private static func result(
        _ row: RequestList.Row,
        _ outcome: RequestQueue.Item.Outcome = .done
    ) -> RequestList.Result {
        var result = RequestList.Result(id: row.id, outcome: outcome, attempts: 1, hasBegun: true)
        (result.status, result.error, result.validator, result.bytes) = (200, "a\"b\0", "\"v\"", 5)
        return result
    }

    @Test("R37: one run has a request, and one that has lost it writes nothing, sends nothing and gives nothing back")
    func claims() throws {
        let server = try PostgresServer()
        let (a, b) = (try Self.run(server, lease: .seconds(1)), try Self.run(server, lease: .seconds(1)))
        let rows = try a.register(Self.new(3)).compactMap(\.self)
        #expect(rows.map(\.name) == ["n0", "n1", "n2"] && rows.map(\.key) == ["k0", "k1", "k2"])
        let same = try b.register(Self.new(3)).compactMap(\.self)
        #expect(same.map(\.id) == rows.map(\.id) && same.allSatisfy { $0.owner == nil && $0.outcome == .ready })
        #expect(try a.claim(rows.map(\.revision)) == [true, true, true])
        #expect(try b.claim(same.map(\.revision)) == [false, false, false])
        let held = try b.register(Self.new(3)).compactMap(\.self)
        #expect(held.allSatisfy { $0.owner?.hasSuffix("/\(getpid())") == true && $0.claims == 0 })
        #expect(try b.claim(held.map(\.revision)) == [false, false, false])
        #expect(try b.begin(rows[0].id, age: .zero, key: "other") == false)
        #expect(try a.begin(rows[0].id, age: .zero, key: "k0") && a.claims.mayStillSend(rows[0].id))
        #expect(try b.finish([Self.result(rows[0])]) == [false])
        // The lease ends: the other run takes what is left, with the time at which it was first sent.
        #expect(try a.finish([Self.result(rows[2])]) == [true])
        poll(nil, 0, 1100)
        #expect(!a.claims.mayStillSend(rows[0].id))
        let free = try b.register(Self.new(3)).compactMap(\.self)
        #expect(free.map(\.owner) == [nil, nil, nil] && free.map { $0.age == nil } == [false, true, true])
        #expect(free[2].outcome == .done && free[2].error == "a\"b" && free[2].isRecent)
        #expect(free[2].validator == "\"v\"" && free[2].bytes == 5)
        #expect(try b.claim((Array(free[..<2])).map(\.revision)) == [true, true])
        // A late renewal does not bring back what another run has.
        try a.renew()
        #expect(!a.claims.mayStillSend(rows[0].id) && b.claims.mayStillSend(rows[0].id))
        #expect(try a.count([(rows[0].id, 1, 1)]) == [false])
        #expect(try a.finish([Self.result(rows[0], .failed)]) == [false])
        #expect(try a.begin(rows[1].id, age: .zero, key: nil) == false)
        try a.release()
        #expect(try b.finish([Self.result(rows[0]), Self.result(rows[1])]) == [true, true])
        let all = try b.all()
        // Three claims that were begun or had results: one send was counted as it began.
        #expect(all.map(\.outcome) == [.done, .done, .done] && all.map(\.attempts) == [2, 1, 1])
        // What was read before it changed is not claimed.
        #expect(try a.claim((Array(free[..<2])).map(\.revision)) == [false, false])
    }

    @Test("R31: a database that is not there is an error that says so")
    func unreachable() async throws {
        func code(_ location: String) -> QueueError.Code? {
            do throws(QueueError) {
                _ = try RequestList.SharedStore(location, name: "l", lease: .seconds(30))
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code("postgres://u:pw@127.0.0.1:1/x") == .cannotOpen && code("no words of libpq") == .cannotOpen)
    }

    @Test("R31: a run that cannot reach its database ends as after an outage, and not as after a wrong option")
    func outageAtTheStart() async throws {
        for (option, expected) in [([], Int32(1)), (["--refresh"], 2)] {
            let output = try ScratchFile()
            let folder = output.path + ".d"
            let words = ["get", "http://h/", "--output-dir", folder, "--state", "postgres://u@127.0.0.1:1/x"] + option
            let process = try HelperProcess(words, program: HelperProcess.command, output: output.path)
            let status = await process.end()
            #expect(status == expected, "\(output.text)")
            #expect(output.text.contains("Try: ") == (expected == 2))
        }
    }

    @Test("a queue's lists were read to their ends when all of them were")
    func lists() throws {
        let server = try PostgresServer()
        let (a, b) = (try Self.run(server), try Self.run(server))
        #expect(try a.areListsRead() == nil)
        try a.note(list: "one\n\"", isRead: false)
        try b.note(list: "two", isRead: true)
        #expect(try a.areListsRead() == false)
        try a.note(list: "one\n\"", isRead: true)
        #expect(try b.areListsRead() == true)
        let other = try RequestList.SharedStore(server.location, name: "other", lease: .seconds(30))
        #expect(try other.areListsRead() == nil)
    }

    @Test("R37: what a run gives back is another one's at once; what it may have sent waits for the lease")
    func release() throws {
        let server = try PostgresServer()
        let (a, b) = (try Self.run(server), try Self.run(server))
        let rows = try a.register(Self.new(2)).compactMap(\.self)
        #expect(try a.claim(rows.map(\.revision)) == [true, true])
        #expect(try a.begin(rows[0].id, age: .seconds(3), key: "k0"))
        try a.release()
        let left = try b.register(Self.new(2)).compactMap(\.self)
        #expect(left.map { $0.owner == nil } == [false, true] && left[1].claims == 0)
        #expect(try b.claim(left.map(\.revision)) == [false, true])
        #expect(left[0].age.map { $0 >= .seconds(3) } == true)
        // As after a step of the clock: a run does not take the key of unknown age for a new one.
        try PostgresConnection(server.location).run("UPDATE refrain_request SET begun = begun + 3600000")
        #expect(try b.all()[0].age.map { $0 < .seconds(-3000) } == true)
        // A row that is settled is none that was read before.
        try #require(try b.finish([Self.result(left[1], .unknown)]) == [true])
        let unknown = try b.all().filter { $0.outcome == .unknown }
        #expect(throws: QueueError.self) { try b.settle(left.map { ($0, .again) }) }
        try b.settle(unknown.map { ($0, .again) })
        let again = try b.all()[1]
        #expect(again.outcome == .ready && again.key == nil)
    }

    @Test("R37: of a run that ended, what it had under way is counted, and not what waited or was only claimed")
    func deaths() async throws {
        let server = try PostgresServer()
        let arguments = try Arguments(["--lease", "1s"], options: CommandSpec.named(.get).options)
        let location = try #require(try SharedStateLocation(server.url, arguments))
        let wanted = ["sent", "waits", "claimed"].map {
            RequestList.New(name: $0, method: "GET", url: "https://example.com/\($0)")
        }
        // Each run is left without a word, as by SIGKILL, and the next one comes after its lease.
        for deaths in 0..<3 {
            if deaths > 0 { poll(nil, 0, 1200) }
            let state = try ListState(location)
            let entries = try await state.register(wanted, isDurable: true) { _ in false }.compactMap { $0 }
            #expect(entries.map(\.claims) == [deaths, 0, 0])
            #expect(entries.allSatisfy { $0.isLeftBehind == (deaths > 0) })
            #expect(try await state.claim(entries) == [true, true, true])
            _ = try await state.add(entries[..<2].map { SendCounter.Sends(entry: $0, count: 1, claims: 1) })
            let rest = SendCounter.Sends(entry: entries[1], count: 0, claims: -1)
            _ = try await state.add([rest])
            guard deaths == 2 else { continue }
            // Of a request that another run may have, a wait is no failure, and a send is.
            state.withdraw()
            _ = try await state.add([rest])
            let send = SendCounter.Sends(entry: entries[1], count: 1, claims: 1)
            #expect(try await state.add([send]) == false)
        }
    }

    @Test(
        "the command that is shown names the user, and no password",
        arguments: [
            ("postgres://db/jobs", "postgres://db/jobs"),
            ("postgres://refrain:pw@db/jobs", "postgres://refrain@db/jobs"),
            ("postgres://refrain@/jobs?host=/tmp&password=pw", "'postgres://refrain@/jobs?host=/tmp'"),
            ("postgres:///jobs?sslpassword=pw&pass%77ord=pw", "postgres:///jobs"),
            ("postgres://db/jobs?user=me&passfile=f&sslkey=k", "'postgres://db/jobs?user=me&passfile=f&sslkey=k'"),
        ]
    )
    func words(text: String, words: String) throws {
        let arguments = try Arguments([], options: CommandSpec.named(.get).options)
        #expect(try SharedStateLocation(text, arguments)?.words == words)
    }

    @Test("R37: a run bears a lock that another session holds on the table")
    func lockedTable() async throws {
        let server = try PostgresServer()
        let told = Journal<String>()
        let arguments = try Arguments(["--lease", "1s"], options: CommandSpec.named(.get).options)
        let location = try #require(try SharedStateLocation(server.url, arguments))
        let state = try ListState(location) { told.append($0) }
        let own = try PostgresConnection(server.location)
        try own.run("BEGIN; LOCK TABLE refrain_request")
        let wanted = RequestList.New(name: "a", method: "POST", url: "https://example.com/")
        async let rows = state.register([wanted], isDurable: true) { _ in false }
        await told.entries(atLeast: 1)
        try own.run("COMMIT")
        #expect(try await rows.count == 1)
    }

    @Test("a list may have URLs that are too long for an index of the database")
    func longURLs() async throws {
        let server = try PostgresServer()
        let arguments = try Arguments([], options: CommandSpec.named(.get).options)
        let location = try #require(try SharedStateLocation(server.url, arguments))
        let random = RandomSource(seed: 1)
        let long = (0..<500).map { _ in String(random.next(), radix: 36) }.joined()
        let wanted = ["1", "2"].map { end in
            RequestList.New(name: "GET /\(long)\(end)", method: "GET", url: "/\(long)\(end)")
        }
        let state = try ListState(location)
        let rows = try await state.register(wanted, isDurable: true) { _ in false }.map { $0?.row?.id }
        #expect(Set(rows).count == 2)
        #expect(try await state.register(wanted, isDurable: true) { _ in false }.map { $0?.row?.id } == rows)
        let entries = try StatusCommand.store(at: location).all().map { ListEntry($0) }
        #expect(entries.map(\.url) == wanted.map(\.url))
        #expect(try state.settle([entries[1].id], as: .forget, now: 1).count == 1)
    }

    @Test("R37: a claim or a result whose answer was lost is made again, and is not taken for another run's")
    func lostAnswers() throws {
        let server = try PostgresServer()
        let (a, b) = (try Self.run(server), try Self.run(server))
        let rows = try a.register(Self.new(2)).compactMap(\.self)
        for _ in 0..<2 { #expect(try a.claim(rows.map(\.revision)) == [true, true]) }
        #expect(try a.register(Self.new(2)).compactMap(\.self).allSatisfy { $0.owner == nil && $0.claims == 0 })
        #expect(try b.claim(rows.map(\.revision)) == [false, false])
        #expect(try a.finish([Self.result(rows[0])]) == [true])
        #expect(try a.finish([Self.result(rows[0])]) == [false])
        #expect(try a.finish([Self.result(rows[0])], mayBeWritten: true) == [true])
        #expect(try a.finish([Self.result(rows[0], .failed)], mayBeWritten: true) == [false])
        #expect(try b.finish([Self.result(rows[1])], mayBeWritten: true) == [false])
        try PostgresConnection(server.location).run("DELETE FROM refrain_request")
        #expect(throws: QueueError.self) { try a.finish([Self.result(rows[1])]) }
    }

    @Test("R37: a run bears an outage of its database, sends nothing meanwhile, and tells it once; then it gives up")
    func patience() async throws {
        let server = try PostgresServer()
        let told = Journal<String>()
        let arguments = try Arguments(["--lease", "2s"], options: CommandSpec.named(.get).options)
        let location = try #require(try SharedStateLocation(server.url, arguments))
        let state = try ListState(location, patience: .seconds(5)) { told.append($0) }
        let wanted = RequestList.New(name: "a", method: "POST", url: "https://example.com/")
        let entry = try #require(try await state.register([wanted], isDurable: true) { _ in false }.first ?? nil)
        #expect(try await state.claim([entry]) == [true])
        #expect(state.maySend(entry))
        server.kill()
        let begin = Task { try await state.begin(entry, at: WallClock.Instant.now.sinceEpoch.inSeconds) }
        await told.entries(atLeast: 1)
        #expect(!state.maySend(entry))
        try server.start()
        try await begin.value
        // The lease is over, and no other run has taken it.
        #expect(await state.regain(entry) && state.maySend(entry))
        server.kill()
        for (least, most) in [(Duration.seconds(4), Duration.seconds(30)), (.zero, .seconds(2))] {
            let start = ContinuousClock.now
            await #expect(throws: DatabaseError.self) { try await state.note([entry]) }
            #expect((least...most).contains(ContinuousClock.now - start))
        }
        #expect(!state.maySend(entry))
        #expect(told.entries.count == 2 && told.entries.allSatisfy { $0.contains("out of reach") })
    }

    @Test("R37: of runs that claim the same requests at the same time, one gets each")
    func contention() async throws {
        let server = try PostgresServer()
        let rows = try Self.run(server).register(Self.new(300)).compactMap(\.self)
        let location = server.location
        let taken = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let run = try RequestList.SharedStore(location, name: "l", lease: .seconds(30))
                    return try (0..<30).flatMap { part -> [Int64] in
                        let part = Array(rows[(part * 10)..<(part * 10 + 10)])
                        return try zip(part, run.claim(part.map(\.revision))).filter(\.1).map(\.0.id)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.count == 300 && Set(taken).count == 300)
    }
}

@Suite(
    "A quota in PostgreSQL",
    .serialized,
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is not installed"),
    .timeLimit(.minutes(10))
)
struct PostgresQuotaTests {
    @Test("R38: the permits of several processes are one after the other, and a hold is one of all")
    func permits() async throws {
        let server = try PostgresServer()
        let (a, b) = (try await PostgresQuota(server.location), try await PostgresQuota(server.location))
        let first = try await a.book("k", rate: 100, wanted: 5, hold: .zero)
        let second = try await b.book("k", rate: 100, wanted: 5, hold: .zero)
        #expect(first.permits == 5 && second.permits == 5 && first.members == 1)
        // Five permits at 100 a second are 50 ms, less the time between the calls.
        #expect(first.start <= .milliseconds(1) && second.start <= .milliseconds(51), "\(second.start)")
        #expect(try await a.book("k", rate: 100, wanted: 500, hold: .zero).permits == 500)
        let none = try await b.book("k", rate: 100, wanted: 1, hold: .zero)
        #expect(none.permits == 0 && none.start > .seconds(3), "\(none)")
        #expect(try await b.book("other", rate: 100, wanted: 1, hold: .zero).permits == 1)
        #expect(try await a.book("other", rate: 100, wanted: 0, hold: .seconds(20)).permits == 0)
        let held = try await b.book("other", rate: 100, wanted: 1, hold: .zero)
        #expect(held.permits == 0 && held.start > .seconds(18), "\(held)")
    }

    @Test("R38: a server's clock that was set back stops nothing, and shortens no hold")
    func clockOfQuota() async throws {
        let server = try PostgresServer()
        let quota = try await PostgresQuota(server.location)
        _ = try await quota.book("free", rate: 100, wanted: 5, hold: .zero)
        _ = try await quota.book("held", rate: 100, wanted: 0, hold: .seconds(60))
        // As if all was booked by a clock that was an hour ahead.
        try PostgresConnection(server.location)
            .run("UPDATE refrain_quota SET due = due + 3600000, slot = slot + 1800")
        let late = try await quota.book("free", rate: 100, wanted: 1, hold: .zero)
        #expect(late.permits == 1 || late.start < .seconds(5), "\(late)")
        let held = try await quota.book("held", rate: 100, wanted: 1, hold: .zero)
        #expect(held.permits == 0 && held.start > .seconds(45) && held.start < .seconds(65), "\(held)")
        // The next booking counts from the new time.
        let next = try await quota.book("held", rate: 100, wanted: 1, hold: .zero)
        #expect(next.permits == 0 && next.start > .seconds(45) && next.start < .seconds(65), "\(next)")
    }

    @Test("R38: a role that may not make tables shares the limit in one that is there")
    func roleOfQuota() async throws {
        let server = try PostgresServer()
        _ = try await PostgresQuota(server.location)
        try PostgresConnection(server.location).run(
            "CREATE ROLE fleet LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT ALL ON refrain_quota TO fleet"
        )
        let quota = try await PostgresQuota(server.location.replacing("user=postgres", with: "user=fleet"))
        #expect(try await quota.book("k", rate: 10, wanted: 1, hold: .zero).permits == 1)
    }

    @Test("R38: who asks is counted")
    func members() async throws {
        let server = try PostgresServer()
        let (a, b) = (try await PostgresQuota(server.location), try await PostgresQuota(server.location))
        // The count is of two seconds of the server's clock, which may end between two calls.
        var counts: [Int] = []
        while counts.last != 2, counts.count < 10 {
            for quota in [a, a, b] {
                counts.append(try await quota.book("k", rate: 100, wanted: 1, hold: .zero).members)
            }
        }
        #expect(counts.last == 2 && counts.first == 1 && counts.allSatisfy { $0 <= 2 }, "\(counts)")
    }

    @Test("R38: eight connections that ask for all that they can get have some each, and no more than the rate")
    func rate() async throws {
        let server = try PostgresServer()
        var quotas: [PostgresQuota] = []
        for _ in 0..<8 { quotas.append(try await PostgresQuota(server.location)) }
        let began = ContinuousClock.now
        let permits = try await withThrowingTaskGroup(of: Double.self) { group in
            for quota in quotas {
                group.addTask {
                    var permits = 0.0
                    while ContinuousClock.now - began < .seconds(3) {
                        let grant = try await quota.book("k", rate: 500, wanted: 10, hold: .zero)
                        permits += grant.permits
                        if grant.permits == 0 { try await ContinuousClock().sleep(for: .milliseconds(5)) }
                    }
                    return permits
                }
            }
            return try await group.reduce(into: [Double]()) { $0.append($1) }
        }
        // Permits are given out up to the horizon.
        let span = (ContinuousClock.now - began + QuotaGrant.horizon).inSeconds
        #expect(permits.allSatisfy { $0 > 0 } && permits.reduce(0, +) <= 500 * span + 10, "\(permits) in \(span) s")
    }
}

/// The command on several machines: processes with folders of their own, counted where the requests arrive.
@Suite(
    "refrain get on several machines",
    .serialized,
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is not installed"),
    .timeLimit(.minutes(10))
)
struct SharedListTests {
    /// Orders of a server that counts them.
    private final class Orders {
        let server: FaultServer
        let arrivals = Locked([String: [String]]())

        init(_ count: Int, delay: Duration) throws {
            server = try FaultServer()
            for id in 0..<count {
                server.on("/\(id)") { [arrivals] request in
                    arrivals.withLock { $0["\(id)", default: []].append(request.header("Idempotency-Key") ?? "") }
                    return [.sleep(delay), .respond(.init(200, body: "ok"))]
                }
            }
        }

        deinit { server.stop() }

        var sends: [[String]] { arrivals.withLock { Array($0.values) } }
    }

    private static func list(_ orders: Orders, _ count: Int, hasKeys: Bool) throws -> ScratchFile {
        let lines = (0..<count).map { id in
            let key = hasKeys ? ",\"key\":\"k\(id)\"" : ""
            return "{\"url\":\"\(orders.server.baseURL)/\(id)\",\"method\":\"POST\",\"body\":\"x\"\(key)}"
        }
        return try ScratchFile(lines.joined(separator: "\n") + "\n")
    }

    private static func start(
        _ list: ScratchFile,
        _ server: PostgresServer,
        _ output: ScratchFile,
        _ options: [String] = ["-o", "/dev/null"]
    ) throws -> HelperProcess {
        let state = ["--state", server.url, "--lease", "2s", "-j", "2"]
        let words = ["get", "--from", list.path] + state + options
        return try HelperProcess(words, program: HelperProcess.command, output: output.path)
    }

    private static func status(_ server: PostgresServer) async throws -> String {
        let output = try ScratchFile()
        _ = try await HelperProcess(["status", server.url], program: HelperProcess.command, output: output.path).end()
        return output.text
    }

    @Test("R37: two runs of one list send each request once")
    func shared() async throws {
        let (database, orders) = (try PostgresServer(), try Orders(40, delay: .milliseconds(10)))
        let list = try Self.list(orders, 40, hasKeys: false)
        let outputs = [try ScratchFile(), try ScratchFile()]
        let runs = try outputs.map { try Self.start(list, database, $0) }
        for (run, output) in zip(runs, outputs) { #expect(await run.end() == 0, "\(output.text)") }
        #expect(orders.sends.count == 40 && orders.sends.allSatisfy { $0.count == 1 })
        #expect(try await Self.status(database).hasPrefix("40 requests: 40 done"))
        // Of a queue that has none it is not said that all is done.
        let words = ["status", database.url, "--queue", "mistyped"]
        #expect(try await HelperProcess(words, program: HelperProcess.command).end() == 2)
        // A third one has nothing to send.
        #expect(try await Self.start(list, database, outputs[0]).end() == 0)
        #expect(orders.sends.allSatisfy { $0.count == 1 })
        // They may have been those of this machine.
        #expect(outputs[0].text.contains("40 of 40 were done in earlier or other runs"), "\(outputs[0].text)")
    }

    @Test("a look at a state makes nothing in the database, needs only the right to read, and says where there is none")
    func looks() async throws {
        let database = try PostgresServer()
        let connection = try PostgresConnection(database.location)
        func end(_ words: [String]) async throws -> (status: Int32, text: String) {
            let output = try ScratchFile()
            let process = try HelperProcess(words, program: HelperProcess.command, output: output.path)
            return (await process.end(), output.text)
        }
        for words in [["status", database.url], ["retry", database.url, "1"], ["forget", database.url, "1"]] {
            let (status, text) = try await end(words)
            #expect(status == 2 && text.contains("no run has used the queue \"default\""), "\(text)")
        }
        #expect(try connection.query("SELECT to_regclass('refrain_queue')") == [[nil]])
        let run = try RequestList.SharedStore(database.location, name: "default", lease: .seconds(30))
        _ = try run.register(["a", "b"].map { .init(name: $0, method: "GET", url: "https://x/\($0)", key: nil) })
        try connection.run("CREATE ROLE reader LOGIN; GRANT SELECT ON refrain_queue, refrain_request TO reader")
        let url = database.url.replacing("postgres@", with: "reader@")
        let (status, text) = try await end(["status", url])
        #expect(status == 1 && text.contains("2 requests: 0 done, 2 pending"), "\(text)")
        #expect(try await end(["status", url, "--queue", "mistyped"]).status == 2)
        #expect(try connection.query("SELECT name FROM refrain_queue") == [["list/default"]])
    }

    @Test("a role that lacks a right is told which rights it needs, without a statement that it has not written")
    func rights() throws {
        let database = try PostgresServer()
        let connection = try PostgresConnection(database.location)
        try connection.run("CREATE ROLE newcomer LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        let location = database.location.replacing("user=postgres", with: "user=newcomer")
        func failure() -> QueueError? {
            do throws(QueueError) {
                _ = try RequestList.SharedStore(location, name: "l", lease: .seconds(30))
                return nil
            } catch {
                return error
            }
        }
        let first = try #require(failure())
        #expect(first.code == .readOnly && first.description.contains("CREATE on the schema"), "\(first)")
        #expect(!first.description.contains("CREATE TABLE") && !first.description.contains("^"), "\(first)")
        _ = try RequestList.SharedStore(database.location, name: "l", lease: .seconds(30))
        #expect(failure()?.code == .readOnly)
        // These are the rights that the error names.
        try connection.run("GRANT SELECT, INSERT, UPDATE, DELETE ON refrain_queue, refrain_request TO newcomer")
        #expect(failure() == nil)
    }

    @Test("the status of a run that was interrupted while it read its list says so, until a run has read it")
    func interrupted() async throws {
        let (database, orders) = (try PostgresServer(), try Orders(60, delay: .milliseconds(50)))
        let (list, output) = (try Self.list(orders, 60, hasKeys: true), try ScratchFile())
        let run = try Self.start(list, database, output)
        while orders.sends.count < 4 { poll(nil, 0, 5) }
        run.signal(SIGTERM)
        _ = await run.end()
        let text = try await Self.status(database)
        #expect(text.hasPrefix("at least ") && text.contains("the list was not read to its end"), "\(text)")
        #expect(await (try Self.start(list, database, output)).end() == 0, "\(output.text)")
        #expect(try await Self.status(database).hasPrefix("60 requests: 60 done"))
    }

    @Test("R37: a run that is killed: with keys all is placed, without them nothing twice", arguments: [true, false])
    func killed(hasKeys: Bool) async throws {
        let (database, orders) = (try PostgresServer(), try Orders(30, delay: .milliseconds(50)))
        let list = try Self.list(orders, 30, hasKeys: hasKeys)
        let outputs = [try ScratchFile(), try ScratchFile()]
        let runs = try outputs.map { try Self.start(list, database, $0) }
        while orders.sends.count < 6 { poll(nil, 0, 5) }
        runs[0].signal(SIGKILL)
        _ = await runs[0].end()
        let status = await runs[1].end()
        let text = try await Self.status(database)
        if hasKeys {
            #expect(status == 0 && text.hasPrefix("30 requests: 30 done"), "\(text)")
            #expect(orders.sends.count == 30 && orders.sends.allSatisfy { Set($0).count == 1 })
        } else {
            let unknown = text.split(separator: "\n").count { $0.contains("  unknown  POST") }
            #expect(orders.sends.allSatisfy { $0.count == 1 })
            #expect((status == 0) == (unknown == 0), "\(text)")
            #expect(text.contains("\(30 - unknown) done") && orders.sends.count >= 30 - unknown, "\(text)")
        }
    }

    @Test("R37: a run that was stopped for longer than its lease sends nothing that others have, and changes nothing")
    func stopped() async throws {
        let (database, orders) = (try PostgresServer(), try Orders(30, delay: .milliseconds(200)))
        let list = try Self.list(orders, 30, hasKeys: true)
        let outputs = [try ScratchFile(), try ScratchFile()]
        let stopped = try Self.start(list, database, outputs[0])
        // Both of its requests are at the server, so that none is between the last check and its send.
        while orders.sends.count < 2 { poll(nil, 0, 5) }
        stopped.signal(SIGSTOP)
        #expect(await (try Self.start(list, database, outputs[1])).end() == 0, "\(outputs[1].text)")
        let before = orders.sends.flatMap(\.self).count
        stopped.signal(SIGCONT)
        #expect(await stopped.end() == 0, "\(outputs[0].text)")
        #expect(orders.sends.flatMap(\.self).count == before, "\(outputs[0].text)")
        #expect(orders.sends.allSatisfy { Set($0).count == 1 })
        #expect(try await Self.status(database).hasPrefix("30 requests: 30 done"))
        #expect(outputs[0].text.contains("other runs have taken") && !outputs[0].text.contains("failed"))
    }

    @Test(
        "R37: a run that was stopped for longer than its lease goes on with what the others have not done",
        arguments: [["-o", "/dev/null"], ["--fail-early"]]
    )
    func stoppedWithMore(options: [String]) async throws {
        let (database, orders) = (try PostgresServer(), try Orders(40, delay: .milliseconds(200)))
        let (list, part) = (try Self.list(orders, 40, hasKeys: true), try Self.list(orders, 20, hasKeys: true))
        let outputs = [try ScratchFile(), try ScratchFile()]
        let stopped = try Self.start(list, database, outputs[0], options)
        while orders.sends.count < 2 { poll(nil, 0, 5) }
        stopped.signal(SIGSTOP)
        #expect(await (try Self.start(part, database, outputs[1])).end() == 0, "\(outputs[1].text)")
        stopped.signal(SIGCONT)
        #expect(await stopped.end() == 0, "\(outputs[0].text)")
        #expect(orders.sends.count == 40 && orders.sends.count { $0.count > 1 } <= 2, "\(outputs[0].text)")
        #expect(outputs[0].text.contains("20 of 40 were done in earlier or other runs"), "\(outputs[0].text)")
        #expect(try await Self.status(database).hasPrefix("40 requests: 40 done"))
    }

    @Test(
        "R37: a run outlasts a crash of PostgreSQL: nothing is sent meanwhile, and each order once",
        arguments: [true, false]
    )
    func databaseKilled(hasKeys: Bool) async throws {
        let (database, orders) = (try PostgresServer(), try Orders(40, delay: .milliseconds(50)))
        let (list, output) = (try Self.list(orders, 40, hasKeys: hasKeys), try ScratchFile())
        let run = try Self.start(list, database, output)
        while orders.sends.count < 6 { poll(nil, 0, 5) }
        // Lasts longer than an answer, and both together longer than the lease.
        database.kill()
        let before = orders.sends.count
        poll(nil, 0, 1000)
        #expect(orders.sends.count == before && before < 40)
        try database.start()
        #expect(await run.end() == 0, "\(output.text)")
        #expect(orders.sends.count == 40 && orders.sends.allSatisfy { $0.count == 1 })
        #expect(try await Self.status(database).hasPrefix("40 requests: 40 done"))
        #expect(output.text.split(separator: "\n").count { $0.contains("out of reach") } == 1, "\(output.text)")
    }

    @Test(
        "R37: two runs and a crash of PostgreSQL: with keys all is placed, without them nothing twice",
        arguments: [true, false]
    )
    func databaseKilledUnderTwo(hasKeys: Bool) async throws {
        let (database, orders) = (try PostgresServer(), try Orders(60, delay: .milliseconds(50)))
        let list = try Self.list(orders, 60, hasKeys: hasKeys)
        let outputs = [try ScratchFile(), try ScratchFile()]
        let runs = try outputs.map { try Self.start(list, database, $0) }
        while orders.sends.count < 10 { poll(nil, 0, 5) }
        database.kill()
        poll(nil, 0, 1000)
        try database.start()
        // Beyond the lease one of them may have taken what the other had.
        for run in runs { _ = await run.end() }
        let last = await (try Self.start(list, database, outputs[0])).end()
        let text = try await Self.status(database)
        if hasKeys {
            #expect(last == 0 && text.hasPrefix("60 requests: 60 done"), "\(text)")
            #expect(orders.sends.count == 60 && orders.sends.allSatisfy { Set($0).count == 1 })
        } else {
            let unknown = text.split(separator: "\n").count { $0.contains("  unknown  POST") }
            #expect(orders.sends.allSatisfy { $0.count == 1 }, "\(orders.sends)")
            #expect(text.contains("\(60 - unknown) done") && orders.sends.count >= 60 - unknown, "\(text)")
        }
    }
}
#endif
