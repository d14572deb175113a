// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Reads the output of clients: lines of JSON, whose numbers are metrics.
enum ClientLine {
    private enum Value: Decodable {
        case number(Double)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = (try? container.decode(Double.self)).map(Value.number) ?? .other
        }
    }

    private struct Name: Decodable {
        let client: String
    }

    /// The client and the metrics of each line.
    static func read(_ output: String) throws -> [(client: String, metrics: [String: Double])] {
        try output.split(separator: "\n").filter { $0.first == "{" }.map { line in
            let data = Data(line.utf8)
            let name = try JSONDecoder().decode(Name.self, from: data).client
            let metrics = try JSONDecoder().decode([String: Value].self, from: data).compactMapValues { value in
                if case .number(let number) = value { number } else { nil }
            }
            return (name, metrics)
        }
    }
}

/// Reads the output of wrk.
enum WrkLine {
    /// The metrics of a run of wrk.
    static func read(_ child: Child) throws -> [String: Double] {
        var metrics: [String: Double] = [:]
        var requests = 0.0
        for line in child.output.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 2 else { continue }
            switch words[0] {
            case "Requests/sec:": metrics[Metric.rate] = Double(words[1])
            case "50%": metrics[Metric.p50] = microseconds(words[1])
            case "99%": metrics[Metric.p99] = microseconds(words[1])
            default: if words[1] == "requests" { requests = Double(words[0]) ?? 0 }
            }
        }
        guard requests > 0, metrics[Metric.rate] != nil else {
            throw BenchFailure("wrk printed no figures:\n\(child.output)")
        }
        metrics["requests"] = requests
        metrics[Metric.cpu] = child.processorSeconds * 1000 / requests
        metrics[Metric.switches] = Double(child.contextSwitches) / requests
        return metrics
    }

    private static func microseconds(_ text: String) -> Double? {
        for (unit, factor) in [("us", 1.0), ("ms", 1000.0), ("s", 1_000_000.0)] where text.hasSuffix(unit) {
            return Double(text.dropLast(unit.count)).map { $0 * factor }
        }
        return nil
    }
}
