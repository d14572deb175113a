// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Retry policies as interceptors", .timeLimit(.minutes(10)))
struct PolicyTests {
    @Test("R12: a session that is given no interceptor uses the recommended policy")
    func defaultPolicy() async throws {
        let loader = ScriptedLoader(.status(503), .failure(.cannotConnectToHost), .status(200, body: "ok"))
        var settings = Session.Settings()
        settings.budgets = nil
        settings.clocks = InstantClock().pair
        let session = Session(loader: loader, settings: settings)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
        #expect(loader.requests.count == 3)
    }

    @Test("a request's own strategy is asked of successes, too, as in a chain")
    func pollingStrategy() async throws {
        struct Poll: HTTPRetryStrategy {
            func retryDelay(for result: HTTPResult) -> Duration? {
                guard case .success(let response) = result, response.status == 202 else { return nil }
                return .seconds(1)
            }
        }
        for interceptor in [nil, RetryPolicy.recommended] as [(any RequestInterceptor)?] {
            let clock = InstantClock()
            let loader = ScriptedLoader(
                .status(202, body: "wait"),
                .status(202, body: "wait"),
                .status(200, body: "ok")
            )
            let session = Session.testing(loader, interceptor: interceptor, clock: clock)
            var request = HTTPRequest.sample
            request.retryStrategy = Poll()
            let response = await session.request(request).validate().serializingString().response
            #expect(response.value == "ok")
            #expect(clock.waits == [.seconds(1), .seconds(1)])
            #expect(response.attempts.last?.reason == .succeeded)
        }
    }

    @Test("R29: an adapter that fails on a later attempt fails with the record of those before")
    func recordOfFailedAdapter() async throws {
        let loader = ScriptedLoader(.status(503))
        let number = Counter()
        let adapter = Adapter { request, _ in
            guard number.increment() == 1 else { throw TestError() }
            return request
        }
        let interceptor = Interceptor(adapters: [adapter], interceptors: [RetryPolicy.recommended])
        let session = Session.testing(loader, interceptor: interceptor)
        let response = await session.request(HTTPRequest.sample).serializingData().response
        let error = try #require(response.error)
        #expect(error.isRequestAdaptationError)
        #expect(response.attempts.count == 2)
        #expect(error.attempts == response.attempts)
    }

