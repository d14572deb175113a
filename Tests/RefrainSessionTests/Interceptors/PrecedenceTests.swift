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

/// What the caller names wins: a status that it accepts, a policy on the request, a retrier, a cancellation.
@Suite("What the caller names wins", .timeLimit(.minutes(5)))
struct PrecedenceTests {
    private let always = Retrier { request, _, _ in request.retryCount < 2 ? .retry : .doNotRetry }

    /// A session that was given no interceptor.
    private func unasked(_ loader: any HTTPLoader) -> Session {
        var settings = Session.Settings()
        settings.budgets = nil
        settings.clocks = InstantClock().pair
        return Session(loader: loader, settings: settings)
    }

    @Test(
        "what a status validation accepted is a success to retriers, to policies and in the record",
        arguments: [404, 503]
    )
    func acceptedStatus(status: Int) async {
        for interceptor in [always, RetryPolicy()] as [any RequestInterceptor] {
            let loader = ScriptedLoader(.status(status, body: "accepted"))
            let session = Session.testing(loader, interceptor: interceptor)
            let response = await session.request(HTTPRequest.sample)
                .validate(statusCode: 200..<600)
                .serializingString().response
            #expect(response.value == "accepted")
            #expect(response.attempts.map(\.reason) == [.succeeded])
            #expect(loader.requests.count == 1)
        }
    }

