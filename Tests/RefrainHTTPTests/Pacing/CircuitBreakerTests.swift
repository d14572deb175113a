// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("The circuit breaker of a pacer")
struct CircuitBreakerTests {
    private let clock = TestClock()

    /// A server that answers as it is told, and counts its requests.
    private struct Server: HTTPLoader {
        let answer = Locked<HTTPStatus?>(503)
        let arrivals = Locked(0)

        func load(_ request: HTTPRequest) async -> HTTPResult {
            arrivals.withLock { $0 += 1 }
            guard let status = answer.withLock({ $0 }) else {
                return .failure(HTTPError(.cannotConnectToHost, request: request))
            }
            return .success(HTTPResponse(request: request, status: status))
        }
    }

    private let rules = CircuitBreaker(minimumRequests: 10, breakDuration: .seconds(4), isEnforced: true)

    private func request(_ host: String = "a") throws -> HTTPRequest { try HTTPRequest("https://\(host).example/") }

    @Test("R34: by default it only observes: the record says which attempts it would have refused, and all are sent")
    func observes() async throws {
        let server = Server()
        let loader = Pacer(clocks: clock.retryClocks()) --> server
        var circuits: [AttemptRecord.Pacing.Circuit?] = []
        for _ in 0..<30 { circuits.append(await loader.load(try request()).pacing?.circuit) }
        #expect(circuits == Array(repeating: nil, count: 20) + Array(repeating: .open, count: 10))
        #expect(server.arrivals.withLock { $0 } == 30)
        // Its break is over, and a probe succeeds.
        server.answer.withLock { $0 = 200 }
        await clock.advance(by: .seconds(5))
        #expect(await loader.load(try request()).pacing == nil)
        await clock.advance(by: .seconds(5))
        #expect(await loader.load(try request()).pacing == nil)
        #expect(server.arrivals.withLock { $0 } == 32)
    }

    @Test(
        "R34: a refusing server and one that cannot be reached open it, other answers do not",
        arguments: [429, 503, 529, nil, 500, 404] as [HTTPStatus?]
    )
    func opens(status: HTTPStatus?) async throws {
        let server = Server()
        server.answer.withLock { $0 = status }
        let clocks = clock.retryClocks()
        let loader = Pacer(circuitBreaker: rules, clocks: clocks) --> server
        var codes: [HTTPError.Code?] = []
        for _ in 0..<12 { codes.append(await loader.load(try request()).errorCode) }
        let opens = ![500, 404].contains(status)
        #expect(codes.filter { $0 == .circuitOpen }.count == (opens ? 2 : 0))
        #expect(server.arrivals.withLock { $0 } == (opens ? 10 : 12))
        // Another place is asked.
        #expect(await loader.load(try request("b")).errorCode != .circuitOpen)
        guard opens, case .failure(let error) = await loader.load(try request()) else { return }
        let wait = try #require(error.retryAfterDate.map { clocks.wallNow.duration(to: $0) })
        #expect(error.bytesSent == 0 && error.retriesAreExhausted && wait >= .seconds(2) && wait <= .seconds(4))
    }

