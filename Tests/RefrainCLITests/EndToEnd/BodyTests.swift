// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainCLI

@Suite("Bodies from outside", .timeLimit(.minutes(10)))
struct BodyTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    /// Runs a line of the shell in which $1 is the program and $2 the address of the echo.
    private func shell(_ line: String) async throws -> Executable.Ended {
        try await Executable.run(
            ["-c", line, "sh", Executable.path, server.baseURL + "/echo"],
            program: "/bin/sh"
        )
    }

    @Test(
        "an argument that is not UTF-8 is refused by its number, and nothing is sent",
        arguments: [("-d", 2), ("-o", 2), ("--header=X:", 1)]
    )
    func notUTF8(option: String, number: Int) async throws {
        let value = "\"$(printf 'caf\\351')\""
        let words = option.hasPrefix("--") ? "\(option)\(value)" : "\(option) \(value)"
        let ended = try await shell("\"$1\" get \(words) \"$2\"")
        #expect(ended.status == 2 && ended.errors.contains("argument \(number + 1), "), "\(ended.errors)")
        #expect(ended.errors.contains("caf") && ended.errors.contains("is not UTF-8"))
        #expect(server.log.isEmpty)
    }

    @Test("a closed standard input is an error, and no empty body or list")
    func closedInput() async throws {
        for option in ["-d @-", "--from -"] {
            let ended = try await shell("\"$1\" get \(option) \"$2\" <&-")
            #expect(ended.status == 2 && ended.errors.contains("standard input"), "\(ended.errors)")
        }
        #expect(server.log.isEmpty)
    }

    @Test("standard input is for one option, since the next one would find it empty")
    func sharedInput() async throws {
        for option in ["-K - -d @-", "-b - -d @-", "-d @- -d @-", "--netrc-file - -d @-"] {
            let ended = try await shell("echo silent | \"$1\" get \(option) \"$2\"")
            #expect(ended.status == 2 && ended.errors.contains("standard input"), "\(option): \(ended.errors)")
        }
        #expect(server.log.isEmpty)
    }

    #if os(Linux)
    @Test("a file of the system that says it has no size is sent with what it holds")
    func withoutSize() async throws {
        let ended = try await shell("\"$1\" get -d @/proc/self/status \"$2\"")
        #expect(ended.status == 0 && ended.text.contains("VmPeak"), "\(ended.text)")
    }
    #endif

    @Test("a small and a large file arrive as they are", arguments: [0, 1, 65_536, 65_537, 300_000])
    func sizes(size: Int) async throws {
        let file = try ScratchFile(String(repeating: "x", count: size))
        let ended = try await shell("\"$1\" get -d @\(file.path) \"$2\"")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(server.requests(toPath: "/echo").map(\.bodyLength) == [size])
        file.remove()
    }
}
