// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainQueue
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("Orders whose outcome is unknown", .timeLimit(.minutes(10)))
struct UnknownOutcomeTests {
    private let server: FaultServer
    private let list: ScratchFile
    private var state: String { list.path + Directory.stateName }

    init() throws {
        server = try FaultServer()
        list = try ScratchFile()
    }

    private func order(_ path: String, _ more: String = "") -> String {
        "{\"url\": \"\(server.baseURL)\(path)\", \"method\": \"POST\", \"body\": {\"n\": 1}\(more)}\n"
    }

    private func run(_ words: String...) async throws -> Executable.Ended {
        try await Executable.run(
            ["get", "--from", list.path, "-o", "/dev/null", "--attempts", "3", "--backoff", "constant:5ms"] + words
        )
    }

    private func status() async throws -> Executable.Ended { try await Executable.run(["status", state]) }

    private func remove() {
        for ending in ["", "-wal", "-shm", "-lock"] { ScratchFile.at(state + ending).remove() }
        list.remove()
    }

    @Test(
        "R5: an order without a key that the server may have done is sent once, is unknown, and is left alone",
        arguments: ["/status/500", "/status/502", "/status/504", "/reset-after", "/cut-body", "/status/503", "/vague"]
    )
    func unknown(path: String) async throws {
        server.on("/reset-after") { _ in [.readBody, .reset] }
        server.on("/vague") { _ in [.respond(.init(503, headers: [("Retry-After", "soon")]))] }
        server.on("/cut-body") { _ in [.send(Array("HTTP/1.1 201 X\r\nContent-Length: 9\r\n\r\nhalf".utf8)), .close] }
        try await list.overwrite(order(path) + order(path))
        let first = try await run()
        #expect(first.status != 0 && first.errors.contains("unknown"), "\(first.errors)")
        #expect(server.count(path: path) == 2)
        #expect(server.log.allSatisfy { $0.header("Idempotency-Key") == nil })
        let status = try await status()
        #expect(status.status == 1 && status.text.contains("2 unknown"), "\(status.text)")
        let second = try await run()
        #expect(second.status != 0 && second.errors.contains("--resend-unknown"), "\(second.errors)")
        #expect(second.errors.contains("0 of 2 done, 0 B in") && second.errors.contains("2 failed"), "\(second.errors)")
        #expect(server.count(path: path) == 2)
        #expect(try await run("--resend-unknown").status != 0)
        #expect(server.count(path: path) == 4)
        server.on(path) { _ in [.respond(.init(201))] }
        #expect(try await run("--resend-unknown").status == 0)
        #expect(try await self.status().text.contains("2 done"))
        #expect(try await run("--resend-unknown").status == 0)
        #expect(server.count(path: path) == 6)
        remove()
    }

    @Test(
        "R2: an order that was certainly not done is failed, and the next run sends it",
        arguments: ["/status/422", "/status/429", "/late", "/status/501"]
    )
    func refused(path: String) async throws {
        server.on("/late") { _ in [.respond(.init(503, headers: [("Retry-After", "100000")]))] }
        try await list.overwrite(order(path))
        #expect(try await run("--attempts", "1").status != 0)
        #expect(try await status().text.contains("1 failed"))
        server.on(path) { _ in [.respond(.init(201))] }
        #expect(try await run().status == 0)
        #expect(server.count(path: path) == 2)
        remove()
    }

    @Test("R2: an order to a host that refuses connections is not unknown")
    func notSent() async throws {
        try await list.overwrite("{\"url\": \"http://127.0.0.1:1/\", \"method\": \"POST\"}\n")
        #expect(try await run().status == 1)
        #expect(try await status().text.contains("1 failed"))
        remove()
    }

    @Test("an order that was being sent when the command was killed is unknown to the next run")
    func killed() async throws {
        try await list.overwrite(order("/hang") + order("/ok"))
        let running = try Executable.start(["get", "-j", "1", "--from", list.path, "-o", "/dev/null"])
        await server.requests(atLeast: 1)
        #expect(try await status().text.contains("1 begun, 1 pending"))
        running.signal(9)
        _ = await running.end()
        #expect(try await status().text.contains("1 unknown, 1 pending"))
        let ended = try await run()
        #expect(ended.status == 1 && ended.errors.contains("unknown"), "\(ended.errors)")
        #expect(server.count(path: "/hang") == 1 && server.count(path: "/ok") == 1)
        #expect(try await status().text.contains("1 done, 1 unknown"))
        remove()
    }

    @Test("R5: with a key an order is sent again under the same key, in this run and in the next one")
    func keyed() async throws {
        try await list.overwrite(order("/status/502", ", \"key\": \"mine\"") + order("/status/502"))
        #expect(try await run("--idempotency-key").status == 22)
        #expect(server.log.count == 6)
        #expect(try await status().text.contains("2 failed"))
        #expect(try await run("--idempotency-key").status == 22)
        let keys = Set(server.log.map { $0.header("Idempotency-Key") ?? "none" })
        #expect(server.log.count == 12 && keys.count == 2 && keys.contains("\"mine\""), "\(keys)")
        remove()
    }

