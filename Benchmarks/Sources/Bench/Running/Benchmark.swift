// SPDX-License-Identifier: Apache-2.0
/// One case of the benchmarks.
protocol Benchmark: Sendable {
    /// The name by which the case is chosen, and the key of its figures in `latest.json`.
    var name: String { get }

    /// One round; those of all cases follow each other, then the next round begins.
    func runRound(_ bench: Workbench, _ samples: inout Samples) throws

    /// Runs once, after the rounds, for counts that do not depend on time.
    func runOnce(_ bench: Workbench, _ samples: inout Samples) throws
}

extension Benchmark {
    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {}
    func runOnce(_ bench: Workbench, _ samples: inout Samples) throws {}
}

/// The environment of the cases.
struct Workbench {
    let nginx: Nginx
    /// The folder of the clients' programs.
    let folder: String
    let options: Options

    /// The environment in which a program counts its allocations.
    var counting: [String: String] { ["LD_PRELOAD": folder + "/libCountingMalloc.so"] }

    /// Runs one of the programs, and reads its output.
    func run(
        _ program: String,
        _ arguments: [String],
        counts: Bool = false,
        limit: Int = 120
    ) throws -> [(client: String, metrics: [String: Double])] {
        let child = try Child.run(
            folder + "/" + program,
            arguments,
            environment: counts ? counting : [:],
            limit: limit
        )
        let lines = try ClientLine.read(child.output)
        guard child.status == 0, !lines.isEmpty else {
            throw BenchFailure("\(program) \(arguments.joined(separator: " ")) ended with status \(child.status)")
        }
        return lines
    }
}

/// All cases, in the order in which a round runs them.
enum Benchmarks {
    static let all: [any Benchmark] =
        [EngineBenchmark()] + LoadBenchmark.all
        + [WaitersBenchmark(), FailingBenchmark(), CommandBenchmark()] + TransferBenchmark.all
        + [BurstBenchmark(), SoakBenchmark()]
}
