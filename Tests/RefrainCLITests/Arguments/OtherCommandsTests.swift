import Testing

@testable import RefrainCLI

@Suite("Options of other commands")
struct OtherCommandsTests {
    /// An option as the help of curl shows it.
    private struct Option {
        let name: String
        let letter: Character?
        let takesValue: Bool

        /// Reads a line such as ` -m, --max-time <seconds> Maximum time allowed`; nil where it is none.
        init?(_ line: String) {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard let index = words.firstIndex(where: { $0.hasPrefix("--") }), index <= 1 else { return nil }
            name = String(words[index].dropFirst(2))
            letter = index == 1 ? words[0].dropFirst().first : nil
            takesValue = words.count > index + 1 && (words[index + 1].hasPrefix("<") || words[index + 1].hasPrefix("["))
        }
    }

    /// The help has no categories.
    private static let withoutValue: Set<String> = ["help"]
    /// Letters that stand for something else here, with a hint where the value shows that curl's was meant.
    private static let ownLetters: Set<Character> = ["q", "j", "P", "C", "v"]

    @Test(
        "each option of curl is taken, or refused with what to use",
        .enabled(if: Executable.installed("curl") != nil)
    )
    func curl() async throws {
        let help = try await Executable.run(["--help", "all"], program: Executable.installed("curl") ?? "").lines
        let options = help.compactMap { Option($0) }
        #expect(options.count > 200)
        let own = CommandSpec.get.options
        for option in options where !Self.withoutValue.contains(option.name) {
            let taken = own.first { $0.spellings.contains(option.name) }
            let refusal = Arguments.unknown("--" + option.name, among: own).description
            #expect(
                taken != nil || !refusal.contains("unknown option") || refusal.contains("did you mean --"),
                "\(refusal)"
            )
            if let taken {
                let takesValue = if case .required = taken.value { true } else { false }
                #expect(takesValue == option.takesValue, "--\(option.name)")
            }
            guard let letter = option.letter, !Self.ownLetters.contains(letter) else { continue }
            let spec = own.first { $0.letters.contains(letter) }
            let named = OtherCommands.letters[letter]
            #expect(spec?.spellings.contains(option.name) ?? (named == option.name), "-\(letter) \(option.name)")
        }
    }

    @Test("what is refused is not taken under the same name")
    func disjoint() {
        for option in CommandSpec.get.options {
            for name in option.spellings {
                #expect(OtherCommands.names[name] == nil, "--\(name)")
                // The names of whole families may begin as one that is taken.
                #expect(OtherCommands.advice(on: name) == nil || name.hasPrefix("proxy-"), "--\(name)")
            }
            for letter in option.letters { #expect(OtherCommands.letters[letter] == nil, "-\(letter)") }
        }
        for name in OtherCommands.letters.values { #expect(OtherCommands.advice(on: name) != nil, "--\(name)") }
    }

    @Test("a name of another command leads to the one that is taken")
    func names() {
        let own = CommandSpec.get.options
        for (name, meant) in OtherCommands.names {
            #expect(own.contains { $0.spellings.contains(meant) }, "\(meant)")
            #expect(Arguments.unknown("--" + name, among: own).description.contains("did you mean --\(meant)?"))
        }
    }
}
