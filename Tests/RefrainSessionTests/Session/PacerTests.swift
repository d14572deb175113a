// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import Testing

@Suite("The pacer of a session", .timeLimit(.minutes(10)))
struct PacerTests {
    private let clock = TestClock()

    private func session(_ mock: MockLoader, _ change: (inout Session.Settings) -> Void = { _ in }) -> Session {
        var settings = Session.Settings()
        settings.budgets = nil
        settings.clocks = clock.retryClocks()
        change(&settings)
        return Session(loader: mock, interceptor: nil, settings: settings)
    }

    private func refusing() -> MockLoader {
        MockLoader().then(.status(429, headers: ["Retry-After": "2"])).otherwise(.status(200))
    }

    @Test("R34: one request's Retry-After holds the others of the session, and no other origin")
    func hold() async throws {
        let mock = refusing()
        let session = session(mock)
        #expect(await session.request("https://a.example/1").serializingData().response.response?.status == 429)
        let held = Task { await session.request("https://a.example/2").serializingData().response.response?.status }
        await clock.sleepers(atLeast: 1)
        #expect(await session.request("https://b.example/1").serializingData().response.response?.status == 200)
        #expect(mock.requests.count == 2)
        await clock.advance(by: .seconds(2))
        #expect(await held.value == 200)
        #expect(mock.requests.count == 3)
        // Later the shorter way is taken again.
        await clock.advance(by: .seconds(3))
        #expect(await session.request("https://a.example/3").serializingData().response.response?.status == 200)
    }

    @Test("R34: without a pacer the refused request alone waits")
    func none() async throws {
        let mock = refusing()
        let session = session(mock) { $0.pacer = nil }
        _ = await session.request("https://a.example/1").serializingData().response
        #expect(await session.request("https://a.example/2").serializingData().response.response?.status == 200)
    }

    @Test("R34: a request that is held takes no slot of the throttle, and a reset ends its wait")
    func throttle() async throws {
        let mock = refusing()
        let session = session(mock) { $0.throttle = Throttle(maximumNumberOfRequests: 1) }
        _ = await session.request("https://a.example/1").serializingData().response
        let held = Task { await session.request("https://a.example/2").serializingData().response.error }
        await clock.sleepers(atLeast: 1)
        #expect(await session.request("https://b.example/1").serializingData().response.response?.status == 200)
        await session.reset()
        #expect(await held.value != nil)
        #expect(mock.requests.count == 2)
    }
}
