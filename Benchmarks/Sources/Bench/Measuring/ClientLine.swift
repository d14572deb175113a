import FoundationEssentials

/// Reads what clients print: lines of JSON, whose numbers are metrics.
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
