// SPDX-License-Identifier: Apache-2.0
import RefrainCore
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

@Suite("The places of a list", .timeLimit(.minutes(10)))
struct ListPlacesTests {
    private let server: FaultServer
    private let list: ScratchFile

    init() throws {
        server = try FaultServer()
        list = try ScratchFile()
    }

    private func get(_ words: [String]) async throws -> (Executable.Ended, Duration) {
        let start = ContinuousClock.now
        let ended = try await Executable.run(["get", "--from", list.path] + words)
        return (ended, .now - start)
    }

    @Test("a host that is down delays no other one, and is probed by one request for all")
    func deadHost() async throws {
        let dead = (0..<200).map { "http://127.0.0.1:1/\($0)\n" }
        let good = (0..<20).map { "\(server.baseURL)/ok?\($0)\n" }
        try await list.overwrite((dead + good).joined())
        let folder = try ScratchFile()
        let running = try Executable.start([
            "get", "-q", "--from", list.path, "--output-dir", folder.path, "-j", "4", "--retry-for", "2s",
        ])
        await server.requests(atLeast: 20)
        let ended = await running.end()
        #expect(ended.status == 1 && folder.files.count == 20, "\(ended.errors)")
        let text = try await Executable.run(["status", folder.path]).text
        #expect(text.contains("20 done, 200 failed"), "\(text.prefix(200))")
        // 200 requests of 2 s each in 4 places take 100 s.
        let attempts =
            Int(text.split(separator: "\n")[0].split(separator: " ").dropLast().last ?? "") ?? 0
        #expect((220..<300).contains(attempts), "\(attempts)")
        folder.remove()
        list.remove()
    }

    @Test("a request that may be sent once is sent, although another one to its host was not")
    func singleAttempts() async throws {
        try await list.overwrite((0..<5).map { "http://127.0.0.1:1/\($0)\n" }.joined())
        let (ended, _) = try await get(["-o", "/dev/null", "-j", "1", "--attempts", "1", "-s", "-S"])
        let failures = ended.errors.split(separator: "\n").filter { $0.contains("cannotConnectToHost") }
        #expect(ended.status == 1 && failures.count == 5, "\(ended.errors)")
        #expect(!ended.errors.contains("another request"), "\(ended.errors)")
        list.remove()
    }

    @Test("a host that was given up is asked again as soon as it was tried for")
    func givenUp() async throws {
        let (port, lines, folder) = (server.port, try ScratchFile.pipe(), try ScratchFile())
        server.stop()
        // Held open, so that the command neither waits for a writer nor finds the end.
        let held = open(lines.path, O_RDWR | O_CLOEXEC)
        await lines.write("http://127.0.0.1:\(port)/ok?0\n")
        let running = try Executable.start(
            [
                "get", "--from", "-", "--output-dir", folder.path, "-j", "1", "--attempts", "2",
                "--backoff", "constant:200ms", "--report", "-",
            ],
            input: lines
        )
        // The first request has failed; those that had come before would have failed with it.
        _ = await running.firstLine()
        let (again, other) = (try FaultServer(port: port), try FaultServer())
        // One after the other, so that this one outlasts what was tried for.
        other.on("/long") { _ in [.sleep(.seconds(2)), .respond(.init(200))] }
        await lines.write(other.baseURL + "/long\n")
        await lines.write((1..<10).map { "http://127.0.0.1:\(port)/ok?\($0)\n" }.joined())
        close(held)
        let ended = await running.end()
        #expect(again.log.count == 9, "\(ended.errors)")
        lines.remove()
        folder.remove()
    }

    @Test("a request that waits for its next attempt gives its place up")
    func backOff() async throws {
        let failing = (0..<8).map { "\(server.baseURL)/status/503?\($0)\n" }
        let working = (0..<40).map { "\(server.baseURL)/ok?\($0)\n" }
        try await list.overwrite((failing + working).joined())
        let (ended, _) = try await get([
            "-o", "/dev/null", "-j", "2", "--backoff", "constant:2s", "--jitter", "none", "--attempts", "2",
        ])
        #expect(ended.status == 22, "\(ended.errors)")
        // With its place a request would hold up the others: the first two would be sent again before any other one.
        let sent = server.log.map(\.path)
        let first = try #require(sent.firstIndex { $0.hasPrefix("/ok") })
        #expect(!sent[..<first].indices.contains { sent[..<$0].contains(sent[$0]) }, "\(sent)")
        list.remove()
    }

