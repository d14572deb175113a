// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainTesting

/// `refrain demo`: requests meet each kind of fault, a thousand of them meet a server that fails often, and the orders
/// of an outbox outlast a process that sends them.
struct DemoCommand {
    private let output = Output.standard
    /// What this process is for a demonstration of another one; nil: the demonstration.
    private let worker: OutboxWorker?

    init(_ arguments: Arguments) throws(UsageError) {
        worker = OutboxWorker(arguments.positionals)
        if worker == nil, let word = arguments.positionals.first {
            throw UsageError("\(Sanitized.text(word)) is not expected here")
        }
    }

    /// Plays everything; the status says whether it was as it must be.
    func run() async throws -> ExitStatus {
        if let worker { return try await worker.run() }
        Signals.beginWork()
        ProcessSetup.raiseOpenFiles()
        let begun = ContinuousClock.now
        let server = try FaultServer()
        defer { server.stop() }
        var complaints = 0
        try say("The fault server runs at \(server.baseURL). One request is sent for each kind of fault.")
        try say("█ is an attempt, · the wait before the next one. The server counts the requests that it receives.\n")
        let schedule = Backoff.exponential(from: .milliseconds(200), maxAttempts: 3).jittered(.equal)
        let player = ScenarioPlayer(server: server, loader: try Self.chain(schedule))
        for scenario in Scenario.all {
            let run = try await player.play(scenario)
            if Task.isCancelled { return Signals.status }
            complaints += run.complaints.count
            try say(run.text)
        }
        let passing = try await passing(server)
        let outage = try await outage(server)
        if Task.isCancelled { return Signals.status }
        var checks = Self.checks(passing: passing, outage: outage)
        try say(DemoTable.text([("1 in 10 fails", passing), ("all fail", outage)]))
        try say(checks)
        try say("\n\(OutboxScene.orders) orders in an outbox, and two processes that send them; one is killed …")
        let outbox = try await OutboxScene.play(on: server)
        if Task.isCancelled { return Signals.status }
        try say(outbox)
        checks += outbox
        complaints += checks.count { !$0.holds }
        let time = DurationText.short(begun.duration(to: .now))
        try say(
            complaints == 0
                ? "\nAll \(Scenario.all.count) scenarios and \(checks.count) checks behaved as expected, in \(time)."
                : "\n\(complaints) checks failed."
        )
        return complaints == 0 ? .success : .failure
    }

    /// A thousand requests, of which one in ten meets a fault: half answers, half broken connections.
    private func passing(_ server: FaultServer) async throws -> LoadRun {
        try say(
            "1,000 requests, 32 at a time; one send in ten fails with a 503, a reset, or a response that is cut or missing …"
        )
        let faults = ["status=503", "fault=reset", "fault=cut", "fault=close"]
        let urls = (0..<1000).map { "\(server.baseURL)/flaky?rate=0.1&seed=7&\(faults[$0 % faults.count])" }
        let schedule = Backoff.exponential(from: .milliseconds(100), maxAttempts: 8).jittered(.full)
        return await LoadRun.play(urls, on: server, with: try Self.chain(schedule), concurrency: 32)
    }

    /// As many requests to a server that answers none: what a retry budget is for.
    private func outage(_ server: FaultServer) async throws -> LoadRun {
        try say("… and 1,000 to a server that fails them all, with the standard retry budget.\n")
        let urls = (0..<1000).map { _ in "\(server.baseURL)/status/500" }
        let schedule = Backoff.exponential(from: .milliseconds(10), maxAttempts: 3).jittered(.full)
        let budgets = Retry.Budgets { _ in .standard() }
        let loader = try Self.chain(schedule, budgets: budgets)
        return await LoadRun.play(urls, on: server, with: loader, concurrency: 32)
    }

    private static func checks(passing: LoadRun, outage: LoadRun) -> [(holds: Bool, claim: String)] {
        // R25: a fifth for each first attempt, ten a second besides, ten of them in store at the beginning.
        let allowed = Int(Double(outage.requests) * 1.2 + 10 * outage.elapsed.inSeconds) + 10
        return [
            (passing.requests == 1000 && passing.successes == 1000, "each of the 1,000 requests succeeded"),
            (
                passing.sends == passing.recordedSends && outage.sends == outage.recordedSends,
                "the server counted as many sends as the records: \(passing.sends) and \(outage.sends)"
            ),
            (
                passing.sends == passing.requests + passing.retries.values.reduce(0, +),
                "every send after the first is a recorded retry"
            ),
            (outage.successes == 0, "none of the requests to the failing server counted as a success"),
            (
                outage.sends <= allowed,
                "the outage was not made worse: \(outage.sends) sends, and the budget allows \(allowed)"
            ),
        ]
    }

    private static func chain(_ schedule: Backoff, budgets: Retry.Budgets? = nil) throws -> AnyLoader {
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = 32
        let budgets = budgets ?? Retry.Budgets { _ in .standard(whenEmpty: .wait) }
        let retry = Retry(RetryPolicy.recommended.with(schedule: schedule), budgets: budgets)
        return AnyLoader(Redirect() --> retry --> Resume() --> (try CurlLoader(configuration: configuration)))
    }

    private func say(_ checks: [(holds: Bool, claim: String)]) throws {
        for check in checks { try say("\(check.holds ? "✓" : "✗ WRONG:") \(check.claim)") }
    }

    private func say(_ text: String) throws { try output.write(Array((text + "\n").utf8)) }
}

/// The table at the end of the demonstration.
enum DemoTable {
    /// The table of two runs: faults in passing, and an outage.
    static func text(_ columns: [(title: String, run: LoadRun)]) -> String {
        let reasons = Set(columns.flatMap(\.run.retries.keys)).sorted { $0.rawValue < $1.rawValue }
        var rows: [[String]] = [[""] + columns.map(\.title)]
        func row(_ name: String, _ value: (LoadRun) -> String) { rows.append([name] + columns.map { value($0.run) }) }
        row("requests") { "\($0.requests)" }
        row("sends, as the server counted them") { "\($0.sends)" }
        row("sends for each request") { Decimals.text(Double($0.sends) / Double(max($0.requests, 1)), places: 2) }
        row("successes") { "\($0.successes)" }
        for reason in reasons { row("retries: \(reason)") { "\($0.retries[reason, default: 0])" } }
        row("p50") { DurationText.short($0.percentile(0.5)) }
        row("p99") { DurationText.short($0.percentile(0.99)) }
        row("all in") { DurationText.short($0.elapsed) }
        return drawn(rows)
    }

    private static func drawn(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { index, cell in
                let space = String(repeating: " ", count: widths[index] - cell.count)
                return index == 0 ? cell + space : space + cell
            }.joined(separator: "   ") + "\n"
        }.joined()
    }
}
