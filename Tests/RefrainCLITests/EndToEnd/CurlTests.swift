// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@testable import RefrainCLI

/// One command line of curl, and what it shows that must be the same.
struct CurlCase: Sendable, CustomTestStringConvertible {
    /// The words of both commands; BASE is the address of the server, DIR a folder of the test's own.
    var words: [String]
    /// The words of refrain, where they are not curl's.
    var own: [String]?
    /// The file that both write.
    var file: String?
    /// What is put into the folder before, by name.
    var given: [String: String] = [:]

    init(_ words: String..., own: [String]? = nil, file: String? = nil, given: [String: String] = [:]) {
        (self.words, self.own, self.file, self.given) = (words, own, file, given)
    }

    var testDescription: String { words.joined(separator: " ") }

    static let all: [CurlCase] = requests + forms + credentials + files + retries + places + bounds

    /// The variables of sizes that curl has, too.
    private static let sizes = "%{size_header} %{size_request} %{size_upload} %{size_download} %{http_connect}"

    /// Both commands make one request after the other.
    private var oneByOne: CurlCase {
        var copy = self
        copy.own = ["-j", "1"] + words
        return copy
    }

    private static let requests = [
        CurlCase("BASE/echo"), CurlCase("-L", "BASE/redirect/2"), CurlCase("-A", "me/1", "BASE/echo"),
        CurlCase("-e", "http://from/", "BASE/echo"), CurlCase("--json", "{\"a\": 1}", "BASE/echo"),
        CurlCase("--json", "{\"a\":", "--json", "1}", "BASE/echo"), CurlCase("-d", "a=1", "-d", "b=2", "BASE/echo"),
        CurlCase("--data-raw", "@x", "BASE/echo"), CurlCase("--data-binary", "a\nb", "BASE/echo"),
        CurlCase("--data-binary", "@DIR/body", "BASE/echo", given: ["body": "line\r\nline\n"]),
        CurlCase("--data-urlencode", "a b&c", "--data-urlencode", "n=ä /", "BASE/echo"),
        CurlCase("--data-urlencode", "=x=y", "--data-urlencode", "n@DIR/body", "BASE/echo", given: ["body": "a b"]),
        CurlCase("-d", "a=1", "--data-urlencode", "b=c d", "BASE/echo"),
        CurlCase("-G", "-d", "a=1", "-d", "b=2", "BASE/echo"), CurlCase("-G", "-d", "a=1", "BASE/echo?z=0"),
        CurlCase("--url-query", "a=b c", "--url-query", "+x=%20", "BASE/echo"),
        CurlCase("-b", "a=b", "BASE/echo"), CurlCase("-b", "a=b; c=d", "BASE/echo"),
        CurlCase("-T", "DIR/body", "BASE/echo", given: ["body": "uploaded"]),
        CurlCase("-T", "DIR/a b", "BASE/echo/?q=/", given: ["a b": "1"]),
        CurlCase("-T", "DIR/ok", "BASE", given: ["ok": ""]),
        CurlCase("-G", "--data-urlencode", "=", "BASE/echo"), CurlCase("--url", "BASE/echo"),
        CurlCase("-L", "-e", "http://from/;auto", "BASE/redirect/2"), CurlCase("-L", "-e", ";auto", "BASE/redirect/1"),
        CurlCase("-e", "http://from/;x", "BASE/echo"), CurlCase("-H", "Authorization:", "-u", "a:b", "BASE/echo"),
        CurlCase("-L", "--no-location", "BASE/redirect/1"), CurlCase("--no-location", "-L", "BASE/redirect/1"),
        CurlCase("-w", "@DIR/format", "BASE/bytes/5", given: ["format": "%{http_code}\\n\n-\r\n"]),
        CurlCase("-X", "DELETE", "BASE/echo"), CurlCase("-H", "X-A: b", "-H", "X-A: c", "BASE/echo"),
        CurlCase("-H", "@DIR/fields", "BASE/echo", given: ["fields": "X-A: b\nX-C: d\n"]),
        CurlCase("-sSfL", "-m", "20", "--connect-timeout", "5", "BASE/echo"), CurlCase("-Z", "BASE/echo"),
        CurlCase("-4", "BASE/echo"), CurlCase("-A", "", "BASE/echo"), CurlCase("-H", "User-Agent:", "BASE/echo"),
        CurlCase("-H", "Accept:", "BASE/echo"), CurlCase("-H", "X-E;", "-H", "X-None:", "BASE/echo"),
        CurlCase("-d", "a", "-H", "Content-Type:", "BASE/echo"), CurlCase("--url-query", "a=b", "BASE/echo?"),
        CurlCase("BASE/a/../../x/./../echo?q=/../r#/../s"), CurlCase("BASE/./echo/x/.."),
        CurlCase("-K", "DIR/config", given: ["config": "-sS\n-XPUT\n--data =x\nurl = BASE/echo\n"]),
        CurlCase("-K", "DIR/config", given: ["config": "# one\nurl = BASE/echo\nuser-agent = \"a \\\"b\\\"\"\n-d x\n"]),
    ]

