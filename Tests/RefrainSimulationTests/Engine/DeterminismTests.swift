// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSession
import RefrainSimulation
import TestSupport
import Testing

@Suite("A simulation repeats", .computing)
struct DeterminismTests {
    static func storm(seed: UInt64 = 9) throws -> Storm {
        let trigger = Storm.Trigger.outage(at: .seconds(10), lasting: .seconds(3)).and(
            .packetLoss(0.2, at: .seconds(15), lasting: .seconds(5))
        )
        return try Storm(
            clients: 500,
            load: .perSecond(60),
            server: .queue(workers: 8, serviceTime: .milliseconds(80)),
            trigger: trigger,
            duration: .seconds(30),
            seed: seed
        )
    }

    static let session: Policies.Make = { client in
        var settings = Session.Settings()
        settings.budgets = client.budgets
        settings.clocks = client.clocks
        settings.random = client.random
        let session = Session(loader: client.server, settings: settings)
        let url = client.request.url
        return .calling { _ = try await session.request(url).validate().serializingData().value }
    }

    static let loop: Policies.Make = { client in
        .calling {
            try await withRetry(
                .exponential(from: .milliseconds(100)),
                clock: client.clocks.monotonic,
                random: client.random
            ) {
                let response = try await client.server.response(for: client.request)
                guard response.status == 200 else { throw HTTPError(.badServerResponse, request: client.request) }
            }
        }
    }

    @Test("the same seed gives the same bytes, whatever runs beside it", arguments: [Policies.hasty, session, loop])
    func sameBytes(make: @escaping Policies.Make) async throws {
        async let first = Self.storm().run(make).json
        async let second = Self.storm().run(make).json
        let (one, other) = try await (first, second)
        #expect(one == other)
        #expect(try await Self.storm(seed: 10).run(make).json != one)
    }

    @Test("a session, a chain and a loop of the caller's own all retry in virtual time")
    func allRetry() async throws {
        for make in [Self.session, Self.loop] {
            let report = try await Self.storm().run(make)
            #expect(report.amplification > 1.02)
            #expect(report.goodBefore == 1)
        }
    }
}
