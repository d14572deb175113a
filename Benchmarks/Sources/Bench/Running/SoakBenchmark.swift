/// A million requests: memory and file descriptors at the end, and after the first tenth.
struct SoakBenchmark: Benchmark {
    let name = "soak"

    func runOnce(_ bench: Workbench, _ samples: inout Samples) throws {
        let count = bench.options.isQuick ? 100_000 : 1_000_000
        let lines = try bench.run("SessionClient", [bench.nginx.plainURL + "/2b", String(count), "64"], limit: 240)
        guard let metrics = lines.first?.metrics, metrics[Metric.failures] == 0 else {
            throw BenchFailure("requests failed in the long run")
        }
        samples.add(metrics, scenario: name, client: "session")
    }
}
