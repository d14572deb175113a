// SPDX-License-Identifier: Apache-2.0
/// The engine without a network: `withRetry` beside a bare await, a loop by hand and a task.
struct EngineBenchmark: Benchmark {
    let name = "engine"

    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {
        for line in try bench.run("RetryOverhead", []) {
            samples.add(line.metrics, scenario: name, client: line.client)
        }
    }

    func runOnce(_ bench: Workbench, _ samples: inout Samples) throws {
        for line in try bench.run("RetryOverhead", [], counts: true) {
            samples.add(line.metrics, scenario: name, client: line.client)
        }
    }
}

/// A hundred thousand waits for a second attempt, and the cancellation of all of them.
struct WaitersBenchmark: Benchmark {
    let name = "waiters"

    private static let kinds = ["Task.sleep", "withRetry", "Retry stage", "Session"]

    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {
        for kind in Self.kinds where bench.options.wants(client: kind) {
            for line in try bench.run("Waiters", [kind, String(100_000 / bench.options.divisor)]) {
                guard line.metrics[Metric.failures] == 0 else {
                    throw BenchFailure(
                        "\(kind): \(line.metrics[Metric.failures] ?? 0) waiters did not end as they should"
                    )
                }
                samples.add(line.metrics, scenario: name, client: line.client)
            }
        }
    }
}
