// SPDX-License-Identifier: Apache-2.0
/// The options and the help of a command, from which parser, help and manual are derived.
struct CommandSpec: Sendable {
    /// Options that belong together, under a heading.
    struct Group: Sendable {
        let title: String
        /// A word that `--help` takes for the options of the group; empty: none.
        var category = ""
        let options: [OptionSpec]
    }

    let name: CommandName
    /// The purpose of the command, in a phrase.
    let summary: String
    /// The text after the name of the command, one line per form.
    let forms: [String]
    let groups: [Group]
    /// Paragraphs that follow the options.
    let notes: [String]
    /// Command lines and their meaning.
    let examples: [(line: String, meaning: String)]
    /// The possible operands; empty if they are many.
    var operands: [String] = []
    /// The kind of the operands, for completions.
    var operandSubject = OptionSpec.Subject.other
    /// The options that most people use, which the help shows; empty: all of them.
    var common: Set<OptionName> = []

    /// The words that `--help` takes after it.
    var helpTopics: [String] {
        guard !common.isEmpty else { return [] }
        var topics = ["all"]
        for group in groups where !topics.contains(group.category) { topics.append(group.category) }
        return topics
    }

    /// Every option of the command.
    var options: [OptionSpec] { groups.flatMap(\.options) + [Self.helpOption] }

    /// The option that every command has.
    private static let helpOption = OptionSpec(.help, short: "h", .none, "Show the help.")

    /// Every command, in the order of the help.
    static let all: [CommandSpec] = [
        .get, .explain, .status, .retry, .forget, .serve, .demo, .simulate, .completions, .helpCommand,
    ]

    /// The command of a name.
    ///
    /// Makes only that one, since a small request takes hardly longer than all of them.
    static func named(_ name: CommandName) -> CommandSpec {
        switch name {
        case .get: get
        case .explain: explain
        case .status: status
        case .retry: retry
        case .forget: forget
        case .serve: serve
        case .demo: demo
        case .simulate: simulate
        case .completions: completions
        case .help: helpCommand
        }
    }
}

extension CommandSpec {
    private static let queue = [
        OptionSpec(
            .queue,
            .required("NAME"),
            "The queue of a state in a database: --queue of refrain get. Default: default."
        )
    ]

    static let status = CommandSpec(
        name: .status,
        summary: "show the state of the requests of a list",
        forms: ["DIR|FILE|postgres://HOST/DATABASE [--json]"],
        groups: [
            Group(
                title: "Options",
                options: [OptionSpec(.json, .none, "Write one JSON object per line for each request.")] + queue
            )
        ],
        notes: [
            "The operand is the folder of --output-dir, or the file or database of --state. Requests are counted by their outcomes, and those that are not done "
                + "are listed; a run that is under way may be looked at. The exit status is 0 where all requests are done, and 1 where some are not, "
                + "or where a run has not read its list to the end: the list may have more requests than are counted then.",
            "An order (POST or PATCH) that is begun was on its way when the state was last written, so the server may have done it; the next run sends it "
                + "again under its key. One that is unknown may have been done as well, and is not sent again. retry and forget settle either. Attempts "
                + "include those of runs that were killed.",
        ],
        examples: [("refrain status out", "how far a run with --output-dir out has come")],
        operandSubject: .file
    )

    static let retry = CommandSpec(
        name: .retry,
        summary: "let the next run of a list send requests again whose outcome is unknown",
        forms: ["DIR|FILE|postgres://HOST/DATABASE ID… [--key-lifetime D]"],
        groups: [
            Group(
                title: "Options",
                options: [
                    OptionSpec(
                        .keyLifetime,
                        .required("D"),
                        "How long the server remembers a key; one that is older is replaced. Default: 24h."
                    )
                ] + queue
            )
        ],
        notes: [
            "The first operand is the folder of --output-dir, or the file or database of --state; refrain status shows the IDs. Nothing is sent now. An order that is "
                + "unknown, or whose key is older than the server remembers, gets a new key, unless the list gives it one: the server may do it a second time. "
                + "An order whose key is still known keeps it. What is forgotten is taken up again. A request that is done is refused. "
                + "Either all of the IDs are settled, or, with exit status 2, none. A run that uses the state must end first."
        ],
        examples: [("refrain retry out 5feceb66ffc8", "the server does not have that order; send it again")],
        operandSubject: .file
    )

    static let forget = CommandSpec(
        name: .forget,
        summary: "settle requests of a list, which are not sent any more",
        forms: ["DIR|FILE|postgres://HOST/DATABASE ID…"],
        groups: [Group(title: "Options", options: queue)],
        notes: [
            "The first operand is the folder of --output-dir, or the file or database of --state; refrain status shows the IDs. Later runs of the list skip these "
                + "requests as if they were done, and status counts them as forgotten, with the attempts that were made. refrain retry takes one up again. "
                + "Either all of the IDs are settled, or, with exit status 2, none. A run that uses the state must end first."
        ],
        examples: [("refrain forget out 5feceb66ffc8", "the server has that order; do not send it again")],
        operandSubject: .file
    )

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
        examples: [
            ("refrain serve --port 8080", "then, from another terminal:"),
            (
                "curl 'http://127.0.0.1:8080/flaky?rate=0.3&seed=42'",
                "about three requests in ten fail, the same ones each time"
            ),
        ]
    )

    static let demo = CommandSpec(
        name: .demo,
        summary: "watch requests survive each kind of fault, counted by the server",
        forms: [""],
        groups: [],
        notes: [
            "Each scenario, the 1,000 requests and the outbox that follow run against a fault server on 127.0.0.1. "
                + "The exit status is 0 only if everything behaved as expected."
        ],
        examples: []
    )

    static let completions = CommandSpec(
        name: .completions,
        summary: "write a shell's completions of commands, options and their values",
        forms: [Shell.allCases.map(\.rawValue).joined(separator: "|")],
        groups: [],
        notes: [
            "The script goes to standard output. Bash and fish read it when they start; zsh looks for a file _refrain in "
                + "the folders of fpath."
        ],
        examples: [
            ("source <(refrain completions bash)", "in ~/.bashrc"),
            ("refrain completions zsh > ~/.zfunc/_refrain", "with fpath=(~/.zfunc $fpath) before compinit in ~/.zshrc"),
            ("refrain completions fish > ~/.config/fish/completions/refrain.fish", "once, for every later fish"),
        ],
        operands: Shell.allCases.map(\.rawValue)
    )

    private static let helpCommand = CommandSpec(
        name: .help,
        summary: "show the help of a command, or the manual page",
        forms: ["[COMMAND [all|CATEGORY]]", "--man"],
        groups: [
            Group(
                title: "Options",
                options: [
                    OptionSpec(.man, .none, "Write the manual page of all commands, in the language of man(1) pages.")
                ]
            )
        ],
        notes: [],
        examples: [
            ("refrain help get", "what get can do"),
            ("refrain help --man | man -l -", "the whole manual; refrain help --man > refrain.1 keeps it"),
        ],
        operands: CommandName.allCases.map(\.rawValue)
    )
}

/// The commands of `refrain`.
enum CommandName: String, Sendable, CaseIterable {
    case get
    case explain
    case status
    case retry
    case forget
    case serve
    case demo
    case simulate
    case completions
    case help
}

/// A supported shell.
enum Shell: String, Sendable, CaseIterable {
    case bash
    case zsh
    case fish
}
