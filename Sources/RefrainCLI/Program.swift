// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The whole program: finds the command, runs it, and says how it ended.
enum Program {
    /// Runs the words after the program's name.
    static func run(_ words: [String]) async -> ExitStatus {
        var command = "refrain"
        do {
            guard let first = words.first else {
                Output.error.show(HelpText.overview)
                return .usage
            }
            if ["--help", "-h"].contains(first) { return await run(["help"] + words.dropFirst()) }
            if ["--version", "-V"].contains(first) {
                return try show("refrain \(Version.full)\n\(CurlLoader.libraryVersion)\n")
            }
            guard let name = CommandName(rawValue: first) else { throw unknownCommand(first) }
            let spec = CommandSpec.named(name)
            command += " \(first)"
            // The overview is the help of `help`; it would only say its own name again.
            if name == .help { command = "refrain" }
            var rest = Array(words.dropFirst())
            var commandLine: String?
            var config = ConfigFile.Expanded()
            if name == .get {
                // Now, since standard input may keep the command waiting for options.
                let given = try Arguments(rest, options: spec.options)
                RawArguments.blank(given)
                commandLine = RawArguments.hasSecrets(given) ? nil : ShellText.commandLine(["refrain"] + words)
                config = try ConfigFile.expanded(rest, options: spec.options)
                rest = config.words
            }
            let arguments = try Arguments(rest, options: spec.options)
            RawArguments.blank(arguments)
            if arguments.has(.help) { return try show(helpText(spec, arguments.positionals.first)) }
            do {
                return try await run(name, arguments, commandLine)
            } catch let error as UsageError {
                throw config.located(error)
            }
        } catch let error as UsageError {
            let help = command == "refrain" ? "refrain help" : "\(command) --help"
            Output.error.show("\(command): \(error)\n" + (error.isOutage ? "" : "Try: \(help)\n"))
            return error.isOutage ? .failure : .usage
        } catch let error as SystemError {
            // The reader has closed the output, which is not an error.
            guard !error.isBrokenPipe else { return .success }
            Output.error.show("\(command): \(error)\n")
            return .failure
        } catch {
            Output.error.show("\(command): \(error)\n")
            return .failure
        }
    }

    /// The words of a command line, with the name of the command where it is left out: `refrain URL`.
    static func completed(_ words: [String]) -> [String] {
        guard let first = words.first, CommandName(rawValue: first) == nil else { return words }
        let isOption = first.hasPrefix("-") && !["--help", "-h", "--version", "-V"].contains(first)
        let isGet = CommandLineURL.isURL(first) || (isOption && words.contains { givesURLs($0) })
        return isGet ? [CommandName.get.rawValue] + words : words
    }

    /// Whether a word is a URL, or an option of `get` that URLs can come from.
    private static func givesURLs(_ word: String) -> Bool {
        let options = CommandSpec.get.options
        return CommandLineURL.isURL(word) || String(word.prefix { $0 != "=" }) == "--from"
            || ConfigFile.valued(word, options)?.name == .config
    }

    /// Whether the command has something to put in order when it is interrupted.
    static func endsGracefully(_ words: [String]) -> Bool {
        let command = words.first.flatMap(CommandName.init(rawValue:))
        return command == .get || command == .serve || command == .demo
    }

    private static func run(
        _ name: CommandName,
        _ arguments: Arguments,
        _ commandLine: String?
    ) async throws -> ExitStatus {
        switch name {
        case .get:
            var settings = try GetSettings(arguments)
            settings.commandLine = commandLine
            if arguments.has(.dryRun) { return try show(DryRun(settings).text) }
            var command = GetCommand(settings)
            return try await command.run()
        case .explain: try ExplainCommand(arguments).run(to: .standard)
        case .status: return try StatusCommand(arguments).run(to: .standard)
        case .retry: return try SettleCommand(arguments, .again).run(to: .standard)
        case .forget: return try SettleCommand(arguments, .forget).run(to: .standard)
        case .serve: return try await ServeCommand(arguments).run()
        case .demo: return try await DemoCommand(arguments).run()
        case .simulate: return try await SimulateCommand(arguments).run()
        case .completions: return try show(Completions.script(arguments))
        case .help: return try help(arguments)
        }
        return .success
    }

    private static func help(_ arguments: Arguments) throws -> ExitStatus {
        if arguments.has(.man) { return try show(ManualPage.text) }
        guard let topic = arguments.positionals.first else { return try show(HelpText.overview) }
        guard let name = CommandName(rawValue: topic) else { throw unknownCommand(topic) }
        let spec = CommandSpec.named(name)
        let further = arguments.positionals.dropFirst()
        if let odd = spec.helpTopics.isEmpty ? further.first : further.dropFirst().first {
            throw UsageError("one command at a time; \(Sanitized.text(odd)) is one too many")
        }
        return try show(helpText(spec, further.first))
    }

    /// The help of a command, or of a topic of it; a URL beside `--help` is none.
    private static func helpText(_ spec: CommandSpec, _ topic: String?) throws(UsageError) -> String {
        guard let topic, !spec.helpTopics.isEmpty, !CommandLineURL.isURL(topic) else { return HelpText.text(for: spec) }
        return try HelpText.text(for: spec, topic: topic)
    }

    private static func show(_ text: String) throws -> ExitStatus {
        try Output.standard.write(Array(text.utf8))
        return .success
    }

    private static func unknownCommand(_ word: String) -> UsageError {
        let names = CommandName.allCases.map(\.rawValue)
        if word == "version" { return UsageError("unknown command \"version\"; did you mean --version?") }
        let isOption = word.hasPrefix("-")
        let known = isOption ? ["--help", "--version"] : names
        let meant = SuggestionFinder.nearest(to: word, among: known).map { "; did you mean \($0)?" }
        let advice = meant ?? "; the commands are \(names.joined(separator: ", "))"
        return UsageError("unknown \(isOption ? "option" : "command") \(Sanitized.text(word))\(advice)")
    }
}
