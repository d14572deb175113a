// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TLSFixture
import Testing

@testable import RefrainCLI

@Suite("Options of curl that bound a request", .timeLimit(.minutes(10)))
struct CurlOptionTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func get(_ words: String...) async throws -> Executable.Ended { try await get(words) }

    private func get(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "1"] + words)
    }

    @Test("HEAD asks for the head of the content that GET would bring")
    func headOfContent() async throws {
        for words in [["-I"], ["-X", "GET"], ["-I", "--compressed"]] {
            #expect(try await get(words + [server.baseURL + "/echo"]).status == 0)
        }
        let codings = server.log.map { entry in entry.headers.first { $0[0].lowercased() == "accept-encoding" }?[1] }
        #expect(codings.count == 3 && codings[0] == codings[1] && codings[2]?.contains("gzip") == true, "\(codings)")
    }

    @Test("brackets and braces that are no pattern of curl are taken as they are, and with -g all of them")
    func brackets() async throws {
        for words in [["-g", "/status/{200,201}[1-3]"], ["/status/200?[]=[a]&{}={b}&c=[1-b]&d=\\{e,f\\}"]] {
            _ = try await get(words.dropLast() + [server.baseURL + (words.last ?? "")])
        }
        #expect(server.log.count == 2)
    }

    @Test("-w shows the file by the name that was given, also where it is there already")
    func effectiveName() async throws {
        let folder = try ScratchFile()
        try folder.makeFolder()
        for _ in 0..<2 {
            let line = "cd '\(folder.path)' && \"$1\" get -o x -w '%{filename_effective}' \(server.baseURL)/ok"
            let ended = try await Executable.run(["-c", line, "sh", Executable.path], program: "/bin/sh")
            #expect(ended.text == "x", "\(ended.errors)")
        }
        folder.remove()
    }

    @Test("-N passes on what has come while the server goes on; without it nothing is written before the end")
    func noBuffer() async throws {
        let url = server.baseURL + "/hang-body?bytes=2000&after=100"
        let running = try Executable.start(["get", "-N", url])
        // The first line of random bytes, or what stands there when the process ends.
        let first = await running.bytes(100)
        #expect(first.count == 100)
        running.signal(15)
        _ = await running.end()
        // Its beginning was written, so it cannot be fetched again.
        let cut = try await Executable.run(["get", "-N", server.baseURL + "/bytes/2000?cut=500&no-range=1&etag=none"])
        #expect(cut.status == 1 && cut.output.count == 500, "\(cut.errors)")
        let held = try await Executable.run([
            "get", "--attempts", "2", server.baseURL + "/bytes/2000?cut=500&no-range=1&etag=none",
        ])
        #expect(held.status == 1 && held.output.isEmpty, "\(held.errors)")
    }

    @Test("--proto and --proto-redir rule out what they name, before a byte is sent")
    func protocols() async throws {
        let first = try await get("--proto", "=https", server.baseURL + "/ok")
        #expect(first.status == 1 && first.errors.contains("--proto rules out http"), "\(first.errors)")
        #expect(server.log.isEmpty)
        let redirected = try await get("--proto-redir", "=https", server.baseURL + "/redirect/1")
        #expect(redirected.status == 1 && redirected.errors.contains("--proto-redir"), "\(redirected.errors)")
        #expect(server.log.map(\.path) == ["/redirect/1"])
        let allowed = try await get("--proto", "-all,http", "--proto-redir", "=http", server.baseURL + "/redirect/1")
        #expect(allowed.status == 0 && allowed.text == "ok\n", "\(allowed.errors)")
        let wrong = try await get("--proto", "=", server.baseURL + "/ok")
        #expect(wrong.status == 2 && wrong.errors.contains("--proto"), "\(wrong.errors)")
    }

    @Test("--max-redirs follows so many, and no more")
    func redirects() async throws {
        #expect(try await get("--max-redirs", "2", server.baseURL + "/redirect/2").text == "ok\n")
        server.clearLog()
        let ended = try await get("--max-redirs", "1", server.baseURL + "/redirect/2")
        #expect(ended.status == 1 && server.log.count == 2, "\(ended.errors)")
    }

    @Test("--fail-early makes no request after one that failed")
    func failEarly() async throws {
        let urls = (0..<20).map { server.baseURL + ($0 == 3 ? "/status/404" : "/ok?\($0)") }
        let all = try await Executable.run(["get", "-q", "-j", "1"] + urls)
        #expect(all.status == 22 && server.log.count == 20)
        server.clearLog()
        let early = try await Executable.run(["get", "-q", "-j", "1", "--fail-early"] + urls)
        #expect(early.status == 22 && server.log.count == 4, "\(server.log.count)")
    }

    @Test("--speed-limit ends an attempt that is slower for the time of --speed-time")
    func speedLimit() async throws {
        let slow = server.baseURL + "/trickle?bytes=100000&interval=50"
        let ended = try await get("-Y", "1000", "-y", "1", slow)
        #expect(ended.status == 1 && ended.errors.contains("timedOut"), "\(ended.errors)")
        #expect(try await get("-Y", "1", "-y", "1", server.baseURL + "/ok").status == 0)
    }

    @Test("--range asks for a part, and is not taken with what needs the whole")
    func range() async throws {
        let whole = try await get(server.baseURL + "/bytes/1000").output
        #expect(try await get("-r", "10-19", server.baseURL + "/bytes/1000").output == Array(whole[10...19]))
        #expect(try await get("-r", "-5", server.baseURL + "/bytes/1000").output == Array(whole.suffix(5)))
        #expect(try await get("-r", "990-", server.baseURL + "/bytes/1000").output == Array(whole.suffix(10)))
        // What goes on behind a part is not asked for.
        let cut = try await get("-r", "10-899", server.baseURL + "/bytes/1000?cut=300")
        #expect(cut.status == 1 && cut.output.isEmpty, "\(cut.errors)")
        for words in [["-C"], ["--segments", "2"]] {
            let ended = try await Executable.run(["get", "-r", "0-1", "-o", "/tmp/none"] + words + [server.baseURL])
            #expect(ended.status == 2 && ended.errors.contains("--range"), "\(ended.errors)")
        }
        #expect(try await get("-r", "x", server.baseURL).status == 2)
    }

    @Test("the state takes neither a part for the whole, nor a condition that was not met for a content")
    func partsInState() async throws {
        let folder = try ScratchFile()
        server.on("/conditional") { request in
            let isSame = request.header("If-Modified-Since") != nil
            return [.respond(.init(isSame ? 304 : 200, body: isSame ? "" : "content"))]
        }
        func fetch(_ words: String...) async throws -> Executable.Ended {
            try await Executable.run(["get", "--output-dir", folder.path] + words)
        }
        let url = server.baseURL + "/bytes/1000"
        #expect(try await fetch("-r", "0-9", url).status == 0)
        #expect(try await fetch("-H", "Range: bytes=0-19", url).status == 0)
        #expect(try await fetch(url).status == 0)
        #expect(try folder.files.map { try folder.file($0).bytes().count }.sorted() == [10, 20, 1000])
        #expect(server.log.count == 3)
        // Each is done now.
        #expect(try await fetch("-r", "0-9", url).status == 0)
        #expect(try await fetch(url).status == 0)
        #expect(server.log.count == 3)
        let conditional = server.baseURL + "/conditional"
        #expect(try await fetch("-z", "2026-11-22", conditional).status == 0)
        #expect(folder.files.count == 3)
        #expect(try await fetch(conditional).status == 0)
        #expect(folder.files.count == 4)
        folder.remove()
    }

    @Test("--etag-save keeps the tag that --etag-compare asks with; a content that is the same costs no body")
    func tags() async throws {
        let (tag, file) = (try ScratchFile(), try ScratchFile())
        let words = ["--etag-save", tag.path, "--etag-compare", tag.path, "-o", file.path, "-w", "%{http_code}"]
        server.on("/tagged") { request in
            let tag = "\"\(request.target.count)\""
            let isSame = request.header("If-None-Match") == tag
            return [.respond(.init(isSame ? 304 : 200, headers: [("ETag", tag)], body: isSame ? "" : "content"))]
        }
        let url = server.baseURL + "/tagged"
        let codes = try await [
            Executable.run(["get"] + words + [url]).text, Executable.run(["get"] + words + [url]).text,
            Executable.run(["get"] + words + [url + "?2"]).text,
        ]
        #expect(codes == ["200", "304", "200"])
        #expect(server.log[0].headers.first { $0[0] == "If-None-Match" }?[1] == "\"\"")
        #expect(try file.bytes() == Array("content".utf8))
        let two = try await Executable.run(["get"] + words.dropLast(4) + [url, url + "?2"])
        #expect(two.status == 2 && two.errors.contains("--etag-"), "\(two.errors)")
        tag.remove()
        file.remove()
    }

    @Test("--time-cond asks for what is newer than a date or a file; a file that is not there is no condition")
    func timeCondition() async throws {
        let file = try ScratchFile()
        func sent(_ value: String) async throws -> String? {
            server.clearLog()
            let ended = try await get("-z", value, server.baseURL + "/ok")
            #expect(ended.status == 0, "\(ended.errors)")
            return server.log.first?.headers.first { $0[0].lowercased().hasPrefix("if-") }?.joined(separator: ": ")
        }
        let date = "Sun, 22 Nov 2026 10:30:00 GMT"
        for text in [date, "2026-11-22 10:30:00", "2026-11-22T10:30:00Z"] {
            #expect(try await sent(text) == "If-Modified-Since: \(date)", "\(text)")
        }
        #expect(try await sent("-2026-11-22") == "If-Unmodified-Since: Sun, 22 Nov 2026 00:00:00 GMT")
        for text in ["2026-02-30", "2026-13-01", "2026-11-22 25:00:00", "tomorrow", ""] {
            #expect(try await sent(text) == nil, "\(text)")
        }
        #expect(try await sent(file.path) == nil)
        try await file.overwrite("x")
        Directory.setModificationDate(file.path, 0)
        #expect(try await sent(file.path) == "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT")
        file.remove()
    }

    @Test("--max-filesize refuses a larger content, and leaves no file")
    func maximumSize() async throws {
        let file = try ScratchFile()
        let ended = try await get("--max-filesize", "1k", "-o", file.path, server.baseURL + "/bytes/1025")
        #expect(ended.status == 1 && ended.errors.contains("1024"), "\(ended.errors)")
        #expect(!file.exists)
        #expect(try await get("--max-filesize", "1k", server.baseURL + "/bytes/1024").output.count == 1024)
    }

    @Test("--remove-on-error keeps nothing of a content that could not be fetched")
    func removeOnError() async throws {
        for (words, kept) in [([], true), (["--remove-on-error"], false)] {
            let folder = try ScratchFile()
            let url = server.baseURL + "/bytes/300000?cut=100000"
            let ended = try await Executable.run(
                ["get", "--attempts", "1", "--output-dir", folder.path] + words + [url]
            )
            #expect(ended.status == 1, "\(ended.errors)")
            #expect(folder.files.contains { $0.hasSuffix(".part") } == kept, "\(words): \(folder.files)")
            folder.remove()
        }
        #expect(try await get("--remove-on-error", "-C", "-o", "/tmp/none", server.baseURL).status == 2)
    }

    @Test("versions of TLS, ciphers and keys bound what is spoken")
    func tls() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        let wrong = "sha256//" + String(repeating: "A", count: 43) + "="
        for (words, isFine) in [
            (["--tlsv1.2"], true), (["--tlsv1.3", "--tls-max", "1.3"], true), (["-1"], true),
            (["--tls-max", "1.2", "--ciphers", "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"], true),
            (["--curves", "X25519"], true), (["--tls-max", "1.2", "--ciphers", "NONE"], false),
            (["--pinnedpubkey", wrong], false), (["--interface", "no-such-interface"], false),
        ] {
            let ended = try await Executable.run(
                ["get", "--attempts", "1", "--cacert", fixture.caPath] + words + [fixture.baseURL + "/ok"]
            )
            #expect((ended.status == 0) == isFine, "\(words): \(ended.errors)")
        }
        // A name that the TLS library does not know is not tried again.
        for option in ["--ciphers", "--tls13-ciphers", "--curves"] {
            let ended = try await get("-k", option, "NONE", fixture.baseURL + "/ok")
            #expect(ended.status == 1 && ended.errors.contains("invalidRequest"), "\(option): \(ended.errors)")
            #expect(!ended.errors.contains("attempt"), "\(option): \(ended.errors)")
        }
        // The refusal names the key that the server has.
        let refused = try await get("-k", "--pinnedpubkey", wrong, fixture.baseURL + "/ok").errors
        let key = try #require(refused.firstRange(of: "it is sha256//").map { refused[$0.upperBound...].prefix(44) })
        #expect(try await get("-k", "--pinnedpubkey", "\(wrong);sha256//\(key)", fixture.baseURL + "/ok").status == 0)
        for words in [
            ["--tls-max", "2"], ["--tlsv1.3", "--tls-max", "1.2"], ["--pinnedpubkey", "sha256//x"],
            ["--pinnedpubkey", "/nonexistent"], ["--capath", "/nonexistent"], ["--crlfile", "/nonexistent"],
        ] {
            let ended = try await Executable.run(["get"] + words + [fixture.baseURL + "/ok"])
            #expect(ended.status == 2 && ended.errors.contains(words[words.count - 2]), "\(words): \(ended.errors)")
        }
    }

    @Test(
        "--capath adds to --cacert, as in curl, and --crlfile and a file of --pinnedpubkey are read",
        .enabled(if: Executable.installed("openssl") != nil)
    )
    func authorities() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        let (folder, other, junk) = (try ScratchFile(), try ScratchFile(), try ScratchFile())
        try folder.makeFolder()
        let pem = String(decoding: try ScratchFile.at(fixture.caPath).bytes(), as: UTF8.self)
        try await folder.file("ca.pem").overwrite(pem)
        try await junk.overwrite("junk")
        // An authority of another name: OpenSSL takes the first that has the issuer's.
        let make = "req -x509 -newkey rsa:2048 -nodes -subj /CN=Other -keyout /dev/null -out \(other.path)"
        for words in [make.split(separator: " ").map(String.init), ["rehash", folder.path]] {
            let made = try await Executable.run(words, program: Executable.installed("openssl") ?? "")
            try #require(made.status == 0, "\(made.errors)")
        }
        let curl = Executable.installed("curl")
        for (words, isFine) in [
            (["--capath", folder.path], true), (["--cacert", other.path], false),
            (["--cacert", other.path, "--capath", folder.path], true),
            (["--cacert", fixture.caPath, "--crlfile", junk.path], false),
            (["--cacert", fixture.caPath, "--pinnedpubkey", junk.path], false),
        ] {
            let ours = try await get(words + [fixture.baseURL + "/ok"])
            #expect((ours.status == 0) == isFine, "\(words): \(ours.errors)")
            guard let curl else { continue }
            let theirs = try await Executable.run(["-q", "-sS"] + words + [fixture.baseURL + "/ok"], program: curl)
            #expect((theirs.status == 0) == isFine, "curl \(words): \(theirs.errors)")
        }
        for file in [folder, other, junk] { file.remove() }
    }

    @Test("a pipe with authorities serves all requests, of which several transports are made")
    func authoritiesFromPipe() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        let urls = (0..<8).map { "'\(fixture.baseURL)/ok?\($0)'" }.joined(separator: " ")
        let line = "cat '\(fixture.caPath)' | \"$1\" get --attempts 1 --cacert /dev/stdin \(urls)"
        let ended = try await Executable.run(["-c", line, "sh", Executable.path], program: "/bin/sh")
        #expect(ended.status == 0 && ended.lines.count == 8, "\(ended.errors)")
    }

    @Test("a proxy gets its user, is not used for --noproxy, and has names of its own for its kinds")
    func proxies() async throws {
        let proxy = try FaultServer()
        let url = "http://refrain.example/ok"
        func authorization() -> String? {
            proxy.log.last?.headers.first { $0[0].lowercased() == "proxy-authorization" }?[1]
        }
        #expect(try await get("-x", proxy.baseURL, url).status == 0)
        #expect(proxy.log.count == 1 && authorization() == nil)
        #expect(try await get("-x", proxy.baseURL, "-U", "me:SECRET", url).status == 0)
        #expect(authorization() == "Basic bWU6U0VDUkVU")
        proxy.clearLog()
        let words = ["-x", proxy.baseURL, "--noproxy", "127.0.0.1", server.baseURL + "/ok"]
        #expect(try await Executable.run(["get"] + words).text == "ok\n")
        #expect(proxy.log.isEmpty)
        let socks = try await get("--socks5-hostname", "127.0.0.1:1", url)
        // It is the proxy that cannot be reached; newer versions of libcurl name the host, too.
        #expect(socks.status == 1 && socks.errors.contains("127.0.0.1"), "\(socks.errors)")
        let wrong = try await get("--socks5", "http://me:SECRET@h:1", url)
        #expect(wrong.status == 2 && wrong.errors.contains("--socks5") && !wrong.errors.contains("SECRET"))
    }
}
