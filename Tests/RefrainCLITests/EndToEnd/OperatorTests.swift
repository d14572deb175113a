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

@Suite("What operators meet", .timeLimit(.minutes(10)))
struct OperatorTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func get(_ words: String...) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "3", "--backoff", "constant:5ms"] + words)
    }

    @Test("R10: a 204 has no body to miss, whatever length it names", arguments: [204, 304])
    func noContent(status: Int) async throws {
        let head = "HTTP/1.1 \(status) None\r\nContent-Length: 5\r\nETag: \"x\"\r\n\r\n"
        server.on("/none") { _ in [.send(Array(head.utf8))] }
        let file = try ScratchFile()
        let ended = try await get("-H", "If-None-Match: \"x\"", "-o", file.path, server.baseURL + "/none")
        #expect(ended.status == 0 && server.log.count == 1, "\(ended.errors)")
        file.remove()
    }

    @Test("R26: a key of an API does not follow a redirect to another origin")
    func secretsStay() async throws {
        let other = try FaultServer()
        server.on("/away") { _ in [.respond(.init(302, headers: [("Location", other.baseURL + "/ok")]))] }
        let list = try ScratchFile(
            "{\"url\": \"\(server.baseURL)/away\", \"headers\": {\"X-Auth-Token\": \"SECRET\"}}\n"
        )
        #expect(try await get("-H", "X-Api-Key: SECRET", "-H", "X-Other: 1", "--from", list.path).status == 0)
        #expect(
            server.log.first?.header("X-Api-Key") == "SECRET" && server.log.first?.header("X-Auth-Token") == "SECRET"
        )
        #expect(other.log.first?.header("X-Api-Key") == nil && other.log.first?.header("X-Auth-Token") == nil)
        #expect(other.log.first?.header("X-Other") == "1")
        list.remove()
    }

    @Test("a failure behind a redirect names the URL that failed")
    func redirectedFailure() async throws {
        server.on("/away") { _ in [.respond(.init(302, headers: [("Location", "/status/404")]))] }
        let ended = try await get(server.baseURL + "/away")
        #expect(
            ended.status == 22 && ended.errors.contains("status 404, at \(server.baseURL)/status/404"),
            "\(ended.errors)"
        )
    }

    @Test("an answer that was not the one waited for is shown, and not written where the content goes")
    func notAwaited() async throws {
        server.on("/job") { _ in [.respond(.init(200, body: "{\"state\": \"running\"}"))] }
        let file = try ScratchFile("old")
        let ended = try await get("--until-json", ".state == \"done\"", "-o", file.path, server.baseURL + "/job")
        #expect(ended.status == 1 && ended.errors.contains("  {\"state\": \"running\"}"), "\(ended.errors)")
        #expect(try file.bytes() == Array("old".utf8))
        let printed = try await get("--until", "STATUS in 200", server.baseURL + "/status/404")
        #expect(printed.status == 22 && printed.output.isEmpty)
        let wanted = try await get("--until", "STATUS in 200", "--fail-with-body", server.baseURL + "/status/404")
        #expect(wanted.status == 22 && !wanted.output.isEmpty)
        file.remove()
    }

    @Test("a cookie jar that cannot be written whole stays as it was")
    func jarStays() async throws {
        let folder = try ScratchFile()
        try folder.makeFolder()
        let jar = folder.file("jar")
        let old = "127.0.0.1\tFALSE\t/\tFALSE\t0\tn\tv\n"
        try await jar.overwrite(old)
        jar.mode = 0o640
        server.on("/set") { _ in
            [.respond(.init(200, headers: [("Set-Cookie", "a=" + String(repeating: "x", count: 3000))]))]
        }
        // No file may grow beyond one block.
        let line = "ulimit -f 1; \"$@\""
        let words = ["-c", line, "sh", Executable.path, "get", "-c", jar.path, server.baseURL + "/set"]
        let failed = try await Executable.run(words, program: "/bin/sh")
        #expect(failed.status != 0)
        #expect(try jar.bytes() == Array(old.utf8) && jar.mode == 0o640)
        #expect(try await get("-c", jar.path, server.baseURL + "/set").status == 0)
        #expect(String(decoding: try jar.bytes(), as: UTF8.self).contains("\ta\txxx") && jar.mode == 0o640)
        #expect(folder.names == ["jar"])
        folder.remove()
    }

    @Test("a file for --cookie that has header fields is refused, since its cookies would be missing")
    func foreignCookies() async throws {
        let file = try ScratchFile("Set-Cookie: a=b; Path=/\n")
        let ended = try await get("-b", file.path, server.baseURL + "/ok")
        #expect(ended.status == 2 && ended.errors.contains("--cookie: "), "\(ended.errors)")
        file.remove()
    }

    #if os(Linux)
    @Test(
        "a terminal has its echo back when the question for a password is interrupted",
        .enabled(if: Executable.installed("setsid") != nil),
        arguments: [SIGINT, SIGTERM, SIGHUP]
    )
    func echo(signal: Int32) async throws {
        // As openpty(3) does it: TIOCSPTLCK and TIOCGPTN, which the C library's headers name for GNU's programs only.
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number): (Int32, Int32) = (0, 0)
        try #require(terminal >= 0 && ioctl(terminal, 0x4004_5431, &lock) == 0)
        try #require(ioctl(terminal, 0x8004_5430, &number) == 0)
        defer { close(terminal) }
        let path = "/dev/pts/\(number)"
        // Kept open, so that the terminal outlives the process.
        let slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(slave) }
        func hasEcho() -> Bool {
            var settings = termios()
            return tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
        }
        let running = try Executable.start(
            ["--ctty", Executable.path, "get", "-u", "me", server.baseURL + "/ok"],
            input: .at(path),
            program: Executable.installed("setsid") ?? ""
        )
        #expect(await eventually { !hasEcho() })
        running.signal(signal)
        let ended = await running.end()
        #expect(ended.status == -signal && hasEcho(), "\(ended.status)")
    }
    #endif

    @Test("-w writes the address that a redirect leads to, and JSON with numbers and null")
    func writtenOut() async throws {
        server.on("/away") { _ in [.respond(.init(302, headers: [("Location", "/ok?x")]))] }
        let address = try await get(
            "--no-location",
            "-o",
            "/dev/null",
            "-w",
            "%{redirect_url}",
            server.baseURL + "/away"
        )
        #expect(address.text == server.baseURL + "/ok?x")
        let json = try await get("-o", "/dev/null", "-w", "%{json}", server.baseURL + "/ok").text
        #expect(json.contains(#""http_code":200,"#) && json.contains(#""size_download":3,"#), "\(json)")
        #expect(json.contains(#""redirect_url":null"#) && json.contains(#""errormsg":null"#), "\(json)")
    }

    @Test(
        "what no connection can be made with is refused, with its option",
        arguments: [
            ["--resolve", "h:80:nonsense"], ["--resolve", "h:port:127.0.0.1"], ["--resolve", "h:80:127.0.0.1,x"],
            ["--resolve", "h:99999:127.0.0.1"], ["--connect-to", "h:80:other:99999"], ["--connect-to", "h:x:other:80"],
            ["--unix-socket", "/etc/passwd"],
        ]
    )
    func connections(words: [String]) async throws {
        let ended = try await Executable.run(["get"] + words + ["http://127.0.0.1:1/"])
        #expect(ended.status == 2 && ended.errors.contains("\(words[0]): \"\(words[1])\""), "\(ended.errors)")
    }

    @Test("addresses and ports in each of their forms are taken")
    func goodConnections() async throws {
        let port = server.port
        for mapping in [
            "h:\(port):127.0.0.1", "h:\(port):[::1],127.0.0.1", "+h:\(port):127.0.0.1", "*:\(port):127.0.0.1",
        ] {
            #expect(try await get("--resolve", mapping, "http://h:\(port)/ok").status == 0, "\(mapping)")
        }
        for mapping in ["::127.0.0.1:\(port)", "h:80:127.0.0.1:\(port)", "[::1]:80::", "h::127.0.0.1:\(port)"] {
            let ended = try await get(
                "--connect-to",
                mapping,
                "http://h\(mapping.hasPrefix("[") ? ":\(port)" : "")/ok",
                "--resolve",
                "h:\(port):127.0.0.1"
            )
            #expect(ended.status == 0, "\(mapping) \(ended.errors)")
        }
    }

    @Test("the environment takes hosts away from a proxy that was given, unless --noproxy says otherwise")
    func givenProxy() async throws {
        let proxy = try FaultServer()
        for (names, words, isProxied) in [
            ("no_proxy=127.0.0.1", [], false), ("NO_PROXY=127.0.0.1", [], false), ("NO_PROXY=other", [], true),
            ("no_proxy= NO_PROXY=127.0.0.1", [], false), ("no_proxy='*'", ["--noproxy", ""], true),
            ("no_proxy='*'", ["--noproxy", "other"], true), ("no_proxy=other", ["--noproxy", "127.0.0.1"], false),
        ] {
            proxy.clearLog()
            server.clearLog()
            let line = "unset no_proxy NO_PROXY; \(names) exec \"$@\""
            let options = ["get", "--proxy", proxy.baseURL] + words + [server.baseURL + "/ok"]
            let ended = try await Executable.run(["-c", line, "sh", Executable.path] + options, program: "/bin/sh")
            #expect(
                proxy.log.count == (isProxied ? 1 : 0) && server.log.count == (isProxied ? 0 : 1),
                "\(names) \(words) \(ended.errors)"
            )
        }
    }

    @Test("a socket without a listening process is named")
    func missingSocket() async throws {
        let ended = try await get("--unix-socket", "/nonexistent.sock", "http://h/")
        #expect(
            ended.status == 1 && ended.errors.contains("socket /nonexistent.sock of --unix-socket"),
            "\(ended.errors)"
        )
    }

    @Test(
        "data that cannot stand in a query, and what lacks its scheme, are named for what they are",
        arguments: [
            (["-G", "-d", "a b", "http://h/"], "--data makes"),
            (["--url-query", "+a b", "http://h/"], "--url-query makes"),
            (["nothing"], "\"nothing\""), (["-a", "http://h/"], "an upload replaces"),
            (["-d", "/tmp", "http://h/"], "--output-dir"), (["-w", "%{certs}", "http://h/"], "openssl s_client"),
            (["--next", "http://h/"], "--from"), (["--http1.0", "http://h/"], "HTTP/1.0"),
        ]
    )
    func named(words: [String], message: String) async throws {
        let ended = try await Executable.run(["get"] + words)
        #expect(
            ended.status == 2 && ended.errors.contains(message) && !ended.errors.contains("--header"),
            "\(ended.errors)"
        )
    }

    @Test("a line of a file of header fields is named by its number")
    func lineOfHeaders() async throws {
        let file = try ScratchFile("X-A: b\n\nX-Wrong value\n")
        let ended = try await get("-H", "@\(file.path)", server.baseURL + "/ok")
        #expect(ended.status == 2 && ended.errors.contains("--header \(file.path):3: "), "\(ended.errors)")
        file.remove()
    }
}
