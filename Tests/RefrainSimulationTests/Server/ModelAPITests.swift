// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSession
import RefrainSimulation
import TestSupport
import Testing

@Suite("Pacers and a model API, in virtual time", .computing)
struct ModelAPITests {
    /// 8 requests of 500 tokens a second, and no more than 10.
    static let limits = Pacer.Limits.perMinute(requests: 600, cost: 240_000)

    static func storm(clients: Int = 50, perSecond: Double = 9.6, seed: UInt64 = 4) throws -> Storm {
        try Storm(
            clients: clients,
            load: .perSecond(perSecond),
            server: .modelAPI(limits),
            duration: .seconds(240),
            seed: seed
        )
    }

    static func client(_ pacer: @escaping @Sendable (Storm.Client) -> Pacer?) -> Policies.Make {
        { client in
            var request = client.request
            request.cost = 500
            let retry = Retry(
                .modelAPI(.openAI),
                budgets: client.budgets,
                clocks: client.clocks,
                random: client.random
            )
            guard let pacer = pacer(client) else { return .chain(retry --> client.server, request: request) }
            return .chain(retry --> pacer --> client.server, request: request)
        }
    }

    static let keeping = client { $0.pacer(limits, profile: .openAI) }
    static let unpaced = client { _ in nil }

    static let session: Policies.Make = { client in
        var settings = Session.Settings()
        settings.budgets = client.budgets
        settings.clocks = client.clocks
        settings.random = client.random
        settings.pacer = client.pacer(limits)
        let session = Session(loader: client.server, settings: settings)
        var request = client.request
        request.cost = 500
        return .calling { [request] in _ = try await session.request(request).validate().serializingData().value }
    }

    @Test(
        "R38: at 1.2 times the limit, clients that share a pace use it in full and are not refused; without it half is",
        arguments: [1, 50]
    )
    func pace(clients: Int) async throws {
        for make in [Self.keeping, Self.session] {
            let report = try await Self.storm(clients: clients).run(make)
            let used = try #require(report.quotaUsed)
            #expect(report.refusedShare <= 0.01 && used >= 0.95, "\(report.refusedShare) refused, \(used) used")
        }
        // Measured: 0.52 with 50 clients, 0.56 with one.
        let bare = try await Self.storm(clients: clients).run(Self.unpaced)
        #expect(bare.refusedShare > 0.4, "\(bare.refusedShare)")
    }

    @Test("a model API's answers have the fields of its limits, and a refusal the time to come back at")
    func fields() async throws {
        let answers = Locked<[HTTPResponse]>([])
        // 200 tokens are there at once.
        let server = Storm.Server.modelAPI(.perMinute(cost: 4_000), latency: .milliseconds(10))
        let storm = try Storm(clients: 1, load: .perSecond(1), server: server, duration: .seconds(30))
        _ = try await storm.run { client in
            .calling {
                guard answers.withLock({ $0.isEmpty }) else { return }
                for cost in [150.0, 150] {
                    var request = client.request
                    request.cost = cost
                    let response = try await client.server.response(for: request)
                    answers.withLock { $0.append(response) }
                }
            }
        }
        let (first, second) = answers.withLock { ($0[0], $0[1]) }
        #expect(first.status == 200 && first.headers["x-ratelimit-remaining-tokens"] == "50")
        #expect(first.text?.contains("\"total_tokens\":150") == true)
        #expect(first.headers["x-ratelimit-limit-requests"] == nil)
        // 100 tokens are missing, and 66.7 come back in a second; some of them while the first was under way.
        #expect(second.status == 429 && second.headers["retry-after-ms"] == "1490")
        #expect(second.headers["Retry-After"] == "2" && second.headers["x-ratelimit-limit-tokens"] == "4000")
    }

    @Test("the same seed gives the same bytes with pacers that share a quota", arguments: [keeping, session])
    func sameBytes(make: @escaping Policies.Make) async throws {
        async let first = Self.storm().run(make).json
        async let second = Self.storm().run(make).json
        let (one, other) = try await (first, second)
        #expect(one == other)
        #expect(try await Self.storm(seed: 5).run(make).json != one)
    }
}
