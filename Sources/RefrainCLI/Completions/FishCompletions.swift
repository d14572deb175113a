// SPDX-License-Identifier: Apache-2.0
/// The completions of fish.
enum FishCompletions {
    static var script: String {
        var text = """
            # Completions of refrain for fish: refrain completions fish > ~/.config/fish/completions/refrain.fish
            complete -c refrain -f
            complete -c refrain -n __fish_use_subcommand -l help -s h -d 'Show the commands'
            complete -c refrain -n __fish_use_subcommand -l version -s V -d 'Show the version'

            """
        for command in CommandSpec.all {
            text += line("__fish_use_subcommand", "-a \(command.name.rawValue)", command.summary)
        }
        for command in CommandSpec.all {
            // The first word is the command; a later one that looks like a command is an operand.
            let condition = quoted("contains -- \(command.name.rawValue) (commandline -opc)[2]")
            if !command.operands.isEmpty {
                text += "complete -c refrain -n \(condition) -a \(quoted(command.operands.joined(separator: " ")))\n"
            }
            if command.operandSubject == .file { text += "complete -c refrain -n \(condition) -F\n" }
            for option in command.options { text += line(condition, arguments(option), Completions.brief(option)) }
        }
        return text
    }

    private static func arguments(_ option: OptionSpec) -> String {
        var arguments = option.letters.map { "-s '\($0)' " }.joined()
        arguments += option.spellings.map { "-l \($0)" }.joined(separator: " ")
        guard case .required = option.value else { return arguments }
        switch option.subject {
        case .file: return arguments + " -r -F"
        case .folder: return arguments + " -x -a '(__fish_complete_directories)'"
        case .other:
            return arguments + " -x"
                + (option.choices.isEmpty ? "" : " -a \(quoted(option.choices.joined(separator: " ")))")
        }
    }

    private static func line(_ condition: String, _ what: String, _ meaning: String) -> String {
        "complete -c refrain -n \(condition) \(what) -d \(quoted(meaning))\n"
    }

    private static func quoted(_ text: String) -> String { ShellText.inQuotes(text, escape: "\\'") }
}
