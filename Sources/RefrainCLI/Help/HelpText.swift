/// The help, made from the tables of the commands.
enum HelpText {
    /// What the command is for, in a phrase.
    static let purpose = "requests that succeed over an unreliable network, without making an outage worse"

    /// What `refrain help` shows.
    static var overview: String {
        let width = CommandSpec.all.map(\.name.rawValue.count).max() ?? 0
        let commands = CommandSpec.all.map { "  \(padded($0.name.rawValue, width))  \($0.summary)" }
        return """
            refrain \(Version.current): \(purpose)

            Usage: refrain COMMAND [options]

            \(commands.joined(separator: "\n"))

            To begin with:
              refrain demo                  see what it does; nothing leaves this machine
              refrain get -v URL            fetch something, and see each attempt
              refrain help get              what get can do

            refrain help COMMAND shows the options of a command, refrain help --man the manual page, and
            refrain --version the version.

            """
    }

    /// The help of a command.
    static func text(for command: CommandSpec) -> String {
        let name = "refrain \(command.name.rawValue)"
        var text = "\(name): \(command.summary)\n\n"
        for (index, form) in command.forms.enumerated() {
            text += (index == 0 ? "Usage: " : "       ") + name + (form.isEmpty ? "" : " \(form)") + "\n"
        }
        for group in command.groups {
            text += "\n\(group.title):\n"
            for option in group.options { text += entry(option) }
        }
        for note in command.notes { text += "\n" + wrapped(note, indent: 0) }
        if !command.examples.isEmpty { text += "\nExamples:\n" }
        for example in command.examples { text += "  \(example.line)\n      \(example.meaning)\n" }
        return text
    }

    private static func entry(_ option: OptionSpec) -> String {
        let column = 30
        let usage = "  " + option.usage
        let help = wrapped(option.help, indent: column)
        guard usage.count + 2 <= column else { return usage + "\n" + help }
        return padded(usage, column) + help.dropFirst(column)
    }

    private static func wrapped(_ text: String, indent: Int, width: Int = 100) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
        return lines.map { String(repeating: " ", count: indent) + $0 + "\n" }.joined()
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