    @Test("A: Session: a session whose interceptor is nil sends once")
    func noPolicy() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: nil)
        #expect(await session.request(HTTPRequest.sample).validate().serializingData().response.error != nil)
        #expect(loader.requests.count == 1)
    }

    @Test("A: RetryPolicy: Alamofire's policy waits 0.5 s and 1 s, and sends three times")
    func alamofireSchedule() async {
        let clock = InstantClock()
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: .retryPolicy, clock: clock)
        let error = await session.request(HTTPRequest.sample).validate().serializingData().response.error
        #expect(error?.responseCode == 503)
        #expect(clock.waits == [.milliseconds(500), .seconds(1)])
        #expect(loader.requests.count == 3)
    }

    @Test("A: decision order: naming POST in the policy's methods is leave to send it again")
    func namedMethod() async throws {
        let loader = ScriptedLoader(.status(500), .status(200, body: "ok"))
        let session = Session.testing(loader, interceptor: .retryPolicy(retryableHTTPMethods: [.post]))
        let request = HTTPRequest("/a", method: .post, body: .text("x"))
        #expect(try await session.request(request).serializingString().value == "ok")
    }

    @Test(
        "A: ConnectionLostRetryPolicy: the policy for lost connections retries them, and nothing else",
        arguments: [
            (ScriptedLoader.Answer.failure(.networkConnectionLost), 3), (.failure(.timedOut), 1), (.status(503), 1),
        ]
    )
    func connectionLost(answer: ScriptedLoader.Answer, sends: Int) async {
        let loader = ScriptedLoader(answer)
        let session = Session.testing(loader, interceptor: .connectionLostRetryPolicy)
        _ = await session.request(HTTPRequest.sample).serializingData().response
        #expect(loader.requests.count == sends)
    }

    @Test("A: RetryPolicy: an interceptor that wraps a policy can change its decision")
    func wrapped() async throws {
        struct NeverForReports: RequestInterceptor {
            let policy = RetryPolicy()
            func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
                guard request.request?.url.path().hasPrefix("/reports") == false else { return .doNotRetry }
                return await policy.retry(request, for: session, dueTo: error)
            }
        }
        let clock = InstantClock()
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: NeverForReports(), clock: clock)
        _ = await session.request(HTTPRequest("/reports/1")).serializingData().response
        #expect(loader.requests.count == 1)
        _ = await session.request(HTTPRequest("/others/1")).serializingData().response
        #expect(loader.requests.count == 4)
        #expect(clock.waits == [.milliseconds(500), .seconds(1)])
    }

    /// An interceptor that asks a policy, and may change its delay.
    private struct Wrapper: RequestInterceptor {
        let policy: RetryPolicy
        var delay: Duration?

        func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
            let answer = await policy.retry(request, for: session, dueTo: error)
            guard let delay, answer.retryRequired else { return answer }
            return .retryWithDelay(delay)
        }
    }

    @Test(
        "A: RetryPolicy: a wrapped policy's leave to send a method again holds, after its own delay or another one",
        arguments: [(nil, .milliseconds(500)), (.seconds(3), .seconds(3))] as [(Duration?, Duration)]
    )
    func wrappedLeave(delay: Duration?, wait: Duration) async throws {
        let clock = InstantClock()
        let loader = ScriptedLoader(.status(503), .status(200, body: "ok"))
        let wrapper = Wrapper(policy: RetryPolicy(retryableHTTPMethods: [.post]), delay: delay)
        let session = Session.testing(loader, interceptor: wrapper, clock: clock)
        let request = session.request(HTTPRequest("/a", method: .post, body: .text("x")))
        #expect(try await request.serializingString().value == "ok")
        #expect(request.attempts.map(\.reason) == [.transientStatus, .succeeded])
        #expect(clock.waits == [wait])
    }

    @Test("R2: the leave of a policy that a retrier has asked in vain is none for the next retrier")
    func leaveOfOthers() async throws {
        let policy = RetryPolicy(retryableHTTPMethods: [.post])
        let asks = Retrier { request, session, error in
            _ = await policy.retry(request, for: session, dueTo: error)
            return .doNotRetry
        }
        let loader = ScriptedLoader(.status(503))
        let retriers: [any RequestRetrier] = [asks, Retrier { _, _, _ in .retry }]
        let session = Session.testing(loader, interceptor: Interceptor(retriers: retriers))
        let request = session.request(HTTPRequest("/a", method: .post, body: .text("x")))
        _ = await request.serializingString().response
        #expect(request.attempts.map(\.reason) == [.notReplayable])
    }

    @Test("R17: a wrapped policy reads the server's delays as it does by itself; no other delay cuts them short")
    func wrappedFields() async throws {
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2000"]
        let fields = RateLimiter.Fields(reset: .delay(.milliseconds))
        for delay in [nil, .milliseconds(1)] as [Duration?] {
            let clock = InstantClock()
            let loader = ScriptedLoader(.status(429, headers: headers), .status(200, body: "ok"))
            let policy = RetryPolicy(criteria: .rules(), rateLimitFields: fields)
            let session = Session.testing(loader, interceptor: Wrapper(policy: policy, delay: delay), clock: clock)
            #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
            #expect(clock.waits.allSatisfy { $0 >= .seconds(2) && $0 <= .seconds(3) })
            #expect(clock.waits.count == 1)
        }
    }

    @Test("R18: a wrapped policy ends the call where the server wants too long a wait")
    func wrappedComeBack() async {
        // Fifty seconds from now if read as a date, although it is a delay.
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000000100"]
        let fields = RateLimiter.Fields(reset: .delay(.seconds))
        for delay in [nil, .milliseconds(1)] as [Duration?] {
            let clock = InstantClock()
            clock.advance(by: .seconds(999_000_050))
            let loader = ScriptedLoader(.status(429, headers: headers))
            let policy = RetryPolicy(criteria: .rules(), rateLimitFields: fields)
            let session = Session.testing(loader, interceptor: Wrapper(policy: policy, delay: delay), clock: clock)
            let response = await session.request(HTTPRequest.sample).serializingString().response
            #expect(response.attempts.map(\.reason) == [.retryAfterTooLong])
            #expect(clock.waits == [])
        }
    }

    @Test("a strategy on the request stands in for the session's policy")
    func ownStrategy() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        var request = HTTPRequest.sample
        request.retryStrategy = Backoff.never
        _ = await session.request(request).serializingData().response
        #expect(loader.requests.count == 1)
    }

    @Test("A: static accessors: the accessors make what they say")
    func accessors() throws {
        let made: [any RequestInterceptor] = [
            .retryPolicy, .retryPolicy(retryLimit: 1), .connectionLostRetryPolicy,
            .connectionLostRetryPolicy(retryLimit: 1), .recommendedRetryPolicy,
            .interceptor(
                adapters: [.adapter(using: { request, _ in request })],
                retriers: [.retrier(using: { _, _, _ in .retry })]
            ),
            .interceptor(adapter: { request, _ in request }, retrier: { _, _, _ in .doNotRetry }),
        ]
        #expect(made.count == 7)
        #expect(throws: InvalidArgument.self) { try RetryPolicy.validated(exponentialBackoffBase: 1) }
    }

    @Test("A: RetryResult: a result says whether it wants a retry, and when")
    func results() {
        #expect(RetryResult.retry.retryRequired)
        #expect(RetryResult.retryWithDelay(.seconds(1)).delay == .seconds(1))
        #expect(!RetryResult.doNotRetry.retryRequired)
        #expect(RetryResult.doNotRetryWithError(TestError()).error as? TestError == TestError())
        #expect(RetryResult.retry.delay == nil)
    }
}
