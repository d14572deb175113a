// SPDX-License-Identifier: Apache-2.0
import RefrainSimulation
import Testing

@testable import RefrainCLI

@Suite("refrain simulate")
struct SimulateTests {
    static func refusal(_ words: [String]) -> String? {
        do {
            let arguments = try Arguments(words, options: CommandSpec.simulate.options)
            _ = try SimulateCommand(arguments)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "what cannot be simulated is refused, with the option and what it expects",
        arguments: [
            (["--load", "-3"], "--load: \"-3\" is not a number of calls per second, such as 40"),
            (["--load", "0"], "load is 0.0, but must be a number of calls per second over 0, up to 10000000"),
            (["--fleet", "0"], "--fleet"),
            (["--policy", "alamofir"], "--policy: \"alamofir\" is not a policy; did you mean alamofire?"),
            (["--server", "colapse"], "--server: \"colapse\" is not a server; did you mean collapse?"),
            (["--server", "queue:3"], "\"queue:3\" lacks its service time: queue:WORKERS:SERVICE_TIME[:BUFFER]"),
            (["--server", "collapse:1s:1ms:3"], "has too many parts"),
            (["--server", "capacity:10:5s"], "\"5s\" where AT=SHARE is expected"),
            (["--trigger", "outage:1s:1s:odd"], "unknown failure \"odd\"; it is one of unavailable, refused, silence"),
            (["--trigger", "spike:2:200s:5s"], "trigger is 200.0 seconds"),
            (["--trigger", "spike:x:2s:5s"], "\"x\" where its factor is expected"),
            (["--server", "model-api:5x"], "\"5x\" is not a pace"),
            (["--server", "model-api:0.5/m"], "limit is 0.5, but must be a number from 1 to 1000000000000"),
            (["--cost", "x"], "--cost: \"x\" is not a number of tokens, such as 1200"),
            (["--pace", "9/m,1000t/m", "--cost", "2000"], "a cost of 2000 never fits into a pace of 1000"),
            (["--seeds", "0"], "--seeds"),
            (["--trigger", "none", "--find-trigger"], "--find-trigger needs a trigger, such as spike:3:30s:5s"),
            (["word"], "\"word\" is not expected here"),
        ]
    )
    func refused(words: [String], message: String) throws {
        let refusal = try #require(Self.refusal(words))
        #expect(refusal.contains(message))
    }

    @Test(
        "every server and every trigger is read in its notation",
        arguments: [
            ["--server", "collapse"], ["--server", "collapse:500ms"], ["--server", "queue:4:20ms:10"],
            ["--server", "limit:30:5:rate-limit"], ["--server", "capacity:50:10s=1,20s=0.2"],
            ["--server", "script:10s=20ms,10s=1s/0.5/500,1s=20ms"], ["--backend", "queue:4:20ms"],
            ["--server", "model-api:500/m,200000t/m:1s", "--pace", "500/m,200000t/m", "--cost", "400"],
            ["--trigger", "none"], ["--trigger", "slowdown:3:10s:5s"], ["--trigger", "loss:0.1:10s:5s"],
            ["--trigger", "deploy:4:5s:10s"], ["--trigger", "cache:10:500:10s"],
            ["--trigger", "outage:10s:5s:refused+spike:2:10s:5s"],
        ]
    )
    func notations(words: [String]) {
        #expect(Self.refusal(words) == nil)
    }

    @Test(
        "what is wrong in a file is named by its line and its member",
        arguments: [
            ("{\n\"clients\": 0}", "line 2, clients: must be a whole number from 1 to 100000000"),
            ("{\"server\":\n\n\"colapse\"}", "line 3, server: \"colapse\" is not a server; did you mean collapse?"),
            ("{\n\n\"sever\": \"collapse\"}", "line 3: unknown member \"sever\"; did you mean server?"),
            ("{\"load\": \"40\"}", "line 1, load: is a string, and not a number"),
            ("{\"policies\": [\n\"recommended\",\n\"best\"]}", "line 3: \"best\" is not a policy"),
            ("{\"policies\": [{\"budget\": \"lots\"}]}", "line 1, budget: \"lots\" is not a budget"),
            (#"{"policies": [{"budget": "window:20:10"}]}"#, "line 1, budget: ratio is 20.0, but must be"),
            (#"{"policies": [{"budget": "window:1:1000001"}]}"#, "line 1, budget: minimumRetriesPerSecond is 1000001"),
            (#"{"policies": [{"budget": "tokens:0:1"}]}"#, "line 1, budget: capacity is 0, but must be"),
            (#"{"policies": [{"budget": "tokens:5:6"}]}"#, "line 1, budget: costs.transient is 6, but must be"),
            (#"{"policies": [{"budget": "tokens:5:5:6"}]}"#, "line 1, budget: refund is 6, but must be"),
            ("{\"load\": 3,\n\"callers\": 2}", "line 2, callers: excludes load"),
            ("{\"pause\": \"1s\",\n\"load\": 3}", "line 1, pause: excludes load"),
            ("{\"fleet\": [3],\n\"clients\": 2}", "line 1, fleet: excludes clients"),
            (
                "{\"policies\": [\n{\"schedule\": \"constnt:1s\"}]}",
                "line 2, schedule: \"constnt:1s\" is not a schedule"
            ),
            ("[]", "line 1: the storm is a list, and not an object"),
            (#"{"fleet": []}"#, "line 1, fleet: is empty"),
            (#"{"policies": []}"#, "line 1, policies: is empty"),
            (#"{"cost": -1}"#, "line 1, cost: is negative"),
            ("{\"clients\": 1,}", "line 1: a member's name is missing at byte 15"),
            ("{\"clients\": 1", "line 1: a comma or a closing brace is missing at byte 14"),
            ("{\"clients\": 1, \"clients\": 2}", "line 1: the member \"clients\" is repeated"),
            ("{\"title\": \"\\ud800\"}", "line 1: a surrogate has no pair"),
            (String(repeating: "[", count: 200), "line 1: the nesting is too deep"),
        ]
    )
    func badFiles(text: String, message: String) throws {
        let file = try ScratchFile(text)
        defer { file.remove() }
        let refusal = try #require(Self.refusal(["--storm", file.path]))
        #expect(refusal.contains(message), "\(refusal)")
    }

    @Test("a storm's file and options say the same")
    func file() async throws {
        let file = try ScratchFile(
            """
            {"clients": 20, "load": 50, "server": "queue:4:20ms", "duration": "20s", "seed": 3,
             "trigger": "outage:5s:5s", "policies": ["none",
             {"name": "mine", "schedule": "exponential:100ms", "jitter": "equal", "attempts": 2,
              "budget": "tokens:100:5"}]}
            """
        )
        defer { file.remove() }
        let one = try await Executable.run(["simulate", "--json", "--storm", file.path, "--policy", "none"])
        let other = try await Executable.run([
            "simulate", "--json", "--fleet", "20", "--load", "50", "--server", "queue:4:20ms", "--duration", "20s",
            "--seed", "3", "--trigger", "outage:5s:5s", "--policy", "none",
        ])
        #expect(one.status == 0 && !one.text.isEmpty)
        #expect(one.text == other.text)
        let both = try await Executable.run(["simulate", "--storm", file.path])
        #expect(both.text.contains("mine, 20 clients") && !both.text.contains("% refused"))
    }

    @Test("R38: clients that keep the pace of a model API are not refused, by a file and by options")
    func pace() async throws {
        let file = try ScratchFile(
            """
            {"clients": 20, "load": 9.6, "server": "model-api:600/m,240000t/m", "pace": "600/m,240000t/m",
             "cost": 500, "trigger": "none", "policies": ["recommended"]}
            """
        )
        defer { file.remove() }
        let words = ["simulate", "--fleet", "20", "--load", "9.6", "--server", "model-api:600/m,240000t/m"]
        let rest = ["--cost", "500", "--trigger", "none", "--policy", "recommended"]
        let one = try await Executable.run(["simulate", "--json", "--storm", file.path])
        let other = try await Executable.run(words + ["--pace", "600/m,240000t/m", "--json"] + rest)
        #expect(one.text == other.text && one.text.contains("\"refused\":0,\"quota_used\":0.9"), "\(one.errors)")
        let tooDear = ["simulate", "--storm", file.path, "--cost", "240001"]
        #expect(try await Executable.run(tooDear).errors.contains("240001 never fits into a pace of 240000"))
        let bare = try await Executable.run(words + rest)
        #expect(bare.text.contains("% refused  % of quota"), "\(bare.text)")
    }

    private static func text(_ file: ScratchFile) throws -> String {
        String(decoding: try Input(path: file.path).rest(), as: UTF8.self)
    }

    @Test("picture and page are written, and the table is shown")
    func files() async throws {
        let (svg, html) = (try ScratchFile(""), try ScratchFile(""))
        defer {
            svg.remove()
            html.remove()
        }
        let ended = try await Executable.run([
            "simulate", "-q", "--duration", "60s", "--policy", "none", "--policy", "grpc", "--fleet", "10", "--svg",
            svg.path, "--html", html.path,
        ])
        #expect(ended.status == 0)
        #expect(ended.text.contains("sends a call") && ended.text.contains("grpc"))
        #expect(ended.errors.contains("120 s simulated in ") && ended.errors.contains(html.path), "\(ended.errors)")
        #expect(try Self.text(svg).hasPrefix("<svg "))
        #expect(try Self.text(html).hasPrefix("<!DOCTYPE html>"))
    }
}
