// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The results of a run: the content of `latest.json`, and the source of tables and picture.
struct Results: Codable {
    /// All that was measured about one client in one case.
    struct Series: Codable {
        let scenario: String
        let client: String
        let metrics: [String: Summary]
    }

    /// Where and when it was measured.
    struct Circumstances: Codable {
        let date: String
        let machine: String
        let commit: String
        let rounds: Int
        /// Whether fewer requests were made than the figures need.
        let isQuick: Bool
        /// The load average when the run began: far above zero, and the rates are those of a busy machine.
        let loadAverage: Double
        let seconds: Double
    }

    let circumstances: Circumstances
    let series: [Series]
    let targets: [TargetResult]

    init(_ samples: Samples, _ circumstances: Circumstances) {
        self.circumstances = circumstances
        series = samples.keys.map { key in
            var metrics: [String: Summary] = [:]
            for metric in samples.metrics(of: key) {
                metrics[metric] = samples.summary(key.scenario, key.client, metric)
            }
            return Series(scenario: key.scenario, client: key.client, metrics: metrics)
        }
        targets = Target.all.compactMap { $0.result(samples) }
    }

    /// Everything about a case, in the order in which the clients ran.
    func series(of scenario: String) -> [Series] { series.filter { $0.scenario == scenario } }

    /// Reads the results of an earlier run.
    static func read(_ path: String) throws -> Results {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw BenchFailure("there is no \(path) yet; run Scripts/bench")
        }
        return try JSONDecoder().decode(Results.self, from: data)
    }

    /// Writes the results, so that two files differ only where the figures do.
    func write(_ path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        var data = try encoder.encode(self)
        data.append(UInt8(ascii: "\n"))
        try writeFile(path, data)
    }
}

/// Writes a file, in whose place nothing half-written ever stands.
func writeFile(_ path: String, _ data: Data) throws {
    do {
        try data.write(to: URL(filePath: path), options: .atomic)
    } catch {
        throw BenchFailure("cannot write \(path): \(error)")
    }
}
