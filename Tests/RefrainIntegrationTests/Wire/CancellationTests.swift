// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import TestSupport
import Testing

@Suite("On the wire: cancellation", .timeLimit(.minutes(10)))
struct CancellationTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    @Test("R9: cancellation ends a back-off within 5 ms, and the server sees no further request")
    func duringBackOff() async throws {
        let schedule = Backoff.constant(delay: .seconds(60), maxAttempts: 3)
        let chain = try Redirect() --> Retry(policy(schedule), budgets: nil) --> transport()
        // The best of many: where other tests keep the machine busy, any single one may be late. The call has its own
        // thread: a task of the pool waits for those that became ready before it.
        let thread = OwnThread()
        var shortest = Duration.seconds(60)
        var number = 0
        while number < 10 || (number < 200 && shortest >= .milliseconds(5)) {
            number += 1
            let request = try HTTPRequest(server.baseURL + "/status/503?key=\(number)")
            let call = Task(executorPreference: thread) { (await chain.load(request), ContinuousClock.now) }
            let sent = number
            _ = await eventually { server.log.count == sent }
            // The answer is on its way back, and then the wait begins.
            try await Task.sleep(for: .milliseconds(100))
            let began = ContinuousClock.now
            call.cancel()
            let (result, ended) = await call.value
            shortest = min(shortest, ended - began)
            let error = try failure(of: result)
            #expect(error.code == .cancelled)
            #expect(error.attempts.last?.reason == .cancelled)
        }
        #expect(shortest < .milliseconds(5))
        try await Task.sleep(for: .milliseconds(200))
        #expect(server.log.count == number)
    }

    @Test("R9: cancellation in flight reaches the server, and is not retried")
    func inFlight() async throws {
        let chain = try Retry(quick(), budgets: nil) --> transport()
        for path in ["/hang", "/hang-headers", "/hang-body"] {
            server.clearLog()
            let request = try HTTPRequest(server.baseURL + path)
            let call = Task { await chain.load(request) }
            _ = await eventually { server.log.count == 1 }
            call.cancel()
            let error = try failure(of: await call.value)
            #expect(error.code == .cancelled)
            let left = await eventually { server.log.first?.ended == .clientLeft }
            #expect(left, "\(path)")
            #expect(server.log.count == 1)
        }
    }

    @Test("R9: a reset ends requests in flight and in back-off, and none is sent again")
    func reset() async throws {
        let schedule = Backoff.constant(delay: .seconds(60), maxAttempts: 3)
        let chain = try Retry(policy(schedule), budgets: nil) --> transport()
        let calls = try ["/hang", "/status/503"].map { path in
            let request = try HTTPRequest(server.baseURL + path)
            return Task { await chain.load(request) }
        }
        _ = await eventually { server.log.count == 2 }
        try await Task.sleep(for: .milliseconds(100))
        await chain.reset()
        for call in calls { #expect(try failure(of: await call.value).code == .cancelled) }
        #expect(server.log.count == 2)
    }

    @Test("R9: an attempt's own timeout is no cancellation, and is retried")
    func ownTimeout() async throws {
        let chain = try Retry(quick(), budgets: nil) --> transport()
        var request = try HTTPRequest(server.baseURL + "/hang?times=1")
        // Long enough for the second attempt to be answered on a busy machine.
        request.timeouts.total = .seconds(3)
        let response = try await chain.response(for: request)
        #expect(response.attempts.map(\.error) == [.timedOut, nil])
    }
}
