// SPDX-License-Identifier: Apache-2.0
/// The arguments of the runner.
struct Options {
    var rounds = 5
    /// A quarter of the time, fewer rounds: for a look while developing, not for figures.
    var isQuick = false
    /// The cases that were named; all where none were.
    var cases: [String] = []
    /// The clients that were named; all where none were.
    var clients: [String] = []
    /// Where the results are written to; by default a complete run keeps them, and another one does not.
    var output: String?
    /// Only to name the cases.
    var lists = false
    /// Only to put the latest results into the documentation.
    var publishes = false

    /// The counts of calls in a delay and of calls that fail are divided by this.
    var divisor: Int { isQuick ? 8 : 1 }

    /// Whether the figures are complete and fit to be kept.
    var isComplete: Bool { !isQuick && cases.isEmpty && clients.isEmpty && rounds >= 5 }

    static let usage = """
        usage: Scripts/bench [--quick] [--rounds N] [--client NAME]… [--output FOLDER] [CASE…]
               Scripts/bench --list
               Scripts/bench --publish [--output FOLDER]
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var chosenRounds: Int?
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": isQuick = true
            case "--list": lists = true
            case "--publish": publishes = true
            case "--rounds":
                guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
                    throw BenchFailure("--rounds wants a whole number from 1\n" + Self.usage)
                }
                chosenRounds = count
            case "--output": output = rest.popFirst()
            case "--client": clients.append(rest.popFirst() ?? "")
            case _ where argument.hasPrefix("-"):
                throw BenchFailure("unknown option \(argument)\n" + Self.usage)
            case _ where Benchmarks.all.contains { $0.name == argument }: cases.append(argument)
            default: throw BenchFailure("there is no case \(argument); --list names them\n" + Self.usage)
            }
        }
        rounds = chosenRounds ?? (isQuick ? 3 : 5)
    }

    func wants(_ name: String) -> Bool { cases.isEmpty || cases.contains(name) }
    func wants(client: String) -> Bool { clients.isEmpty || clients.contains(client) }
}
