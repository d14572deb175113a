// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("What scripts meet", .timeLimit(.minutes(10)))
struct ScriptTests {
    private let server: FaultServer
    private let folder: ScratchFile

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
        try folder.makeFolder()
        server.on("/gone") { _ in [.respond(.init(404, body: "it is gone"))] }
        server.on("/job") { _ in [.respond(.init(200, body: "{\"state\": \"done\"}"))] }
        server.on("/later") { _ in [.respond(.init(503, headers: [("Retry-After", "30")], body: "too busy"))] }
    }

    /// Runs the command; BASE stands for the address of the server, DIR for the folder.
    private func get(_ words: [String]) async throws -> Executable.Ended {
        let words = words.map { $0.replacing("BASE", with: server.baseURL).replacing("DIR", with: folder.path) }
        return try await Executable.run(["get", "--backoff", "constant:5ms"] + words)
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try folder.file(name).bytes(), as: UTF8.self)
    }

    @Test(
        "a content that comes with its answer goes to files that can be continued, too",
        arguments: [
            (["--fail-with-body", "--output-dir", "DIR/out", "BASE/gone"], "it is gone"),
            (["--fail-with-body", "-C", "-o", "DIR/out", "BASE/gone"], "it is gone"),
            (["--fail-with-body", "--segments", "2", "-o", "DIR/out", "BASE/gone"], "it is gone"),
            (["--fail-with-body", "--progress", "json", "-C", "-o", "DIR/out", "BASE/gone"], "it is gone"),
            (["--fail-with-body", "--from", "DIR/list", "--output-dir", "DIR/out"], "it is gone"),
            (["--until", "STATUS in 404", "-C", "-o", "DIR/out", "BASE/gone"], "it is gone"),
            (["--until", "STATUS in 404", "--output-dir", "DIR/out", "BASE/gone"], "it is gone"),
            (["--until", "STATUS in 404", "--from", "DIR/list", "-o", "DIR/out"], "it is gone"),
            (["--until-json", ".state == \"done\"", "-C", "-o", "DIR/out", "BASE/job"], "{\"state\": \"done\"}"),
        ]
    )
    func files(words: [String], content: String) async throws {
        try await folder.file("list").overwrite("\(server.baseURL)/gone\n")
        let ended = try await get(["--attempts", "1"] + words)
        #expect(ended.status == (words[0] == "--fail-with-body" ? 22 : 0), "\(ended.errors)")
        let files = folder.files.filter { $0.hasPrefix("out") && !$0.contains(".refrain.sqlite") }
        #expect(files.count == 1 && !ended.errors.contains("cannotWriteToFile"), "\(files) \(ended.errors)")
        #expect(try files.allSatisfy { try text($0) == content })
        folder.remove()
    }

    @Test("--fail-with-body replaces neither a partial file nor a whole one of those that can be continued")
    func olderStays() async throws {
        try await folder.file("whole").overwrite("old")
        let failed = try await get(["-C", "--fail-with-body", "-o", "DIR/whole", "BASE/gone"])
        #expect(failed.status == 22 && failed.errors.contains("  it is gone"), "\(failed.errors)")
        #expect(try text("whole") == "old" && folder.names == ["whole"])
        let isGone = Locked(false)
        server.on("/big") { _ in
            guard !isGone.withLock({ $0 }) else { return [.respond(.init(404, body: "it is gone"))] }
            let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 600000\r\n\r\n"
            return [.text(head), .send([UInt8](repeating: 1, count: 400_000)), .close]
        }
        let words = ["--attempts", "1", "-C", "--fail-with-body", "-o", "DIR/big", "BASE/big"]
        #expect(try await get(words).status == 1)
        #expect(folder.names == [".big.part", ".big.part.json", "whole"])
        isGone.withLock { $0 = true }
        let gone = try await get(words)
        #expect(gone.status == 22 && gone.errors.contains("  it is gone"), "\(gone.errors)")
        #expect(folder.names == [".big.part", ".big.part.json", "whole"])
        #expect(try folder.file(".big.part").bytes().count == 400_000)
        folder.remove()
    }

    @Test("--max-time is for the whole request; with an option that repeats it, for each attempt")
    func maxTime() async throws {
        let whole = try await get(["--max-time", "1", "BASE/hang"])
        #expect(whole.status == 1 && whole.errors.contains("deadlineExceeded"), "\(whole.errors)")
        #expect(server.log.count == 1)
        for words in [["--retry", "1", "--retry-delay", "0.05"], ["--attempts", "2"]] {
            server.clearLog()
            let each = try await get(words + ["-m", "1", "BASE/hang"])
            #expect(each.status == 1 && each.errors.contains("timedOut"), "\(each.errors)")
            #expect(server.log.count == 2, "\(words)")
        }
        folder.remove()
    }

    @Test("cookies of one URL go with the next, unless the number of requests at a time is given")
    func cookies() async throws {
        server.on("/set") { _ in
            [.sleep(.milliseconds(300)), .respond(.init(200, headers: [("Set-Cookie", "a=b; Path=/")]))]
        }
        server.on("/read") { request in [.respond(.init(200, body: request.header("Cookie") ?? "none"))] }
        let ended = try await get(["-c", "DIR/jar", "BASE/set", "BASE/read"])
        #expect(ended.text == "a=b", "\(ended.text) \(ended.errors)")
        try await folder.file("none").overwrite("")
        for (words, limit) in [
            (["-c", "DIR/jar"], 1), (["-b", "DIR/none"], 1), (["-c", "DIR/jar", "-Z"], 8), (["-b", "a=b"], 8),
            (["-c", "DIR/jar", "-j", "3"], 3), ([], 8),
        ] {
            let words = words.map { $0.replacing("DIR", with: folder.path) } + ["http://h/1", "http://h/2"]
            let settings = try GetSettings(Arguments(words, options: CommandSpec.get.options))
            #expect(settings.transports.concurrency == limit, "\(words)")
        }
        folder.remove()
    }

    @Test(
        "proxies, keys, referrers and secrets that end alike are not to be seen in the list of processes",
        arguments: [
            ["--socks4", "a:SECRET@127.0.0.1:PORT"], ["--socks4a", "a:SECRET@127.0.0.1:PORT"],
            ["--socks5", "a:SECRET@127.0.0.1:PORT"], ["--socks5-hostname=a:SECRET@127.0.0.1:PORT"],
            ["--user=SECRET:hunter2"]
                + ["2", "r2", "er2", "ter2", "nter2", "unter2", "hunter2"].flatMap { ["--url-query", $0] },
            ["-e", "http://a:SECRET@h/"],
            ["--idempotency-key=SECRET"],
        ]
    )
    func blanked(words: [String]) async throws {
        let silent = try SilentListener()
        defer { silent.close() }
        let words = words.map { $0.replacing("PORT", with: "\(silent.port)") }
        let running = try Executable.start(["get"] + words + ["http://127.0.0.1:\(silent.port)/"])
        let list = try await commandLine(of: running)
        #expect(list.contains("get") && !list.contains("SECRET"), "\(list)")
        running.signal(9)
        _ = await running.end()
        folder.remove()
    }

    @Test("a password is not to be seen while options are read from standard input")
    func blankedEarly() async throws {
        let pipe = try ScratchFile.pipe()
        // Opened for both, the pipe has a writer that writes nothing.
        let line = "exec \"$0\" \"$@\" 0<>'\(pipe.path)'"
        let words = ["-c", line, Executable.path, "get", "-u", "me:SECRET", "-K", "-", "http://127.0.0.1:9/"]
        let running = try Executable.start(words, program: "/bin/sh")
        let list = try await commandLine(of: running)
        #expect(list.contains("get") && !list.contains("SECRET"), "\(list)")
        running.signal(9)
        _ = await running.end()
        pipe.remove()
        folder.remove()
    }

    /// What `ps` shows of a process, as soon as it shows no secret, or after some seconds.
    private func commandLine(of running: Executable.Running) async throws -> String {
        var list = ""
        // With a sanitizer, and hundreds of processes beside it, one takes seconds to start.
        for _ in 0..<3000 {
            #if os(Linux)
            list = await ScratchFile.at("/proc/\(running.pid)/cmdline").read()
            #else
            list = try await Executable.run(["-o", "args=", "-p", "\(running.pid)"], program: "/bin/ps").text
            #endif
            if list.contains("get"), !list.contains("SECRET") { break }
            await Executable.Running.onThread { _ = poll(nil, 0, 10) }
        }
        return list
    }

    @Test("--progress json has no rate where no bytes come, and its last event says how the request ended")
    func progress() async throws {
        let words = ["--attempts", "2", "--progress", "json", "-q", "-o", "DIR/x"]
        let good = try await get(words + ["BASE/status/503?times=1"]).errors.split(separator: "\n")
        let retry = try #require(good.first { $0.contains(#""event":"retry""#) })
        #expect(!retry.contains("bytes_per_second") && !retry.contains("eta_s") && retry.contains(#""retries":1"#))
        #expect(good.last?.contains(#""event":"end""#) == true && good.last?.contains(#""status":200"#) == true)
        #expect(good.last?.contains("error") == false && good.last?.contains("bytes_per_second") == true, "\(good)")
        let bad = try await get(words + ["BASE/gone"]).errors
        #expect(bad.contains(#""status":404,"error":"status 404"}"#), "\(bad)")
        let refused = try await get(words + ["http://127.0.0.1:1/"]).errors
        #expect(refused.contains(#""status":null,"error":"cannotConnectToHost"}"#), "\(refused)")
        folder.remove()
    }

    @Test(
        "the last attempt that is allowed ends with 75 and the date, too",
        arguments: [["--attempts", "1"], ["--retry", "0"]]
    )
    func retryAfterTooLong(words: [String]) async throws {
        let later = try await get(words + ["--report", "-", "BASE/later"])
        #expect(later.status == 75 && later.errors.contains("come back at "), "\(later.errors)")
        #expect(later.errors.contains("  too busy") && later.text.contains(#""come_back_at":"20"#), "\(later.text)")
        let written = try await get(words + ["--fail-with-body", "BASE/later"])
        #expect(written.status == 75 && written.text == "too busy", "\(written.errors)")
        #expect(try await get(words + ["--ignore-retry-after", "BASE/later"]).status == 22)
        #expect(try await get(words + ["BASE/status/503"]).status == 22)
        // A request that must not be sent again is not to come back with, either.
        #expect(try await get(words + ["-d", "x", "BASE/status/500?retry-after=30"]).status == 22)
        folder.remove()
    }

    @Test("-C says once that the server gives no strong validator, where that costs bytes")
    func noValidator() async throws {
        for (path, tag) in [("/none", ""), ("/weak", "ETag: W/\"a\"\r\n"), ("/strong", "ETag: \"a\"\r\n")] {
            server.on(path) { _ in
                let head = "HTTP/1.1 200 OK\r\n\(tag)Content-Length: 600000\r\n\r\n"
                return [.text(head), .send([UInt8](repeating: 1, count: 400_000)), .close]
            }
        }
        let message = "cannot be continued: the server gives no strong validator"
        let words = ["-C", "--attempts", "2", "-o", "DIR/1", "BASE/none", "-o", "DIR/2", "BASE/weak"]
        let ended = try await get(words)
        #expect(ended.status == 1 && ended.errors.split(separator: message).count == 2, "\(ended.errors)")
        let strong = try await get(["-C", "--attempts", "1", "-o", "DIR/3", "BASE/strong"])
        #expect(strong.status == 1 && !strong.errors.contains(message), "\(strong.errors)")
        #expect(folder.names == [".3.part", ".3.part.json"])
        folder.remove()
    }

    @Test("a folder of -O that is not there is refused with the option that makes it")
    func missingFolder() async throws {
        let ended = try await get(["-O", "--output-dir", "DIR/none", "BASE/job"])
        #expect(ended.status == 2 && ended.errors.contains("--create-dirs"), "\(ended.errors)")
        #expect(server.log.isEmpty)
        #expect(try await get(["-O", "--create-dirs", "--output-dir", "DIR/none", "BASE/job"]).status == 0)
        #expect(folder.files == ["none/job"])
        folder.remove()
    }

    @Test("--netrc goes on without ~/.netrc, as curl does; a file that is named must be there")
    func noNetrc() async throws {
        let line = "HOME='\(folder.path)' exec \"$@\""
        let words = ["-c", line, "sh", Executable.path, "get", "-n", server.baseURL + "/job"]
        let ended = try await Executable.run(words, program: "/bin/sh")
        #expect(ended.status == 0 && ended.text.contains("done"), "\(ended.errors)")
        let named = try await get(["--netrc-file", "DIR/none", "BASE/job"])
        #expect(named.status == 2 && named.errors.contains("--netrc-file"), "\(named.errors)")
        folder.remove()
    }

    @Test("a file that the server names and that is there is an error that says what to do")
    func namedFileIsThere() async throws {
        server.on("/cd") { _ in
            [.respond(.init(200, headers: [("Content-Disposition", "attachment; filename=x")], body: "new"))]
        }
        try await folder.file("x").overwrite("old")
        let ended = try await get(["-OJ", "--output-dir", "DIR", "BASE/cd"])
        #expect(ended.status == 1 && ended.errors.contains("already exists; remove or rename it"), "\(ended.errors)")
        #expect(!ended.errors.contains("callerFailed"), "\(ended.errors)")
        #expect(try text("x") == "old" && folder.names == ["x"])
        folder.remove()
    }

    @Test("explain counts attempts")
    func explained() async throws {
        let ended = try await Executable.run(["explain", "--status", "503", "--attempt", "2"])
        #expect(ended.text.hasPrefix("GET, attempt 2: status 503\n"), "\(ended.text)")
        folder.remove()
    }
}
