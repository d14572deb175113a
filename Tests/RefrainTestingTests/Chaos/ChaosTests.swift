// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Chaos", .timeLimit(.minutes(10)))
struct ChaosTests {
    private let mock = MockLoader().otherwise(.status(200, body: .text("0123456789"), bytesSent: 80))

    private func requests(_ count: Int, method: HTTPMethod = .get) throws -> [HTTPRequest] {
        try (0..<count).map { try HTTPRequest("https://example.com/\($0)", method: method) }
    }

    /// What a stage makes of a request, in a word.
    private func outcome(_ chaos: Chaos, _ request: HTTPRequest, _ clock: TestClock? = nil) async -> String {
        let waits = clock?.sleeps.count ?? 0
        switch await (chaos --> mock).load(request) {
        case .success(let response):
            return (clock?.sleeps.count ?? 0) > waits ? "delayed" : "\(response.status)"
        case .failure(let error): return error.code.rawValue
        }
    }

    @Test("each fault meets its share of the requests, and the rest is forwarded")
    func rates() async throws {
        let clock = TestClock(.autoAdvancing)
        let chaos = Chaos(seed: 1, clocks: clock.retryClocks())
        var counts: [String: Int] = [:]
        for request in try requests(10_000) { counts[await outcome(chaos, request, clock), default: 0] += 1 }
        for (name, expected) in [
            ("200", 7000), ("503", 600), ("delayed", 600), ("networkConnectionLost", 1200), ("badServerResponse", 600),
        ] {
            // Four standard deviations.
            let slack = Int((4 * (Double(expected) * (1 - Double(expected) / 10_000)).squareRoot()).rounded())
            #expect(((expected - slack)...(expected + slack)).contains(counts[name, default: 0]), "\(counts)")
        }
        #expect(chaos.requestCount == 10_000)
        #expect(chaos.faultCount == 10_000 - counts["200", default: 0])
        #expect(clock.sleeps.allSatisfy { $0 == .milliseconds(50) })
        // Half of the resets, and all cuts, garbage and delays, reached the server.
        #expect((8900...9300).contains(mock.requests.count), "\(mock.requests.count)")
    }

    @Test("a seed always selects the same requests, whatever their order; another seed selects others")
    func determinism() async throws {
        let faults = [Chaos.Fault.status(503, rate: 0.3), .reset(rate: 0.2)]
        let requests = try requests(200)
        func outcomes(_ chaos: Chaos, _ requests: [HTTPRequest]) async -> [String: String] {
            await withTaskGroup(of: (String, String).self) { group in
                for request in requests {
                    group.addTask { (request.url.path(), await outcome(chaos, request)) }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }
        let first = await outcomes(Chaos(seed: 7, faults), requests)
        #expect(await outcomes(Chaos(seed: 7, faults), requests.reversed()) == first)
        #expect(await outcomes(Chaos(seed: 8, faults), requests) != first)
        #expect(Set(first.values) == ["200", "503", "networkConnectionLost"])
        // The numbers do not depend on the process or the platform.
        #expect((0..<12).map { first["/\($0)"] == "200" ? "." : "x" }.joined() == "xxxxx.....xx")
    }

    @Test("a URL that is requested again meets faults by the same rate")
    func sameURL() async throws {
        let chaos = Chaos(seed: 3, [.status(503, rate: 0.3)])
        var faults = 0
        for _ in 0..<1000 where try await outcome(chaos, HTTPRequest("https://example.com/")) == "503" { faults += 1 }
        #expect((240...360).contains(faults), "\(faults)")
        #expect(chaos.faultCount == faults)
    }

    @Test("a status is an answer in place of the server's, with its fields")
    func status() async throws {
        let chaos = Chaos(seed: 1, [.status(429, headers: ["Retry-After": "3"], rate: 1)])
        let response = try await (chaos --> mock).response(for: requests(1)[0])
        #expect(response.status == 429)
        #expect(response.headers["Retry-After"] == "3")
        #expect(mock.requests.isEmpty)
    }

    @Test("R10: a cut leaves the first half of a body in memory on the error, and of a streamed one to its reader")
    func cut() async throws {
        let loader = Chaos(seed: 1, [.cut(rate: 1)]) --> mock
        let error = try await #require(throws: HTTPError.self) { try await loader.response(for: requests(1)[0]) }
        #expect(error.code == .networkConnectionLost)
        #expect(error.bytesSent == 80)
        #expect(try await error.response?.body.collect() == Array("01234".utf8))

        for length: Int64? in [10, nil] {
            let chunks = AsyncStream<[UInt8]> { continuation in
                for text in ["012", "3456", "789"] { continuation.yield(Array(text.utf8)) }
                continuation.finish()
            }
            mock.then(.status(200, body: .oneShot(chunks, length: length)))
            let response = try await loader.response(for: requests(1)[0])
            var received: [UInt8] = []
            let failure = await #expect(throws: HTTPError.self) {
                for try await chunk in response.body { received += chunk }
            }
            #expect(failure?.code == .networkConnectionLost)
            #expect(String(decoding: received, as: UTF8.self) == (length == nil ? "012" : "01234"))
        }
        mock.then(.status(204))
        let empty = try await #require(throws: HTTPError.self) { try await loader.response(for: requests(1)[0]) }
        #expect(empty.code == .networkConnectionLost)
    }

    @Test("R2: what a retry makes of faults is safe: a POST is forwarded once at most, and a GET until it succeeds")
    func retries() async throws {
        let clock = TestClock(.autoAdvancing)
        let chaos = Chaos(seed: 11, Chaos.Fault.mixed(rate: 0.6), clocks: clock.retryClocks())
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 30))
        let loader = Retry(policy, budgets: nil, clocks: clock.retryClocks()) --> chaos --> mock
        for request in try requests(200) {
            // Of garbage one more attempt is made, and not a third.
            if case .failure(let error) = await loader.load(request) { #expect(error.code == .badServerResponse) }
        }
        let before = mock.requests.count
        for request in try requests(200, method: .post) { _ = await loader.load(request) }
        let sent = mock.requests[before...].map(\.url)
        #expect(Set(sent).count == sent.count)
    }

    @Test("R9: a delay ends with its task, and by a reset")
    func delay() async throws {
        let clock = TestClock()
        let chaos = Chaos(seed: 1, [.delay(.seconds(60), rate: 1)], clocks: clock.retryClocks())
        let loader = chaos --> mock
        let request = try requests(1)[0]
        for reset in [false, true] {
            let task = Task { await loader.load(request) }
            await clock.sleepers(atLeast: 1)
            if reset { await loader.reset() } else { task.cancel() }
            guard case .failure(let error) = await task.value else { throw NoFailure() }
            #expect(error.code == .cancelled && error.bytesSent == 0)
        }
        #expect(mock.requests.isEmpty)
    }

    @Test("R31: rates beyond all measure are clamped, and without faults all is forwarded")
    func clamps() async throws {
        for (rate, expected) in [(-1.0, 0.0), (.nan, 0), (7, 1), (.infinity, 1), (0.25, 0.25)] {
            #expect(Chaos.Fault.garbage(rate: rate).rate == expected)
        }
        #expect(Chaos.Fault.delay(.seconds(-3), rate: 1) == .delay(.zero, rate: 1))
        let chaos = Chaos(seed: .max, [])
        #expect(await outcome(chaos, try requests(1)[0]) == "200")
        #expect(chaos.faultCount == 0)
    }

    private struct NoFailure: Error {}
}
