// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TestSupport
import Testing

@Suite("Throttle: requests a second")
struct RequestRateTests {
    @Test("requests start at even intervals, in order of arrival")
    func evenIntervals() async throws {
        let clock = TestClock()
        let mock = MockLoader { _ in .status(200) }
        let loader = Throttle(requestsPerSecond: 10, clocks: clock.retryClocks()) --> mock
        let tasks = try (0..<4).map { number in
            let request = try HTTPRequest("http://a.test/\(number)")
            return Task { await loader.load(request) }
        }
        for count in 1...4 {
            await mock.requests(atLeast: count)
            #expect(mock.requests.count == count)
            guard count < 4 else { break }
            await clock.sleepers(atLeast: 1)
            await clock.advance(by: .milliseconds(99))
            #expect(mock.requests.count == count)
            await clock.advance(by: .milliseconds(1))
        }
        for task in tasks { #expect(try await task.value.get().status == 200) }
    }

    @Test("R9: a request that is cancelled while it waits uses no interval up, and is not sent")
    func cancelled() async throws {
        let clock = TestClock()
        let mock = MockLoader { _ in .status(200) }
        let loader = Throttle(requestsPerSecond: 1, clocks: clock.retryClocks()) --> mock
        let request = try HTTPRequest("http://a.test/")
        _ = await loader.load(request)
        let waiting = Task { await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        waiting.cancel()
        #expect(await code(of: waiting.value) == .cancelled)
        let next = Task { await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(1))
        #expect(try await next.value.get().status == 200)
        #expect(mock.requests.count == 2)
    }

    @Test("R20: a request whose timeout ends before its turn fails at once")
    func deadline() async throws {
        let clock = TestClock()
        let mock = MockLoader { _ in .status(200) }
        let loader = Throttle(requestsPerSecond: 0.1, clocks: clock.retryClocks()) --> mock
        var request = try HTTPRequest("http://a.test/")
        request.timeout = .seconds(5)
        _ = await loader.load(request)
        #expect(await code(of: loader.load(request)) == .deadlineExceeded)
        #expect(mock.requests.count == 1)
    }

    @Test("a reset ends the waits")
    func reset() async throws {
        let clock = TestClock()
        let loader = Throttle(requestsPerSecond: 1, clocks: clock.retryClocks()) --> MockLoader { _ in .status(200) }
        let request = try HTTPRequest("http://a.test/")
        _ = await loader.load(request)
        let waiting = Task { await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        await loader.reset()
        #expect(await code(of: waiting.value) == .cancelled)
    }

    @Test(
        "R31: a rate of zero, a negative one and NaN count as one a day",
        arguments: [0, -1, Double.nan, -Double.infinity]
    )
    func outOfRange(_ rate: Double) async throws {
        let clock = TestClock()
        let mock = MockLoader { _ in .status(200) }
        let loader = Throttle(requestsPerSecond: rate, clocks: clock.retryClocks()) --> mock
        let request = try HTTPRequest("http://a.test/")
        _ = await loader.load(request)
        let waiting = Task { await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(86_400))
        #expect(try await waiting.value.get().status == 200)
    }

    private func code(of result: HTTPResult) -> HTTPError.Code? {
        guard case .failure(let error) = result else { return nil }
        return error.code
    }
}
