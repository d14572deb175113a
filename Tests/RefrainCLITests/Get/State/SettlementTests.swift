// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainQueue
import RefrainTesting
import Testing

@testable import RefrainCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("What status says of a run that was killed, and how its requests are settled", .timeLimit(.minutes(10)))
struct SettlementTests {
    private let server: FaultServer
    private let list: ScratchFile
    private var state: String { list.path + Directory.stateName }

    init() throws {
        server = try FaultServer()
        list = try ScratchFile()
    }

    private func order(_ path: String) -> String {
        "{\"url\": \"\(server.baseURL)\(path)\", \"method\": \"POST\", \"body\": {\"n\": 1}}\n"
    }

    private var words: [String] {
        ["get", "--from", list.path, "-o", "/dev/null", "--attempts", "3", "--backoff", "constant:5ms"]
    }

    private func run(_ more: String...) async throws -> Executable.Ended {
        try await Executable.run(words + more)
    }

    private func command(_ name: String, _ more: String...) async throws -> Executable.Ended {
        try await Executable.run([name, state] + more)
    }

    /// Kills a run when the server has so many requests.
    private func killed(after requests: Int, _ more: String...) async throws {
        let running = try Executable.start(words + more)
        await server.requests(atLeast: requests)
        running.signal(9)
        _ = await running.end()
    }

    private func remove() {
        for ending in ["", "-wal", "-shm", "-lock"] { ScratchFile.at(state + ending).remove() }
        list.remove()
    }

    @Test("R5: an order with a key that was on its way at a kill is begun, and each send of every run is counted")
    func begun() async throws {
        let sends = Locked(0)
        server.on("/busy") { _ in
            sends.withLock { $0 += 1 }
            return sends.withLock { $0 % 3 } == 0 ? [.hang] : [.respond(.init(503))]
        }
        try await list.overwrite(order("/busy"))
        for round in 1...2 {
            try await killed(after: round * 3, "-j", "1", "--idempotency-key")
            let status = try await command("status")
            #expect(status.status == 1 && status.text.contains("0 done, 1 begun"), "\(status.text)")
            #expect(status.text.contains("in \(round * 3) attempts"), "\(status.text)")
            #expect(status.text.contains("begun  POST") && status.text.contains("refrain forget"), "\(status.text)")
        }
        server.on("/busy") { _ in [.respond(.init(201))] }
        #expect(try await run("--idempotency-key").status == 0)
        #expect(try await command("status").text.contains("1 requests: 1 done; 0 B in 7 attempts"))
        #expect(Set(server.log.filter { $0.path == "/busy" }.map { $0.header("Idempotency-Key") }).count == 1)
        remove()
    }

    @Test("the attempts of downloads that were under way at a kill are counted, whether or not they have rows yet")
    func downloads() async throws {
        let folder = try ScratchFile()
        server.on("/slow") { _ in [.hang] }
        try await list.overwrite((0..<20).map { "\(server.baseURL)/slow?\($0)\n" }.joined())
        // No attempt ends before the kill, however slow the machine is.
        let words = ["get", "--from", list.path, "--output-dir", folder.path, "-j", "4", "--timeout", "10m"]
        for round in 1...2 {
            let running = try Executable.start(words)
            await server.requests(atLeast: 4 * round)
            var text = ""
            while !text.contains("in \(4 * round) attempts") {
                text = try await Executable.run(["status", folder.path]).text
            }
            #expect(text.contains("20 requests: 0 done, 20 pending"), "\(text)")
            running.signal(9)
            _ = await running.end()
        }
        server.on("/slow") { _ in [.respond(.init(200, body: "x"))] }
        #expect(try await Executable.run(words).status == 0)
        let status = try await Executable.run(["status", folder.path])
        #expect(status.text.contains("20 requests: 20 done; 20 B in 28 attempts"), "\(status.text)")
        remove()
        folder.remove()
    }

