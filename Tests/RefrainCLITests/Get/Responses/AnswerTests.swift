// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("What is shown of answers", .timeLimit(.minutes(10)))
struct AnswerTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func get(_ words: String...) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "2", "--backoff", "constant:5ms"] + words)
    }

    @Test("-i writes the head in front of the content, -I asks with HEAD, -D writes the heads to a file")
    func heads() async throws {
        let included = try await get("-i", server.baseURL + "/ok")
        #expect(included.text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"))
        #expect(included.text.hasSuffix("\r\n\r\nok\n"))
        let head = try await get("-I", server.baseURL + "/ok")
        #expect(head.text.hasPrefix("HTTP/1.1 200 OK\r\n") && head.text.hasSuffix("\r\n\r\n"))
        #expect(server.log.last?.method == "HEAD")
        let file = try ScratchFile()
        let dumped = try await get("-D", file.path, server.baseURL + "/redirect/2")
        let heads = String(decoding: try file.bytes(), as: UTF8.self)
        #expect(dumped.status == 0 && heads.components(of: "HTTP/1.1 ") == 3 && heads.contains("200 OK"), "\(heads)")
        file.remove()
    }

    @Test("-i writes the head of an answer that fails, and one head where the content is fetched again")
    func headsOfFailures() async throws {
        let failed = try await get("-i", server.baseURL + "/status/404")
        #expect(failed.status == 22 && failed.text.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(failed.text.hasSuffix("\r\n\r\n"))
        let again = try await get("-i", server.baseURL + "/close-body?times=1&bytes=20000&after=0")
        #expect(again.status == 0 && again.text.components(of: "HTTP/1.1 ") == 1)
    }

    @Test("a text that says why is shown, without control characters; --fail-with-body writes it as it came")
    func errorContent() async throws {
        let text = "{\"error\": \"the tea is out\"}\u{1B}[2J"
        server.on("/order") { _ in [.respond(.init(422, headers: [("Content-Type", "application/json")], body: text))] }
        let shown = try await get(server.baseURL + "/order")
        #expect(
            shown.status == 22 && shown.output.isEmpty && shown.errors.contains("  {\"error\": \"the tea is out\"}?[2J")
        )
        #expect(try await get("-q", server.baseURL + "/order").errors.isEmpty)
        let written = try await get("--fail-with-body", server.baseURL + "/order")
        #expect(written.status == 22 && written.text == text && !written.errors.contains("tea"))
    }

    @Test("--fail-with-body writes the whole of a long content")
    func longErrorContent() async throws {
        let body = [UInt8](repeating: 120, count: 300_000)
        server.on("/long") { _ in [.respond(.init(404, bytes: body))] }
        #expect(try await get("--fail-with-body", server.baseURL + "/long").output == body)
    }

    @Test("no drawing, message or listing shows a parameter of a URL that is a secret")
    func secretParameters() async throws {
        let (state, drawing) = (try ScratchFile(), try ScratchFile())
        state.remove()
        let url = server.baseURL + "/status/404?token=SECRET"
        for words in [
            ["--timeline", server.baseURL + "/ok?token=SECRET"],
            ["--timeline-svg", drawing.path, "--progress", "json", "--state", state.path, url],
            ["-o", "/dev/null", "-e", "http://h/?token=SECRET", "--dry-run", url],
        ] {
            let ended = try await Executable.run(["get"] + words)
            #expect((ended.text + ended.errors).contains("?token=***"), "\(ended.text) \(ended.errors)")
            #expect(!(ended.text + ended.errors).contains("SECRET"), "\(ended.text) \(ended.errors)")
        }
        let drawn = String(decoding: try drawing.bytes(), as: UTF8.self)
        #expect(drawn.contains("token=***") && !drawn.contains("SECRET"), "\(drawn)")
        let listed = try await Executable.run(["status", state.path])
        #expect(listed.text.contains("?token=***  status 404"), "\(listed.text)")
        let id = String(try #require(listed.text.split(separator: "id ").last?.prefix(12)))
        let settled = try await Executable.run(["forget", state.path, id])
        #expect(settled.text.contains("?token=***: no run sends it"), "\(settled.text) \(settled.errors)")
        let again = try await Executable.run(["forget", state.path, id])
        #expect(!(again.text + again.errors).contains("SECRET"), "\(again.text) \(again.errors)")
        state.remove()
        drawing.remove()
    }

    @Test("the report has the headers and the time of day, and no secrets")
    func report() async throws {
        server.on("/secret") { _ in
            [
                .respond(
                    .init(200, headers: [("Set-Cookie", "sid=SECRET; Path=/"), ("X-Api-Key", "SECRET"), ("X-A", "b")])
                )
            ]
        }
        let ended = try await get("--report", "-", server.baseURL + "/secret?a=b&token=SECRET")
        #expect(ended.text.contains("/secret?a=b&token=***"), "\(ended.text)")
        #expect(ended.text.contains(#""started":"20"#) && ended.text.contains(#"["X-A","b"]"#))
        #expect(ended.text.contains(#"["Set-Cookie","sid=…"]"#) && !ended.text.contains("SECRET"))
    }

    @Test("A 401 that takes no credentials that are spoken here says which it takes")
    func foreignCredentials() async throws {
        let challenges = [(#"Digest realm="a", qop="auth""#, true), (#"Digest realm="a", Basic realm="b""#, false)]
        for (challenge, isShown) in challenges {
            server.on("/locked") { _ in [.respond(.init(401, headers: [("WWW-Authenticate", challenge)]))] }
            let ended = try await get("-u", "me:pw", server.baseURL + "/locked")
            #expect(ended.status == 22 && ended.errors.contains("status 401"))
            #expect(ended.errors.contains("the server accepts Digest credentials") == isShown, "\(ended.errors)")
        }
    }

    @Test("-w writes its variables after the content")
    func writeOut() async throws {
        let format =
            #"%{http_code} %{size_download} %{num_redirects} %{num_retries} %{content_type} %header{date}\n%%\t|"#
        let ended = try await get("-w", format, server.baseURL + "/status/503?times=1")
        let date = server.log.isEmpty ? "" : ended.text
        #expect(ended.text.hasPrefix("ok\n200 3 0 1 text/plain ") && date.hasSuffix("\n%\t|"), "\(ended.text)")
        let failed = try await get("-q", "-w", "%{onerror}%{exitcode} %{http_code}", server.baseURL + "/status/404")
        #expect(failed.text == "22 404")
        #expect(try await get("-w", "%{onerror}x", server.baseURL + "/ok").text == "ok\n")
        #expect(
            try await get("-w", "%{stderr}%{url_effective}", server.baseURL + "/ok").errors == server.baseURL + "/ok"
        )
        server.on("/other") { _ in [.respond(.init(303, headers: [("Location", "/ok")]))] }
        let hops = try await get(
            "-L",
            "-w",
            "%{num_connects} %{num_headers} %{time_redirect}",
            server.baseURL + "/redirect/2"
        )
        let words = hops.text.split(separator: "\n").last?.split(separator: " ") ?? []
        #expect(
            words.count == 3 && words[0] == "1" && words[1] > "0" && Double(words[2]).map { $0 > 0 } == true,
            "\(hops.text)"
        )
        server.on("/bare") { _ in [.respond(.init(302, headers: [("Location", "http://refrain.example?x")]))] }
        let bare = try await get(
            "--no-location",
            "-e",
            "http://from/",
            "-w",
            "%{redirect_url} %{url_effective} %{referer}",
            server.baseURL + "/bare"
        )
        #expect(bare.text == "http://refrain.example/?x \(server.baseURL)/bare http://from/")
        // As with curl, the method is that of the last request.
        #expect(try await get("-d", "x", "-w", "%{method}", server.baseURL + "/other").text == "ok\nGET")
        let wrong = try await get("-w", "%{http_cod}", server.baseURL + "/ok")
        #expect(wrong.status == 2 && wrong.errors.contains("%{http_code}"))
    }
}

extension String {
    /// How many times a text stands in this one.
    fileprivate func components(of text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
