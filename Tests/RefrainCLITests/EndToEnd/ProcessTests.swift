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

@Suite("The process", .timeLimit(.minutes(10)))
struct ProcessTests {
    @Test(
        "R9: a signal ends a download, by that signal, so that a shell ends its loop as well, and no file is left",
        arguments: [Int32(1), 2, 3, 15]
    )
    func interrupted(signal: Int32) async throws {
        let server = try FaultServer()
        let folder = try ScratchFile()
        let running = try Executable.start([
            "get", server.baseURL + "/trickle?bytes=100000&interval=5", "--output-dir", folder.path,
        ])
        await server.requests(atLeast: 1)
        running.signal(signal)
        let ended = await running.end()
        #expect(ended.status == -signal)
        #expect(folder.files == [])
        folder.remove()
    }

    #if os(Linux)
    @Test("a download that is killed leaves no file")
    func killed() async throws {
        let server = try FaultServer()
        let folder = try ScratchFile()
        try folder.makeFolder()
        let running = try Executable.start([
            "get", server.baseURL + "/trickle?bytes=100000&interval=5", "-o", folder.file("content").path,
        ])
        await server.requests(atLeast: 1)
        // No event: bytes are on their way into another process's file.
        try await Task.sleep(for: .milliseconds(100))
        running.signal(9)
        #expect(await running.end().status == -9)
        #expect(folder.files == [])
        folder.remove()
    }
    #endif

    #if os(Linux)
    /// How many descriptors of timers a process has.
    private static func timers(of pid: pid_t) -> Int {
        (0..<64).count { number in
            var target = [CChar](repeating: 0, count: 64)
            readlink("/proc/\(pid)/fd/\(number)", &target, 63)
            return String(decoding: target.map { UInt8(bitPattern: $0) }, as: UTF8.self).contains("timerfd")
        }
    }

    @Test("a process that may open no more files says so, and not that the server is away")
    func noDescriptor() async throws {
        let server = try FaultServer()
        let isLimited = Locked(false)
        server.on("/first") { _ in
            while !isLimited.withLock({ $0 }) { usleep(1000) }
            return [.respond(.init(200, headers: [("Connection", "close")]))]
        }
        let urls = [server.baseURL + "/first", server.baseURL + "/ok"]
        let running = try Executable.start(["get", "-j", "1", "--attempts", "1", "-o", "/dev/null"] + urls)
        await server.requests(atLeast: 1)
        // The system's library makes one for each kind of timer, and ends a process in which it cannot. No event tells.
        for _ in 0..<5000 where Self.timers(of: running.pid) < 2 { usleep(1000) }
        // The three numbers that are left are those of the standard streams.
        let limit = ["--pid", "\(running.pid)", "--nofile=3:3"]
        #expect(try await Executable.run(limit, program: "/usr/bin/prlimit").status == 0)
        isLimited.withLock { $0 = true }
        let ended = await running.end()
        #expect(ended.status == 1 && server.count(path: "/first") == 1, "\(ended.errors)")
        #expect(ended.errors.contains("the system opens no socket: Too many open files"), "\(ended.errors)")
    }
    #endif

    @Test(
        "a signal that is ignored when the command starts stays ignored",
        arguments: [(Int32(1), "HUP"), (2, "INT"), (3, "QUIT")]
    )
    func ignored(signal: Int32, name: String) async throws {
        let server = try FaultServer()
        let words = [
            "-c", "trap '' \(name); exec \"$@\"", "sh", Executable.path, "get", server.baseURL + "/delay?ms=300",
        ]
        let running = try Executable.start(words, program: "/bin/sh")
        await server.requests(atLeast: 1)
        running.signal(signal)
        let ended = await running.end()
        #expect(ended.status == 0 && ended.text == "ok\n", "\(ended.errors)")
    }

    @Test("a reader that goes away ends the command quietly", arguments: [[], ["--retry-all-errors"]])
    func brokenPipe(words: [String]) async throws {
        let server = try FaultServer()
        let running = try Executable.start(["get", server.baseURL + "/huge"] + words)
        await server.requests(atLeast: 1)
        running.stopReading()
        let ended = await running.end(readingOutput: false)
        #expect(ended.status == 0 && ended.errors.isEmpty)
    }

    @Test("a reader of many contents that goes away ends them all, quietly")
    func brokenPipeOfMany() async throws {
        let server = try FaultServer()
        let urls = [server.baseURL + "/bytes/3000000", server.baseURL + "/bytes/3000000", server.baseURL + "/hang"]
        let running = try Executable.start(["get"] + urls)
        running.stopReading()
        let ended = await running.end(readingOutput: false)
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
    }