    @Test(
        "R37: a request that ends five runs is abandoned, the others are made, and retry sends it again",
        arguments: [false, true]
    )
    func poison(isOrder: Bool) async throws {
        let folder = try ScratchFile()
        server.on("/poison") { _ in [.hang] }
        try await list.overwrite(
            isOrder ? order("/poison") : "\(server.baseURL)/poison\n" + "\(server.baseURL)/ok\n"
        )
        let words = ["get", "--from", list.path, "--output-dir", folder.path, "--timeout", "10m", "-j", "1"]
        @Sendable func poisoned() -> [FaultServer.LogEntry] { server.requests(toPath: "/poison") }
        var kills = 0
        var ended: Executable.Ended?
        while ended == nil, kills < 10 {
            let running = try Executable.start(words + (isOrder ? ["--idempotency-key"] : []))
            let isKilled = await Executable.Running.onThread { [kills] () -> Bool in
                // No event: a run that sends nothing ends without a request.
                for _ in 0..<3000 where poisoned().count == kills { poll(nil, 0, 1) }
                return kill(running.pid, SIGKILL) == 0
            }
            let end = await running.end()
            if isKilled, end.status == -SIGKILL { kills += 1 } else { ended = end }
            // A command that opens the state and closes it leaves nothing of the killed run's journal.
            let rows = try StateFile.read(Directory.path(folder.path, Directory.stateName)).entries
            if let other = rows.first(where: { $0.url.hasSuffix("/ok") && $0.outcome == .pending }) {
                #expect(try await Executable.run(["retry", folder.path, other.id]).status == 0)
            }
        }
        // The first death of a download may come before its send is written.
        #expect(isOrder ? kills == 5 : (5...6).contains(kills), "\(kills)")
        #expect(poisoned().count == kills)
        let text = try #require(ended?.errors)
        #expect(ended?.status == 1 && text.contains("abandoned: 5 runs") && text.contains("refrain retry"), "\(text)")
        #expect(text.contains("the server may have done it") == isOrder, "\(text)")
        #expect(isOrder || server.requests(toPath: "/ok").count == 1)
        let status = try await Executable.run(["status", folder.path])
        #expect(status.status == 1 && status.text.contains("1 failed") && status.text.contains("abandoned: 5"))
        #expect(status.text.contains("in \(kills) attempts") || !isOrder, "\(status.text)")
        #expect(try await Executable.run(words + (isOrder ? ["--idempotency-key"] : [])).status == 1)
        #expect(poisoned().count == kills)
        let id = try #require(status.text.split(separator: "id ").last?.prefix(12))
        let again = try await Executable.run(["retry", folder.path, String(id)])
        #expect(again.status == 0 && again.text.contains("sends it"), "\(again.text) \(again.errors)")
        server.on("/poison") { _ in [.respond(.init(200))] }
        #expect(try await Executable.run(words + (isOrder ? ["--idempotency-key"] : [])).status == 0)
        #expect(poisoned().count == kills + 1)
        #expect(Set(poisoned().map { $0.header("Idempotency-Key") }).count == 1)
        #expect(try await Executable.run(["status", folder.path]).status == 0)
        folder.remove()
        remove()
    }

