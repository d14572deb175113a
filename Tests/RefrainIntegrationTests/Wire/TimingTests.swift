// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("On the wire: when the next attempt comes", .timeLimit(.minutes(10)))
struct TimingTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    /// The result, and how long it took.
    private func load(
        _ target: String,
        schedule: Duration = .milliseconds(2),
        deadline: Duration? = nil
    ) async throws -> (result: HTTPResult, elapsed: Duration) {
        let policy = policy(.constant(delay: schedule, maxAttempts: 3))
        let chain = Redirect() --> Retry(policy, budgets: nil) --> (try transport())
        var request = try HTTPRequest(server.baseURL + target)
        request.timeout = deadline
        let began = ContinuousClock.now
        let result = await chain.load(request)
        return (result, ContinuousClock.now - began)
    }

    @Test(
        "R15, R16: the server sees nothing before the time that it asked for",
        arguments: [
            ("/status/503?times=1&retry-after=1", 1.0),
            ("/status/429?times=1&retry-after=1", 1.0),
            ("/status/503?times=1&retry-after=date%2B2", 1.9),
            // An hour behind: the date is read against the answer's own.
            ("/status/503?times=1&date=now-3600&retry-after=date%2B1", 0.9),
            ("/redirect-to?url=/ok&retry-after=1", 1.0),
        ]
    )
    func waits(target: String, seconds: Double) async throws {
        let (result, _) = try await load(target)
        #expect(try result.get().status == 200)
        let times = server.log.map(\.time)
        try #require(times.count == 2)
        #expect(times[1] - times[0] >= seconds)
        #expect(times[1] - times[0] < 60)
    }

    @Test(
        "R15, R16: a date that is past, and values that are none, do not hold the next attempt back",
        arguments: ["date-100", "-1", "1.5", "soon", "+1", ""]
    )
    func doesNotWait(value: String) async throws {
        let value = value == "+1" ? "%2B1" : value
        let (result, _) = try await load("/status/503?times=1&retry-after=\(value)")
        let attempts = try result.get().attempts
        #expect(attempts.count == 2)
        #expect(attempts[0].delay < .milliseconds(500))
    }

    @Test("R17: the longer one of the server's delay and the schedule's is waited")
    func longer() async throws {
        _ = try await load("/status/503?times=1&retry-after=0", schedule: .milliseconds(300))
        #expect(server.firstGap("/status/503") >= 0.3)
    }

    @Test("R18: a delay over the cap ends the call at once, with the date to come back at")
    func overTheCap() async throws {
        for value in ["301", "9999999999999999999999999999"] {
            server.clearLog()
            let (result, elapsed) = try await load("/status/503?retry-after=\(value)")
            let error = try failure(of: result)
            #expect(error.code == .retryAfterTooLong)
            #expect(error.retryAfterDate != nil)
            #expect(elapsed < .seconds(300))
            #expect(server.log.count == 1)
        }
    }

    @Test("R18: a delay past the deadline ends the call at once")
    func pastTheDeadline() async throws {
        let (result, elapsed) = try await load("/status/503?retry-after=600", deadline: .seconds(500))
        #expect(try failure(of: result).code == .retryAfterTooLong)
        #expect(elapsed < .seconds(300))
        #expect(server.log.count == 1)
    }

    @Test("R19: with pacing on, a limit that is known is kept, and no request meets a 429")
    func pacing() async throws {
        let chain = try Retry(quick(), budgets: nil) --> RateLimiter() --> transport()
        var request = try HTTPRequest(server.baseURL + "/rate-limited?limit=5&window=1")
        request.pacing = .on
        for _ in 1...12 {
            let response = try await chain.response(for: request)
            #expect(response.attempts.map(\.status) == [200])
        }
        #expect(server.log.count == 12)

        // Without it requests do meet one; in a window that lasts, however slowly they follow each other.
        request = try HTTPRequest(server.baseURL + "/rate-limited?limit=5&window=3600&no-retry-after=1&no-headers=1")
        request.pacing = .off
        var statuses: [HTTPStatus?] = []
        for _ in 1...6 { statuses += await chain.load(request).attempts.map(\.status) }
        #expect(statuses.contains(429))
    }

    @Test("R20: the deadline cuts an attempt that hangs, and a delay that would pass it is not slept")
    func deadline() async throws {
        let (hanging, elapsed) = try await load("/hang", deadline: .milliseconds(600))
        #expect(try failure(of: hanging).code == .deadlineExceeded)
        #expect(elapsed >= .milliseconds(600))
        #expect(elapsed < .seconds(300))
        #expect(server.count(path: "/hang") == 1)

        let (waiting, atOnce) = try await load("/status/503", schedule: .seconds(600), deadline: .seconds(500))
        #expect(try waiting.get().attempts.last?.reason == .deadlineExceeded)
        #expect(atOnce < .seconds(300))
        #expect(server.count(path: "/status/503") == 1)
    }
}