    private static let forms = [
        CurlCase("-F", "a=b", "-F", "c=d;type=text/csv", "BASE/form"),
        CurlCase("-F", "f=@DIR/page.html", "-F", "t=<DIR/page.html", "BASE/form", given: ["page.html": "<p>"]),
        CurlCase("-F", "f=@DIR/x;filename=y.z;type=a/b", "BASE/form", given: ["x": "1"]),
        CurlCase("--form-string", "a=@b;type=c", "BASE/form"), CurlCase("-F", "a=b;filename=c.txt", "BASE/form"),
        CurlCase("-F", "a=@-", "BASE/form"), CurlCase("-F", "a=<-;type=text/x", "BASE/form"),
        CurlCase("-F", "a= <b> ;type=text/html; charset=x;filename=\" y \"", "BASE/form"),
        CurlCase("-F", "a=\"x; y\\\"\\\\\\z\" ;type=text/csv", "-F", "b=\"c", "BASE/form"),
        CurlCase("-F", "f=@\"DIR/a,b;c\";filename=\"d;\\\"e\"", "BASE/form", given: ["a,b;c": "1"]),
        CurlCase("-F", "f=@DIR/x;filename=y.png", "-F", "t=<DIR/x.txt", "BASE/form", given: ["x": "1", "x.txt": "2"]),
        CurlCase("-H", "Content-Type: multipart/form-data; charset=utf-8", "-F", "a=b", "BASE/form"),
    ]

    private static let credentials = [
        CurlCase("-u", "me:pass:word", "BASE/echo"), CurlCase("--oauth2-bearer", "token", "BASE/echo"),
        CurlCase(
            "--netrc-file",
            "DIR/netrc",
            "BASE/echo",
            given: ["netrc": "machine 127.0.0.1\n login me password \"a b\"\ndefault login x password y\n"]
        ),
        CurlCase(
            "--netrc-file",
            "DIR/netrc",
            "http://b@127.0.0.1:PORT/echo",
            given: ["netrc": "machine 127.0.0.1 login a password x\nmachine 127.0.0.1 login b password y\n"]
        ),
        CurlCase(
            "--netrc-file",
            "DIR/netrc",
            "BASE/echo",
            given: ["netrc": "MACHINE 127.0.0.1 Login \"a\\tb\" PASSWORD \"c\\\\\\\"d\"\n"]
        ),
        CurlCase("--netrc-file", "DIR/netrc", "BASE/echo", given: ["netrc": "machine other login a password b\n"]),
    ]

