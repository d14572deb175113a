// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("On the wire: how much is added", .timeLimit(.minutes(10)))
struct AmountTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    @Test("R22, R25: of a backend that fails everything, less than 1.25 times the requests is asked")
    func amplification() async throws {
        let chain = try Retry(quick(), budgets: Retry.Budgets()) --> transport(64)
        let url = server.baseURL + "/status/503"
        let requests = 2000
        let recorded = Locked(0)
        let refused = Locked(0)
        let began = ContinuousClock.now
        try await concurrently(requests, inFlight: 64) { _ in
            let result = await chain.load(try HTTPRequest(url))
            recorded.withLock { $0 += result.attempts.count }
            // The last answer stands, whether attempts or budget are used up.
            #expect((try? result.get().status) == 503)
            guard result.attempts.last?.reason == .budgetExhausted else { return }
            refused.withLock { $0 += 1 }
        }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        let arrived = server.log.count
        #expect(arrived == recorded.withLock { $0 })
        #expect(refused.withLock { $0 } > 0)
        // A fifth for the first attempts, ten each second, and the ten that were in store.
        #expect(Double(arrived) <= Double(requests) * 1.2 + 10 * seconds + 11)
        if Double(requests) / seconds >= 250 { #expect(Double(arrived) < Double(requests) * 1.25) }
    }

    @Test("R24: stages and loops round each other make three attempts, not nine")
    func nested() async throws {
        let twice = try Retry(quick(), budgets: nil) --> Retry(quick(), budgets: nil) --> transport()
        for path in ["/status/503", "/reset-before"] {
            _ = await twice.load(try HTTPRequest(server.baseURL + path))
            #expect(server.count(path: path) == 3)
        }
        server.clearLog()
        await #expect(throws: HTTPError.self) {
            try await withRetry(.immediately(maxAttempts: 3)) {
                try await twice.response(for: HTTPRequest(server.baseURL + "/reset-before"))
            }
        }
        #expect(server.log.count == 3)
    }
}
