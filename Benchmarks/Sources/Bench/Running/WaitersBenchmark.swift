/// A hundred thousand who wait for their second attempt, and all of them cancelled.
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