    @Test("R34: successes of the window count, and failures of one that is over do not")
    func window() async throws {
        let server = Server()
        let loader = Pacer(circuitBreaker: rules, clocks: clock.retryClocks()) --> server
        for round in 0..<40 {
            server.answer.withLock { $0 = round % 3 == 0 ? 503 : 200 }
            #expect(await loader.load(try request()).errorCode == nil)
        }
        server.answer.withLock { $0 = 503 }
        for _ in 0..<5 {
            for _ in 0..<4 { #expect(await loader.load(try request("b")).errorCode == nil) }
            await clock.advance(by: .seconds(11))
        }
    }

    @Test("R34: one probe goes after the break; where it fails another break begins, where it succeeds a ramp")
    func probes() async throws {
        var state = CircuitState(rules)
        func admit(_ second: Double, chance: Double = 0.5) -> String {
            switch state.admit(now: .delay(seconds: second), chance: chance) {
            case .passes: "passes"
            case .probes: "probes"
            case .refused(let phase, _): phase.rawValue
            }
        }
        func note(_ outcome: CircuitState.Outcome, _ second: Double, probed: Bool = false) {
            state.note(outcome, probed: probed, now: .delay(seconds: second), chance: 0)
        }
        for _ in 0..<10 { note(.failure, 1) }
        // A chance of 0 makes the shortest break, a half.
        #expect([admit(1), admit(2.9), admit(3.1), admit(3.2)] == ["open", "open", "probes", "halfOpen"])
        // What was sent before the break does not decide.
        note(.success, 3.3)
        #expect(admit(3.3) == "halfOpen")
        note(.failure, 3.4, probed: true)
        #expect([admit(3.5), admit(5.5)] == ["open", "probes"])
        note(.success, 6, probed: true)
        #expect(admit(6, chance: 0.09) == "passes" && admit(6, chance: 0.11) == "ramp")
        #expect(admit(8, chance: 0.49) == "passes" && admit(8, chance: 0.51) == "ramp")
        #expect(admit(10, chance: 0.99) == "passes")
        // A ramp that fails ends in a break.
        for _ in 0..<10 { note(.failure, 10) }
        #expect([admit(10), admit(12)] == ["open", "probes"])
        note(.success, 12, probed: true)
        for _ in 0..<10 { note(.failure, 12) }
        #expect(admit(12, chance: 0) == "open")
    }

    @Test("R34: of 10,000 breakers that lose a probe, each closes within two breaks of the loss")
    func lostProbes() {
        let rest = rules.breakDuration
        for seed in 0..<10_000 {
            let random = RandomSource(seed: UInt64(seed))
            var state = CircuitState(rules)
            var now = Duration.delay(seconds: random.unit() * 100)
            func step() -> CircuitState.Admission { state.admit(now: now, chance: random.unit()) }
            for _ in 0..<10 { state.note(.failure, probed: false, now: now, chance: random.unit()) }
            // Requests come at any times; the probe's end is never told, or only that it was cancelled.
            var lost: Duration?
            while lost == nil {
                now += .delay(seconds: random.unit())
                if case .probes = step() { lost = now }
            }
            let isTold = random.unit() < 0.5
            if isTold {
                now += .delay(seconds: random.unit() * 3)
                state.note(.unknown, probed: true, now: now, chance: random.unit())
            }
            let loss = isTold ? now : (lost ?? now) + rest
            var closed: Duration?
            while closed == nil, now < loss + rest * 3 {
                now += .milliseconds(10)
                switch step() {
                case .probes: state.note(.success, probed: true, now: now, chance: random.unit())
                case .passes: if case .passes = state.admit(now: now, chance: 0.9999) { closed = now }
                case .refused: break
                }
            }
            #expect(closed.map { $0 <= loss + rest * 2 + .milliseconds(30) } == true, "seed \(seed)")
        }
    }

    @Test("R9: a probe that is cancelled is a lost one, and the next one is let go after the break")
    func cancelled() async throws {
        let server = Server()
        let hangs = ModifyRequest { [clock] request in
            if request.headers.contains("X-Hang") { try? await clock.sleep(until: .init(offset: .seconds(1000))) }
            return request
        }
        let loader = Pacer(circuitBreaker: rules, clocks: clock.retryClocks()) --> hangs --> server
        for _ in 0..<10 { _ = await loader.load(try request()) }
        await clock.advance(by: .seconds(4))
        var hanging = try request()
        hanging.headers["X-Hang"] = "1"
        let probe = Task { [hanging] in await loader.load(hanging) }
        await clock.sleepers(atLeast: 1)
        #expect(await loader.load(try request()).errorCode == .circuitOpen)
        server.answer.withLock { $0 = 200 }
        probe.cancel()
        _ = await probe.value
        await clock.advance(by: .seconds(4))
        #expect(await loader.load(try request()).errorCode == nil)
    }

    @Test("R35: a request that it refuses hands its turn back, so that the next one waits for no pace")
    func unusedTurns() async throws {
        let server = Server()
        let pace = Pacer.Limits.per(.seconds(1), requests: 1)
        let loader = Pacer(pace, circuitBreaker: rules, clocks: clock.retryClocks()) --> server
        let request = try request()
        await clock.run {
            for _ in 0..<10 { #expect(await loader.load(request).errorCode == nil) }
            // The turn after the last one that was sent.
            #expect(await loader.load(request).errorCode == .circuitOpen)
            let began = clock.now
            for _ in 0..<20 { #expect(await loader.load(request).errorCode == .circuitOpen) }
            #expect(clock.now == began)
        }
        #expect(server.arrivals.withLock { $0 } == 10)
    }

    @Test("R31: rules that are none are clamped")
    func clamped() {
        for number in [Double.nan, -1, 0, 2, .infinity] {
            let rules = CircuitBreaker(
                failureShare: number,
                minimumRequests: .min,
                window: .seconds(-1),
                breakDuration: .zero
            )
            #expect(rules.failureShare >= 0.01 && rules.failureShare <= 1 && rules.minimumRequests == 1)
            #expect(rules.window == .milliseconds(1) && rules.breakDuration == .milliseconds(1))
        }
    }
}
