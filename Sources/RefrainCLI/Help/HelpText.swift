// SPDX-License-Identifier: Apache-2.0
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
                   refrain [options] URL…          the same as refrain get

            \(commands.joined(separator: "\n"))

            To begin with:
              refrain demo                  see what it does; nothing leaves this machine
              refrain get --timeline URL    fetch something, and see each attempt
              refrain help get              what get can do

            refrain help COMMAND shows the options of a command, refrain help --man the manual page, and
            refrain --version the version.

            """
    }

    /// The help of a command: the options that most people use, or those of a topic.
    ///
    /// - Parameter topic: `all`, or the category of a group.
    /// - Throws: ``UsageError`` for an unknown topic.
    static func text(for command: CommandSpec, topic: String) throws(UsageError) -> String {
        guard command.helpTopics.contains(topic) else {
            let meant = SuggestionFinder.nearest(to: topic, among: command.helpTopics).map { "did you mean \($0)?" }
            throw UsageError(
                "--help: \(Sanitized.text(topic)) is not a category; "
                    + (meant ?? "they are \(command.helpTopics.joined(separator: ", "))")
            )
        }
        if topic == "all" { return text(of: command) }
        let groups = command.groups.filter { $0.category == topic }
        return groups.map(text).joined().dropFirst().description
    }

    /// The help of a command.
    static func text(for command: CommandSpec) -> String {
        guard !command.common.isEmpty else { return text(of: command) }
        var text = heading(command)
        for group in command.groups {
            let options = group.options.filter { command.common.contains($0.name) }
            if !options.isEmpty { text += self.text(CommandSpec.Group(title: group.title, options: options)) }
        }
        text += examples(command)
        let name = "refrain \(command.name.rawValue)"
        let categories = command.helpTopics.dropFirst().joined(separator: ", ")
        return text + "\n"
            + wrapped(
                "These are the options that people use most. \(name) --help all shows all \(command.options.count), and \(name) --help CATEGORY those of one category: \(categories).",
                indent: 0
            )
    }

    private static func text(of command: CommandSpec) -> String {
        var text = heading(command) + command.groups.map(self.text).joined()
        for note in command.notes { text += "\n" + wrapped(note, indent: 0) }
        return text + examples(command)
    }

    private static func heading(_ command: CommandSpec) -> String {
        let name = "refrain \(command.name.rawValue)"
        var text = "\(name): \(command.summary)\n\n"
        for (index, form) in command.forms.enumerated() {
            text += (index == 0 ? "Usage: " : "       ") + name + (form.isEmpty ? "" : " \(form)") + "\n"
        }
        return text
    }

    private static func text(_ group: CommandSpec.Group) -> String {
        "\n\(group.title):\n" + group.options.map(entry).joined()
    }

    private static func examples(_ command: CommandSpec) -> String {
        var text = command.examples.isEmpty ? "" : "\nExamples:\n"
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

    /// The columns of the terminal, up to 100.
    private static let width = min(100, max(60, Output.standard.columns ?? 100))

    private static func wrapped(_ text: String, indent: Int) -> String {
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
