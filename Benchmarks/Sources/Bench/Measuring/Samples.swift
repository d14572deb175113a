// SPDX-License-Identifier: Apache-2.0
/// The middle, the least and the greatest of some samples.
struct Summary: Codable {
    let median: Double
    let min: Double
    let max: Double
    /// In the order of the rounds.
    let samples: [Double]

    init?(_ samples: [Double]) {
        let sorted = samples.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let middle = sorted.count / 2
        median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        min = first
        max = last
        self.samples = samples
    }
}

/// All samples of a run of the benchmarks, by case, client and metric.
struct Samples {
    struct Key: Hashable {
        let scenario: String
        let client: String
    }

    /// The cases and clients, in the order in which they first came.
    private(set) var keys: [Key] = []
    private var values: [Key: [String: [Double]]] = [:]

    mutating func add(_ metrics: [String: Double], scenario: String, client: String) {
        let key = Key(scenario: scenario, client: client)
        if values[key] == nil { keys.append(key) }
        for (name, value) in metrics { values[key, default: [:]][name, default: []].append(value) }
    }

    func samples(_ scenario: String, _ client: String, _ metric: String) -> [Double] {
        values[Key(scenario: scenario, client: client)]?[metric] ?? []
    }

    func summary(_ scenario: String, _ client: String, _ metric: String) -> Summary? {
        Summary(samples(scenario, client, metric))
    }

    func median(_ scenario: String, _ client: String, _ metric: String) -> Double? {
        summary(scenario, client, metric)?.median
    }

    func metrics(of key: Key) -> [String] { (values[key] ?? [:]).keys.sorted() }

    /// The middle of the ratios of both clients, round by round: what disturbed a round disturbed both.
    func ratio(
        _ scenario: String,
        _ metric: String,
        _ client: String,
        to other: String,
        in otherScenario: String? = nil
    ) -> Double? {
        let (upper, lower) = (samples(scenario, client, metric), samples(otherScenario ?? scenario, other, metric))
        let ratios = zip(upper, lower).compactMap { $1 > 0 ? $0 / $1 : nil }
        return Summary(ratios)?.median
    }
}
