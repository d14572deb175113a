// SPDX-License-Identifier: Apache-2.0
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

/// Many bodies of 1 MB at a time, then a rest: memory before and after.
struct BurstBenchmark: Benchmark {
    let name = "burst"

    func runOnce(_ bench: Workbench, _ samples: inout Samples) throws {
        let lines = try bench.run(
            "SessionClient",
            [bench.nginx.plainURL + "/1m", "2000", "64", "--warmup", "0", "--rest", "8"]
        )
        guard let metrics = lines.first?.metrics, metrics[Metric.failures] == 0 else {
            throw BenchFailure("requests of the burst failed")
        }
        samples.add(metrics, scenario: name, client: "session")
    }
}

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
