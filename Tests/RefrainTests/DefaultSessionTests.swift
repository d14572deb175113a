// SPDX-License-Identifier: Apache-2.0
import Refrain
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
}
