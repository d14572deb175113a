// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainCLI

@Suite("Command lines")
struct ArgumentsTests {
    private func read(_ words: String...) throws -> Arguments { try Arguments(words, options: CommandSpec.get.options) }

    private func refusal(_ words: String...) -> String {
        do {
            _ = try Arguments(words, options: CommandSpec.get.options)
            return "accepted"
        } catch {
            return error.description
        }
    }

    @Test(
        "get may be left out before a URL, and before an option that URLs come from",
        arguments: [
            (["https://example.com"], true), (["-K", "file"], true), (["--from=list"], true),
            (["-s", "--from", "list"], true), (["-sK", "file"], true), (["-Kfile"], true),
            (["--frm", "list"], false), (["--version"], false), (["status", "out"], false), (["-s"], false),
        ]
    )
    func command(words: [String], isGet: Bool) {
        #expect((Program.completed(words).first == "get") == isGet)
    }

    @Test("a long option takes its value after a space or an equals sign")
    func longValues() throws {
        let arguments = try read("--attempts", "4", "--timeout=2s", "http://h/")
        #expect(arguments.last(.attempts) == "4")
        #expect(arguments.last(.timeout) == "2s")
        #expect(arguments.positionals == ["http://h/"])
    }

    @Test("a value may contain equals signs, be empty after one, or begin with a hyphen")
    func oddValues() throws {
        #expect(try read("--data=a=b").last(.data) == "a=b")
        #expect(try read("--data=").last(.data) == "")
        #expect(try read("--timeout", "-5s").last(.timeout) == "-5s")
        #expect(try read("-o", "-").last(.output) == "-")
    }

    @Test("short flags are clustered, and a short option takes the rest of its word")
    func shortOptions() throws {
        let arguments = try read("-qvXPUT", "-oout", "-H", "A: b", "-HC: d")
        #expect(arguments.has(.quiet) && arguments.has(.verbose))
        #expect(arguments.last(.request) == "PUT")
        #expect(arguments.last(.output) == "out")
        #expect(arguments.all(.header) == ["A: b", "C: d"])
    }

    @Test("two hyphens end the options, and one hyphen is no option")
    func endOfOptions() throws {
        #expect(try read("-q", "--", "-v", "--attempts").positionals == ["-v", "--attempts"])
        #expect(try read("-").positionals == ["-"])
    }

    @Test("an optional value stands after an equals sign only")
    func optionalValues() throws {
        let arguments = try read("--idempotency-key", "http://h/")
        #expect(arguments.last(.idempotencyKey) == "")
        #expect(arguments.positionals == ["http://h/"])
        #expect(try read("--idempotency-key=k").last(.idempotencyKey) == "k")
    }

    @Test("the last of several values counts")
    func lastCounts() throws {
        #expect(try read("--attempts", "4", "--attempts=5").last(.attempts) == "5")
    }

    @Test("a misspelled option is refused with the nearest right spelling")
    func nearest() {
        #expect(refusal("--attemps", "3") == "unknown option \"--attemps\"; did you mean --attempts?")
        #expect(refusal("--retry-statsu=500") == "unknown option \"--retry-statsu\"; did you mean --retry-status?")
        #expect(refusal("--concurency", "3").contains("did you mean --concurrency?"))
        #expect(refusal("--tries", "3") == "unknown option \"--tries\"; did you mean --attempts?")
        #expect(refusal("--retries=3").contains("did you mean --retry?"))
        // A swap of two letters counts as one edit, and is nearer than --referer.
        #expect(refusal("--retires=3").contains("did you mean --retry?"))
        #expect(refusal("--continue-at", "-") == "accepted" && refusal("-C", "-") == "accepted")
        #expect(refusal("--digest") == "refrain does not support --digest; use --user or --bearer")
        #expect(refusal("--path-as-is").contains("are resolved (RFC 3986 §5.2.4)"))
        #expect(refusal("-attempts").contains("did you mean --attempts?"))
        #expect(refusal("--zzzzzzzz") == "unknown option \"--zzzzzzzz\"")
    }

    @Test("a missing value, and one too many, are refused with the option's name")
    func wrongValues() {
        #expect(refusal("--output") == "--output lacks its value: --output FILE")
        #expect(refusal("-o", "--report", "r") == "-o lacks its value: -o FILE")
        #expect(refusal("--quiet=1") == "--quiet takes no value")
        #expect(refusal("--idempotency-key=").hasPrefix("--idempotency-key="))
    }

    @Test("no two options of a command share a spelling")
    func uniqueSpellings() {
        for command in CommandSpec.all {
            let long = command.options.flatMap(\.spellings)
            let short = command.options.compactMap(\.short)
            #expect(Set(long).count == long.count, "\(command.name)")
            #expect(Set(short).count == short.count, "\(command.name)")
        }
    }

    @Test("the help names every option of every command")
    func helpIsComplete() throws {
        for command in CommandSpec.all {
            let topic = command.helpTopics.isEmpty ? nil : "all"
            let help = try topic.map { try HelpText.text(for: command, topic: $0) } ?? HelpText.text(for: command)
            for option in command.groups.flatMap(\.options) { #expect(help.contains(option.usage)) }
            #expect(help.split(separator: "\n").allSatisfy { $0.count <= 110 }, "\(command.name)")
        }
    }

    @Test("10,000 random command lines are read or refused, and never trap", .computing)
    func randomWords() {
        let seed = UInt64(0x5EED)
        var generator = Seeded(seed)
        let alphabet = Array("-=ovqXHd:a1@%\n é💥")
        for _ in 0..<10_000 {
            let words = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                String(
                    (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                        alphabet.randomElement(using: &generator) ?? "-"
                    }
                )
            }
            if let arguments = try? Arguments(words, options: CommandSpec.get.options) {
                #expect(arguments.positionals.count <= words.count, "seed \(seed)")
            }
        }
    }
}

/// Random numbers that repeat with their seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
