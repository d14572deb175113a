// SPDX-License-Identifier: Apache-2.0
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

@Suite("refrain get, over real sockets", .timeLimit(.minutes(10)))
struct GetTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func get(_ arguments: String...) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "3", "--backoff", "constant:5ms"] + arguments)
    }

    private func source(_ size: Int) async throws -> [UInt8] {
        try await Executable.run(["get", "\(server.baseURL)/bytes/\(size)"]).output
    }

    @Test("one URL goes to standard output, and nothing else does")
    func plain() async throws {
        let ended = try await get(server.baseURL + "/ok")
        #expect(ended.text == "ok\n" && ended.errors.isEmpty && ended.status == 0)
    }

    @Test("R7: a 503 is tried again, and the server counts as many sends as the report")
    func retries() async throws {
        let ended = try await get(server.baseURL + "/status/503?times=2", "--report", "-")
        #expect(ended.status == 0)
        #expect(ended.lines.count == 1)
        #expect(ended.text.contains(#""status":200,"error":null,"bytes":3,"#))
        #expect(ended.text.contains(#""number":3,"#) && !ended.text.contains(#""number":4,"#))
        #expect(server.count(path: "/status/503") == 3)
    }

    @Test("a final status of 400 or more writes no content, and exits with 22")
    func status() async throws {
        let file = try ScratchFile()
        let ended = try await get(server.baseURL + "/status/404", "-o", file.path)
        #expect(ended.status == 22 && !file.exists && ended.errors.contains("status 404"))
        let printed = try await get(server.baseURL + "/status/500")
        #expect(printed.status == 22 && printed.output.isEmpty)
        #expect(server.count(path: "/status/500") == 3)
    }

    @Test("a transport failure exits with 1, and is on record")
    func failure() async throws {
        let refusing = try FaultServer(mode: .refuse)
        let ended = try await get(refusing.baseURL + "/ok", "--report", "-")
        #expect(ended.status == 1)
        #expect(ended.text.contains(#""status":null,"error":"cannotConnectToHost","bytes":0"#))
        #expect(ended.text.contains(#""bytes_sent":0"#))
    }

    @Test("R2: a POST that may have been processed is sent once; with a key it is sent again")
    func post() async throws {
        let once = try await get("-d", "order", server.baseURL + "/reset-before?times=1&a=1")
        #expect(once.status == 1 && once.errors.contains("notReplayable"))
        #expect(server.count(path: "/reset-before?times=1&a=1") == 1)
        let keyed = try await get("-d", "order", "--idempotency-key", server.baseURL + "/reset-before?times=1&a=2")
        #expect(keyed.status == 0)
        let sends = server.requests(toPath: "/reset-before?times=1&a=2")
        #expect(sends.count == 2 && Set(sends.map { $0.header("Idempotency-Key") }).count == 1)
        let unsafe = try await get("-d", "order", "--replay-unsafe", server.baseURL + "/reset-before?times=1&a=3")
        #expect(unsafe.status == 0 && server.count(path: "/reset-before?times=1&a=3") == 2)
    }

    @Test("R2: a POST is not sent again for an answer that names a time and is not a refusal")
    func postThatIsAnswered() async throws {
        let time = [("Retry-After", "0")]
        server.on("/202") { _ in [.respond(.init(202, headers: time, body: "{}"))] }
        server.on("/400") { _ in [.respond(.init(400, headers: time))] }
        server.on("/429") { _ in [.respond(.init(429, headers: time))] }
        let awaited = try await get("-d", "order", "--until-json", ".a == 1", server.baseURL + "/202")
        #expect(awaited.status == 1 && server.count(path: "/202") == 1, "\(awaited.errors)")
        #expect(try await get("-d", "order", "--retry-all-errors", server.baseURL + "/400").status == 22)
        #expect(server.count(path: "/400") == 1)
        _ = try await get("-d", "order", "--until-json", ".a == 1", server.baseURL + "/429")
        #expect(server.count(path: "/429") == 3)
        _ = try await get("-X", "PUT", "-d", "a", "--until-json", ".a == 1", server.baseURL + "/202")
        #expect(server.count(path: "/202") == 4)
    }

    @Test("method, header fields and body arrive as they were given")
    func request() async throws {
        let body = try ScratchFile("from a file")
        let ended = try await get("-X", "PUT", "-H", "X-A: b", "-d", "@" + body.path, server.baseURL + "/echo")
        #expect(ended.text.contains(#""method":"PUT""#) && ended.text.contains(#"["X-A","b"]"#))
        #expect(ended.text.contains(#""body":"from a file""#))
        let joined = try await get("-d", "a=1", "-d", "b=2", server.baseURL + "/echo")
        #expect(joined.text.contains(#""method":"POST""#) && joined.text.contains(#""body":"a=1&b=2""#))
        body.remove()
    }

    @Test("R11: a content cut within the first megabyte is fetched again unseen, and printed once")
    func cutEarly() async throws {
        let ended = try await get(server.baseURL + "/close-body?times=1&bytes=20000&after=9000")
        #expect(ended.status == 0)
        #expect(server.count(path: "/close-body") == 2)
        let cut = try await get(server.baseURL + "/bytes/500000?cut=200000", "--attempts", "5")
        #expect(try await source(500_000) == cut.output)
    }

    @Test("R11: a content cut beyond the first megabyte goes on by Range, and no byte is printed twice")
    func cutLate() async throws {
        let cut = try await get(server.baseURL + "/bytes/3000000?cut=1500000", "--attempts", "5")
        #expect(cut.status == 0)
        #expect(try await source(3_000_000) == cut.output)
        let ranges = server.requests(toPath: "/bytes/3000000?cut=1500000").compactMap { $0.header("Range") }
        #expect(ranges.count == 1)
    }

    @Test("beyond the first megabyte, a cut that cannot go on ends in an error, and no byte is printed twice")
    func cutForGood() async throws {
        let body = [UInt8](repeating: 120, count: 2_000_000)
        server.on("/cut") { _ in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n"), .send(body), .close]
        }
        let ended = try await get(server.baseURL + "/cut")
        #expect(ended.status == 1 && ended.errors.contains("networkConnectionLost"))
        #expect(ended.output.count <= 2_000_000 && ended.output.count > StreamSink.holdBack)
    }

    @Test("R10: the content of an answer of 3xx is whole, or the request fails")
    func redirectContents() async throws {
        let body = [UInt8](repeating: 120, count: 200_000)
        for status in [300, 302] {
            server.on("/\(status)") { _ in [.respond(.init(status, headers: [("Location", "/ok")], bytes: body))] }
            let file = try ScratchFile()
            let ended = try await get("--no-location", "-o", file.path, "\(server.baseURL)/\(status)")
            #expect(try ended.status == 0 && file.bytes() == body, "\(ended.errors)")
            #expect(try await get("--no-location", "\(server.baseURL)/\(status)").output == body)
            file.remove()
        }
        let limited = try await get("--max-body", "199KB", server.baseURL + "/300")
        #expect(limited.status == 1 && limited.output.isEmpty && limited.errors.contains("dataLengthExceedsMaximum"))
    }

    @Test("-o leaves a whole file or none, and the file from before where it fails")
    func output() async throws {
        let file = try ScratchFile("from before")
        let failed = try await get(server.baseURL + "/close-body", "-o", file.path, "--attempts", "2")
        #expect(failed.status == 1)
        #expect(try file.bytes() == Array("from before".utf8))
        let done = try await get(server.baseURL + "/bytes/300000?cut=100000", "-o", file.path, "--attempts", "5")
        #expect(done.status == 0)
        #expect(try file.bytes() == (try await source(300_000)))
        file.remove()
    }

    @Test("an answer without a content, 304 or one to HEAD, leaves the file as it was, and makes none")
    func noContent() async throws {
        let (file, other) = (try ScratchFile("from before"), try ScratchFile())
        server.on("/unchanged") { _ in [.text("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")] }
        for arguments in [["-H", "If-None-Match: \"1\"", "/unchanged"], ["-X", "HEAD", "/ok"]] {
            let words = ["get"] + arguments.dropLast() + [server.baseURL + (arguments.last ?? ""), "--report", "-"]
            let ended = try await Executable.run(words + ["-o", file.path])
            #expect(ended.status == 0 && ended.text.contains(#""error":null,"bytes":0"#), "\(ended.text)")
            #expect(!ended.text.contains(#""file""#))
            #expect(try file.bytes() == Array("from before".utf8))
            #expect(try await Executable.run(words + ["-o", other.path]).status == 0 && !other.exists)
        }
        file.remove()
    }

    @Test("a file that is replaced stays as private, or as open, as it was", arguments: [mode_t(0o600), 0o640, 0o755])
    func mode(mode: mode_t) async throws {
        let file = try ScratchFile("from before")
        file.mode = mode
        #expect(try await get(server.baseURL + "/ok", "-o", file.path).status == 0)
        #expect(try file.bytes() == Array("ok\n".utf8) && file.mode == mode, "\(file.mode)")
        file.remove()
    }

    @Test("with --output-dir two URLs never share a file, one URL is fetched once, and the report names the files")
    func outputDir() async throws {
        let folder = try ScratchFile()
        let url = server.baseURL + "/bytes/10"
        let ended = try await get(url, url, url + "?x=1", "--output-dir", folder.path, "--report", "-")
        #expect(ended.status == 0 && ended.lines.count == 2)
        #expect(folder.files == [OutputNaming.tree(url), OutputNaming.tree(url + "?x=1")])
        for name in folder.files { #expect(ended.text.contains("\"file\":\"\(folder.path)/\(name)\"")) }
        folder.remove()
    }

    @Test("several URLs without a folder are printed whole, in their order; one that fails is left out")
    func inOrder() async throws {
        let base = server.baseURL
        let ended = try await get(base + "/delay?ms=150", base + "/status/404", base + "/bytes/5", base + "/ok")
        #expect(ended.status == 22)
        #expect(ended.output == Array("ok\n".utf8) + (try await source(5)) + Array("ok\n".utf8))
    }

    @Test("a list is fetched, and a bad line in it is named before anything is sent")
    func list() async throws {
        let good = try ScratchFile("# two\n\(server.baseURL)/ok?1\n\n\(server.baseURL)/ok?2\n")
        #expect(try await get("--from", good.path).text == "ok\nok\n")
        #expect(try await Executable.run(["get", "--from", "-"], input: good).text == "ok\nok\n")
        let before = server.log.count
        let bad = try ScratchFile("\(server.baseURL)/ok\nnonsense\n")
        let ended = try await get("--from", bad.path)
        #expect(ended.status == 2 && ended.errors.contains("\(bad.path):2: "))
        #expect(server.log.count == before)
        good.remove()
        bad.remove()
    }

    @Test("redirects are followed and on record; --no-location leaves them")
    func redirects() async throws {
        let followed = try await get(server.baseURL + "/redirect/2", "--report", "-")
        #expect(followed.status == 0 && followed.text.contains(#""reason":"redirected""#))
        let left = try await get(server.baseURL + "/redirect/2", "--report", "-", "--no-location")
        #expect(left.status == 0 && left.text.contains(#""status":302"#))
    }

    @Test("a larger content than --max-body is refused")
    func maxBody() async throws {
        let ended = try await get(server.baseURL + "/bytes/10001", "--max-body", "10KB", "--report", "-")
        #expect(ended.status == 1 && ended.text.contains("dataLengthExceedsMaximum"))
        #expect(try await get(server.baseURL + "/bytes/10000", "--max-body", "10KB").status == 0)
    }

    @Test("R18: a server that asks for too long a wait ends the request, with the status of its answer")
    func retryAfterTooLong() async throws {
        let ended = try await get(server.baseURL + "/status/503?retry-after=3600", "--report", "-")
        #expect(ended.status == 75 && ended.text.contains(#""status":503,"error":"retryAfterTooLong""#))
        #expect(ended.text.contains(#""come_back_at":"20"#) && ended.errors.contains("come back at"))
        #expect(server.count(path: "/status/503") == 1)
        let ignored = try await get(server.baseURL + "/status/503?retry-after=3600&x", "--ignore-retry-after")
        #expect(ignored.status == 22 && server.count(path: "/status/503?retry-after=3600&x") == 3)
    }

    @Test("R20: --timeout ends an attempt, --deadline ends the request")
    func times() async throws {
        let tried = try await get(server.baseURL + "/hang?times=1", "--timeout", "3s")
        #expect(tried.status == 0 && server.count(path: "/hang?times=1") == 2)
        let ended = try await get(server.baseURL + "/hang", "--deadline", "300ms", "--report", "-")
        #expect(ended.status == 1 && ended.text.contains("deadlineExceeded"))
    }

    @Test("--retry-status replaces the usual list, or adds to it")
    func retryStatus() async throws {
        _ = try await get(server.baseURL + "/status/503?a", "--retry-status", "500")
        #expect(server.count(path: "/status/503?a") == 1)
        _ = try await get(server.baseURL + "/status/404?a", "--retry-status", "+404")
        #expect(server.count(path: "/status/404?a") == 3)
    }

    @Test("no control character reaches a terminal, be it a server's, a list's or a path's")
    func controlCharacters() async throws {
        server.on("/elsewhere") { _ in
            [.text("HTTP/1.1 302 Found\r\nLocation: ftp://h/\u{1B}[2J\u{9B}\r\nContent-Length: 0\r\n\r\n")]
        }
        let list = try ScratchFile("h\u{9B}31m\n")
        for words in [
            [server.baseURL + "/elsewhere"], ["-v", server.baseURL + "/elsewhere"],
            ["--from", list.path], ["--cacert", "/none\u{1B}[2J", "http://h/"], ["-o", "/none\u{9B}/x", "http://h/"],
            ["http://h\u{1B}/"],
        ] {
            let ended = try await Executable.run(["get", "--attempts", "1"] + words)
            let controls = ended.errors.unicodeScalars.filter {
                $0 != "\n" && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value))
            }
            #expect(controls.isEmpty && !ended.errors.isEmpty && ended.status != 0, "\(words): \(ended.errors)")
        }
        list.remove()
    }

    @Test("a Location and a URL cannot turn the direction of what is shown, nor hide a part of it")
    func invisibleCharacters() async throws {
        server.on("/elsewhere") { _ in
            [.text("HTTP/1.1 302 Found\r\nLocation: ftp://h/\u{202E}gpj.exe\u{200B}\r\nContent-Length: 0\r\n\r\n")]
        }
        let list = try ScratchFile("h\u{2066}31m\n")
        for words in [
            [server.baseURL + "/elsewhere"], ["-v", server.baseURL + "/elsewhere"],
            ["--report", "-", server.baseURL + "/elsewhere?\u{202E}"], ["--from", list.path], ["h\u{202E}/"],
        ] {
            let ended = try await Executable.run(["get", "--attempts", "1"] + words)
            let shown = ended.errors + ended.text
            #expect(!shown.unicodeScalars.contains { $0 != "\n" && Sanitized.isControl($0) }, "\(words): \(shown)")
            #expect(!ended.errors.isEmpty && ended.status != 0)
        }
        list.remove()
    }

    @Test("a password in a URL is used, and shown nowhere")
    func password() async throws {
        let address = server.baseURL.split(separator: "/").last.map(String.init) ?? ""
        let picture = try ScratchFile()
        for path in ["/status/404", "/ok"] {
            let url = "http://user:secret@\(address)\(path)"
            let words = ["-v", "--timeline", "--timeline-svg", picture.path, "--report", "-", url]
            let ended = try await Executable.run(["get"] + words)
            let said = [ended.errors, ended.text, String(decoding: try picture.bytes(), as: UTF8.self)]
            for text in said {
                #expect(text.contains("http://\(address)\(path)") && !text.contains("secret"), "\(text)")
            }
            let quiet = try await get(url)
            #expect(!quiet.errors.contains("secret"), "\(quiet.errors)")
        }
        #expect(server.requests(toPath: "/ok").first?.header("Authorization") == "Basic dXNlcjpzZWNyZXQ=")
        let wrong = [
            ["get", "ftp://user:secret@h/"], ["get", "user:secret@h/"], ["get", "http://user:sec ret@h/"],
            ["get", "http://user:secret@h:99999/"], ["explain", "http://user:secret@h/"],
            ["get", "--proxy", "x://user:secret@h", "http://h/"], ["get", "--proxy", "user:secret@h ", "http://h/"],
        ]
        for words in wrong {
            let ended = try await Executable.run(words)
            #expect(ended.status == 2 && ended.errors.contains("@h"), "\(ended.errors)")
            #expect(!ended.errors.contains("secret") && !ended.errors.contains("ret@"), "\(ended.errors)")
        }
        picture.remove()
    }

    @Test("--timeline draws the attempts, -q says nothing")
    func shown() async throws {
        let sample = try await get(server.baseURL + "/status/503?times=1&v", "--timeline")
        #expect(sample.errors.contains("│") && sample.errors.contains("transientStatus"))
        #expect(try await get(server.baseURL + "/status/404", "-q").errors.isEmpty)
    }
}
