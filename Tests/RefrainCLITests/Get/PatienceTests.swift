// SPDX-License-Identifier: Apache-2.0
import Refrain
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("How long the command waits", .timeLimit(.minutes(10)))
struct PatienceTests {
    private func arguments(_ words: [String]) throws -> Arguments {
        try Arguments(words, options: CommandSpec.get.options)
    }

    @Test(
        "the longest time that an option names wins over the minute of silence",
        arguments: [
            ([], 60), (["--timeout", "5m"], 300), (["-m", "300"], 300), (["-y", "300"], 300),
            (["--timeout", "5s"], 60),
            (["-m", "100", "-y", "90", "--timeout", "80s"], 100), (["--limit-rate", "1k"], 64),
            (["--limit-rate", "10"], 469), (["--limit-rate", "10M"], 60),
            (["--retry", "3", "-m", "200"], 200),
        ] as [([String], Int)]
    )
    func silence(options: [String], seconds: Int) throws {
        let template = try RequestTemplate(arguments(options))
        let request = try template.request(for: ListedRequest(url: "http://h/", position: .commandLine))
        #expect(request.timeouts.idle == .seconds(seconds))
    }

    @Test(
        "a minimum rate is below a limited one, whose pauses do not count",
        arguments: [
            (["-Y", "1000"], 1000, 30), (["-Y", "1000", "--limit-rate", "500"], 250, 38),
            (["-y", "5"], 1, 5),
            (["-y", "5", "--limit-rate", "100"], 1, 45),
            (["-Y", "10", "-y", "9", "--limit-rate", "1M"], 10, 9),
        ] as [([String], Int, Int)]
    )
    func minimumSpeed(options: [String], speed: Int, seconds: Int) throws {
        let least = try #require(try TransportSettings.minimumSpeed(arguments(options)))
        #expect(least.bytesPerSecond == speed && least.seconds == seconds)
    }

    private func context(_ outcome: RetryContext.Outcome, attempt: Int, progress: Int64? = nil)
        -> RetryContext
    {
        var context = RetryContext(method: .get, outcome: outcome, now: .now)
        context.attempt = Attempt(number: attempt)
        context.progress = progress
        context.bytesSent = 100
        return context
    }

    private func delay(_ context: RetryContext) throws -> ClosedRange<Duration>? {
        let decision = try PolicyText.commandPolicy(arguments([])).decide(in: context)
        guard case .retry(let delay) = decision.action else { return nil }
        return delay.schedule
    }

    @Test("a download that has brought bytes goes on at once, and one that has brought few waits")
    func resumesAtOnce() throws {
        let cut = RetryContext.Outcome.failure(.networkConnectionLost)
        #expect(try delay(context(cut, attempt: 5, progress: 1 << 20)) == .zero ... .zero)
        #expect(try delay(context(cut, attempt: 1, progress: 0)) == .zero ... .zero)
        for progress in [nil, 0, 1] as [Int64?] {
            #expect(
                try #require(try delay(context(cut, attempt: 2, progress: progress))).lowerBound > .zero
            )
        }
    }

    @Test(
        "a name server that fails is waited for, and a name that does not exist is looked up three times"
    )
    func names() throws {
        #expect(try delay(context(.failure(.cannotFindHost), attempt: 3)) == nil)
        #expect(try delay(context(.failure(.dnsLookupFailed), attempt: 3)) != nil)
        #expect(try delay(context(.failure(.dnsLookupFailed), attempt: 8)) != nil)
    }

    @Test("-R keeps the second, and so the condition of -z finds it")
    func remoteTime() async throws {
        let server = try FaultServer()
        let date = "Wed, 25 Nov 2026 10:00:00 GMT"
        server.on("/f") { request in
            request.header("If-Modified-Since") == date
                ? [.respond(.init(304))]
                : [.respond(.init(200, headers: [("Last-Modified", date)], body: "x"))]
        }
        let file = try ScratchFile()
        #expect(
            try await Executable.run(["get", "-R", "-o", file.path, server.baseURL + "/f"]).status == 0
        )
        #expect(file.modified == 1_795_600_800)
        let again = ["get", "-R", "-z", file.path, "-o", file.path, server.baseURL + "/f"]
        #expect(try await Executable.run(again).status == 0)
        #expect(server.log.count == 2 && server.log[1].header("If-Modified-Since") == date)
        file.remove()
    }

    @Test("a login file without a login has the password of the user in the URL")
    func netrc() throws {
        let netrc = try Netrc("machine a password p\nmachine a login bob password q\n", name: "f")
        #expect(netrc.entry(for: "a", login: "alice") == Netrc.Entry(login: "alice", password: "p"))
        #expect(netrc.entry(for: "a", login: "bob") == Netrc.Entry(login: "bob", password: "q"))
        #expect(
            try Netrc("machine a login bob password q", name: "f").entry(for: "a", login: "alice") == nil
        )
        #expect(try Netrc("machine a", name: "f").entry(for: "a", login: "alice") == nil)
        // Nor does it stand for an empty user and password.
        #expect(try Netrc("machine a\ndefault login d password e", name: "f").entry(for: "a") == nil)
    }

    @Test("-C with a name that the server chooses is refused")
    func namedByServer() async throws {
        let ended = try await Executable.run(["get", "-C", "-OJ", "http://127.0.0.1:1/f"])
        #expect(ended.status == 2 && ended.errors.contains("--remote-header-name"), "\(ended.errors)")
    }
}
