// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
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

@Suite("The limits that the command keeps")
struct PaceTests {
    private static func settings(_ words: [String]) throws -> PaceSettings {
        try PaceSettings(Arguments(words, options: CommandSpec.get.options))
    }

    @Test("--pace has requests and cost, each in its span of time, and --rate is a spelling of it")
    func limits() throws {
        let table: [(String, Pacer.Limits)] = [
            ("50/s", .per(.seconds(1), requests: 50)), ("10/m", .perMinute(requests: 10)),
            ("100/h", .per(.seconds(3600), requests: 100)), ("5/2s", .per(.seconds(2), requests: 5)),
            ("500/m,200000t/m", .perMinute(requests: 500, cost: 200_000)),
            ("1/s,6000t/m", .perMinute(requests: 60, cost: 6000)), ("100t/d", .per(.seconds(86_400), cost: 100)),
        ]
        for (text, limits) in table { #expect(try PaceText.parse(text, option: "--pace") == limits, "\(text)") }
        for text in ["", "x", "0/s", "-1/s", "5/x", "5/0s", "1/s,2/s", "1t/s,2t/s", "5k/s", "5/s,", "nan/s", "100"] {
            #expect(throws: UsageError.self, "\(text)") { _ = try PaceText.parse(text, option: "--pace") }
        }
        #expect(try Self.settings(["--rate", "10/s"]).words == "10 requests in 1 s")
    }

    @Test("a cost is a sum of members of a document and of numbers")
    func cost() throws {
        let document = Array(#"{"max_tokens": 40, "usage": {"in": 5, "out": 7, "bad": -1, "text": "3"}}"#.utf8)
        let table: [(String, Double?)] = [
            ("max_tokens", 40), ("usage.in+usage.out", 12), ("usage.in+usage.none", 5), ("max_tokens+2.5", 42.5),
            ("7", 7), (".usage.in", 5), ("usage", nil), ("none", nil), ("usage.bad", nil), ("usage.text", nil),
            ("max_tokens.in", nil),
        ]
        for (text, value) in table {
            #expect(try CostText(text, option: "--cost-field").value(in: document) == value, "\(text)")
        }
        #expect(try CostText("a+1", option: "").value(in: Array("no JSON".utf8)) == nil)
        for text in ["", "a..b", "a+", "+", "."] {
            #expect(throws: UsageError.self, "\(text)") { _ = try CostText(text, option: "--cost-field") }
        }
    }

    @Test("limits of a cost need to know it, and a name of a profile is one of the list")
    func refused() {
        let lists = [
            ["--pace", "100t/m"], ["--cost-estimate", "5"], ["--pace", "5/m", "--cost-estimate", "5"],
            ["--profile", "acme"],
        ]
        for words in lists { #expect(throws: UsageError.self, "\(words)") { _ = try Self.settings(words) } }
        for name in ProfileName.allCases {
            #expect(throws: Never.self) { _ = try Self.settings(["--profile", name.rawValue]) }
        }
    }

    @Test("a request is expected to cost what its body or the answers so far say")
    func estimate() throws {
        var request = try HTTPRequest("http://h/", method: .post, body: .text(#"{"max_tokens": 40}"#))
        let words = ["--pace", "600t/m", "--cost-field", "usage"]
        try Self.settings(words + ["--cost-estimate", "max_tokens+2"]).prepare(&request)
        #expect(request.cost == 42)
        let learning = try Self.settings(words)
        learning.prepare(&request)
        #expect(request.cost == 0)
        learning.note(10)
        learning.note(30)
        learning.prepare(&request)
        #expect(request.cost == 20)
    }

    @Test(
        "a limit of the cost that no request or response names is said to have had no effect",
        arguments: [
            (["--cost-field", "usage.total"], "no response has what --cost-field names, so"),
            (["--cost-estimate", "max"], "no request has what --cost-estimate names, so"),
            (["--cost-field", "usage.total_tokens"], nil), (["--cost-estimate", "max_tokens"], nil),
        ] as [([String], String?)]
    )
    func unknownCost(option: [String], warning: String?) async throws {
        let server = try FaultServer()
        server.on("/v") { _ in [.respond(.init(200, body: #"{"usage": {"total_tokens": 3}}"#))] }
        let words = ["get", "--pace", "100/s,1000t/s", "-o", "/dev/null", "--json", #"{"max_tokens": 3}"#]
        let ended = try await Executable.run(words + option + [server.baseURL + "/v"])
        #expect(ended.status == 0 && ended.errors.contains("had no effect") == (warning != nil), "\(ended.errors)")
        #expect(warning.map(ended.errors.contains) != false, "\(ended.errors)")
    }

    @Test("prompts are sent within the limits of tokens, each answer in its file, its usage in the report")
    func prompts() async throws {
        let server = try FaultServer()
        let (list, folder, report) = (try ScratchFile(), try ScratchFile(), try ScratchFile())
        let url = "\(server.baseURL)/v1/chat/completions?tokens=6000&requests=1000&window=8"
        try await list.overwrite(
            (0..<40).map {
                #"{"url": "\#(url)", "body": {"max_tokens": 200, "n": \#($0)}, "output": "\#($0).json"}"# + "\n"
            }
            .joined()
        )
        let ended = try await Executable.run([
            "get", "--from", list.path, "--profile", "openai", "--cost-field", "usage.total_tokens", "--cost-estimate",
            "max_tokens", "--pace", "1000/8s,6000t/8s", "--output-dir", folder.path, "--report", report.path,
        ])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(folder.files.count { $0.hasSuffix(".json") } == 40, "\(folder.files)")
        let lines = String(decoding: try report.bytes(), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 40 && lines.allSatisfy { $0.contains(#""cost":1"#) || $0.contains(#""cost":2"#) })
        // A burst of a sixtieth is far less than what the server has: hardly one is refused.
        #expect(server.log.count <= 44, "\(server.log.count) sends")
    }

    @Test("a refusal that names a time holds its server's requests, and no other server's")
    func held() async throws {
        let (busy, free) = (try FaultServer(), try FaultServer())
        // Longer than the test takes on a busy machine.
        busy.on("/api") { _ in [.respond(.init(429, headers: [("Retry-After", "50")]))] }
        let list = try ScratchFile()
        let lines = (0..<8).map { "\(busy.baseURL)/api?\($0)" }
        try await list.overwrite((lines + (0..<20).map { "\(free.baseURL)/ok?\($0)" }).joined(separator: "\n") + "\n")
        let running = try Executable.start(["get", "-q", "-o", "/dev/null", "-j", "1", "--from", list.path])
        await free.requests(atLeast: 20)
        #expect(busy.log.count == 1)
        running.signal(SIGINT)
        #expect(await running.end().status != 0)
    }

    @Test("the wait for the pace takes nothing of the deadline, and a refusal's time does")
    func deadline() async throws {
        let server = try FaultServer()
        server.on("/api") { _ in [.respond(.init(429, headers: [("Retry-After", "50")]))] }
        let list = try ScratchFile((0..<30).map { "\(server.baseURL)/ok?\($0)\n" }.joined())
        let words = ["get", "-q", "-o", "/dev/null", "--deadline", "3s", "--from", list.path]
        // The last one is sent after 6 s.
        let paced = try await Executable.run(words + ["--pace", "5/s"])
        #expect(paced.status == 0 && server.log.count == 30, "\(paced.errors)")
        try await list.overwrite((0..<2).map { "\(server.baseURL)/api?\($0)\n" }.joined())
        let held = try await Executable.run(words + ["-j", "1"])
        #expect(held.status == 75 && server.log.count == 31, "\(held.status) \(held.errors)")
        list.remove()
    }

    @Test("out of credit ends at once, and overload is repeated")
    func refusals() async throws {
        let server = try FaultServer()
        let url = "\(server.baseURL)/v1/chat/completions"
        let words = ["get", "--profile", "openai", "-d", "{}", "--backoff", "constant:10ms"]
        let spent = try await Executable.run(words + ["\(url)?spent=1"])
        #expect(spent.status == 22 && server.log.count == 1, "\(spent.errors)")
        let busy = try await Executable.run(
            ["get", "--profile", "anthropic"] + words.dropFirst(3) + ["\(url)?overloaded=2"]
        )
        #expect(busy.status == 0 && server.log.count == 4, "\(busy.errors)")
    }
}
