// SPDX-License-Identifier: Apache-2.0
/// The tables that the results are shown in.
struct Report {
    let results: Results

    /// Every table, the targets last.
    var tables: [(table: Table, leading: Int)] {
        let measured =
            LoadBenchmark.all.compactMap(load) + [engine, waiters].compactMap { $0 }
            + TransferBenchmark.all.compactMap(transfer) + [others].compactMap { $0 }
        return measured.map { ($0, 1) } + (results.targets.isEmpty ? [] : [(targets, 2)])
    }

    /// Where and when it was measured.
    var circumstances: String {
        let facts = results.circumstances
        return "\(facts.date), \(facts.machine), commit \(facts.commit), \(facts.rounds) interleaved rounds"
            + (facts.isQuick ? ", short ones" : "")
            + ", \(Text.number(facts.seconds, 0)) s; load average at the start "
            + Text.number(facts.loadAverage, 2)
    }

    private func load(_ benchmark: LoadBenchmark) -> Table? {
        let rows = results.series(of: benchmark.name).compactMap { series -> [String]? in
            guard let rate = series.metrics[Metric.rate] else { return nil }
            return [
                series.client, Text.grouped(rate.median), Text.grouped(rate.min), Text.grouped(rate.max),
                median(series, Metric.cpu, 1, times: 1000), median(series, Metric.p50, 0),
                median(series, Metric.p99, 0), median(series, Metric.peak, 1, times: 1e-6),
                median(series, Metric.mallocs, 1), median(series, Metric.switches, 2),
            ]
        }
        let header = [
            "client", "requests/s", "min", "max", "CPU ms/1000", "p50 µs", "p99 µs", "peak MB", "mallocs", "switches",
        ]
        return rows.isEmpty ? nil : Table(title: benchmark.title, header: header, rows: rows)
    }

    private func transfer(_ benchmark: TransferBenchmark) -> Table? {
        let rows = results.series(of: benchmark.name).map { series in
            let time = series.metrics[Metric.seconds]
            return [
                series.client, Text.number(time?.median, 2), Text.number(time?.min, 2), Text.number(time?.max, 2),
                median(series, Metric.cpuSeconds, 2), median(series, Metric.peak, 1, times: 1e-6),
            ]
        }
        let header = ["command", "seconds", "min", "max", "CPU s", "peak MB"]
        return rows.isEmpty ? nil : Table(title: benchmark.title, header: header, rows: rows)
    }

    private var engine: Table? {
        let rows = results.series(of: "engine").map { series in
            let time = series.metrics[Metric.nanoseconds]
            return [
                series.client, Text.number(time?.median, 1), Text.number(time?.min, 1), Text.number(time?.max, 1),
                median(series, Metric.mallocsPerCall, 1), median(series, Metric.clockReads, 1),
                median(series, Metric.randomReads, 1),
            ]
        }
        let header = ["call", "ns", "min", "max", "mallocs", "clock reads", "random reads"]
        return rows.isEmpty ? nil : Table(title: "The engine, without a network", header: header, rows: rows)
    }

    private var waiters: Table? {
        let rows = results.series(of: "waiters").map { series in
            [
                series.client, median(series, Metric.bytesEach, 0), median(series, Metric.lateP50, 2),
                median(series, Metric.lateP99, 2), median(series, Metric.cancelling, 1),
            ]
        }
        let header = ["waiters", "bytes each", "late p50 ms", "late p99 ms", "cancel all ms"]
        return rows.isEmpty ? nil : Table(title: "In back-off for a second", header: header, rows: rows)
    }

    private var others: Table? {
        var rows: [[String]] = []
        func add(_ what: String, _ scenario: String, _ metric: String, _ digits: Int, times factor: Double = 1) {
            for series in results.series(of: scenario) where series.metrics[metric] != nil {
                rows.append([what, median(series, metric, digits, times: factor)])
            }
        }
        add("a backend that fails everything: requests sent for each made", "failing", Metric.sendsPerCall, 3)
        add("a backend that fails everything: requests made a second", "failing", Metric.rate, 0)
        add("2,000 bodies of 1 MB: resident before, MB", "burst", Metric.residentAtBegin, 1, times: 1e-6)
        add("2,000 bodies of 1 MB: resident after a rest, MB", "burst", Metric.residentAfterRest, 1, times: 1e-6)
        add("the long run: requests a second", "soak", Metric.rate, 0)
        add("the long run: resident after a tenth, MB", "soak", Metric.residentAtTenth, 1, times: 1e-6)
        add("the long run: resident at the end, MB", "soak", Metric.residentAtEnd, 1, times: 1e-6)
        add("the long run: file descriptors after a tenth", "soak", Metric.filesAtTenth, 0)
        add("the long run: file descriptors at the end", "soak", Metric.filesAtEnd, 0)
        add("refrain, static and stripped, MB", "command", Metric.fileBytes, 1, times: 1e-6)
        add("refrain --version, ms", "command", Metric.startMilliseconds, 1)
        for series in results.series(of: "command") {
            rows.append(["one small GET by \(series.client), ms", median(series, Metric.getMilliseconds, 1)])
        }
        return rows.isEmpty ? nil : Table(title: "One by one", header: ["what", "value"], rows: rows)
    }

    private var targets: Table {
        let rows = results.targets.map { target in
            [
                target.name, (target.isUpperBound ? "≤ " : "≥ ") + Self.limit(target.limit) + " " + target.what,
                target.digits == 0 ? Text.grouped(target.value) : Text.number(target.value, target.digits),
                target.isMet ? "met" : "not met",
            ]
        }
        return Table(title: "Targets", header: ["case", "target", "measured", ""], rows: rows)
    }

    private func median(_ series: Results.Series, _ metric: String, _ digits: Int, times factor: Double = 1) -> String {
        guard let value = series.metrics[metric]?.median else { return "–" }
        return digits == 0 ? Text.grouped(value * factor) : Text.number(value * factor, digits)
    }

    private static func limit(_ value: Double) -> String {
        value == value.rounded()
            ? Text.grouped(value) : Text.number(value, value * 10 == (value * 10).rounded() ? 1 : 2)
    }
}
