// SPDX-License-Identifier: Apache-2.0
import Refrain

/// Many calls at a high rate of faults, through the library and the command, counted on both sides.
///
///     Soak [--library N] [--chaos N] [--command N] [--concurrency N] [--rate R] [--seed N] [--refrain PATH]
///
/// Prints one table, and exits with 1 if a body was wrong, a request was sent twice that must not be, or the counts of
/// both sides differ.
@main
struct Soak {
    static func main() async throws {
        #if os(Linux)
        let arguments = SoakArguments(CommandLine.arguments.dropFirst())
        if let plan = arguments.serverPlan { return try SoakServer.run(plan) }
        let plan = arguments.plan
        var rows: [SoakRow] = []
        if arguments.library > 0 {
            rows.append(try await LibraryRun(plan, .server, calls: arguments.library).row(arguments.concurrency))
        }
        if arguments.chaos > 0 {
            rows.append(try await LibraryRun(plan, .chaos, calls: arguments.chaos).row(arguments.concurrency))
        }
        if let command = arguments.command, arguments.commandCalls > 0 {
            let run = CommandRun(plan, calls: arguments.commandCalls, command: command)
            rows.append(try await run.row(arguments.concurrency))
        }
        print(SoakTable.text(rows))
        if !rows.allSatisfy(\.isSound) { SystemIO.fail("a figure is not as it has to be") }
        #else
        print("the soak reads /proc, which only Linux has")
        #endif
    }
}

/// What the command line says; whatever it does not say has a default.
struct SoakArguments {
    private var values: [String: String] = [:]

    init(_ words: some Sequence<String>) {
        var name: String?
        for word in words {
            if word.hasPrefix("--") { name = String(word.dropFirst(2)) } else if let name { values[name] = word }
        }
    }

    private func number(_ name: String, _ fallback: Int) -> Int { values[name].flatMap { Int($0) } ?? fallback }

    var library: Int { number("library", 0) }
    var chaos: Int { number("chaos", 0) }
    var commandCalls: Int { number("command", 0) }
    var concurrency: Int { number("concurrency", 64) }
    var command: String? { values["refrain"] }
    var plan: SoakPlan {
        SoakPlan(seed: UInt64(number("seed", 42)), rate: values["rate"].flatMap { Double($0) } ?? 0.3)
    }

    /// The plan of a server, if this process is one.
    var serverPlan: SoakPlan? { values["role"] == "server" ? plan : nil }
}
