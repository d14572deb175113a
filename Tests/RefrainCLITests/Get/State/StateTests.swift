// SPDX-License-Identifier: Apache-2.0
import RefrainCore
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

@Suite("A list and its state", .timeLimit(.minutes(10)))
struct StateTests {
    private let server: FaultServer
    private let folder: ScratchFile

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
    }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "2", "--backoff", "constant:5ms"] + words)
    }

    @Test("status lists failures before the requests that are not made yet, of which it shows ten")
    func order() {
        var entries = (0..<13).map { number in
            let url = "http://h/\(number)"
            return ListEntry(identity: "GET \(url)", url: url, method: "GET", name: nil)
        }
        entries[12].outcome = .failed
        let lines = StatusCommand.text(entries).split(separator: "\n")
        #expect(lines.count == 13 && lines[1].hasPrefix("  failed  GET  http://h/12  id "), "\(lines)")
        #expect(lines[2].hasPrefix("  pending  GET  http://h/0  id "), "\(lines)")
        #expect(lines[12] == "  … and 2 more pending; --json lists all", "\(lines)")
    }

    @Test("rerunning only what has failed leaves the file of another URL as it was")
    func noDataLoss() async throws {
        let isUp = Locked(false)
        server.on("/a/index.html") { _ in [.respond(.init(200, body: "a"))] }
        server.on("/b/index.html") { _ in [.respond(isUp.withLock { $0 } ? .init(200, body: "b") : .init(404))] }
        let (a, b) = (server.baseURL + "/a/index.html", server.baseURL + "/b/index.html")
        #expect(try await get([a, b, "--output-dir", folder.path]).status == 22)
        isUp.withLock { $0 = true }
        #expect(try await get([b, "--output-dir", folder.path]).status == 0)
        #expect(try folder.file(OutputNaming.tree(a)).bytes() == Array("a".utf8))
        #expect(try folder.file(OutputNaming.tree(b)).bytes() == Array("b".utf8))
        folder.remove()
    }

    @Test("the same command again makes no request for what is done, and repeats what failed")
    func again() async throws {
        let urls = (0..<20).map { "\(server.baseURL)/bytes/1000?n=\($0)" } + [server.baseURL + "/status/404?times=1"]
        let words = urls + ["--output-dir", folder.path, "--report", "-"]
        #expect(try await get(words).status == 22)
        server.clearLog()
        let second = try await get(words)
        #expect(
            second.status == 0 && second.errors.contains("20 of 21 were done in an earlier run"),
            "\(second.errors)"
        )
        #expect(server.log.map(\.path) == ["/status/404?times=1"])
        #expect(second.lines.count { $0.contains(#""skipped":"#) } == 20)
        let state = try await Executable.run(["status", folder.path])
        #expect(state.status == 0 && state.text.contains("21 requests: 21 done"), "\(state.text)")
        folder.remove()
    }

    @Test("of a long list each URL is fetched once, and the run after that makes no request")
    func longList() async throws {
        let urls = (0..<1000).map { "\(server.baseURL)/bytes/10?n=\($0 % 900)" }
        let list = try ScratchFile(urls.joined(separator: "\n"))
        let words = ["--from", list.path, "-j", "16", "--output-dir", folder.path]
        let first = try await get(words)
        #expect(first.status == 0, "\(first.errors)")
        #expect(Set(server.log.map(\.path)).count == 900 && server.log.count == 900)
        for url in urls { #expect(try folder.file(OutputNaming.tree(url)).bytes().count == 10) }
        server.clearLog()
        let second = try await get(words)
        #expect(second.status == 0 && second.errors.contains("900 of 900 were done"), "\(second.errors)")
        #expect(server.log.isEmpty)
        list.remove()
        folder.remove()
    }

    @Test("large files of a list arrive whole, whichever thread writes them")
    func largeFiles() async throws {
        let content = (0..<300_000).map { "\(1_000_000_000 + $0)" }.joined()
        server.on("/large") { _ in [.respond(.init(200, headers: [("ETag", "\"1\"")], body: content))] }
        let urls = (0..<24).map { "\(server.baseURL)/large?n=\($0)" }
        let list = try ScratchFile(urls.joined(separator: "\n"))
        let ended = try await get(["--from", list.path, "-j", "8", "--output-dir", folder.path])
        #expect(ended.status == 0, "\(ended.errors)")
        for url in urls { #expect(try folder.file(OutputNaming.tree(url)).bytes() == Array(content.utf8)) }
        list.remove()
        folder.remove()
    }

    @Test("a file that was removed or cut is fetched again")
    func damaged() async throws {
        let urls = (0..<3).map { "\(server.baseURL)/bytes/1000?n=\($0)" }
        #expect(try await get(urls + ["--output-dir", folder.path]).status == 0)
        folder.file(OutputNaming.tree(urls[0])).remove()
        truncate(folder.file(OutputNaming.tree(urls[1])).path, 10)
        server.clearLog()
        #expect(try await get(urls + ["--output-dir", folder.path]).status == 0)
        #expect(Set(server.log.map(\.path)) == ["/bytes/1000?n=0", "/bytes/1000?n=1"])
        folder.remove()
    }

    @Test("where a request that is alone has put its file is told, also of a small one, and that it is skipped then")
    func alone() async throws {
        let words = [server.baseURL + "/ok", "--output-dir", folder.path]
        let first = try await get(words)
        #expect(first.status == 0 && first.errors.contains("saved 3 B to \(folder.path)/"), "\(first.errors)")
        let again = try await get(words)
        #expect(again.status == 0 && again.errors.contains("1 of 1 were done"), "\(again.errors)")
        #expect(!again.errors.contains("saved") && server.log.count == 1, "\(again.errors)")
        let file = folder.file("state").path
        let kept = try await get([server.baseURL + "/ok", "--state", file, "-o", folder.file("x").path])
        #expect(kept.status == 0 && kept.errors.contains("saved 3 B to"), "\(kept.errors)")
        folder.remove()
    }

    @Test("an order that is done is not placed again for its file, nor by --refresh", arguments: ["POST", "PUT"])
    func doneOrder(method: String) async throws {
        let order = #"{"url": "\#(server.baseURL)/ok?order", "method": "\#(method)", "body": "x", "output": "o"}"#
        let list = try ScratchFile("\(order)\n\(server.baseURL)/ok?page\n")
        let folder = try ScratchFile()
        let words = ["get", "--from", list.path, "--output-dir", folder.path]
        #expect(try await Executable.run(words).status == 0)
        #expect(try await Executable.run(words + ["--refresh"]).status == 0)
        for file in folder.files { folder.file(file).remove() }
        let last = try await Executable.run(words)
        #expect(last.status == 0 && last.errors.contains("1 of 2"), "\(last.errors)")
        #expect(server.count(path: "/ok?order") == 1 && server.count(path: "/ok?page") == 3)
        folder.remove()
        list.remove()
    }

    @Test("--refresh asks for what has changed, and an answer of 304 costs no body and leaves the file")
    func refresh() async throws {
        let version = Locked(1)
        server.on("/page.txt") { request in
            let tag = "\"\(version.withLock { $0 })\""
            if request.header("If-None-Match") == tag { return [.respond(.init(304, headers: [("ETag", tag)]))] }
            return [.respond(.init(200, headers: [("ETag", tag)], body: "version \(tag)"))]
        }
        let url = server.baseURL + "/page.txt"
        let words = [url, "--output-dir", folder.path, "--refresh", "--report", "-"]
        #expect(try await get(words).status == 0)
        let same = try await get(words)
        #expect(same.status == 0 && same.text.contains(#""status":304"#), "\(same.text) \(same.errors)")
        version.withLock { $0 = 2 }
        #expect(try await get(words).text.contains(#""status":200"#))
        #expect(try folder.file(OutputNaming.tree(url)).bytes() == Array("version \"2\"".utf8))
        #expect(try await get(words).text.contains(#""status":304"#))
        // What a condition is for must come.
        let awaited = try await get(words + ["--until", "STATUS in 200"])
        #expect(awaited.status == 0 && awaited.text.contains(#""status":200"#), "\(awaited.text) \(awaited.errors)")
        folder.remove()
    }

    @Test("two runs at a time are refused, with the pid of the other one")
    func twoRuns() async throws {
        let running = try Executable.start(["get", server.baseURL + "/hang", "--output-dir", folder.path])
        await server.requests(atLeast: 1)
        let ended = try await get([server.baseURL + "/ok", "--output-dir", folder.path])
        #expect(ended.status == 2 && ended.errors.contains("pid \(running.pid)"), "\(ended.errors)")
        #expect(try await Executable.run(["status", folder.path]).text.contains("1 pending"))
        running.signal(SIGKILL)
        _ = await running.end()
        #expect(try await get([server.baseURL + "/ok", "--output-dir", folder.path]).status == 0)
        folder.remove()
    }

    @Test("the file of another request stays as it is, and the request fails")
    func owned() async throws {
        let (one, two) = (try ScratchFile(), try ScratchFile())
        for (list, path) in [(one, "/ok?1"), (two, "/ok?2")] {
            try await list.overwrite("{\"url\": \"\(server.baseURL)\(path)\", \"output\": \"same.txt\"}\n")
        }
        #expect(try await get(["--from", one.path, "--output-dir", folder.path]).status == 0)
        let second = try await get(["--from", two.path, "--output-dir", folder.path])
        #expect(second.status == 1 && second.errors.contains("belongs to another request"), "\(second.errors)")
        #expect(server.log.count == 1)
        for file in [one, two, folder] { file.remove() }
    }

    @Test(
        "a request that has failed keeps no name; one that has brought a file keeps it, and so does a file on the disk"
    )
    func freedName() async throws {
        let list = try ScratchFile()
        func run(_ path: String) async throws -> Executable.Ended {
            try await list.overwrite("{\"url\": \"\(server.baseURL)\(path)\", \"output\": \"same.txt\"}\n")
            return try await get(["--from", list.path, "--output-dir", folder.path])
        }
        #expect(try await run("/status/404").status == 22)
        let corrected = try await run("/ok?1")
        #expect(corrected.status == 0 && folder.files == ["same.txt"], "\(corrected.errors)")
        let first = try await run("/status/404")
        #expect(first.status == 1 && first.errors.contains("give this one another \"output\""), "\(first.errors)")
        try Database(path: folder.path + "/" + Directory.stateName).run("UPDATE refrain_request SET state = 3")
        #expect(try await run("/ok?2").status == 1)
        #expect(server.log.map(\.path) == ["/status/404", "/ok?1"])
        for file in [list, folder] { file.remove() }
    }

    @Test("the state has the name that a file has by the last run, also with --flat")
    func renamed() async throws {
        let url = server.baseURL + "/ok?1"
        for more in [[], ["--flat"]] {
            #expect(try await get([url, "--output-dir", folder.path] + more).status == 0)
        }
        let state = folder.path + "/" + Directory.stateName
        #expect(try StateFile.read(state).entries.map(\.name) == [OutputNaming.flat(url)])
        #expect(try await get([url, "--output-dir", folder.path, "--flat"]).status == 0)
        #expect(server.log.count == 2)
        folder.remove()
    }

    @Test("a file with the head in front of its content is not fetched again")
    func withHead() async throws {
        let words = ["-i", server.baseURL + "/bytes/100", "--output-dir", folder.path]
        for _ in 0..<2 { #expect(try await get(words).status == 0) }
        #expect(server.log.count == 1)
        folder.remove()
    }

    @Test("R11: killed at any instant, a download goes on, and in the end it is the source's, byte for byte")
    func killed() async throws {
        // A busy machine may be too late with its kills.
        var isMet = false
        for number in 1...9 where !isMet { isMet = try await kills(number) > 2 && resumes(number) }
        #expect(isMet)
        folder.remove()
    }

    private func path(_ number: Int) -> String { "/bytes/3000000?slow=6000000&number=\(number)" }

    private func resumes(_ number: Int) -> Bool {
        server.requests(toPath: path(number)).contains { $0.header("Range") != nil && $0.header("If-Range") != nil }
    }

    /// Kills a download again and again until it is complete, and returns how often it was.
    private func kills(_ number: Int) async throws -> Int {
        let folder = folder.file("\(number)")
        let path = path(number)
        let url = server.baseURL + path
        let words = ["get", "-q", url, "--output-dir", folder.path]
        var ended: Executable.Ended?
        var kills = 0
        for round in 0..<200 {
            let known = server.requests(toPath: path).count
            let running = try Executable.start(words)
            let isKilled = await Executable.Running.onThread { [server] () -> Bool in
                // No event: a run that has nothing left to ask for ends without a request.
                for _ in 0..<3000 where server.requests(toPath: path).count == known { poll(nil, 0, 1) }
                // Later and later, so that also a process that is slow, as with a sanitizer, comes to its end.
                poll(nil, 0, Int32(round * 37 % 90 + 2 * round))
                return kill(running.pid, SIGKILL) == 0
            }
            let end = await running.end()
            guard isKilled, end.status == -SIGKILL else {
                ended = end
                break
            }
            kills += 1
        }
        #expect(ended?.status == 0, "\(kills) kills, \(ended?.errors ?? "")")
        let file = folder.file(OutputNaming.tree(url))
        let source = try await Executable.run(["get", "\(server.baseURL)/bytes/3000000"]).output
        #expect(try file.bytes() == source)
        #expect(folder.files == [OutputNaming.tree(url)], "\(folder.files)")
        return kills
    }

    @Test("R11: a partial file of a content that has changed since starts over")
    func changed() async throws {
        let seed = Locked(1)
        let bytes = [UInt8](repeating: 7, count: 600_000)
        server.on("/big.bin") { request in
            let tag = "\"\(seed.withLock { $0 })\""
            let body = bytes.map { $0 &+ UInt8(seed.withLock { $0 }) }
            if seed.withLock({ $0 }) == 1 {
                return [
                    .text("HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: 600000\r\n\r\n"),
                    .send(Array(body[..<400_000])), .hang,
                ]
            }
            return [.respond(.init(200, headers: [("ETag", tag)], bytes: body))]
        }
        let url = server.baseURL + "/big.bin"
        let running = try Executable.start(["get", url, "--output-dir", folder.path])
        let part = folder.file("\(OutputNaming.tree(server.baseURL + "/x.y").dropLast(3)).big.bin.part")
        // No event: another process writes the file.
        while (try? part.bytes().count) != 400_000 { await Task.yield() }
        running.signal(SIGKILL)
        _ = await running.end()
        seed.withLock { $0 = 2 }
        #expect(try await get([url, "--output-dir", folder.path]).status == 0)
        #expect(try folder.file(OutputNaming.tree(url)).bytes() == [UInt8](repeating: 9, count: 600_000))
        #expect(server.requests(toPath: "/big.bin").last?.header("Range") == "bytes=400000-")
        #expect(folder.files == [OutputNaming.tree(url)])
        folder.remove()
    }

    @Test("an orphan that cannot be used is removed")
    func orphans() async throws {
        let url = server.baseURL + "/bytes/1000.bin"
        let target = folder.file(OutputNaming.tree(url))
        #expect(try await get([url, "--output-dir", folder.path]).status == 0 || true)
        let directory = String(target.path.prefix { _ in true }.split(separator: "/").dropLast().joined(separator: "/"))
        let name = target.path.split(separator: "/").last.map(String.init) ?? ""
        try await ScratchFile.at("/\(directory)/.\(name).part").overwrite("garbage")
        try await ScratchFile.at("/\(directory)/.\(name).part.json").overwrite("{}")
        target.remove()
        _ = try await get([url, "--output-dir", folder.path])
        #expect(!folder.files.contains { $0.contains(".part") }, "\(folder.files)")
        folder.remove()
    }
}