    /// Adds a path with room for four requests at once; others are refused, and no time is named.
    private func narrow(_ path: String, time: Duration) {
        let ends = Locked<[ContinuousClock.Instant]>([])
        server.on(path) { _ in
            let now = ContinuousClock.now
            let hasRoom = ends.withLock { ends in
                ends.removeAll { $0 <= now }
                guard ends.count < 4 else { return false }
                ends.append(now + time)
                return true
            }
            return hasRoom ? [.sleep(time), .respond(.ok)] : [.respond(.init(503))]
        }
    }

    @Test("R34: a server that refuses and names no time has as many requests at once as it has room for")
    func serverConcurrency() async throws {
        narrow("/room", time: .milliseconds(50))
        let free = try FaultServer()
        let busy = (0..<200).map { "\(server.baseURL)/room?\($0)\n" }
        try await list.overwrite((busy + (0..<20).map { "\(free.baseURL)/ok?\($0)\n" }).joined())
        let (ended, _) = try await get(["-q", "-o", "/dev/null", "-j", "16"])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(server.log.count < 300, "\(server.log.count)")
        list.remove()
    }

    @Test("R20: the wait for a busy server's room takes nothing of the deadline, beside a host that is down")
    func roomAndDeadline() async throws {
        narrow("/room", time: .milliseconds(500))
        let busy = (0..<60).map { "\(server.baseURL)/room?\($0)\n" }
        try await list.overwrite((["http://127.0.0.1:1/\n"] + busy).joined())
        // 60 requests take 7.5 s at the least.
        let (ended, _) = try await get(["-q", "-o", "/dev/null", "-j", "8", "--deadline", "5s"])
        #expect(ended.status == 1 && !ended.errors.contains("room"), "\(ended.errors)")
        list.remove()
    }

    @Test("a host that comes back is asked by all of its requests")
    func hostComesBack() async throws {
        let port = server.port
        let lines = (0..<30).map { "http://127.0.0.1:\(port)/ok?\($0)\n" }
        try await list.overwrite(lines.joined())
        server.stop()
        let running = try Executable.start(["get", "--from", list.path, "-o", "/dev/null", "-j", "4"])
        _ = await Executable.Running.onThread { poll(nil, 0, 1500) }
        let again = try FaultServer(port: port)
        let ended = await running.end()
        #expect(ended.status == 0 && again.log.count == 30, "\(ended.errors)")
        list.remove()
    }

    @Test("a host that comes back is asked by all of its requests while the first one still receives its content")
    func hostComesBackSlowly() async throws {
        let port = server.port
        let folder = try ScratchFile()
        try await list.overwrite((0..<4).map { "http://127.0.0.1:\(port)/slow?\($0)\n" }.joined())
        server.stop()
        let running = try Executable.start(["get", "--from", list.path, "--output-dir", folder.path, "-j", "4"])
        _ = await Executable.Running.onThread { poll(nil, 0, 1500) }
        let again = try FaultServer(port: port)
        let arrivals = Locked<[ContinuousClock.Instant]>([])
        again.on("/slow") { _ in
            arrivals.withLock { $0.append(.now) }
            let head = FaultServer.Step.head(.init(200, headers: [("Content-Length", "2")]))
            return [head, .send([1]), .sleep(.seconds(10)), .send([2])]
        }
        let ended = await running.end()
        #expect(ended.status == 0 && folder.files.count == 4, "\(ended.errors)")
        let times = arrivals.withLock { $0 }
        #expect(times.count == 4 && times[0].duration(to: times[3]) < .seconds(9))
        folder.remove()
        list.remove()
    }
}
