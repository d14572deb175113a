/// The arguments of the runner.
struct Options {
    var rounds = 5
    /// Fewer requests, fewer rounds: for a look while developing, not for figures.
    var isQuick = false
    /// The cases that were named; all where none were.
    var cases: [String] = []
    /// The clients that were named; all where none were.
    var clients: [String] = []

    var divisor: Int { isQuick ? 8 : 1 }

    static let usage = """
        usage: Scripts/bench [--quick] [--rounds N] [--client NAME]… [CASE…]
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var chosenRounds: Int?
        while let argument = rest.popFirst() {
            switch argument {
            case "--quick": isQuick = true
            case "--rounds":
                guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
                    throw BenchFailure("--rounds wants a whole number from 1\n" + Self.usage)
                }
                chosenRounds = count
            case "--client": clients.append(rest.popFirst() ?? "")
            case _ where argument.hasPrefix("-"): throw BenchFailure("unknown option \(argument)\n" + Self.usage)
            default: cases.append(argument)
            }
        }
        rounds = chosenRounds ?? (isQuick ? 3 : 5)
    }

    func wants(_ name: String) -> Bool { cases.isEmpty || cases.contains { name == $0 || name.hasPrefix($0 + "-") } }
    func wants(client: String) -> Bool { clients.isEmpty || clients.contains(client) }
}
