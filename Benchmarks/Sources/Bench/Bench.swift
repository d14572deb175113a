import Glibc

/// Runs all benchmarks side by side, and prints one table. `Scripts/bench` builds it and calls it.
@main
struct Bench {
    static func main() {
        do {
            try run()
        } catch {
            note("bench: \(error)")
            exit(1)
        }
    }

    private static func run() throws {
        let options = try Options(Array(CommandLine.arguments.dropFirst()))
        let folder = String(
            CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
                separator: "/"
            )
        )
        let nginx = try Nginx()
        defer { nginx.stop() }
        let runner = LoadRunner(nginx: nginx, folder: folder, divisor: options.divisor)
        let scenarios = LoadScenario.all.filter { options.wants($0.name) }
        var samples = Samples()
        for round in 1...options.rounds {
            note("round \(round) of \(options.rounds)")
            for scenario in scenarios {
                for (client, count) in scenario.requests where options.wants(client: client.label) {
                    try runner.run(scenario, client, count, into: &samples)
                }
            }
        }
        for scenario in scenarios {
            for (client, _) in scenario.requests where options.wants(client: client.label) {
                try runner.count(scenario, client, into: &samples)
            }
        }
        for scenario in scenarios { for line in LoadTable(samples: samples).lines(scenario) { print(line) } }
    }
}

/// Tells the person something that is no result.
func note(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
}
