// SPDX-License-Identifier: Apache-2.0
/// `refrain completions`: the scripts that complete command lines, derived from the tables of the parser.
enum Completions {
    /// The script that the arguments ask for.
    static func script(_ arguments: Arguments) throws(UsageError) -> String {
        let known = Shell.allCases.map(\.rawValue)
        guard let word = arguments.positionals.first else {
            throw UsageError("which shell? Give one of \(known.joined(separator: ", "))")
        }
        guard arguments.positionals.count == 1 else {
            throw UsageError("one shell at a time; \(Sanitized.text(arguments.positionals[1])) is one too many")
        }
        guard let shell = Shell(rawValue: word) else {
            // Names of shells are so short that any two are alike: ksh and tcsh are not misspelt.
            throw UsageError("\(Sanitized.text(word)) is not known; the shells are \(known.joined(separator: ", "))")
        }
        return script(for: shell)
    }

    /// The script for a shell.
    static func script(for shell: Shell) -> String {
        switch shell {
        case .bash: BashCompletions.script
        case .zsh: ZshCompletions.script
        case .fish: FishCompletions.script
        }
    }

    /// The possible first words.
    static let firstWords = CommandName.allCases.map(\.rawValue) + ["--help", "--version"]

    /// The first sentence of an option's help, without its full stop.
    static func brief(_ option: OptionSpec) -> String {
        let words = option.help.split(separator: " ")
        let end = words.firstIndex { $0.hasSuffix(".") || $0.hasSuffix(":") || $0.hasSuffix(";") } ?? words.endIndex - 1
        var sentence = words[...max(end, 0)].joined(separator: " ")
        while let last = sentence.last, ".:;".contains(last) { sentence.removeLast() }
        return sentence
    }
}
