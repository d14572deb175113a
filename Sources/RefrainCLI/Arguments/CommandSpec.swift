/// What a command takes and what its help says: the one table that the parser, the help and the manual are made from.
struct CommandSpec: Sendable {
    /// Options that belong together, under a heading.
    struct Group: Sendable {
        let title: String
        let options: [OptionSpec]
    }

    let name: CommandName
    /// What the command does, in a phrase.
    let summary: String
    /// What follows the name of the command, one line for each form.
    let forms: [String]
    let groups: [Group]
    /// Paragraphs that follow the options.
    let notes: [String]
    /// Command lines with what they do.
    let examples: [(line: String, meaning: String)]

    /// Every option of the command.
    var options: [OptionSpec] { groups.flatMap(\.options) + [Self.helpOption] }

    /// What every command takes.
    static let helpOption = OptionSpec(.help, short: "h", .none, "Show this help.")

    /// Every command, in the order of the help.
    static let all: [CommandSpec] = [.get, .explain, .serve, .demo, .helpCommand]

    /// The command of a name.
    static func named(_ name: CommandName) -> CommandSpec? { all.first { $0.name == name } }
}

extension CommandSpec {
    static let serve = CommandSpec(
        name: .serve,
        summary: "run a server that misbehaves on command, to try any client against",
        forms: ["[--port N]"],
        groups: [
            Group(
                title: "Options",
                options: [
                    OptionSpec(
                        .port,
                        short: "p",
                        .required("N"),
                        "The port on 127.0.0.1; 0, the default, takes a free one."
                    )
                ]
            )
        ],
        notes: [
            "The server prints its address and its paths, and runs until it is interrupted. It listens on 127.0.0.1 only."
        ],
        examples: [("refrain serve --port 8080", "then: curl http://127.0.0.1:8080/flaky?rate=0.3&seed=42")]
    )

    static let demo = CommandSpec(
        name: .demo,
        summary: "watch requests survive each kind of fault, counted by the server",
        forms: [""],
        groups: [],
        notes: [
            "Each scenario and the 1,000 requests that follow run against a fault server on 127.0.0.1. "
                + "The exit status is 0 only where everything was as it must be."
        ],
        examples: []
    )

    static let helpCommand = CommandSpec(
        name: .help,
        summary: "show the help of a command",
        forms: ["[COMMAND]"],
        groups: [],
        notes: [],
        examples: []
    )
}
