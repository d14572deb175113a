/// A backend that answers 503 to everything: how many requests reach it, counted by itself.
struct FailingBenchmark: Benchmark {
    let name = "failing"

    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {
        let calls = 4000 / bench.options.divisor
        let before = bench.nginx.failedRequests()
        let lines = try bench.run(
            "SessionClient",
            [bench.nginx.plainURL + "/fail", String(calls), "64", "--warmup", "0"]
        )
        let sends = bench.nginx.failedRequests() - before
        guard var metrics = lines.first?.metrics, metrics[Metric.failures] == Double(calls), sends >= calls else {
            throw BenchFailure("\(sends) of \(calls) requests reached the backend that fails everything")
        }
        metrics[Metric.sendsPerCall] = Double(sends) / Double(calls)
        samples.add(metrics, scenario: name, client: "session")
    }
}