    private static let files = [
        CurlCase("-o", "DIR/out", "BASE/bytes/1000", file: "out"),
        CurlCase("-o", "DIR/a/b/out", "--create-dirs", "BASE/ok", file: "a/b/out"),
        CurlCase("-o", "DIR/a", "-o", "DIR/b", "BASE/bytes/9", "BASE/ok", file: "a").oneByOne,
        CurlCase("BASE/bytes/9", "-o", "DIR/a", "BASE/ok", "-o", "DIR/b", file: "b").oneByOne,
        CurlCase("BASE/bytes/9", "BASE/ok", "-o", "DIR/a", file: "a").oneByOne,
        CurlCase("BASE/bytes/9", "-o", "-", "BASE/ok", "-o", "DIR/b", file: "b").oneByOne,
        CurlCase("BASE/bytes/9", "-o", "DIR/a", "-o", "DIR/b", file: "a"),
        CurlCase("--output-dir", "DIR", "-o", "out", "BASE/bytes/9", file: "out"),
        CurlCase("--output-dir", "DIR/new", "-o", "out", "--create-dirs", "BASE/ok", file: "new/out"),
        CurlCase("--compressed", "BASE/coded"), CurlCase("--compressed", "BASE/coded/twice"),
        CurlCase("BASE/coded"), CurlCase("-i", "BASE/latin1"), CurlCase("-D", "-", "-o", "/dev/null", "BASE/latin1"),
        CurlCase("-w", "%header{x-name}", "BASE/latin1"),
        CurlCase("-A", "x", "-H", "Accept-Encoding: identity", "-w", sizes, "BASE/bytes/5"),
        CurlCase("-A", "x", "-H", "Accept-Encoding: identity", "-d", "abc", "-w", sizes, "BASE/bytes/5"),
        CurlCase("-A", "x", "-H", "Accept-Encoding: identity", "-L", "-w", sizes, "BASE/redirect/2"),
        CurlCase("-O", "--output-dir", "DIR", "BASE/bytes/1000", file: "1000"),
        CurlCase("-OJ", "--output-dir", "DIR", "BASE/named", file: "server.txt"),
        CurlCase("--remote-name-all", "--output-dir", "DIR", "BASE/bytes/1000", file: "1000"),
        CurlCase("-o", "DIR/out", "--no-clobber", "BASE/ok", file: "out.1", given: ["out": "old"]),
        CurlCase("-b", "DIR/jar", "BASE/cookie/read", given: ["jar": "127.0.0.1\tFALSE\t/\tFALSE\t0\tn\tv\n"]),
        CurlCase(
            "--compressed",
            "BASE/bytes/1000?encoding=gzip",
            own: ["--compressed", "BASE/bytes/1000?encoding=gzip"]
        ),
    ]

    private static let retries = [
        CurlCase("--retry", "2", "--retry-delay", "1", "-f", "BASE/status/503?times=1"),
        CurlCase("--retry", "1", "--retry-delay", "1", "--retry-all-errors", "-f", "BASE/status/404?times=1"),
        CurlCase("-f", "BASE/status/404", own: ["BASE/status/404"]), CurlCase("--fail-with-body", "BASE/status/422"),
        CurlCase("--retry", "0", "-f", "BASE/status/503"),
    ]

    private static let places = [
        CurlCase("--resolve", "refrain.example:PORT:127.0.0.1", "http://refrain.example:PORT/echo"),
        CurlCase("--connect-to", "refrain.example:80:127.0.0.1:PORT", "http://refrain.example/echo"),
    ]
}

