// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainTesting

/// Many requests at a time, and their outcomes.
struct LoadRun: Sendable {
    /// How many calls were made.
    var requests = 0
    /// How many of them ended well.
    var successes = 0
    /// The sends, as the clients recorded them.
    var recordedSends = 0
    /// The sends, as the server counted them.
    var sends = 0
    /// The retries by their reason.
    var retries: [RetryReason: Int] = [:]
    /// How long each call took.
    var times: [Duration] = []
    /// How long all took together.
    var elapsed = Duration.zero

    /// The time that this share of the calls did not exceed.
    func percentile(_ share: Double) -> Duration {
        let sorted = times.sorted()
        guard !sorted.isEmpty else { return .zero }
        let index = Int((share * Double(sorted.count)).rounded(.up)) - 1
        return sorted[min(max(index, 0), sorted.count - 1)]
    }

    /// Makes requests for these URLs, so many at a time.
    static func play(
        _ urls: [String],
        on server: FaultServer,
        with loader: some HTTPLoader,
        concurrency: Int
    ) async -> LoadRun {
        var run = LoadRun()
        server.clearLog()
        let clock = ContinuousClock()
        let start = clock.now
        await withTaskGroup(of: (HTTPResult, Duration)?.self) { group in
            var rest = urls[...]
            func next() {
                guard let url = rest.popFirst(), !Task.isCancelled else { return }
                group.addTask {
                    guard let request = try? HTTPRequest(url) else { return nil }
                    let start = clock.now
                    let result = await loader.load(request)
                    return (result, start.duration(to: clock.now))
                }
            }
            for _ in 0..<concurrency { next() }
            for await outcome in group {
                if let (result, time) = outcome { run.count(result, time) }
                next()
            }
        }
        run.elapsed = start.duration(to: clock.now)
        run.sends = server.log.count
        return run
    }

    private mutating func count(_ result: HTTPResult, _ time: Duration) {
        requests += 1
        times.append(time)
        if case .success(let response) = result, response.status.rawValue < 400 { successes += 1 }
        recordedSends += result.attempts.count { $0.bytesSent != 0 }
        for attempt in result.attempts where attempt.decision == .retry { retries[attempt.reason, default: 0] += 1 }
    }
}
