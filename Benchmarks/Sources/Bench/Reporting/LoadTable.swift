/// The table of the cases with a server: a row for each client.
struct LoadTable {
    let samples: Samples

    /// The lines of one case.
    func lines(_ scenario: LoadScenario) -> [String] {
        var lines = [
            "", scenario.title,
            Text.row(
                [
                    "client", "requests/s", "min", "max", "CPU ms/1000", "p50 µs", "p99 µs", "peak MB", "mallocs",
                    "switches",
                ],
                Self.widths
            ),
        ]
        for (client, _) in scenario.requests {
            guard let rate = samples.summary(scenario.name, client.label, Metric.rate) else { continue }
            func value(_ metric: String) -> Double? { samples.median(scenario.name, client.label, metric) }
            lines.append(
                Text.row(
                    [
                        client.label, Text.grouped(rate.median), Text.grouped(rate.min), Text.grouped(rate.max),
                        Text.number(value(Metric.cpu).map { $0 * 1000 }, 1), Text.number(value(Metric.p50), 0),
                        Text.number(value(Metric.p99), 0), Text.number(value(Metric.peak).map { $0 / 1e6 }, 1),
                        Text.number(value(Metric.mallocs), 1), Text.number(value(Metric.switches), 2),
                    ],
                    Self.widths
                )
            )
        }
        return lines
    }

    private static let widths = [-12, 12, 10, 10, 12, 9, 9, 9, 9, 9]
}