extension CurlCase {
    /// What bounds a request, and what is the default anyway.
    fileprivate static let bounds = [
        CurlCase("--proto", "=http,https", "--tlsv1.2", "-sSf", "BASE/echo"),
        CurlCase("--proto", "=https", "BASE/echo"),
        CurlCase("-L", "--proto-redir", "=https", "BASE/redirect/1"),
        CurlCase("-L", "--max-redirs", "2", "BASE/redirect/2"),
        CurlCase("-r", "5-9", "BASE/bytes/100"), CurlCase("--range", "-5", "BASE/bytes/100"),
        CurlCase("-z", "Sun, 22 Nov 2026 10:30:00 GMT", "BASE/echo"),
        CurlCase("-z", "-20261122 10:30:00 +0200", "BASE/echo"),
        CurlCase("-z", "DIR/none", "-s", "BASE/echo"),
        CurlCase("--etag-compare", "DIR/tag", "BASE/echo", given: ["tag": "\"abc\"\n"]),
        CurlCase("--etag-compare", "DIR/tag", "BASE/echo", given: ["tag": ""]),
        CurlCase("--etag-save", "DIR/tag", "BASE/bytes/10", file: "tag"),
        CurlCase("-g", "--basic", "-u", "a:b", "BASE/echo"), CurlCase("-N", "--http1.1", "BASE/bytes/100"),
        CurlCase("--http2", "--http1.1", "--no-progress-meter", "BASE/echo"),
        CurlCase("-x", "BASE", "-U", "me:pass", "http://refrain.example/echo"),
        CurlCase("-x", "http://127.0.0.1:1", "--noproxy", "*", "BASE/echo"),
        CurlCase("--remove-on-error", "-o", "DIR/out", "-f", "BASE/status/404", file: nil),
        CurlCase("--fail-early", "-f", "BASE/status/404"), CurlCase("-Y", "1", "-y", "5", "BASE/bytes/100"),
        CurlCase("--interface", "127.0.0.1", "BASE/echo"),
    ]
}

@Suite(
    "Options of curl, beside curl itself",
    .enabled(if: Executable.installed("curl") != nil),
    .timeLimit(.minutes(10))
)
struct CurlTests {
    /// What one of the commands did.
    private struct Seen: Equatable {
        var status: Int32
        var output: [UInt8]
        var file: [UInt8]?
        var requests: [String]
    }

    /// Fields that name the command, and not what was asked for.
    private static let ownFields = ["user-agent", "accept", "accept-encoding", "connection", "host", "expect"]

    private func run(_ test: CurlCase, with program: String, _ words: [String]) async throws -> Seen {
        let server = try FaultServer()
        let folder = try ScratchFile()
        server.on("/form") { request in [.respond(.init(200, bytes: Self.withoutBoundary(request)))] }
        server.on("/named") { _ in
            [
                .respond(
                    .init(200, headers: [("Content-Disposition", "attachment; filename=\"../server.txt\"")], body: "n")
                )
            ]
        }
        server.on("/coded") { _ in Self.coded("deflate, gzip", Self.deflateInGzip) }
        server.on("/coded/twice") { _ in Self.coded("gzip, x-gzip", Self.gzipInGzip) }
        server.on("/latin1") { _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Other: é\r\nX-Name: caf"
            return [.text(head), .send([0xE9]), .text("\r\n\r\nok")]
        }
        server.on("/cookie/read") { request in [.respond(.init(200, body: request.header("Cookie") ?? "none"))] }
        func filled(_ text: String) -> String {
            text.replacing("BASE", with: server.baseURL).replacing("DIR", with: folder.path)
                .replacing("PORT", with: "\(server.port)")
        }
        try folder.makeFolder()
        for (name, text) in test.given { try await folder.file(name).overwrite(filled(text)) }
        let ended = try await Executable.run(words.map(filled), program: program)
        let isForm = test.words.contains { $0.hasPrefix("-F") || $0.hasPrefix("--form") }
        let requests = server.log.map { entry in
            let isInFile = entry.method == "POST" && test.words.contains("-K")
            let namesAgent = isInFile || ["-A", "User-Agent:"].contains { test.words.contains($0) }
            let fields = entry.headers.filter { field in
                let name = field[0].lowercased()
                if name == "user-agent", namesAgent { return true }
                if name == "accept", test.words.contains("--json") || test.words.contains("Accept:") { return true }
                if name == "content-type", field[1].hasPrefix("multipart/") { return false }
                // The boundary of a form has another length than curl's.
                return !Self.ownFields.contains(name) && !(name == "content-length" && isForm)
            }
            let lines = fields.map { "\($0[0].lowercased()): \($0[1])" }.sorted()
            let body = isForm ? "" : entry.bodySHA256 ?? ""
            return ([entry.method, entry.path] + lines + [body]).joined(separator: "\n").replacing(
                "\(server.port)",
                with: "PORT"
            )
        }
        // The echo has the fields that name the command; what was sent is compared above.
        let isEcho = test.words.contains { $0.contains("/echo") } || test.given.values.contains { $0.contains("/echo") }
        let output = isEcho ? [] : ended.output
        let file = try test.file.map { try folder.file($0).bytes() }
        folder.remove()
        return Seen(status: ended.status, output: output, file: file, requests: requests)
    }

