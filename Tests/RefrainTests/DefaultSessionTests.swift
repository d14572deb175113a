// SPDX-License-Identifier: Apache-2.0
import Refrain
import RefrainCore
import RefrainTesting
import Testing

@Suite("The default session", .timeLimit(.minutes(10)))
struct DefaultSessionTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    @Test("A: Session: the default one needs no more than a URL, and tries again as recommended")
    func standard() async throws {
        let url = server.baseURL + "/status/503?times=1"
        let response = await Session.default.request(url).validate().serializingString().response
        #expect(response.value == "ok\n")
        #expect(response.attempts.map(\.status) == [503, 200])
        #expect(Session.default.interceptor.map { "\(type(of: $0))" } == "\(type(of: Session.defaultInterceptor))")
        #expect(Session.default === Session.default)
    }

    @Test("A: Session: one of the platform's transport takes an interceptor and monitors of one's own")
    func own() async throws {
        let metrics = MetricsMonitor()
        let session = Session(interceptor: ConnectionLostRetryPolicy(), eventMonitors: [metrics])
        let response = await session.request(server.baseURL + "/status/503").serializingString().response
        #expect(response.response?.status == 503)
        #expect(server.count(path: "/status/503") == 1)
        #expect(metrics.snapshot.attempts == [.init(host: "127.0.0.1", outcome: "503"): 1])
    }

    @Test("R34: 50 POSTs at a time that are refused for a second with Retry-After all end well, with two sends each")
    func refusedInOneSecond() async throws {
        let count = 50
        let start = Locked<ContinuousClock.Instant?>(nil)
        server.on("/orders") { _ in
            let first = start.withLock { start in
                let first = start ?? .now
                start = first
                return first
            }
            guard first.duration(to: .now) >= .seconds(1) else {
                return [.respond(.init(429, headers: [("Retry-After", "1")]))]
            }
            return [.respond(.init(200, body: "done"))]
        }
        // The pacer and the budgets are those of every session that is made without settings.
        let session = Session()
        let url = server.baseURL + "/orders"
        let responses = await withTaskGroup { group in
            for number in 0..<count {
                group.addTask {
                    await session.request(url, method: .post, parameters: ["number": number]).validate()
                        .serializingString().response
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.count == count)
        for response in responses {
            #expect(response.value == "done" && response.response?.status == 200, "\(response.result)")
            #expect(!response.attempts.contains { $0.reason == .budgetExhausted })
        }
        // A request that was refused waits for a second of its own, after which the server refuses none. So each is
        // sent twice at most, and what the pacer held back before it was sent, once.
        let arrivals = server.count(path: "/orders")
        #expect((count...2 * count).contains(arrivals), "\(arrivals)")
        #expect(arrivals == responses.reduce(0) { $0 + $1.attempts.count }, "\(arrivals)")
        #expect(responses.allSatisfy { (1...2).contains($0.attempts.count) })
    }
}
