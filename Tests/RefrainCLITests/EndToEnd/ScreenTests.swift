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

@Suite("What a person sees on standard error", .timeLimit(.minutes(10)))
struct ScreenTests {
    private let server: FaultServer
    private let folder: ScratchFile

    init() throws {
        server = try FaultServer()
        folder = try ScratchFile()
    }

    private func get(_ words: String...) async throws -> Executable.Ended {
        try await Executable.run(["get", "--backoff", "constant:5ms"] + words)
    }

    @Test("every retry is told in one plain line, and the end in another")
    func retries() async throws {
        let ended = try await get("-o", folder.path, server.baseURL + "/status/503?times=2")
        let lines = ended.errors.split(separator: "\n")
        #expect(ended.status == 0 && lines.count == 3, "\(ended.errors)")
        // Of 5 ms nothing may be left where the machine is slow.
        let form = /refrain get: 503 Service Unavailable; attempt . (at [0-9:]{8}, in .+|now); gives up after [0-9:]{8}/
        for line in lines.prefix(2) { #expect(line.wholeMatch(of: form) != nil, "\(line)") }
        #expect(lines[0].contains("attempt 2 ") && lines[1].contains("attempt 3 "), "\(ended.errors)")
        #expect(lines[2].hasPrefix("refrain get: saved 3 B to \(folder.path) in "), "\(lines[2])")
        #expect(lines[2].hasSuffix(", 2 retries"), "\(lines[2])")
        #expect(server.count(path: "/status/503") == 3)
        #expect(!ended.errors.contains("\u{1B}") && !ended.errors.contains("\r"))
    }

    @Test("a printed body is told nothing of at the end, and its retries are", arguments: ["-s", "-q", ""])
    func printed(option: String) async throws {
        let words = (option.isEmpty ? [] : [option]) + [server.baseURL + "/status/503?times=1"]
        let ended = try await Executable.run(["get", "--backoff", "constant:5ms"] + words)
        #expect(ended.text == "ok\n")
        let count = ended.errors.split(separator: "\n").count
        #expect(count == (option.isEmpty ? 1 : 0), "\(ended.errors)")
    }

    @Test("a list ends with the sum, and says where its failures are")
    func list() async throws {
        let urls = [server.baseURL + "/ok", server.baseURL + "/status/404"]
        let ended = try await Executable.run(["get", "--output-dir", folder.path] + urls)
        let last = ended.errors.split(separator: "\n").last ?? ""
        #expect(last.hasPrefix("refrain get: 1 of 2 saved, 3 B in "), "\(last)")
        #expect(last.hasSuffix("; 1 failed: see refrain status \(folder.path)"), "\(last)")
        let state = folder.path + ".state"
        let apart = try await Executable.run(["get", "--state", state, "--output-dir", folder.path] + urls)
        #expect(apart.errors.contains("; 1 failed: see refrain status \(state)\n"), "\(apart.errors)")
        #expect(try await Executable.run(["status", state]).text.contains("1 failed"))
        _ = try await Executable.run(["-f", state, state + "-lock"], program: "/bin/rm")
        _ = try await Executable.run(["-rf", folder.path], program: "/bin/rm")
    }

    @Test("refrain URL is refrain get URL, with or without a scheme")
    func withoutCommand() async throws {
        let plain = try await Executable.run([server.baseURL + "/ok"])
        #expect(plain.text == "ok\n" && plain.errors.isEmpty && plain.status == 0)
        let bare = String(server.baseURL.dropFirst("http://".count)) + "/ok"
        let ended = try await Executable.run(["-f", bare])
        #expect(ended.text == "ok\n" && ended.errors.contains("using \(server.baseURL)/ok"), "\(ended.errors)")
        #expect(try await Executable.run([bare, "-s"]).errors.isEmpty)
        let typo = try await Executable.run(["http:/127.0.0.1/x"])
        #expect(typo.status == 2 && typo.errors.contains("did you mean http://127.0.0.1/x?"), "\(typo.errors)")
        #expect(try await Executable.run(["gte", "x"]).errors.contains("did you mean get?"))
    }

    @Test("an interrupted download says what is kept, and the command that goes on")
    func interrupted() async throws {
        server.on("/long") { _ in
            [
                .text("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 900000\r\n\r\n"),
                .send([UInt8](repeating: 1, count: 600_000)), .hang,
            ]
        }
        let running = try Executable.start(["get", "-C", "-", "-o", folder.path, server.baseURL + "/long"])
        while server.count(path: "/long") == 0 { await Executable.Running.onThread { _ = poll(nil, 0, 10) } }
        await Executable.Running.onThread { _ = poll(nil, 0, 300) }
        running.signal(SIGINT)
        let ended = await running.end()
        #expect(ended.status == -SIGINT && ended.errors.contains("600.0 KB of the file are kept"), "\(ended.errors)")
        #expect(
            ended.errors.contains("\n  refrain get -C - -o \(folder.path) \(server.baseURL)/long\n"),
            "\(ended.errors)"
        )
    }

