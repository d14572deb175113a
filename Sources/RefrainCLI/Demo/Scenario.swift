// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainTesting

/// One kind of fault, and the expected outcome of a request that meets it.
struct Scenario: Sendable {
    /// The expected outcome.
    enum Ending: Sendable, Equatable {
        case status(HTTPStatus)
        case failure(HTTPError.Code)
    }

    let title: String
    /// The path and query at the server.
    let path: String
    var method: HTTPMethod = .get
    var body: HTTPBody = .empty
    /// A request to this path comes first, so that there is a connection to be reused.
    var before: String?
    /// Sets the options of the request.
    var prepare: @Sendable (inout HTTPRequest) -> Void = { _ in }
    let ending: Ending
    /// How many requests the server must have seen, those of redirects included.
    let sends: Int
    /// The reasons for which the request must have been repeated, in order, or nil where only their number counts.
    var reason: RetryReason?
    /// The shortest time that the request must take.
    var atLeast: Duration = .zero
    /// The size of the content that must have arrived, whole.
    var download: Int?
    /// Whether all copies must carry one and the same idempotency key.
    var sharesKey = false
    /// The mode of the server, if it is not the common one.
    var mode: FaultServer.Mode = .normal
}

/// A scenario that was played, and what was not as it must be.
struct ScenarioRun: Sendable {
    let scenario: Scenario
    let result: HTTPResult
    let elapsed: Duration
    /// The requests that the server saw.
    let sends: Int
    /// What was not as it must be.
    let complaints: [String]

    /// The title and the attempts, drawn.
    var text: String {
        let mark = complaints.isEmpty ? "✓" : "✗"
        let count = sends == 1 ? "1 send" : "\(sends) sends"
        let title =
            "\(mark) \(scenario.title)\n     \(scenario.method) \(scenario.path): \(Self.words(result)), \(count)"
        var attempts = result.attempts
        // Only the beginning of a long series of redirects is shown.
        let hidden = max(0, attempts.count - 5)
        attempts.removeLast(hidden)
        var text = Timeline(title, attempts, total: elapsed).text
        if hidden > 0 { text += "     … and \(hidden) more\n" }
        for complaint in complaints { text += "     WRONG: \(complaint)\n" }
        return text
    }

    private static func words(_ result: HTTPResult) -> String {
        switch result {
        case .success(let response): "\(response.status)"
        case .failure(let error): error.code.rawValue
        }
    }
}

/// Plays scenarios against a server.
struct ScenarioPlayer {
    let server: FaultServer
    let loader: any HTTPLoader

    /// Plays one scenario, and compares the outcome with the expected one.
    func play(_ scenario: Scenario) async throws -> ScenarioRun {
        let own = scenario.mode == .normal ? nil : try FaultServer(mode: scenario.mode)
        defer { own?.stop() }
        let target = own ?? server
        if let before = scenario.before { _ = await loader.load(try HTTPRequest(target.baseURL + before)) }
        var request = try HTTPRequest(target.baseURL + scenario.path, method: scenario.method, body: scenario.body)
        let sink = MemorySink()
        if scenario.download != nil { request.download = Download(to: sink) }
        scenario.prepare(&request)
        target.clearLog()
        let clock = ContinuousClock()
        let start = clock.now
        let result = await loader.load(request)
        let elapsed = start.duration(to: clock.now)
        let log = target.log
        var complaints = complaints(scenario, result, elapsed, log)
        if let size = scenario.download {
            let whole = await loader.load(try HTTPRequest("\(target.baseURL)/bytes/\(size)"))
            let bytes = try? whole.get().body.bytesInMemory
            if bytes != sink.bytes { complaints.append("the body differs from the source") }
        }
        return ScenarioRun(
            scenario: scenario,
            result: result,
            elapsed: elapsed,
            sends: log.count,
            complaints: complaints
        )
    }

    private func complaints(
        _ scenario: Scenario,
        _ result: HTTPResult,
        _ elapsed: Duration,
        _ log: [FaultServer.LogEntry]
    ) -> [String] {
        var complaints: [String] = []
        let ending: Scenario.Ending =
            switch result {
            case .success(let response): .status(response.status)
            case .failure(let error): .failure(error.code)
            }
        if ending != scenario.ending { complaints.append("it ended with \(ending) instead of \(scenario.ending)") }
        if log.count != scenario.sends {
            complaints.append("the server saw \(log.count) requests instead of \(scenario.sends)")
        }
        let recorded = result.attempts.count { $0.bytesSent != 0 }
        if log.count != recorded { complaints.append("the server saw \(log.count) sends, the record has \(recorded)") }
        let retries = result.attempts.filter { $0.decision == .retry }
        if let reason = scenario.reason, retries.isEmpty || retries.contains(where: { $0.reason != reason }) {
            complaints.append("it was not repeated for the reason \(reason)")
        }
        if elapsed < scenario.atLeast {
            complaints.append(
                "it took \(DurationText.short(elapsed)), less than \(DurationText.short(scenario.atLeast))"
            )
        }
        let keys = Set(log.map { $0.header("Idempotency-Key") })
        if scenario.sharesKey, keys.count != 1 || keys.contains(nil) {
            complaints.append("the copies did not carry one and the same key")
        }
        return complaints
    }
}
