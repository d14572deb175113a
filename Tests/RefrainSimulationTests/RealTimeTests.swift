// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainSimulation
import RefrainTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The same storm twice: in virtual time, and in real time over sockets.
///
/// It takes minutes, and so runs only where it is asked for: by Scripts/real-storm.
@Suite(
    "The model against real sockets",
    .enabled(if: ProcessInfo.processInfo.environment["REFRAIN_REAL_STORM"] != nil)
)
struct RealTimeTests {
    /// The requests that a collapsing server works on, by the times at which they will be done.
    private final class Collapse: Sendable {
        private let due = Locked<[Duration]>([])
        private let clock = AnyClock(TimerClock())
        private let perRequest: Double

        init(perRequest: Double) { self.perRequest = perRequest }

        /// How long a request takes that arrives now.
        func latency() -> Duration {
            let now = clock.now.offset
            return due.withLock { due in
                due.removeAll { $0 <= now }
                let latency = Duration.seconds(0.5 + perRequest * Double(due.count))
                due.append(now + latency)
                return latency
            }
        }
    }

    private static let clients = 200
    private static let rate = 60.0
    private static let spike = (start: 10.0, end: 15.0, factor: 3.0)
    private static let seconds = 60.0
    // With half the latency, and at 60 calls a second: the load is that of the gallery's storm.
    private static let perRequest = 0.4 / 60

    private struct Counts {
        var calls = 0
        var sends = 0
        var successes = 0
        var late = (calls: 0, good: 0)
    }

    @Test("200 clients for 60 s: sends and successes of the model are within 15 % of the measured ones")
    func realTime() async throws {
        for (name, budget) in [("no budget", false), ("the default budget", true)] {
            let model = try await Self.model(hasBudget: budget)
            let measured = try await Self.measured(hasBudget: budget)
            print("\(name): model \(model.amplification) sends a call, \(model.goodShare) good;")
            print("    measured \(measured.amplification) sends a call, \(measured.goodShare) good")
            #expect(abs(model.amplification - measured.amplification) <= 0.15 * measured.amplification)
            #expect(abs(model.goodShare - measured.goodShare) <= 0.15 * max(measured.goodShare, 0.1))
        }
    }

    private static let schedule = Backoff.exponential(from: .milliseconds(100), maxAttempts: 3).jittered(.full)

    private static func model(hasBudget: Bool) async throws -> (amplification: Double, goodShare: Double) {
        let storm = try Storm(
            clients: clients,
            load: .perSecond(rate),
            server: .collapse(latency: .seconds(0.5), perRequest: .seconds(perRequest)),
            trigger: .spike(spike.factor, at: .seconds(spike.start), lasting: .seconds(spike.end - spike.start)),
            duration: .seconds(seconds),
            timeout: .seconds(1.5)
        )
        let reports = try await storm.run(seeds: 5) { client in
            let retry = Retry(
                RetryPolicy.recommended.with(schedule: schedule),
                budgets: hasBudget ? client.budgets : nil,
                clocks: client.clocks,
                random: client.random
            )
            return .chain(retry --> client.server)
        }
        let count = Double(reports.count)
        return (
            reports.reduce(0) { $0 + $1.amplification } / count,
            reports.reduce(0) { $0 + $1.goodShare } / count
        )
    }

    private static func measured(hasBudget: Bool) async throws -> (amplification: Double, goodShare: Double) {
        let server = try FaultServer()
        defer { server.stop() }
        let collapse = Collapse(perRequest: perRequest)
        server.on("/collapse") { _ in [.sleep(collapse.latency()), .respond(.ok)] }
        // The clients are processes: none waits for a connection of another one's.
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = 5_000
        let transport = try CurlLoader(configuration: configuration)
        let chains = (0..<clients).map { _ in
            let budget = RetryBudget.standard()
            let budgets = hasBudget ? Retry.Budgets { _ in budget } : nil
            return AnyLoader(Retry(RetryPolicy.recommended.with(schedule: schedule), budgets: budgets) --> transport)
        }
        var request = HTTPRequest(try #require(URL(string: "\(server.baseURL)/collapse")))
        request.timeouts.total = .seconds(1.5)
        let counts = Locked(Counts())
        let clock = TimerClock()
        let begun = clock.now
        await withTaskGroup(of: Void.self) { group in
            var generator = RandomSource(seed: 7)
            var time = 0.0
            while true {
                let isSpike = time >= spike.start && time < spike.end
                time += -log(1 - generator.unit()) / (rate * (isSpike ? spike.factor : 1))
                guard time < seconds else { break }
                try? await clock.sleep(until: begun.advanced(by: .seconds(time)))
                let chain = chains[Int.random(in: 0..<clients, using: &generator)]
                counts.withLock { $0.calls += 1 }
                group.addTask { [request] in
                    let result = await chain.load(request)
                    counts.withLock { counts in
                        counts.sends += result.attempts.count
                        if case .success(let response) = result, response.status == 200 { counts.successes += 1 }
                    }
                }
            }
        }
        let total = counts.withLock { $0 }
        return (Double(total.sends) / Double(total.calls), Double(total.successes) / Double(total.calls))
    }
}
