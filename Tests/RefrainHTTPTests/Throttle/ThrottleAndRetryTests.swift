// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("Throttle and Retry in both orders")
struct ThrottleAndRetryTests {
    private let clock = TestClock()
    private let calls = TrackedCalls()
    private let sends = Journal<String>()

    private func retry() throws -> Retry {
        Retry(Backoff.constant(delay: .seconds(1)), budgets: nil, clocks: clock.retryClocks())
    }

    /// Fails the first two attempts of A.
    private var loader: AnyLoader {
        AnyLoader { [sends] request in
            let name = request.name
            let attempts = sends.entries.filter { $0.hasPrefix(name) }.count
            sends.append("\(name)\(attempts + 1)")
            return .success(HTTPResponse(request: request, status: name == "A" && attempts < 2 ? 503 : 200))
        }
    }

    @Test("B: order of throttle and retry: throttle --> retry holds the slot through the back-off: A1 A2 A3 B1")
    func throttleFirst() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let chain = throttle --> (try retry()) --> loader
        let a = chain.load(sampleRequest("A")) { _ in }
        await clock.sleepers(atLeast: 1)
        let b = calls.start(sampleRequest("B"), on: chain)
        await calls.settle()
        #expect(throttle.numberOfWaitingRequests == 1)
        await clock.advanceToNextSleeper()
        await clock.advanceToNextSleeper()
        #expect(await a.result.status == 200)
        #expect(await b.result.status == 200)
        #expect(sends.entries == ["A1", "A2", "A3", "B1"])
    }

    @Test("B: order of throttle and retry: retry --> throttle gives the slot back during the back-off: A1 B1 A2 A3")
    func retryFirst() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let chain = try retry() --> throttle --> loader
        let a = chain.load(sampleRequest("A")) { _ in }
        await clock.sleepers(atLeast: 1)
        #expect(throttle.numberOfRunningRequests == 0)
        #expect(await chain.load(sampleRequest("B")).status == 200)
        await clock.advanceToNextSleeper()
        await clock.advanceToNextSleeper()
        #expect(await a.result.status == 200)
        #expect(sends.entries == ["A1", "B1", "A2", "A3"])
    }

    @Test("R20: nothing is sent after the deadline, though the request waited for its turn until then")
    func deadline() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1, clocks: clock.retryClocks())
        let hold = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: hold, .status(200)))
        mock.otherwise(.status(200))
        let chain = try retry() --> throttle --> mock
        let first = chain.load(sampleRequest("A")) { _ in }
        await hold.arrivals(atLeast: 1)
        var limited = sampleRequest("B")
        limited.timeout = .seconds(2)
        let late = calls.start(limited, on: chain)
        limited.timeout = .seconds(9)
        let inTime = calls.start(limited, on: chain)
        await calls.settle()
        #expect(throttle.numberOfWaitingRequests == 2)
        await clock.advance(by: .seconds(3))
        await hold.release()
        #expect(await late.result.attempts.map(\.error) == [.deadlineExceeded])
        #expect(await inTime.result.status == 200)
        #expect(await first.result.status == 200)
        #expect(mock.requests.count == 2)
        #expect(mock.requests.last?.attemptTimeout == .seconds(6))
    }

    @Test("R20: the deadline ends the wait for a turn, and the turn goes to the next one")
    func deadlineEndsWait() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1, clocks: clock.retryClocks())
        let hold = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: hold, .status(200)))
        mock.otherwise(.status(200))
        let chain = try retry() --> throttle --> mock
        let first = chain.load(sampleRequest("A")) { _ in }
        await hold.arrivals(atLeast: 1)
        var limited = sampleRequest("B")
        limited.timeout = .seconds(2)
        let late = calls.start(limited, on: chain)
        await clock.sleepers(atLeast: 1)
        await calls.settle()
        #expect(throttle.numberOfWaitingRequests == 1)
        await clock.advance(by: .seconds(2))
        let result = await late.result
        #expect(result.errorCode == .deadlineExceeded)
        #expect(result.attempts.map(\.reason) == [.deadlineExceeded])
        #expect(throttle.numberOfWaitingRequests == 0)
        #expect(hold.count == 1)
        await hold.release()
        #expect(await first.result.status == 200)
        #expect(await chain.load(sampleRequest("C")).status == 200)
        #expect(mock.requests.count == 2)
    }

    @Test("R20: the deadline ends the wait for a decision, and the answer stands")
    func deadlineEndsDecision() async throws {
        let hold = MockLoader.Gate()
        let slow = SlowStrategy(gate: MockLoader().then(.held(by: hold, .status(200))))
        let mock = MockLoader().otherwise(.status(503))
        let chain = Retry(slow, budgets: nil, clocks: clock.retryClocks()) --> mock
        var limited = sampleRequest()
        limited.timeout = .seconds(2)
        let late = chain.load(limited) { _ in }
        await hold.arrivals(atLeast: 1)
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(2))
        let result = await late.result
        #expect(result.status == 503)
        #expect(result.attempts.map(\.reason) == [.deadlineExceeded])
        #expect(mock.requests.count == 1)
    }
}

/// Wants to try again what failed, but takes its time to say so.
private struct SlowStrategy: RetryStrategy {
    let gate: MockLoader

    func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        _ = await gate.load(sampleRequest())
        return .retry(after: .zero)
    }
}