    @Test("R5: a key that the server has forgotten is not sent again; the order is unknown")
    func keyLifetime() async throws {
        try await list.overwrite(order("/status/502"))
        #expect(try await run("--idempotency-key").status == 22)
        for (age, sends) in [(86_000, 6), (87_000, 6)] {
            try Database(path: state).run("UPDATE refrain_request SET begun = 1000 * (unixepoch() - \(age))")
            _ = try await run("--idempotency-key")
            #expect(server.log.count == sends)
        }
        #expect(try await status().text.contains("1 unknown"))
        #expect(try await run("--idempotency-key", "--key-lifetime", "48h").status == 22)
        #expect(server.log.count == 9)
        try Database(path: state).run("UPDATE refrain_request SET begun = 1000 * (unixepoch() - 200000)")
        #expect(try await run("--idempotency-key", "--resend-unknown").status == 22)
        let keys = server.log.map { $0.header("Idempotency-Key") ?? "none" }
        #expect(Set(keys[..<9]).count == 1 && keys[9] != keys[8] && Set(keys[9...]).count == 1)
        remove()
    }

    @Test("R5: keys go in the field that the server reads")
    func keyField() async throws {
        try await list.overwrite(order("/status/502?a", ", \"key\": \"mine\"") + order("/status/502?b"))
        let words = ["--idempotency-key", "--idempotency-key-field", "X-Request-Key"]
        #expect(try await run(words[0], words[1], words[2]).status == 22)
        #expect(server.log.count == 6 && server.log.allSatisfy { $0.header("Idempotency-Key") == nil })
        #expect(Set(server.log.compactMap { $0.header("X-Request-Key") }).count == 2)
        #expect(try await run("--idempotency-key", "--idempotency-key-field", "a b").status == 2)
        remove()
    }

    @Test("an order of an earlier version, which had a key that nobody asked for, is unknown where it may be done")
    func migrated() async throws {
        try await list.overwrite(order("/ok"))
        #expect(try await run().status == 0)
        for (outcome, status, sends) in [("failed", "502", 1), ("failed", "NULL", 1), ("failed", "422", 2)] {
            try EarlierTables.write(state)
            let database = try Database(path: state)
            try database.run(
                "UPDATE requests SET key = 'old', outcome = '\(outcome)', status = \(status);"
                    + "ALTER TABLE requests DROP COLUMN begun; ALTER TABLE requests DROP COLUMN isOld"
            )
            _ = try await run()
            #expect(server.count(path: "/ok") == sends, "\(outcome) \(status)")
        }
        remove()
    }

    // MARK: A file that is no state

    @Test(
        "a state that is empty, another program's, without its table or torn is refused, and no order is placed again",
        arguments: ["empty", "foreign", "dropped", "columns", "earlier", "torn", "text"]
    )
    func noState(kind: String) async throws {
        try await list.overwrite((0..<400).map { order("/ok?\($0)") }.joined())
        #expect(try await run("-j", "16").status == 0)
        switch kind {
        case "empty": try await ScratchFile.at(state).overwrite("")
        case "text": try await ScratchFile.at(state).overwrite(String(repeating: "not a database ", count: 900))
        case "torn":
            try Database(path: state).run("PRAGMA wal_checkpoint(TRUNCATE)")
            let bytes = try ScratchFile.at(state).bytes()
            try #require(bytes.count > 40_000)
            try ScratchFile.at(state).write(bytes: Array(bytes[..<(bytes.count / 2)]))
        case "dropped": try Database(path: state).run("DROP TABLE refrain_request")
        case "columns":
            try Database(path: state).run("DROP TABLE refrain_request; CREATE TABLE refrain_request (id, queue, head)")
        case "earlier":
            try Database(path: state).run("DROP TABLE refrain_request; DROP VIEW requests; CREATE TABLE requests (id)")
        default:
            for ending in ["", "-wal", "-shm"] { ScratchFile.at(state + ending).remove() }
            try Database(path: state).run("CREATE TABLE notes (text)")
        }
        let before = try ScratchFile.at(state).bytes()
        let ended = try await run()
        #expect(ended.status == 2 && ended.errors.contains("move it away"), "\(ended.errors)")
        #expect(ended.errors.contains(state), "\(ended.errors)")
        #expect(server.log.count == 400)
        if ["empty", "text", "torn"].contains(kind) { #expect(try ScratchFile.at(state).bytes() == before) }
        if kind == "torn" {
            #expect(ended.errors.contains("can be read"), "\(ended.errors)")
            let status = try await status()
            #expect(status.status == 1 && status.text.contains("done") && status.errors.contains("cannot be read"))
        }
        remove()
    }

    @Test("an outcome that cannot be kept ends the run: no further order is placed")
    func diskFull() async throws {
        try await list.overwrite((0..<100).map { order("/ok?\($0)") }.joined())
        let count = Locked(0)
        server.on("/ok") { [state] _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 3 {
                try? Database(path: state).run(
                    "CREATE TRIGGER full BEFORE UPDATE OF state ON refrain_request WHEN new.state = 2 BEGIN "
                        + "SELECT RAISE(ABORT, 'disk full'); END"
                )
            }
            return [.respond(.init(201))]
        }
        let ended = try await run("-j", "2")
        #expect(ended.status == 1 && ended.errors.contains("no further request is sent"), "\(ended.errors)")
        #expect(server.log.count < 12, "\(server.log.count)")
        #expect(try await status().text.contains("unknown"))
        remove()
    }
}
