// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// Runs all benchmarks side by side, and prints one table.
///
/// `Scripts/bench` builds it and calls it.
@main
struct Bench {
    private static let results = "Benchmarks/results"
    private static let document = "Benchmarks/README.md"

    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if options.lists {
                for benchmark in Benchmarks.all { print(benchmark.name) }
            } else if options.publishes {
                try Publication.write(try Results.read((options.output ?? results) + "/latest.json"), into: document)
            } else {
                try report(try measure(options), options)
            }
        } catch {
            note("bench: \(error)")
            exit(1)
        }
    }

    private static func measure(_ options: Options) throws -> Results {
        let start = ContinuousClock.now
        let loadAverage = Results.Circumstances.loadAverageNow
        if loadAverage > 0.5 {
            note("bench: this machine is busy (load average \(Text.number(loadAverage, 2))): rates will be too low")
        }
        let nginx = try Nginx()
        defer { nginx.stop() }
        let bench = Workbench(nginx: nginx, folder: folder, options: options)
        let chosen = Benchmarks.all.filter { options.wants($0.name) }
        var samples = Samples()
        for round in 1...options.rounds {
            note("bench: round \(round) of \(options.rounds), after \(seconds(since: start)) s")
            for benchmark in chosen { try benchmark.runRound(bench, &samples) }
        }
        note("bench: counting, and the long run, after \(seconds(since: start)) s")
        for benchmark in chosen { try benchmark.runOnce(bench, &samples) }
        let elapsed = start.duration(to: .now) / .seconds(1)
        return Results(samples, .init(options, loadAverage: loadAverage, seconds: elapsed))
    }

    private static func report(_ results: Results, _ options: Options) throws {
        let report = Report(results: results)
        for (table, leading) in report.tables { print("\n" + table.text(leading: leading)) }
        print("\n" + report.circumstances)
        guard let folder = options.output ?? (options.isComplete ? Self.results : nil) else { return }
        mkdir(folder, 0o755)
        try results.write(folder + "/latest.json")
        try writeFile(folder + "/latest.svg", Data(Chart(results: results).svg.utf8))
        print("The samples are in \(folder)/latest.json, the picture in \(folder)/latest.svg.")
    }

    private static func seconds(since start: ContinuousClock.Instant) -> String {
        Text.number(start.duration(to: .now) / .seconds(1), 0)
    }

    /// Where this program is, and the others beside it.
    private static var folder: String {
        let path = CommandLine.arguments[0]
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}

/// Tells the person something that is no result.
func note(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
}
