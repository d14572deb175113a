// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The released command: its size, the time to print its version, and that of one small GET, beside curl's.
struct CommandBenchmark: Benchmark {
    let name = "command"

    func runRound(_ bench: Workbench, _ samples: inout Samples) throws {
        guard let path = Self.path, let bytes = Self.size(path) else { return }
        let url = bench.nginx.plainURL + "/2b"
        var (version, get, reference): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<11 {
            version.append(try Self.milliseconds(path, ["--version"]))
            get.append(try Self.milliseconds(path, ["get", "-q", url]))
            reference.append(try Self.milliseconds("curl", ["-s", "-f", url]))
        }
        guard let version = Summary(version)?.median, let get = Summary(get)?.median,
            let reference = Summary(reference)?.median
        else { return }
        samples.add(
            [Metric.fileBytes: bytes, Metric.startMilliseconds: version, Metric.getMilliseconds: get],
            scenario: name,
            client: "refrain"
        )
        samples.add([Metric.getMilliseconds: reference], scenario: name, client: "curl")
    }

    private static func milliseconds(_ program: String, _ arguments: [String]) throws -> Double {
        let child = try Child.run(program, arguments)
        guard child.status == 0 else { throw BenchFailure("\(program) \(arguments.joined(separator: " ")) failed") }
        return child.seconds * 1000
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
