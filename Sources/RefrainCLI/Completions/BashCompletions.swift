// SPDX-License-Identifier: Apache-2.0
/// The completions of bash, from version 3.2 on (that of macOS).
enum BashCompletions {
    static var script: String {
        """
        # Completions of refrain for bash: source <(refrain completions bash)
        _refrain() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=
            ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
            COMPREPLY=()
            # --name=value comes in three words.
            if [[ $current == = ]]; then
                current=
            elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then
                previous=${COMP_WORDS[COMP_CWORD - 2]}
            fi
            if ((COMP_CWORD == 1)); then
                COMPREPLY=($(compgen -W '\(Completions.firstWords.joined(separator: " "))' -- "$current"))
                return
            fi
            local IFS=$' \\t\\n' options= operands=
            case ${COMP_WORDS[1]} in
        \(CommandSpec.all.map(branch).joined())    esac
            if [[ $current == -* ]]; then
                COMPREPLY=($(compgen -W "$options" -- "$current"))
            else
                COMPREPLY=($(compgen -W "$operands" -- "$current"))
            fi
        }
        _refrain_choices() {
            COMPREPLY=($(compgen -W "$1" -- "$current"))
            # What ends in a colon goes on behind it.
            [[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
        }
        _refrain_files() {
            local IFS=$'\\n'
            COMPREPLY=($(compgen "$1" -- "$current"))
            compopt -o filenames 2>/dev/null
        }
        complete -F _refrain refrain

        """
    }

    private static func branch(_ command: CommandSpec) -> String {
        var text = "    \(command.name.rawValue))\n"
        let cases = command.options.compactMap(choices)
        if !cases.isEmpty { text += "        case $previous in\n\(cases.joined())        esac\n" }
        if command.operandSubject == .file {
            text += "        [[ $current == -* ]] || { _refrain_files -f; return; }\n"
        }
        let words = command.options.flatMap(spellings)
        text += "        options=\(ShellText.inQuotes(words.joined(separator: " ")))\n"
        if !command.operands.isEmpty {
            text += "        operands=\(ShellText.inQuotes(command.operands.joined(separator: " ")))\n"
        }
        return text + "        ;;\n"
    }

    /// The completions of an option's value; nil if they are unknown.
    private static func choices(_ option: OptionSpec) -> String? {
        guard case .required = option.value else { return nil }
        let pattern = spellings(option).joined(separator: " | ")
        let action =
            switch option.subject {
            case .file: "_refrain_files -f; "
            case .folder: "_refrain_files -d; "
            case .other:
                option.choices.isEmpty
                    ? "" : "_refrain_choices \(ShellText.inQuotes(option.choices.joined(separator: " "))); "
            }
        return "        \(pattern)) \(action)return ;;\n"
    }

    private static func spellings(_ option: OptionSpec) -> [String] {
        option.letters.map { "-\($0)" } + option.spellings.map { "--" + $0 }
    }
}