    /// A text in two codings.
    private static let deflateInGzip = """
        H4sIAAAAAAACAwFIALf/eNoryUhVKCzNTM5WSCrKL89TSMuvUMgqzS0oVsgvSy1SKAFK5yRWVSqk5Kdbg3m0UZyYl6KQmJ6YmUdDO0YdRCMH\
        AQC7KNG9LMaKQUgAAAA=
        """
    private static let gzipInGzip = """
        H4sIAAAAAAACA5Pv5mAAASZm7ZMeoRo6Z33OhXlondI/H+xxen3ACa2zuhphJ/S9dYM0GL2eq4SFai15sjy6uXJL4JwZ0xdNmDFvxkx3Z2s3\
        WRdldkaGbyYvAl2YGBgAzUlGIVQAAAA=
        """

    private static func coded(_ codings: String, _ base64: String) -> [FaultServer.Step] {
        let bytes = ScratchFile.decoded(base64: base64)
        return [.respond(.init(200, headers: [("Content-Encoding", codings)], bytes: bytes))]
    }

    /// A form without what differs from one to the next.
    private static func withoutBoundary(_ request: FaultServer.Request) -> [UInt8] {
        let text = String(decoding: request.body, as: UTF8.self)
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        let boundary = lines.first ?? ""
        let shown =
            lines.map { $0.hasPrefix(boundary) ? "--" : $0 } + [
                request.header("Content-Type")?.hasSuffix("boundary=\(boundary.dropFirst(2))") == true
                    ? "named" : "unnamed"
            ]
        // The order of the fields of a part says nothing.
        return Array(shown.sorted().joined(separator: "\n").utf8)
    }

    @Test("an option of curl's does what curl does with it", arguments: CurlCase.all)
    func same(test: CurlCase) async throws {
        let curl = try await run(test, with: Executable.installed("curl") ?? "", ["-q", "-sS"] + test.words)
        let own = try await run(test, with: Executable.path, ["get"] + (test.own ?? test.words))
        #expect(own == curl)
    }