    @Test("retry sends what is unknown again, forget never again, and each is told and can be undone")
    func settled() async throws {
        try await list.overwrite((1...3).map { order("/status/502?\($0)") }.joined())
        #expect(try await run().status != 0)
        let lines = try await command("status", "--json").lines
        let ids = try lines.map { try #require($0.split(separator: "\"").dropFirst(3).first.map(String.init)) }
        try #require(ids.count == 3 && Set(ids).count == 3 && ids.allSatisfy { $0.count == 12 }, "\(lines)")
        let again = try await command("retry", ids[0])
        #expect(again.status == 0 && again.text.contains("done twice"), "\(again.text) \(again.errors)")
        let forgotten = try await command("forget", ids[1])
        #expect(forgotten.status == 0 && forgotten.text.contains("no run sends it"), "\(forgotten.errors)")
        #expect(try await command("status").text.contains("0 done, 1 forgotten, 1 unknown, 1 pending"))
        server.on("/status/502") { _ in [.respond(.init(201))] }
        server.clearLog()
        #expect(try await run().status != 0)
        #expect(server.log.count == 1)
        #expect(try await command("status").text.contains("1 done, 1 forgotten, 1 unknown;"))
        #expect(try await command("retry", ids[1], ids[2]).status == 0)
        #expect(try await run().status == 0)
        #expect(server.log.count == 3)
        #expect(try await command("status").status == 0)
        remove()
    }

    @Test("what is forgotten, or was waited for, is skipped as a success, whatever status it ended with")
    func skippedStatus() async throws {
        let folder = try ScratchFile()
        let words = ["get", server.baseURL + "/status/404", "--output-dir", folder.path]
        #expect(try await Executable.run(words).status == 22)
        let id = String(try await Executable.run(["status", folder.path, "--json"]).text.split(separator: "\"")[3])
        #expect(try await Executable.run(["forget", folder.path, id]).status == 0)
        let forgotten = try await Executable.run(words)
        #expect(forgotten.status == 0 && forgotten.errors.contains("1 of 1 were done"), "\(forgotten.errors)")
        let other = ["get", server.baseURL + "/status/410", "--output-dir", folder.path, "--until", "STATUS in 410"]
        for _ in 0..<2 { #expect(try await Executable.run(other).status == 0) }
        #expect(server.log.count == 2)
        folder.remove()
        list.remove()
    }

    @Test("R5: retry keeps a key that the server knows, and replaces one that it has forgotten")
    func keys() async throws {
        try await list.overwrite(order("/status/502"))
        #expect(try await run("--idempotency-key").status == 22)
        let id = try #require(try await command("status", "--json").text.split(separator: "\"").dropFirst(3).first)
        #expect(try await command("retry", String(id)).text.contains("the same key"))
        #expect(try await run("--idempotency-key").status == 22)
        try Database(path: state).run("UPDATE refrain_request SET begun = 1000 * (unixepoch() - 100000)")
        #expect(try await command("retry", String(id), "--key-lifetime", "48h").text.contains("the same key"))
        #expect(try await command("retry", String(id)).text.contains("a new key"))
        #expect(try await run("--idempotency-key").status == 22)
        let keys = server.log.map { $0.header("Idempotency-Key") ?? "none" }
        #expect(keys.count == 9 && Set(keys[..<6]).count == 1 && Set(keys[6...]).count == 1 && keys[5] != keys[6])
        remove()
    }

    @Test("an unknown id, a request that is done, and a state that is missing or in use are refused")
    func refused() async throws {
        try await list.overwrite(order("/status/502") + order("/ok"))
        #expect(try await run().status != 0)
        let rows = try StateFile.read(state).entries
        let done = try #require(rows.first { $0.outcome == .done })
        let open = try #require(rows.first { $0.outcome == .unknown })
        for (words, message) in [
            ([state, open.id, "0123456789ab"], "no request has the id \"0123456789ab\""),
            ([state, done.id], "is done"),
            ([state], "which requests?"), ([], "which run?"), ([list.path + "x", open.id], "no state of a run"),
        ] {
            for name in ["retry", "forget"] {
                let ended = try await Executable.run([name] + words)
                #expect(ended.status == 2 && ended.errors.contains(message), "\(ended.errors)")
            }
        }
        #expect(try await command("status").text.contains("1 done, 1 unknown"))
        try await list.overwrite(order("/hang"))
        let running = try Executable.start(words)
        await server.requests(atLeast: 3)
        let busy = try await command("retry", open.id)
        #expect(busy.status == 2 && busy.errors.contains("another run (pid \(running.pid))"), "\(busy.errors)")
        // By another name it is the same state.
        let link = ScratchFile.at(state + "-link")
        #expect(symlink(state, link.path) == 0)
        let linked = try await Executable.run(["retry", link.path, open.id])
        #expect(linked.status == 2 && linked.errors.contains("another run (pid \(running.pid))"), "\(linked.errors)")
        link.remove()
        running.signal(9)
        _ = await running.end()
        remove()
    }

    @Test("R37: what a killed run had is known until a run has ended in order, whatever opens the state meanwhile")
    func leftBehind() async throws {
        let wanted = ["had", "not"].map { RequestList.New(name: $0, method: "GET", url: "http://h/\($0)") }
        func opened() throws -> ListState { try ListState(path: state, option: "--state") }
        func rows(_ state: ListState) async throws -> [ListEntry] {
            try await state.register(wanted, isDurable: false).compactMap(\.self)
        }
        let first = try opened()
        #expect(try await first.claim([try await rows(first)[0]]) == [true])
        #expect(try await rows(first).map(\.isLeftBehind) == [false, false])
        // As by SIGKILL it leaves without a word.
        for _ in 1...2 { #expect(try await rows(opened()).map(\.isLeftBehind) == [true, false]) }
        let next = try opened()
        #expect(try await next.claim(try await rows(next)) == [true, true])
        #expect(try await first.note(try await rows(first)).count == 2)
        try await next.finish()
        #expect(try await rows(opened()).map(\.isLeftBehind) == [false, false])
        remove()
    }

    /// A row as it was, the decision about it, and what is left of it.
    struct Decided: Sendable, CustomTestStringConvertible {
        var outcome = ListEntry.Outcome.pending
        /// How many seconds ago it was begun.
        var age: Double?
        var key: String?
        var isForgotten = false
        let change: Settlement.Change
        /// Whether the next run sends it as a request that was never begun.
        var isReset = false

        var testDescription: String {
            "\(outcome)\(age.map { ", begun \($0) s ago" } ?? "")\(key == nil ? "" : ", keyed")"
                + "\(isForgotten ? ", forgotten" : ""): \(change)"
        }
    }

    @Test(
        "R5: what becomes of a request that is sent again depends on what the server may know of it",
        arguments: [
            Decided(change: .none), Decided(key: "k", change: .none),
            Decided(age: 10, change: .again, isReset: true), Decided(age: 10, key: "k", change: .sameKey),
            Decided(age: 99, key: "k", change: .sameKey), Decided(age: 101, key: "k", change: .newKey, isReset: true),
            // The clock was set back.
            Decided(age: -10, key: "k", change: .newKey, isReset: true),
            Decided(outcome: .unknown, change: .again, isReset: true),
            Decided(outcome: .unknown, age: 10, key: "k", change: .newKey, isReset: true),
            Decided(outcome: .done, isForgotten: true, change: .again, isReset: true),
            Decided(outcome: .done, age: 10, key: "k", isForgotten: true, change: .newKey, isReset: true),
        ]
    )
    func again(decided: Decided) async throws {
        let now = 1_000_000.0
        let (opened, entry) = try await row(decided, now: now)
        let settled = try opened.settle([entry.id], as: .again(keyLifetime: .seconds(100)), now: now)
        #expect(settled.map(\.change) == [decided.change])
        let left = try row(of: opened)
        #expect(left.key == (decided.isReset ? nil : decided.key) && left.settled == nil)
        let begun = decided.isReset ? nil : decided.age.map { now - $0 }
        #expect((left.begun == nil) == (begun == nil) && abs((left.begun ?? 0) - (begun ?? 0)) < 0.1)
        #expect(left.outcome == (left.begun == nil ? .pending : .begun))
        remove()
    }

    @Test(
        "a request that is forgotten has the time of it, and keeps the first one",
        arguments: [
            Decided(age: 10, key: "k", change: .forgotten), Decided(outcome: .unknown, change: .forgotten),
            Decided(change: .forgotten), Decided(outcome: .done, isForgotten: true, change: .wasForgotten),
        ]
    )
    func forget(decided: Decided) async throws {
        let now = 1_000_000.0
        let (opened, entry) = try await row(decided, now: now)
        #expect(try opened.settle([entry.id], as: .forget, now: now).map(\.change) == [decided.change])
        let left = try row(of: opened)
        let time = decided.isForgotten ? now - 5 : WallClock.Instant.now.sinceEpoch.inSeconds
        #expect(left.outcome == .forgotten && left.settled.map { abs($0 - time) < 60 } == true)
        remove()
    }

    private func row(_ decided: Decided, now: Double) async throws -> (ListState, ListEntry) {
        let opened = try ListState(path: state, option: "--state")
        let order = RequestList.New(name: "POST http://h/", method: "POST", url: "http://h/", key: decided.key)
        let entry = try #require(try await opened.register([order], isDurable: true).first ?? nil)
        let states: [ListEntry.Outcome: Int] = [.pending: 0, .done: 2, .failed: 3, .unknown: 4]
        let begun = decided.age.map { "\(1000 * (now - $0))" } ?? "NULL"
        try Database(path: state).run(
            "UPDATE refrain_request SET state = \(states[decided.outcome] ?? 0), begun = \(begun), "
                + "record = \(decided.isForgotten ? "'forgotten'" : "NULL"), changed = \(1000 * (now - 5))"
        )
        return (opened, entry)
    }

    /// The row as a reader is told of it after the run.
    private func row(of opened: consuming ListState) throws -> ListEntry {
        _ = consume opened
        return try #require(try StateFile.read(state).entries.first)
    }
}
