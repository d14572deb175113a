import FoundationEssentials

/// The released command: its size, and the time to print its version.
struct CommandBenchmark: Benchmark {
    let name = "command"

    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {
        guard let path = Self.path, let bytes = Self.size(path) else { return }
        var times: [Double] = []
        for _ in 0..<11 {
            let child = try Child.run(path, ["--version"])
            guard child.status == 0 else { throw BenchFailure("\(path) --version failed") }
            times.append(child.seconds * 1000)
        }
        guard let median = Summary(times)?.median else { return }
        let metrics = [Metric.fileBytes: bytes, Metric.startMilliseconds: median]
        samples.add(metrics, scenario: name, client: "refrain")
    }

    /// The result of `make release`; nil if there is none.
    static var path: String? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "dist")) ?? []
        return names.first { $0.hasPrefix("refrain-") && !$0.hasSuffix(".sha256") }.map { "dist/" + $0 }
    }

    private static func size(_ path: String) -> Double? {
        FileManager.default.contents(atPath: path).map { Double($0.count) }
    }
}
