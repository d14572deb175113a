// SPDX-License-Identifier: Apache-2.0
/// The completions of zsh, for its function `_arguments`.
enum ZshCompletions {
    static var script: String {
        """
        #compdef refrain
        # Completions of refrain for zsh: a file _refrain in a folder of fpath, or source <(refrain completions zsh)
        _refrain() {
            local context state line
            local -a commands
            commands=(
        \(CommandSpec.all.map(entry).joined())    )
            if ((CURRENT == 2)); then
                _describe -t commands command commands
                [[ $PREFIX != -* ]] || compadd -- --help --version
                return
            fi
            local command=$words[2]
            shift words
            ((CURRENT--))
            case $command in
        \(CommandSpec.all.map(branch).joined())    esac
        }
        if [[ $funcstack[1] = _refrain ]]; then _refrain "$@"; else compdef _refrain refrain; fi

        """
    }

    private static func entry(_ command: CommandSpec) -> String {
        "        \(ShellText.inQuotes("\(command.name.rawValue):\(command.summary)"))\n"
    }

    private static func branch(_ command: CommandSpec) -> String {
        var specs = command.options.flatMap(specs)
        if !command.operands.isEmpty { specs.append(":: :(\(command.operands.joined(separator: " ")))") }
        if command.operandSubject == .file { specs.append(":folder or file:_files") }
        let lines = specs.map { " \\\n            " + ShellText.inQuotes($0) }
        return "    \(command.name.rawValue))\n        _arguments -s\(lines.joined())\n        ;;\n"
    }

    private static func specs(_ option: OptionSpec) -> [String] {
        let long = option.spellings.map { "--" + $0 }
        let all = option.letters.map { "-\($0)" } + long
        // An option that counts once is not offered again under another name.
        let prefix = option.collects ? "*" : "(\(all.joined(separator: " ")))"
        let help = "[\(escaped(Completions.brief(option)))]"
        switch option.value {
        case .none:
            return all.map { prefix + $0 + help }
        case .optional(let value):
            return long.map { prefix + $0 + "=-" + help + "::\(escaped(value)): " }
        case .required(let value):
            let argument = ":\(escaped(value)):\(action(option))"
            let short = option.letters.map { "\(prefix)-\($0)+\(help)\(argument)" }
            return short + long.map { prefix + $0 + "=" + help + argument }
        }
    }

    private static func action(_ option: OptionSpec) -> String {
        switch option.subject {
        case .file: return "_files"
        case .folder: return "_files -/"
        case .other:
            guard !option.choices.isEmpty else { return " " }
            // A word that ends in a colon is continued.
            let goesOn = option.choices.contains { $0.hasSuffix(":") }
            let words = option.choices.map(escaped).joined(separator: " ")
            return goesOn ? "compadd -S \"\" -- \(words)" : "(\(words))"
        }
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if "[]:\\".contains(character) { escaped += "\\" }
            escaped.append(character)
        }
        return escaped
    }
}