    @Test("-c writes a jar that curl reads, and reads one that curl has written")
    func cookieJar() async throws {
        let server = try FaultServer()
        server.on("/set") { _ in
            [
                .respond(
                    .init(200, headers: [("Set-Cookie", "a=b; Path=/"), ("Set-Cookie", "c=d; Max-Age=1000; HttpOnly")])
                )
            ]
        }
        server.on("/read") { request in [.respond(.init(200, body: request.header("Cookie") ?? "none"))] }
        let curl = Executable.installed("curl") ?? ""
        let (theirs, ours) = (try ScratchFile(), try ScratchFile())
        _ = try await Executable.run(["-q", "-sS", "-c", theirs.path, server.baseURL + "/set"], program: curl)
        _ = try await Executable.run(["get", "-c", ours.path, server.baseURL + "/set"])
        let read = try await Executable.run(["get", "-b", theirs.path, server.baseURL + "/read"])
        let back = try await Executable.run(["-q", "-sS", "-b", ours.path, server.baseURL + "/read"], program: curl)
        #expect(
            Set(read.text.split(separator: "; ")) == ["a=b", "c=d"]
                && Set(back.text.split(separator: "; ")) == ["a=b", "c=d"]
        )
        #expect(ours.mode == 0o600)
        let followed = try await Executable.run([
            "get", "-c", ours.path, "-j", "1", server.baseURL + "/set", server.baseURL + "/read",
        ])
        #expect(followed.text == "a=b; c=d" || followed.text == "c=d; a=b", "\(followed.text)")
        theirs.remove()
        ours.remove()
    }

    @Test("-R gives a file the date of Last-Modified, as curl does")
    func remoteTime() async throws {
        let server = try FaultServer()
        let (theirs, ours) = (try ScratchFile(), try ScratchFile())
        let url = server.baseURL + "/bytes/10"
        _ = try await Executable.run(
            ["-q", "-sS", "-R", "-o", theirs.path, url],
            program: Executable.installed("curl") ?? ""
        )
        _ = try await Executable.run(["get", "-R", "-o", ours.path, url])
        #expect(ours.modified == theirs.modified && ours.modified == 1_577_836_800)
        theirs.remove()
        ours.remove()
    }

    @Test("--limit-rate holds a transfer back, and --rate spaces requests")
    func rates() async throws {
        let server = try FaultServer()
        let words = ["--limit-rate", "400k", "-o", "/dev/null", server.baseURL + "/bytes/1200000"]
        let clock = ContinuousClock()
        let own = try await clock.measure { _ = try await Executable.run(["get"] + words) }
        #expect(own > .seconds(1))
        server.clearLog()
        let urls = (0..<4).map { "\(server.baseURL)/ok?\($0)" }
        // The whole command, since the first request may arrive late on a busy machine.
        let spaced = try await clock.measure { _ = try await Executable.run(["get", "-q", "--rate", "10/s"] + urls) }
        #expect(server.log.count == 4 && spaced >= .milliseconds(300), "\(spaced)")
    }

    @Test(
        "what is refused says what to use",
        arguments: [
            (["--preproxy", "h:1"], "--proxy"), (["-c", "8"], "-j 8"),
            (["--tries", "3"], "--attempts"), (["--input-file", "x"], "--from"), (["--digest"], "--user"),
            (["-O"], "-o FILE"), (["--rate", "x"], "50/s"), (["--limit-rate", "0"], "--limit-rate"),
            (["--resolve", "x"], "HOST:PORT:ADDRESS"), (["-J"], "--remote-name"),
            (["--retry-delay", "1"], "--retry N"), (["-C", "100"], "-r 100-"), (["-C100"], "-r 100-"),
            (["-T", "/dev/null", "-T", "/dev/null"], "bodyFile"),
            (["-T", "/dev/null", "http://127.0.0.1:1/2"], "bodyFile"),
            (["http://127.0.0.1:1/{a,b}"], "-g"), (["http://127.0.0.1:1/[1-3]"], "-g"), (["--clobber"], "--no-clobber"),
            (["--no-include"], "leave --include out"), (["-G", "-F", "a=b"], "--get"),
            (["-F", "a=b;c"], "--form-string"), (["-F", "a=@b,c"], "comma"),
            (["-F", "a=(b"], "--form-string"), (["-F", "a=b;type=c"], "media type"),
            (["-F", "a=b", "-H", "Content-Type: a/b; boundary=c"], "boundary"),
        ]
    )
    func refusals(words: [String], advice: String) async throws {
        let ended = try await Executable.run(["get"] + words + ["http://127.0.0.1:1/"])
        #expect(ended.status == 2 && ended.errors.contains(advice), "\(ended.errors)")
    }

    @Test("a secret on the command line is not to be seen in the list of processes")
    func blanked() async throws {
        let server = try FaultServer()
        let words = [
            "get", "-u", "@me:SECRET", "-H", "X-Token: SECRET", "--data-raw", "@SECRET",
            "http://me:SECRET@127.0.0.1:\(server.port)/hang",
        ]
        let running = try Executable.start(words)
        await server.requests(atLeast: 1)
        #if os(Linux)
        // What ps reads.
        let list = await ScratchFile.at("/proc/\(running.pid)/cmdline").read()
        #else
        let list = try await Executable.run(["-o", "args=", "-p", "\(running.pid)"], program: "/bin/ps").text
        #endif
        running.signal(9)
        _ = await running.end()
        #expect(list.contains("get") && !list.contains("SECRET"), "\(list)")
    }
}