    @Test("-v shows the request as it was sent, the heads and each attempt, and no secret")
    func verbose() async throws {
        let words = ["-v", "-u", "me:SECRET", "-H", "X-Api-Token: SECRET", "-b", "a=SECRET", "-o", folder.path]
        let ended = try await Executable.run(
            ["get", "--backoff", "constant:5ms"] + words + [server.baseURL + "/status/503?times=1"]
        )
        let errors = ended.errors
        #expect(ended.status == 0 && !errors.contains("SECRET"), "\(errors)")
        for line in [
            "> GET /status/503?times=1 HTTP/1.1\n", "> Host: 127.0.0.1:", "> Authorization: …\n", "> X-Api-Token: …\n",
            "> Cookie: …\n", "< HTTP/1.1 503", "* Attempt 1: 503 Service Unavailable in ", "* Attempt 2: 200 OK in ",
            "< HTTP/1.1 200 OK\n", "* Connected to 127.0.0.1",
        ] {
            #expect(errors.contains(line), "\(line) \(errors)")
        }
        #expect(!errors.contains("█"))
        let drawn = try await Executable.run(["get", "--timeline", "-o", folder.path, server.baseURL + "/ok"])
        #expect(drawn.errors.contains("█"), "\(drawn.errors)")
    }

    @Test("a report has the fields of the request, without secrets")
    func report() async throws {
        let ended = try await get("-u", "me:SECRET", "-H", "X-A: b", "--report", "-", server.baseURL + "/ok")
        #expect(ended.text.contains(#""request_headers":[["X-A","b"],["Authorization","…"]"#), "\(ended.text)")
        let posted = try await get("-d", "a=1", "--report", "-", server.baseURL + "/ok")
        #expect(posted.text.contains(#"["Content-Type","application/x-www-form-urlencoded"]"#), "\(posted.text)")
    }

    @Test("-d @FILE takes a file without its line ends, as curl does, and --data-binary as it is")
    func data() async throws {
        let file = try ScratchFile("a=1\r\nb=2\n")
        let url = server.baseURL + "/echo"
        #expect(try await get("-d", "@" + file.path, url).text.contains(#""body":"a=1b=2""#))
        #expect(try await get("-d", "@" + file.path, "-d", "c", url).text.contains(#""body":"a=1b=2&c""#))
        #expect(try await get("--data-binary", "@" + file.path, url).text.contains(#""body":"a=1\r\nb=2\n""#))
        #expect(try await get("--json", "@" + file.path, url).text.contains(#""body":"a=1\r\nb=2\n""#))
        file.remove()
    }