    @Test("serve says its address, answers, and ends well on a signal")
    func serve() async throws {
        let running = try Executable.start(["serve"])
        let address = await running.firstLine()
        #expect(address.hasPrefix("http://127.0.0.1:"))
        #expect(try await Executable.run(["get", address + "/ok"]).text == "ok\n")
        let port = address.split(separator: ":").last.map(String.init) ?? ""
        let second = try await Executable.run(["serve", "--port", port])
        #expect(second.status == 2 && second.errors.contains("127.0.0.1:\(port)"))
        running.signal(15)
        #expect(await running.end().status == 0)
    }

    @Test("explain answers a question, a schedule and a batch")
    func explain() async throws {
        let one = try await Executable.run(["explain", "--status", "503", "-H", "Retry-After: 7", "--json"])
        #expect(
            one.text == #"{"decision":"retry","reason":"transientStatus","rules":["R1","R7","R15","R17"],"#
                + #""delay_min":7.0,"delay_max":7.7,"come_back_at":null}"# + "\n"
        )
        #expect(try await Executable.run(["explain", "--schedule"]).text.contains("░"))
        let lines = try ScratchFile(
            #"{"method":"GET","status":503}"# + "\nnonsense\n" + #"{"method":"GET","status":404}"#
        )
        let batch = try await Executable.run(["explain", "--batch", lines.path])
        #expect(batch.status == 0 && batch.lines.count == 3 && batch.lines[1].hasPrefix(#"{"error":"#))
        #expect(try await Executable.run(["explain", "--batch", "-"], input: lines).text == batch.text)
        lines.remove()
    }

    @Test("help and version are shown")
    func help() async throws {
        #expect(try await Executable.run(["--version"]).text.hasPrefix("refrain \(Version.full)\nlibcurl/"))
        #expect(Version.full.hasPrefix(Version.current))
        #expect(try await Executable.run(["help", "get"]).text == HelpText.text(for: .get))
        #expect(try await Executable.run(["get", "--help"]).text == HelpText.text(for: .get))
        #expect(try await Executable.run(["--help", "get"]).text == HelpText.text(for: .get))
        #expect(try await Executable.run(["--help"]).text == HelpText.overview)
        #expect(try await Executable.run(["help"]).text == HelpText.overview)
        #expect(try await Executable.run(["help", "--man"]).text == ManualPage.text)
    }

    @Test(
        "wrong usage is refused with the culprit's name, and exits with 2",
        arguments: [
            (["gte"], "get"), (["get"], "URL"), (["get", "foo"], "foo"), (["get", "ftp://h/"], "ftp"),
            (["get", "--attemps", "3", "http://h/"], "--attempts"),
            (["get", "--timeout", "-5s", "http://h/"], "--timeout"),
            (["get", "--deadline", "99999999999999999999s", "http://h/"], "--deadline"),
            (["get", "-H", "A: b\r\nC: d", "http://h/"], "--header"),
            (["get", "-H", "A B: c", "http://h/"], "--header"),
            (["get", "-o", "/nonexistent/x", "http://h/"], "/nonexistent/x"),
            (["get", "-o", "/", "http://h/"], "--output"),
            (["get", "--output-dir", "/dev/null/x", "http://h/"], "--output-dir"),
            (["get", "--report", "/nonexistent/r", "http://h/"], "--report"),
            (["get", "--from", "/nonexistent"], "/nonexistent"),
            (["get", "-o", "x", "-o", "x", "http://h/", "http://i/"], "--output"),
            (["get", "--cacert", "/nonexistent", "http://h/"], "--cacert"),
            (["get", "--proxy", "x://y", "http://h/"], "--proxy"),
            (["serve", "--port", "70000"], "--port"), (["explain", "--status", "x"], "--status"),
            (["version"], "--version"), (["help", "gte"], "did you mean get?"), (["help", "get", "it"], "it"),
            (["completions"], "bash, zsh, fish"), (["completions", "bsh"], "bash"),
            (["completions", "tcsh"], "the shells are bash, zsh, fish"), (["completions", "zsh", "x"], "x"),
            (["explain", "--batch", "/nonexistent"], "--batch"), (["explain", "--error", "timedOot"], "timedOut"),
        ]
    )
    func usage(arguments: [String], culprit: String) async throws {
        let ended = try await Executable.run(arguments)
        #expect(ended.status == 2)
        #expect(ended.errors.contains(culprit) && ended.output.isEmpty, "\(ended.errors)")
    }
}
