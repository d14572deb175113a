// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainSimulation

/// `refrain simulate`: what policies do to a service that many clients share, in virtual time.
struct SimulateCommand {
    private let settings: SimulationSettings
    private let arguments: Arguments
    private let output = Output.standard

    init(_ arguments: Arguments) throws {
        settings = try SimulationSettings(arguments)
        self.arguments = arguments
        if arguments.has(.findTrigger), settings.trigger == .none {
            throw UsageError("--find-trigger needs a trigger, such as spike:3:30s:5s")
        }
        // What is wrong with the storm is said before anything is simulated.
        do {
            for clients in settings.fleet { _ = try settings.storm(clients: clients) }
        } catch let error as InvalidArgument {
            throw UsageError("\(error)")
        }
    }

    /// Simulates everything, and shows it.
    func run() async throws -> ExitStatus {
        var reports: [Storm.Report] = []
        let begun = ContinuousClock.now
        for clients in settings.fleet {
            for policy in settings.policies { reports += try await run(policy, clients: clients) }
        }
        showProgress("")
        for (option, isPage) in [(OptionName.svg, false), (.html, true)] {
            guard let path = arguments.last(option) else { continue }
            let picture = picture(reports)
            try write(isPage ? picture.html : picture.svg, to: path)
            if path != "-" { Output.error.show("saved the picture to \(Sanitized.text(path))\n") }
        }
        guard !arguments.has(.json) else {
            for report in reports { try say(report.json) }
            return .success
        }
        if !arguments.has(.quiet) {
            try say(heading)
            for report in firstOfEach(reports) { try say(Self.drawing(report)) }
        }
        try say(Storm.Table(reports).text)
        if arguments.has(.findTrigger) { try await findTrigger() }
        let virtual = Decimals.text(settings.duration.inSeconds * Double(reports.count), places: 0)
        Output.error.show("\(virtual) s simulated in \(DurationText.short(begun.duration(to: .now)))\n")
        return .success
    }

    private func run(_ policy: SimulatedPolicy, clients: Int) async throws -> [Storm.Report] {
        var reports: [Storm.Report] = []
        for offset in 0..<settings.seeds {
            showProgress("\(policy.name), \(clients) clients, seed \(settings.seed + offset) …")
            var storm = try settings.storm(clients: clients)
            storm.seed = UInt64(settings.seed) &+ UInt64(offset)
            let (make, sending) = (policy.make, settings.sending)
            var report = try await storm.run { make($0, sending.loader(of: $0)) }
            report.name = policy.name
            reports.append(report)
        }
        return reports
    }

    /// Says for each policy how much longer, or shorter, the trigger must last for the service not to recover.
    private func findTrigger() async throws {
        for clients in settings.fleet {
            for policy in settings.policies {
                showProgress("\(policy.name), \(clients) clients: looking for the trigger …")
                let (make, sending) = (policy.make, settings.sending)
                let factor = try await settings.storm(clients: clients).smallestFatalTrigger {
                    make($0, sending.loader(of: $0))
                }
                showProgress("")
                let length = factor.map { "a trigger \(Decimals.text($0, places: 2)) times as long is not survived" }
                try say("\(policy.name), \(clients) clients: \(length ?? "a trigger four times as long is survived")")
            }
        }
    }

    private var heading: String {
        let clients = settings.fleet.map(String.init).joined(separator: ", ")
        return "\(settings.title): \(clients) clients, \(Decimals.text(settings.duration.inSeconds, places: 0)) s. "
            + "Bars are calls and sends per second over time; ▼ is the trigger.\n"
    }

    private func picture(_ reports: [Storm.Report]) -> Storm.Picture {
        let first = firstOfEach(reports).map { report -> Storm.Report in
            var copy = report
            if settings.fleet.count > 1 { copy.name = "\(report.name), \(report.clients) clients" }
            return copy
        }
        return Storm.Picture(title: settings.title, caption: arguments.last(.caption) ?? "", first)
    }

    /// One report for each policy and number of clients: that of the first seed.
    private func firstOfEach(_ reports: [Storm.Report]) -> [Storm.Report] {
        reports.filter { $0.seed == UInt64(settings.seed) }
    }

    private static let columns = 60
    private static let bars = Array(" ▁▂▃▄▅▆▇█")

    /// A storm in three lines of bars.
    private static func drawing(_ report: Storm.Report) -> String {
        let series = report.series
        let width = max(1, (series.offered.count + columns - 1) / columns)
        func summed(_ counts: [Int]) -> [Double] {
            stride(from: 0, to: counts.count - 1, by: width).map { start in
                let part = counts[start..<min(start + width, counts.count - 1)]
                return Double(part.reduce(0, +)) / (Double(part.count) * series.interval.inSeconds)
            }
        }
        let (offered, sent, good) = (summed(series.offered), summed(series.sent), summed(series.good))
        let top = max(offered.max() ?? 0, sent.max() ?? 0, 1)
        func line(_ name: String, _ values: [Double]) -> String {
            let drawn = values.map { value -> Character in
                let share = value / top * Double(bars.count - 1)
                // What is not nothing is to be seen.
                return bars[value > 0 ? min(max(Int(share.rounded()), 1), bars.count - 1) : 0]
            }
            return "  \(name) \(String(drawn)) \(Decimals.text(values.last ?? 0, places: 0))/s\n"
        }
        var marks = Array(repeating: Character(" "), count: offered.count)
        if let start = report.triggerStart {
            let first = Int(start.inSeconds / series.interval.inSeconds) / width
            let end = report.triggerEnd.map { Int($0.inSeconds / series.interval.inSeconds) / width } ?? first
            for index in first...max(first, end - 1) where index < marks.count { marks[index] = "▼" }
        }
        return "\(report.name), \(report.clients) \(report.clients == 1 ? "client" : "clients")\n"
            + "          \(String(marks))\n" + line("calls ", offered) + line("sends ", sent) + line("good  ", good)
    }

    private func showProgress(_ text: String) {
        guard Output.error.isTerminal, !arguments.has(.quiet) else { return }
        Output.error.draw("\r\u{1B}[K\(Sanitized.line(text))")
    }

    private func write(_ text: String, to path: String) throws {
        let file = try Output(path: path)
        try file.write(Array(text.utf8))
    }

    private func say(_ text: String) throws { try output.write(Array((text + "\n").utf8)) }
}
