// SPDX-License-Identifier: Apache-2.0
/// The manual page, made from the tables that the parser and the help are made from.
///
/// It uses the macros of man(7), which groff and mandoc both know.
enum ManualPage {
    /// What `refrain help --man` writes.
    static var text: String {
        var page = ".TH REFRAIN 1 \(Version.day) \"refrain \(Version.current)\" \"User Commands\"\n"
        page += section("NAME") + "refrain \\-\n\(Roff.prose(HelpText.purpose))\n"
        page += section("SYNOPSIS") + synopsis
        page += section("DESCRIPTION") + paragraphs(description)
        page += section("COMMANDS") + CommandSpec.all.map(commandText).joined()
        page += section("EXIT STATUS") + ExitStatus.allCases.map(entry).joined()
        page += section("ENVIRONMENT") + environment.map(entry).joined()
        page += section("FILES") + files.map(entry).joined()
        page += section("EXAMPLES") + CommandSpec.all.flatMap(\.examples).map(example).joined()
        page += section("BUGS") + paragraphs(bugs)
        page += section("SEE ALSO") + ".BR curl (1)\n"
        return page
    }

    private static let description = [
        "refrain makes requests over HTTP that succeed although the network or the server fails now and then, and does not make an outage worse: it repeats what is safe to send again, waits longer each time, does as the server asks by Retry-After, and gives up in time.",
        "refrain get fetches URLs. refrain URL is the same. Its options have the names and the meanings of those of curl where both have them; Documentation/Curl.md lists the differences. A failed attempt is told on standard error, with its cause and the time of the next one.",
        "A request that is not safe to repeat, such as a POST, is sent again only where it cannot have been processed, or where an idempotency key makes it safe.",
    ]

    private static let environment = [
        ("http_proxy, https_proxy, all_proxy", "The proxies for URLs of these schemes, unless --proxy names one."),
        ("no_proxy", "The hosts that no proxy is used for; * is all hosts."),
        ("HOME", "The folder of .netrc, for --netrc."),
        ("TERM", "On a terminal that is dumb no line is drawn again and again; messages are as in a file."),
        ("TMPDIR", "Where a body that comes through a pipe is kept until it is sent. The default is /tmp."),
        ("TZ", "The time zone of the times in messages; reports are in UTC."),
    ]

    private static let files = [
        ("~/.netrc", "Users and passwords of hosts, read with --netrc alone."),
        (
            "DIR/.refrain.sqlite",
            "The state of a list with --output-dir DIR: what is done, partial and failed. refrain status shows it."
        ),
        ("LIST.refrain.sqlite", "The state of a list of requests that must not be sent twice, beside the list."),
        (
            ".NAME.part, .NAME.part.json",
            "The partial file of NAME, and what it is a part of. Both are removed when NAME is complete."
        ),
    ]

    private static let bugs = [
        "A shell may have a history: pass passwords by --netrc, by -H @FILE, or by --config, not by -u USER:PASSWORD. On the command line they are overwritten as soon as the command has started.",
        "Report bugs, with the output of refrain --version and of the command with -v, where the sources of refrain are kept.",
    ]

    private static func paragraphs(_ texts: [String]) -> String {
        texts.map(Roff.prose).joined(separator: "\n.PP\n") + "\n"
    }

    private static func entry(_ name: String, _ text: String) -> String {
        ".TP\n\(Roff.bold(name))\n\(Roff.prose(text))\n"
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
