/// The manual page, made from the tables that the parser and the help are made from.
///
/// It uses the macros of man(7), which groff and mandoc both know.
enum ManualPage {
    /// What `refrain help --man` writes.
    static var text: String {
        var page = ".TH REFRAIN 1 \(Version.day) \"refrain \(Version.current)\" \"User Commands\"\n"
        page += section("NAME") + "refrain \\-\n\(Roff.prose(HelpText.purpose))\n"
        page += section("SYNOPSIS") + synopsis
        page += section("COMMANDS") + CommandSpec.all.map(commandText).joined()
        page += section("EXIT STATUS") + ExitStatus.allCases.map(entry).joined()
        page += section("EXAMPLES") + CommandSpec.all.flatMap(\.examples).map(example).joined()
        page += section("SEE ALSO") + ".BR curl (1)\n"
        return page
    }

    private static var synopsis: String {
        let forms = CommandSpec.all.flatMap { command in
            command.forms.map {
                Roff.bold("refrain \(command.name.rawValue)") + ($0.isEmpty ? "" : " " + Roff.code($0))
            }
        }
        let all = forms + [Roff.bold("refrain --version")]
        return all.joined(separator: "\n.br\n") + "\n"
    }

    private static func commandText(_ command: CommandSpec) -> String {
        var text = ".SS refrain \(command.name.rawValue)\n"
        text += Roff.prose(capitalized(command.summary) + ".") + "\n"
        for note in command.notes { text += ".PP\n" + Roff.prose(note) + "\n" }
        for group in command.groups {
            text += ".PP\n" + Roff.italic(group.title) + "\n"
            text += group.options.map(entry).joined()
        }
        return text
    }

    private static func entry(_ option: OptionSpec) -> String {
        var names = option.spellings.map { Roff.bold("--" + $0) }
        names = option.letters.map { Roff.bold("-\($0)") } + names
        var tag = names.joined(separator: ", ")
        switch option.value {
        case .none: break
        case .required(let value): tag += " " + Roff.italic(value)
        case .optional(let value): tag += "[=" + Roff.italic(value) + "]"
        }
        return ".TP\n\(tag)\n\(Roff.prose(option.help))\n"
    }

    private static func entry(_ status: ExitStatus) -> String {
        ".TP\n\(Roff.bold("\(status.rawValue)"))\n\(Roff.prose(capitalized(status.meaning) + "."))\n"
    }

    private static func example(_ line: String, _ meaning: String) -> String {
        ".TP\n\(Roff.bold(line))\n\(Roff.prose(capitalized(meaning) + (meaning.hasSuffix(":") ? "" : ".")))\n"
    }

    private static func section(_ title: String) -> String { ".SH \(title)\n" }

    private static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}

/// Text in the language of manual pages.
private enum Roff {
    /// Text to read, in lines of at most 80 bytes.
    static func prose(_ text: String) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            // The hyphens of an option must stay ASCII hyphens, so that it can be copied from the page.
            let word = word.drop { $0 == "(" }.hasPrefix("-") ? code(String(word)) : escaped(String(word), typed: false)
            if !line.isEmpty, line.utf8.count + 1 + word.utf8.count > 76 {
                lines.append(guarded(line))
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(guarded(line))
        return lines.joined(separator: "\n")
    }

    /// Text as it is typed.
    static func code(_ text: String) -> String { escaped(text, typed: true) }

    static func bold(_ text: String) -> String { "\\fB" + code(text) + "\\fR" }

    static func italic(_ text: String) -> String { "\\fI" + code(text) + "\\fR" }

    /// A line that begins like a macro is text all the same.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }

    private static func escaped(_ text: String, typed: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\(rs"
            case "-" where typed: escaped += "\\-"
            case "'" where typed: escaped += "\\(aq"
            case "~": escaped += "\\(ti"
            case "^": escaped += "\\(ha"
            case "`": escaped += "\\(ga"
            case _ where scalar.value > 0x7E:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                escaped += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