    @Test("an accepted status is no failure to a strategy of the request's own either")
    func acceptedByStrategy() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader)
        var request = HTTPRequest.sample
        request.retryStrategy = .exponential(from: .seconds(1))
        _ = await session.request(request).validate(statusCode: [503]).serializingData().response
        #expect(loader.requests.count == 1)
    }

    @Test("a content-type check alone accepts no status")
    func contentTypeAlone() async {
        let loader = ScriptedLoader(.status(503, headers: ["Content-Type": "text/plain"], body: "x"))
        let session = Session.testing(loader, interceptor: RetryPolicy())
        _ = await session.request(HTTPRequest.sample).validate(contentType: ["text/plain"]).serializingData().response
        #expect(loader.requests.count == 3)
    }

    @Test("an accepted status does not count as given up")
    func metrics() async {
        let metrics = MetricsMonitor()
        let session = Session.testing(
            ScriptedLoader(.status(404, body: "none")),
            interceptor: always,
            monitors: [metrics]
        )
        _ = await session.request(HTTPRequest.sample).validate(statusCode: [200, 404]).serializingString().response
        #expect(metrics.snapshot.givenUp.isEmpty)
    }

    @Test("R27: an accepted 401, as of a log-in, is not refreshed for")
    func acceptedRefusal() async {
        let refreshes = Counter()
        let authentication = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { token, _ in
                refreshes.increment()
                return token
            },
            credential: Token(value: "ada")
        )
        let loader = ScriptedLoader(.status(401, body: "no"))
        let session = Session.testing(loader, interceptor: authentication)
        let request = HTTPRequest("/login", method: .post, body: .text("secret"))
        _ = await session.request(request).validate(statusCode: 200..<500).serializingData().response
        #expect(refreshes.value == 0)
        #expect(loader.requests.count == 1)
    }

    @Test("a policy or retrier on the request replaces the default policy")
    func replacesUnasked() async throws {
        let declining = Retrier { _, _, _ in .doNotRetry }
        let adapter = Adapter { request, _ in request }
        let policies: [(any RequestInterceptor, Int)] = [
            (RetryPolicy(retryLimit: 0), 1), (RetryPolicy(retryLimit: 1), 2), (declining, 1), (always, 3),
            // These decide on no retries of a 503.
            (adapter, 3), (Signing(), 3), (OfflineRetrier(), 3),
        ]
        for (interceptor, sends) in policies {
            let loader = ScriptedLoader(.status(503))
            let session = unasked(loader)
            _ = await session.request(HTTPRequest.sample, interceptor: interceptor).serializingData().response
            #expect(loader.requests.count == sends, "\(type(of: interceptor))")
        }
    }

    /// Implements one half of the protocol.
    private struct Signing: RequestInterceptor {
        func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest { request }
    }

    @Test("a policy that the session was given still goes first")
    func givenPolicy() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let none = RetryPolicy(retryLimit: 0)
        _ = await session.request(HTTPRequest.sample, interceptor: none).serializingData().response
        #expect(loader.requests.count == 3)
    }

    @Test("R24: a loop round a request repeats neither what must not be sent twice nor what its retrier declined")
    func outerLoop() async {
        typealias Row = (name: String, interceptor: (any RequestInterceptor)?, method: HTTPMethod, sends: Int)
        let rows: [Row] = [
            ("a policy that used up its attempts", RetryPolicy(), .get, 3),
            ("a policy of no retries", RetryPolicy(retryLimit: 0), .get, 4),
            ("a retrier that declined", always, .get, 3),
            ("a POST that may have been processed", RetryPolicy.recommended, .post, 1),
            ("no retriers", nil, .get, 4), ("an interceptor that only adapts", Signing(), .get, 4),
        ]
        for row in rows {
            let loader = ScriptedLoader(.status(503))
            let session = Session.testing(loader, interceptor: row.interceptor)
            _ = try? await withRetry(.immediately(maxAttempts: 4)) { () async throws in
                let body: HTTPBody = row.method == .post ? .text("x") : .empty
                let request = HTTPRequest("/a", method: row.method, body: body)
                _ = try await session.request(request).validate().serializingData().value
            }
            #expect(loader.requests.count == row.sends, "\(row.name)")
        }
    }

    @Test("R24: `replay = .forbidden` holds for an outer loop, too")
    func forbidden() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        var request = HTTPRequest.sample
        request.replay = .forbidden
        _ = try? await withRetry(.immediately(maxAttempts: 4)) { [request] () async throws in
            _ = try await session.request(request).validate().serializingData().value
        }
        #expect(loader.requests.count == 1)
    }

    @Test("R24: a schedule that never retries leaves the retries to the outer loop")
    func never() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        var request = HTTPRequest.sample
        request.retryStrategy = .never
        _ = try? await withRetry(.immediately(maxAttempts: 4)) { [request] () async throws in
            _ = try await session.request(request).validate().serializingData().value
        }
        #expect(loader.requests.count == 4)
    }

    @Test("R24: within Task.retrying the default policy does not retry, one send for each run")
    func withinTask() async throws {
        let loader = ScriptedLoader(.status(503), .status(503), .status(503), .status(200, body: "ok"))
        let session = unasked(loader)
        let runs = Counter()
        let task = Task.retrying(maxRetryCount: 3, retryDelay: .seconds(1), clock: InstantClock()) {
            runs.increment()
            return try await session.request(HTTPRequest.sample).validate().serializingString().value
        }
        #expect(try await task.value == "ok")
        #expect(runs.value == 4)
        #expect(loader.requests.count == 4)
    }

    enum Ending: CaseIterable { case cancel, reset }

    @Test(
        "R9: a request that ends while a retrier is asked ends as cancelled, not with the answer before",
        arguments: Ending.allCases
    )
    func endsWhileAsked(ending: Ending) async {
        let isAsked = Signal()
        let loader = ScriptedLoader(.status(401))
        let asking = Retrier { _, _, _ in
            isAsked.set()
            await untilCancelled()
            return .doNotRetry
        }
        let session = Session.testing(loader, interceptor: asking)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        await isAsked.wait()
        switch ending {
        case .cancel: request.cancel()
        case .reset: await session.reset()
        }
        let response = await task.response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(loader.requests.count == 1)
    }

    @Test("R9: requests that wait for a token refresh end as cancelled when the session is reset, not with their 401")
    func resetDuringRefresh() async {
        let (isAsked, haveCome, mayEnd) = (Signal(), Signal(), Signal())
        let count = Counter()
        // All are sent before the first one is refused.
        let loader = ScriptedLoader(
            .compute { request in
                if count.increment() == 5 { haveCome.set() }
                await haveCome.wait()
                return .success(HTTPResponse(request: request, status: 401))
            }
        )
        let authentication = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { token, _ in
                isAsked.set()
                // The reset ends the requests, and leaves the refresh to those of other sessions.
                await mayEnd.wait()
                return token
            },
            credential: Token(value: "old")
        )
        let session = Session.testing(loader, interceptor: authentication)
        let tasks = (0..<5).map { session.request(HTTPRequest("/\($0)")).validate().serializingData() }
        await isAsked.wait()
        await session.reset()
        defer { mayEnd.set() }
        for task in tasks {
            let response = await task.response
            #expect(response.error?.isExplicitlyCancelledError == true)
            #expect(response.error?.responseCode == nil)
        }
        #expect(loader.requests.count == 5)
    }

    @Test("R22: of concurrent calls on an empty budget each sees its 503, with the reason on the error")
    func exhaustedBudget() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended) { settings in
            let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 1)
            settings.budgets = Retry.Budgets { _ in budget }
        }
        let tasks = (0..<12).map { session.request(HTTPRequest("/\($0)")).validate().serializingData() }
        var exhausted = 0
        for task in tasks {
            let response = await task.response
            #expect(response.error?.responseCode == 503)
            #expect(response.response?.status == 503)
            if response.error?.attempts.last?.reason == .budgetExhausted { exhausted += 1 }
        }
        #expect(exhausted > 0)
        #expect(loader.requests.count < 36)
    }

    @Test("leading dots and closures make strategies")
    func spellings() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader)
        var request = HTTPRequest.sample
        request.retryStrategy = .delay { _, attempt in attempt.number < 4 ? .seconds(1) : nil }
        _ = await session.request(request).serializingData().response
        #expect(loader.requests.count == 4)
        request.retryStrategy = .constant(delay: .seconds(1), maxAttempts: 2)
        _ = await session.request(request).serializingData().response
        #expect(loader.requests.count == 6)
        let transport: any HTTPLoader = loader
        let chain = Retry(.recommended, budgets: nil, clocks: InstantClock().pair) --> transport
        _ = await chain.load(HTTPRequest.sample)
        #expect(loader.requests.count == 9)
    }
}
