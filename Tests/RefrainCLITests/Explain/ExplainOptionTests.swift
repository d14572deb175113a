// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

@Suite("refrain explain: options that exclude each other", .timeLimit(.minutes(10)))
struct ExplainOptionTests {
    private static let options = CommandSpec.explain.options

    private func command(_ words: [String]) throws -> ExplainCommand {
        try ExplainCommand(Arguments(words, options: Self.options))
    }

    /// An option as it is given, with a value where it must have one.
    private static func words(_ option: OptionSpec) -> [String] {
        if case .required = option.value { return ["--\(option.name.rawValue)", option.choices.first ?? "1"] }
        return ["--\(option.name.rawValue)"]
    }

    @Test("beside --batch every option is refused that its lines would not see")
    func batch() throws {
        for option in Self.options where ![.batch, .json, .help].contains(option.name) {
            let error = #expect(throws: UsageError.self, "\(option.name)") {
                try command(["--batch", "-"] + Self.words(option))
            }
            #expect(error?.description.contains("--\(option.name.rawValue)") == true, "\(error)")
        }
        _ = try command(["--batch", "-", "--json"])
    }

    @Test("beside --schedule every option is refused that speaks of one request, or of the answer's form")
    func schedule() throws {
        let policy: Set<OptionName> = [
            .policy, .attempts, .backoff, .jitter, .retryStatus, .ignoreRetryAfter, .maxServerDelay,
        ]
        for option in Self.options where ![.schedule, .help].contains(option.name) {
            let words = ["--schedule"] + Self.words(option)
            guard !policy.contains(option.name) else {
                _ = try command(words)
                continue
            }
            let error = #expect(throws: UsageError.self, "\(option.name)") { try command(words) }
            #expect(error?.description.contains("--\(option.name.rawValue)") == true, "\(error)")
        }
    }

    @Test(
        "a line that cannot be explained is refused with the reason",
        arguments: [
            (#"{"method":"GET","attempts":[]}"#, "the line has no attempt: nothing was sent"),
            (#"{"method":"GET","attempts":[{"error":"later"}]}"#, "no attempt of the line has a status or a failure"),
            (#"{"method":"G T","attempts":[{"status":503}]}"#, #"the line has the method "G T", which is not one"#),
        ]
    )
    func line(text: String, message: String) throws {
        let error = #expect(throws: UsageError.self) { try ReportRecord(Array(text.utf8)) }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test("one question takes all the others")
    func question() throws {
        for option in Self.options where ![.schedule, .batch, .help, .status, .error].contains(option.name) {
            _ = try command(["--status", "503"] + Self.words(option))
        }
    }
}
