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