    @Test("--dry-run says what would be asked, of whom and by which policy, and sends nothing")
    func dryRun() async throws {
        let url = server.baseURL + "/ok"
        let ended = try await get("--dry-run", "--output-dir", folder.path, "-u", "me:SECRET", url)
        #expect(ended.status == 0 && server.count(path: "/ok") == 0 && !folder.exists)
        for part in [
            "GET \(url)\n", "host     127.0.0.1, port ", "Authorization: …", "into     \(folder.path)/",
            "policy   waits 0 to 5 ms",
        ] {
            #expect(ended.text.contains(part), "\(part): \(ended.text)")
        }
        let bounded = try await Executable.run([
            "get", "--dry-run", "--attempts", "4", "--deadline", "9s", "-d", "x", url,
        ])
        #expect(
            bounded.text.contains("4 attempts") && bounded.text.contains("9 s for each request"),
            "\(bounded.text)"
        )
        #expect(bounded.text.contains("POST \(url)") && bounded.text.contains("not idempotent"), "\(bounded.text)")
    }

    @Test("--dry-run shows the media type that the body brings along, unless a field names or omits it")
    func typeOfDryRun() async throws {
        let url = server.baseURL + "/ok"
        func fields(_ words: String...) async throws -> [String] {
            let text = try await Executable.run(["get", "--dry-run"] + words + [url]).text
            return text.split(separator: "\n").map(String.init).filter { $0.lowercased().contains("content-type") }
        }
        let form = "  field    Content-Type: application/x-www-form-urlencoded"
        #expect(try await fields("-d", "x") == [form])
        #expect(try await fields("--json", "{}") == ["  field    Content-Type: application/json"])
        let boundary = try await fields("-F", "a=b")
        #expect(boundary.count == 1 && boundary[0].contains("multipart/form-data; boundary="), "\(boundary)")
        #expect(try await fields("-d", "x", "-H", "content-type: text/csv") == ["  field    content-type: text/csv"])
        for none in [["-d", "x", "-H", "Content-Type:"], ["-T", "/dev/null"], []] {
            let ended = try await Executable.run(["get", "--dry-run"] + none + [url])
            #expect(ended.status == 0 && !ended.text.contains("Content-Type"), "\(none): \(ended.text)")
        }
        #expect(server.log.isEmpty)
        // What is sent is what was shown.
        _ = try await Executable.run(["get", "-d", "x", url])
        #expect(server.log.map { $0.header("Content-Type") } == ["application/x-www-form-urlencoded"])
    }

    @Test("a failed list has its sum at the end where the bodies are printed, and a good one has none")
    func printedList() async throws {
        func run(_ paths: String..., options: [String] = []) async throws -> Executable.Ended {
            let list = try ScratchFile(paths.map { "\(server.baseURL)\($0)\n" }.joined())
            defer { list.remove() }
            return try await Executable.run(["get", "--attempts", "1", "-X", "POST", "--from", list.path] + options)
        }
        let good = try await run("/ok?1", "/ok?2")
        #expect(good.status == 0 && good.text == "ok\nok\n" && good.errors.isEmpty, "\(good.errors)")
        let failed = try await run("/ok?1", "/status/404", "/status/400")
        let lines = failed.errors.split(separator: "\n")
        #expect(failed.status == 22 && failed.text == "ok\n", "\(failed.errors)")
        let sum = lines.last ?? ""
        #expect(sum.hasPrefix("refrain get: 1 of 3 done, 3 B in "), "\(failed.errors)")
        #expect(sum.hasSuffix("; 2 failed: see the lines above"), "\(failed.errors)")
        for option in ["-s", "-q"] {
            #expect(try await run("/ok?1", "/status/404", options: [option]).errors.isEmpty)
        }
        // A request that is alone has its own line, and no other.
        let alone = try await Executable.run(["get", server.baseURL + "/status/404"])
        #expect(alone.errors.split(separator: "\n").count { $0.hasPrefix("refrain get: ") } == 1, "\(alone.errors)")
    }

    @Test(
        "a limit of time that ended a request is named by its option",
        arguments: [
            (["--timeout", "200ms", "--attempts", "1"], "/hang", "timedOut (", ": --timeout 200ms)"),
            (["-m", "0.2", "--attempts", "1"], "/hang", "timedOut (", ": --max-time 0.2)"),
            (["--max-time", "0.2"], "/hang", "deadlineExceeded (", ": --max-time 0.2)"),
            (["--deadline", "200ms"], "/hang", "deadlineExceeded (", ": --deadline 200ms)"),
            (
                ["--timeout", "300ms", "--attempts", "1", "-o", "/dev/null"], "/stall", "timedOut (",
                ": --timeout 300ms)"
            ),
            (
                ["--deadline", "300ms", "--backoff", "constant:1m"], "/status/503", "status 503",
                ", and there is no time for another attempt: --deadline 300ms"
            ),
            (["--connect-timeout", "0.2", "--attempts", "1"], "unreachable", "timedOut (", ": --connect-timeout 0.2)"),
        ]
    )
    func namedLimits(options: [String], path: String, code: String, name: String) async throws {
        server.on("/stall") { _ in [.head(.init(200, headers: [("Content-Length", "9")])), .send([1, 2]), .hang] }
        // The queue of connections of this one is full.
        let closed = try FaultServer(mode: .neverAccept)
        let url = path == "unreachable" ? closed.baseURL + "/" : server.baseURL + path
        let ended = try await Executable.run(["get"] + options + [url])
        #expect(ended.errors.contains(": \(code)") && ended.errors.contains(name), "\(ended.errors)")
    }

    @Test(
        "a server that asks for a longer wait than is allowed: the advice is to come again, or the option that waits",
        arguments: [
            ([], "3600", "run it again then, or wait for it with --max-server-delay 60m"),
            (["--max-server-delay", "1s"], "20", "run it again then, or wait for it with --max-server-delay 20s"),
            (["--deadline", "10s"], "50", "run it again then, or allow more time than --deadline 10s"),
            (["-m", "10"], "50", "run it again then, or allow more time than --max-time 10"),
            (["--attempts", "1"], "2", "run it again then, or allow more attempts with --attempts or --retry-for"),
        ]
    )
    func advice(options: [String], delay: String, words: String) async throws {
        let ended = try await Executable.run(["get"] + options + ["\(server.baseURL)/status/503?retry-after=\(delay)"])
        #expect(ended.status == 75 && ended.errors.contains("GMT: \(words)"), "\(ended.errors)")
        #expect(server.log.count == 1)
    }

    @Test("the option that the advice names does wait")
    func followedAdvice() async throws {
        let path = "/status/503?times=1&retry-after=2"
        let refused = try await get("--max-server-delay", "1s", server.baseURL + path)
        #expect(refused.status == 75 && refused.errors.contains("--max-server-delay 2s"), "\(refused.errors)")
        server.on("/later") { request in
            [.respond(request.occurrence == 1 ? .init(503, headers: [("Retry-After", "2")]) : .init(200))]
        }
        #expect(try await get("--max-server-delay", "2s", server.baseURL + "/later").status == 0)
        #expect(server.count(path: "/later") == 2)
    }

    @Test("explain answers as get would act, in the words that people have")
    func explain() async throws {
        func explain(_ words: String...) async throws -> Executable.Ended {
            try await Executable.run(["explain"] + words)
        }
        for word in ["ECONNRESET", "56", "connection reset", "networkConnectionLost"] {
            let text = try await explain(word).text
            #expect(
                text.contains("failure networkConnectionLost") && text.contains("delay     0.250 s to 0.500 s"),
                "\(text)"
            )
        }
        #expect(try await explain("503").text.contains("for 60 s, and at least 3 attempts"))
        #expect(try await explain("503", "--attempt", "7", "--elapsed", "2m").text.contains("timeUsedUp"))
        #expect(try await explain("--error", "28", "--attempts", "1").text.contains("attemptsUsedUp"))
        #expect(try await explain("503", "--policy", "recommended", "--attempt", "3").text.contains("attemptsUsedUp"))
        let late = try await explain("503", "-H", "Retry-After: 7200", "--now", "1700000000").text
        #expect(late.contains("come back 2023-11-1") && late.contains(", in 2.0 h"), "\(late)")
        let unknown = try await explain("nonsense")
        #expect(unknown.status == 2 && unknown.errors.contains("refrain help explain"), "\(unknown.errors)")
        #expect(try await explain("503 Service Unavailable").text == explain("503").text)
        #expect(try await explain("ECONREST").errors.contains("did you mean econnreset?"))
        #expect(try await explain("22").errors.contains("give the status"))
        #expect(try await explain("--error", "429").errors.contains("--status"))
        let report = try await get("--report", "-", server.baseURL + "/status/503?times=2")
        let first = try await explain(String(report.text.dropLast()), "--attempt", "1").text
        #expect(first.contains("GET, attempt 1: status 503") && first.contains("recorded  retry, after "), "\(first)")
        #expect(try await explain(String(report.text.dropLast())).text.contains("attempt 3: status 200"))
        #expect(try await explain(String(report.text.dropLast()), "--attempt", "9").status == 2)
        #expect(HelpText.text(for: .explain).contains("networkConnectionLost (econnreset"))
    }

    @Test("the help of get has thirty options, and more by name")
    func help() async throws {
        let short = try await Executable.run(["get", "--help"]).text
        let count = short.split(separator: "\n").count {
            $0.contains(" --") && $0.hasPrefix("  ") && !$0.hasPrefix("   refrain")
        }
        #expect((25...50).contains(count), "\(count)")
        let all = try await Executable.run(["get", "--help", "all"]).text
        let tls = try await Executable.run(["get", "--help", "tls"]).text
        #expect(
            all.contains("--tls-max") && tls.contains("--tls-max") && !tls.contains("--output")
                && !short.contains("--tls-max")
        )
        #expect(try await Executable.run(["help", "get", "tls"]).text == tls)
        // A message that sends the reader to the help names the form of it that has the answer.
        let odd = try await Executable.run(["get", "-w", "%{nonesuch}", "http://h/"])
        #expect(odd.errors.contains("refrain help get all lists the variables"), "\(odd.errors)")
        #expect(try await Executable.run(["help", "get", "all"]).text.contains("The variables of --write-out"))
        let wrong = try await Executable.run(["get", "--help", "tsl"])
        #expect(wrong.status == 2 && wrong.errors.contains("did you mean tls?"), "\(wrong.errors)")
        for name in CommandSpec.get.common { #expect(CommandSpec.get.options.contains { $0.name == name }) }
        for section in ["DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS", "BUGS"] {
            #expect(ManualPage.text.contains("\n.SH \(section)\n"))
        }
    }

    #if os(Linux)
    /// Runs the command on a terminal.
    private func onTerminal(_ command: String, columns: Int = 80, kind: String = "xterm") async throws -> String {
        let line = "stty cols \(columns) rows 24; export TERM=\(kind); exec \(Executable.path) \(command)"
        return try await Executable.run(["-qec", line, "/dev/null"], program: "/usr/bin/script").text
    }

    @Test("a terminal gets no binary data, unless it is asked for")
    func binary() async throws {
        server.on("/binary") { _ in [.respond(.init(200, bytes: [0x7F, 0x45, 0x4C, 0x46, 0, 1, 2]))] }
        let refused = try await onTerminal("\(server.baseURL)/binary")
        #expect(refused.contains("-o FILE saves it") && !refused.contains("ELF"), "\(refused)")
        #expect(try await onTerminal("get -o - \(server.baseURL)/binary").contains("ELF"))
        #expect(try await onTerminal("get \(server.baseURL)/ok").hasPrefix("ok\r\n"))
    }

    @Test("on a terminal a wait counts down in place, and one line stays", arguments: [40, 80])
    func countdown(columns: Int) async throws {
        let text = try await onTerminal(
            "--backoff constant:700ms --jitter none -o \(folder.path) '\(server.baseURL)/status/503?times=1'",
            columns: columns
        )
        let counts = Set(text.matches(of: /attempt 2 in (0\.[0-9]) s/).map { String($0.1) })
        #expect(counts.count > 1, "\(text)")
        #expect(text.contains("\r\u{1B}[K\u{1B}[C\u{1B}[J\r503 Service Unavailable; attempt 2 at "), "\(text)")
        #expect(text.contains("refrain get: saved 3 B to "), "\(text)")
        // A terminal that is resized moves the beginning of the line, where the cursor is, and no row of it is left.
        let drawn = text.matches(of: /attempt 2 in 0\.[0-9] s[^\r\n]*(\r+)/)
        #expect(!drawn.isEmpty && drawn.allSatisfy { !$0.1.isEmpty }, "\(text)")
        #expect(!text.contains(/\u{1B}\[[0-9]+A/), "\(text)")
    }

    @Test("a dumb terminal gets plain lines, as a file does")
    func dumbTerminal() async throws {
        let url = "'\(server.baseURL)/status/503?times=1'"
        let words = "--backoff constant:300ms --jitter none -o \(folder.path) \(url)"
        let text = try await onTerminal(words, kind: "dumb")
        #expect(text.contains("503 Service Unavailable; attempt 2 at ") && !text.contains("\u{1B}"), "\(text)")
    }
    #endif
}
