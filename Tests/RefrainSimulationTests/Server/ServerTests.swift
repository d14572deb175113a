// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSimulation
import TestSupport
import Testing

@Suite("Servers and triggers", .computing)
struct ServerTests {
    static func storm(
        _ server: Storm.Server,
        _ trigger: Storm.Trigger = .none,
        load: Storm.Load = .perSecond(50),
        clients: Int = 100
    ) throws -> Storm {
        try Storm(
            clients: clients,
            load: load,
            server: server,
            trigger: trigger,
            duration: .seconds(60),
            seed: 4
        )
    }

    static var fast: Storm.Server { .queue(workers: 100, serviceTime: .milliseconds(20)) }

    @Test("a rate-limited server serves what it allows, and Retry-After spreads the rest")
    func rateLimited() async throws {
        let bare = try await Self.storm(.rateLimited(perSecond: 30, hints: .none)).run(Policies.once)
        #expect(abs(bare.goodShare - 0.6) < 0.05)
        let schedule = Backoff.constant(delay: .milliseconds(10), maxAttempts: 3)
        let blind = try await Self.storm(.rateLimited(perSecond: 30, hints: .none)).run(Policies.retrying(schedule))
        let told = try await Self.storm(.rateLimited(perSecond: 30, hints: .retryAfter)).run(
            Policies.retrying(schedule)
        )
        // Told to wait a second, a client waits a second.
        #expect(told.medianLatency >= .seconds(1))
        #expect(blind.medianLatency < .seconds(0.5))
        let fields = try await Self.storm(.rateLimited(perSecond: 30, hints: .rateLimit)).run(
            Policies.retrying(schedule)
        )
        #expect(fields.medianLatency >= .seconds(1))
    }

    @Test("two tiers that both retry multiply what reaches the second")
    func twoTiers() async throws {
        let server = Self.fast.calling(Self.fast, Policies.hasty)
        let report = try await Self.storm(server, .outage(at: .seconds(20), lasting: .seconds(20))).run(Policies.hasty)
        let last = try #require(report.tierSends.last)
        #expect(report.tierSends.count == 2)
        // 20 of 60 seconds at nine sends for each call: 1 · 2/3 + 9 · 1/3.
        #expect(abs(Double(last) / Double(report.calls) - 11.0 / 3) < 0.4)
        #expect(abs(report.amplification - 5.0 / 3) < 0.2)
    }

    @Test("each trigger does what it says")
    func triggers() async throws {
        let times = (start: Duration.seconds(20), length: Duration.seconds(20))
        let outage = Storm.Trigger.outage(at: times.start, lasting: times.length, as: .refused)
        // The calls that are under way when it begins end well.
        #expect(try await Self.storm(Self.fast, outage).run(Policies.once).goodDuring ?? 1 < 0.01)
        let loss = Storm.Trigger.packetLoss(0.3, at: times.start, lasting: times.length)
        let lossy = try await Self.storm(Self.fast, loss).run(Policies.once)
        #expect(abs((lossy.goodDuring ?? 0) - 0.7) < 0.06)
        #expect(lossy.highLatency >= .seconds(2.9))
        let deploy = Storm.Trigger.deploy(instances: 4, downtime: .seconds(5), at: times.start)
        let deployed = try await Self.storm(Self.fast, deploy).run(Policies.once)
        #expect(abs((deployed.goodDuring ?? 0) - 0.75) < 0.06)
        let slow = Storm.Trigger.slowdown(10, at: times.start, lasting: times.length)
        let slowed = try await Self.storm(Self.fast, slow).run(Policies.once)
        #expect(slowed.series.latency[110...150].max() ?? 0 > 0.1)
        let cold = Storm.Trigger.coldCache(20, entries: 200, at: times.start)
        let cooled = try await Self.storm(Self.fast, cold).run(Policies.once)
        #expect(cooled.series.latency[100...115].max() ?? 0 > 0.15)
        #expect(cooled.series.latency[200...250].max() ?? 1 < 0.06)
        let spike = Storm.Trigger.spike(3, at: times.start, lasting: times.length)
        let peak = try await Self.storm(Self.fast, spike).run(Policies.once)
        let (during, before) = (peak.series.offered[100..<200], peak.series.offered[0..<100])
        #expect(abs(Double(during.reduce(0, +)) / Double(before.reduce(0, +)) - 3) < 0.3)
    }

    @Test("a capacity that drops and comes back evenly")
    func capacity() async throws {
        let server = Storm.Server.capacity(
            perSecond: 100,
            buffer: 50,
            steps: [
                .init(at: .seconds(20), share: 1), .init(at: .seconds(20), share: 0), .init(at: .seconds(30), share: 0),
                .init(at: .seconds(40), share: 1),
            ]
        )
        let report = try await Self.storm(server).run(Policies.once)
        func good(_ seconds: Range<Int>) -> Int {
            report.series.good[(seconds.lowerBound * 5)..<(seconds.upperBound * 5)].reduce(0, +)
        }
        #expect(good(22..<30) <= 2)
        #expect(good(42..<60) > 42 * 18)
    }

    @Test("a closed loop makes no more calls at a time than it has callers")
    func closedLoop() async throws {
        let load = Storm.Load.closed(callers: 3, pause: .milliseconds(100))
        let server = Storm.Server.queue(workers: 1, serviceTime: .seconds(1))
        let report = try await Self.storm(server, load: load, clients: 5).run(Policies.once)
        #expect(report.series.inFlight.max() ?? 99 <= 15)
        #expect(report.calls > 50)
    }

    @Test("a fleet of two policies is dealt out by their shares, and counted apart")
    func mixedFleet() async throws {
        let outage = Storm.Trigger.outage(at: .seconds(0), lasting: .seconds(60))
        let report = try await Self.storm(Self.fast, outage, clients: 1_000).run(fleet: [
            Storm.Group("old", share: 1, Policies.hasty), Storm.Group("new", share: 3, Policies.once),
        ])
        let (old, new) = (report.groups[0], report.groups[1])
        #expect(old.name == "old")
        #expect(new.sends == new.calls)
        #expect(abs(Double(old.sends) / Double(old.calls) - 3) < 0.01)
        #expect(abs(Double(old.calls) / Double(report.calls) - 0.25) < 0.04)
    }

    @Test("the smallest fatal trigger lies where a longer one is fatal, and half of it is not")
    func bisection() async throws {
        let storm = try CollapseTests.storm(clients: 10)
        let factor = try #require(try await storm.smallestFatalTrigger(steps: 4, Policies.hasty))
        #expect(factor > 0.1 && factor < 1)
        #expect(try await storm.smallestFatalTrigger(in: 0.5...2, steps: 2, Policies.once) == nil)
    }

    @Test("R20: a client waits for an answer no longer than the timeout of its call")
    func timeoutOfTheCall() async throws {
        let storm = try Storm(
            clients: 1,
            load: .perSecond(1),
            server: .script([.init(lasting: .seconds(60), latency: .seconds(30))]),
            duration: .seconds(60),
            timeout: .seconds(20)
        )
        let report = try await storm.run { client in
            var request = client.request
            request.timeout = .seconds(2)
            let retry = Retry(.recommended, budgets: nil, clocks: client.clocks, random: client.random)
            return .chain(retry --> client.server, request: request)
        }
        #expect(report.successes == 0 && report.tierSends == [report.calls])
        #expect(report.highLatency < .seconds(2.5))
    }
}
