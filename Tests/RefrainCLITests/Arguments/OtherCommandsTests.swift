// SPDX-License-Identifier: Apache-2.0
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
            // -C takes no offset but a hyphen.
            if let taken, !taken.takesHyphen {
                let takesValue = if case .required = taken.value { true } else { false }
                #expect(takesValue == option.takesValue, "--\(option.name)")
            }
            guard let letter = option.letter, !Self.ownLetters.contains(letter) else { continue }
            let spec = own.first { $0.letters.contains(letter) }
            let named = OtherCommands.letters[letter]
            #expect(spec?.spellings.contains(option.name) ?? (named == option.name), "-\(letter) \(option.name)")
        }
    }

    private static let installed = [("wget", "--help"), ("wget2", "--help"), ("aria2c", "--help=#all")]
        .filter { Executable.installed($0.0) != nil }

    @Test(
        "each option of wget, wget2 and aria2c is taken, or refused with what to use",
        .enabled(if: !installed.isEmpty, "one of them must be installed"),
        arguments: installed
    )
    func downloaders(program: String, help: String) async throws {
        let path = try #require(Executable.installed(program))
        let names = try await Executable.run([help], program: path).lines.compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard line.hasPrefix(" "), let word = words.prefix(2).first(where: { $0.hasPrefix("--") }) else {
                return nil
            }
            let name = word.dropFirst(2).prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            return name.isEmpty ? nil : String(name)
        }
        #expect(names.count > 100)
        let own = CommandSpec.get.options
        for name in names where !own.contains(where: { $0.spellings.contains(name) }) {
            #expect(
                OtherCommands.names[name] != nil || OtherCommands.advice(on: name) != nil
                    || Self.withoutValue.contains(name),
                "--\(name)"
            )
        }
    }

    @Test(
        "a command line of wget or aria2c is refused with how to write it",
        arguments: [
            (["-qO-", "http://127.0.0.1:9/"], "without -o and -O the body goes to standard output"),
            (["-O", "name", "http://127.0.0.1:9/"], "-o NAME does"),
            (["-i", "list.txt"], "a list is given by --from FILE"),
            (["-c", "http://127.0.0.1:9/"], "-C goes on with a partial file"),
            (["-P", "folder", "http://127.0.0.1:9/"], "a folder is given by --output-dir"),
            (["-t", "5", "http://127.0.0.1:9/"], "wget's -t N is --attempts N"),
            (["-T", "10", "http://127.0.0.1:9/"], "--timeout 10s"),
            (["-x", "4", "http://127.0.0.1:9/"], "--segments 4"),
            (["--from", "http://127.0.0.1:9/list"], "refrain get URL | refrain get --from -"),
            (["--no-cookies", "http://127.0.0.1:9/"], "none are kept without -c"),
            (["--spider", "http://127.0.0.1:9/"], "use -I"),
            (["--mirror", "http://127.0.0.1:9/"], "refrain does not follow links in pages"),
            (["--split=4", "http://127.0.0.1:9/"], "did you mean --segments?"),
        ]
    )
    func lines(words: [String], hint: String) async throws {
        let ended = try await Executable.run(["get"] + words)
        #expect(ended.status == 2 && ended.errors.contains(hint), "\(ended.errors)")
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
