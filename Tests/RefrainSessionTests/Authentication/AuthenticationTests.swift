// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Authentication", .timeLimit(.minutes(10)))
struct AuthenticationTests {
    typealias Interceptor = AuthenticationInterceptor<TokenAuthenticator>

    private func interceptor(
        _ service: TokenService,
        token: Token? = Token(value: "t1"),
        window: Auth.RefreshWindow? = .standard,
        clock: InstantClock = InstantClock()
    ) -> Interceptor {
        let authenticator = TokenAuthenticator { _, _ in Token(value: service.refresh()) }
        return Interceptor(
            authenticator: authenticator,
            credential: token,
            refreshWindow: window,
            clock: AnyClock(clock)
        )
    }

    @Test("R24: the requests of a refresh have attempts of their own, also within Task.retrying")
    func refreshWithinTaskRetrying() async throws {
        let mock = MockLoader().then(.status(503)).otherwise(.status(200, body: .text("t2")))
        var settings = Session.Settings()
        settings.budgets = nil
        settings.clocks = InstantClock().pair
        let tokens = Session(loader: mock, settings: settings)
        let authenticator = TokenAuthenticator { _, _ in
            let request = tokens.request(HTTPRequest("/token")).validate()
            return Token(value: try await request.serializingString().value)
        }
        let interceptor = Interceptor(authenticator: authenticator, credential: Token(value: "t1"))
        let session = Session.testing(TokenService(accepting: 2), interceptor: interceptor)
        let task = Task.retrying(maxRetryCount: 0, retryDelay: .zero) {
            try await session.request(HTTPRequest.sample).validate().serializingString().value
        }
        #expect(try await task.value == "200")
        #expect(mock.requests.count == 2)
    }

    @Test("A: AuthenticationInterceptor: a request is signed")
    func signs() async throws {
        let service = TokenService()
        let session = Session.testing(service, interceptor: interceptor(service))
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "200")
        #expect(service.refreshes == 0)
    }

    @Test("R27: a refused request is sent once more after a refresh, a POST too, without using up attempts or budget")
    func refreshes() async throws {
        let service = TokenService(accepting: 2)
        let session = Session.testing(service, interceptor: interceptor(service)) { settings in
            settings.budgets = Retry.Budgets { _ in
                RetryBudget(ratio: 0, minimumRetriesPerSecond: 0)
            }
        }
        let request = session.request(HTTPRequest("/a", method: .post, body: .text("x"))).validate()
        let response = await request.serializingString().response
        #expect(response.value == "200")
        #expect(service.refreshes == 1)
        #expect(response.attempts.map(\.reason) == [.credentialsRefreshed, .succeeded])
    }

    @Test("A: AuthenticationInterceptor: the authenticator is asked as often as Alamofire asks it")
    func questions() async throws {
        struct Counting: Authenticator {
            let calls = Locked<[String]>([])
            let base: TokenAuthenticator

            func apply(_ credential: Token, to request: inout HTTPRequest) {
                calls.withLock { $0.append("apply") }
                base.apply(credential, to: &request)
            }
            func refresh(_ credential: Token, for session: Session) async throws -> Token {
                calls.withLock { $0.append("refresh") }
                return try await base.refresh(credential, for: session)
            }
            func didRequest(
                _ request: HTTPRequest,
                with response: HTTPResponse,
                failDueToAuthenticationError error: any Error
            ) -> Bool {
                calls.withLock { $0.append("didRequest") }
                return base.didRequest(request, with: response, failDueToAuthenticationError: error)
            }
            func isRequest(_ request: HTTPRequest, authenticatedWith credential: Token) -> Bool {
                calls.withLock { $0.append("isRequest") }
                return base.isRequest(request, authenticatedWith: credential)
            }
        }
        let service = TokenService(accepting: 2)
        let counting = Counting(base: TokenAuthenticator { _, _ in Token(value: service.refresh()) })
        let authentication = AuthenticationInterceptor(authenticator: counting, credential: Token(value: "t1"))
        let session = Session.testing(service, interceptor: authentication)
        _ = try await session.request(HTTPRequest.sample).validate().serializingData().value
        #expect(counting.calls.withLock { $0 } == ["apply", "didRequest", "isRequest", "refresh", "apply"])
    }

    @Test("R27: a request that is refused again after its replay is not sent a third time")
    func oneReplay() async {
        let service = TokenService(acceptsNothing: true)
        let session = Session.testing(service, interceptor: interceptor(service))
        let error = await session.request(HTTPRequest.sample).validate().serializingData().response.error
        #expect(error?.responseCode == 401)
        #expect(service.requests == 2)
        #expect(service.refreshes == 1)
    }

    /// Redirects everything but the target, which refuses all requests, and keeps what was sent.
    private struct Refusing: HTTPLoader {
        let target: String
        let sent = Locked<[HTTPRequest]>([])

        func load(_ request: HTTPRequest) async -> HTTPResult {
            sent.withLock { $0.append(request) }
            if request.url.absoluteString == target { return .success(HTTPResponse(request: request, status: 401)) }
            return .success(HTTPResponse(request: request, status: 302, headers: ["Location": target]))
        }
    }

    @Test(
        "R27, R33: a refusal behind a redirect has its one replay, and is no URL that has expired",
        arguments: [("https://a.example/end", 3, 1), ("https://b.example/end", 2, 0)]
    )
    func redirected(target: String, sends: Int, refreshes: Int) async throws {
        let (service, server) = (TokenService(), Refusing(target: target))
        let session = Session.testing(server, interceptor: interceptor(service))
        let request = session.request("https://a.example/").validate()
        #expect(await request.serializingData().response.error?.responseCode == 401)
        // Another origin gets no credential, with a replay or without it.
        #expect(server.sent.withLock { $0.count } == sends && service.refreshes == refreshes)
    }

    @Test("R27: a fresh credential that needs a refresh is used once as it is, also where a refusal has asked for it")
    func bornDue() async throws {
        let service = TokenService(accepting: 1)
        let authenticator = TokenAuthenticator { _, _ in Token(value: service.refresh(), requiresRefresh: true) }
        let interceptor = Interceptor(authenticator: authenticator, credential: Token(value: "t0"))
        let session = Session.testing(service, interceptor: interceptor)
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "200")
        #expect(service.refreshes == 1)
        #expect(service.requests == 2)
        // Used once, and no more: the next request gets one of its own before it is sent.
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "200")
        #expect(service.refreshes == 2)
        #expect(service.requests == 3)
    }

    @Test("A: AuthenticationInterceptor: a credential that is due is refreshed before it is used")
    func due() async throws {
        let service = TokenService()
        let session = Session.testing(
            service,
            interceptor: interceptor(service, token: Token(value: "t1", requiresRefresh: true))
        )
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "200")
        #expect(service.requests == 1)
        #expect(service.refreshes == 1)
    }

    @Test("A: AuthenticationInterceptor: without a credential a request fails, and says so")
    func missing() async {
        let service = TokenService()
        let interceptor = interceptor(service, token: nil)
        let session = Session.testing(service, interceptor: interceptor)
        let error = await session.request(HTTPRequest.sample).serializingData().response.error
        #expect(error?.underlyingError as? Auth.Failure == .missingCredential)
        #expect(service.requests == 0)
        interceptor.credential = Token(value: "t1")
        #expect(await session.request(HTTPRequest.sample).serializingString().response.value == "200")
    }

    @Test("R27: a thousand concurrent refusals make one refresh")
    func thousand() async {
        // All are refused with the same token: none is answered before all have come.
        let service = TokenService(accepting: 1, gathering: 1000)
        let interceptor = interceptor(service, token: Token(value: "t0"))
        let session = Session.testing(service, interceptor: interceptor)
        let tasks = (0..<1000).map { _ in session.request(HTTPRequest.sample).validate().serializingString() }
        var succeeded = 0
        for task in tasks { succeeded += await task.response.value == "200" ? 1 : 0 }
        #expect(succeeded == 1000)
        #expect(service.refreshes == 1)
        #expect(service.requests == 2000)
    }

    @Test(
        "A: AuthenticationInterceptor: a request that was signed before a refresh is sent again without another one"
    )
    func oldCredential() async throws {
        let service = TokenService(accepting: 2)
        let interceptor = interceptor(service, token: Token(value: "t1"))
        let loader = AnyLoader { request in
            let result = await service.load(request)
            // The new credential arrives while the refused answer is on its way.
            if service.refusals == 1 { interceptor.credential = Token(value: "t2") }
            return result
        }
        let session = Session.testing(loader, interceptor: interceptor)
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "200")
        #expect(service.refreshes == 0)
        #expect(service.requests == 2)
    }

    @Test("R27: a failed refresh fails all waiting requests, and the next one may try again")
    func failingRefresh() async throws {
        let service = TokenService(accepting: 1, gathering: 100)
        let (refreshes, mayEnd) = (Counter(), Signal())
        let interceptor = Interceptor(
            authenticator: TokenAuthenticator { _, _ in
                let number = refreshes.increment()
                await mayEnd.wait()
                guard number > 1 else { throw TestError(name: "refresh") }
                return Token(value: service.refresh())
            },
            credential: Token(value: "t0")
        )
        let session = Session.testing(service, interceptor: interceptor)
        let tasks = (0..<100).map { _ in session.request(HTTPRequest.sample).validate().serializingString() }
        await service.refusals(atLeast: 100)
        mayEnd.set()
        for task in tasks {
            let error = await task.response.error
            #expect(error?.underlyingError as? TestError == TestError(name: "refresh"))
        }
        #expect(refreshes.value == 1)
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "200")
        #expect(refreshes.value == 2)
    }

    @Test("A: AuthenticationInterceptor: a storm of refreshes ends with excessiveRefresh, and passes with the window")
    func storm() async throws {
        let service = TokenService(acceptsNothing: true)
        let clock = InstantClock()
        let window = Auth.RefreshWindow(interval: .seconds(30), maximumAttempts: 5)
        let interceptor = interceptor(service, window: window, clock: clock)
        let session = Session.testing(service, interceptor: interceptor, clock: clock)
        for _ in 0..<5 {
            let error = await session.request(HTTPRequest.sample).validate().serializingData().response.error
            #expect(error?.responseCode == 401)
        }
        let error = await session.request(HTTPRequest.sample).validate().serializingData().response.error
        #expect(error?.underlyingError as? Auth.Failure == .excessiveRefresh)
        #expect(service.refreshes == 5)
        clock.advance(by: .seconds(30))
        _ = await session.request(HTTPRequest.sample).validate().serializingData().response
        #expect(service.refreshes == 6)
    }

    @Test("A: AuthenticationInterceptor: a refresh that goes through the same session does not wait for itself")
    func sameSession() async throws {
        let service = TokenService(accepting: 2)
        let authenticator = TokenAuthenticator { _, session in
            var request = HTTPRequest("/token")
            request.headers["X-Refresh"] = "1"
            return Token(value: try await session.request(request).validate().serializingString().value)
        }
        let interceptor = Interceptor(authenticator: authenticator, credential: Token(value: "t1"))
        let session = Session.testing(service, interceptor: interceptor)
        let tasks = (0..<50).map { _ in session.request(HTTPRequest.sample).validate().serializingString() }
        for task in tasks { #expect(try await task.value == "200") }
    }

    @Test("R9: a request that is cancelled while it waits for a refresh leaves at once; the refresh goes on")
    func cancelledWaiter() async throws {
        let service = TokenService(accepting: 2)
        let (begun, mayEnd) = (Signal(), Signal())
        let interceptor = Interceptor(
            authenticator: TokenAuthenticator { _, _ in
                begun.set()
                await mayEnd.wait()
                return Token(value: "t2")
            },
            credential: Token(value: "t1", requiresRefresh: true)
        )
        let session = Session.testing(service, interceptor: interceptor)
        let (first, second) = (session.request(HTTPRequest.sample), session.request(HTTPRequest.sample))
        let (left, stayed) = (first.serializingString(), second.serializingString())
        await begun.wait()
        first.cancel()
        #expect(await left.response.error?.isExplicitlyCancelledError == true)
        mayEnd.set()
        #expect(try await stayed.value == "200")
    }

    @Test(
        "R2: after a 403 the credential is refreshed, but a POST is sent again only where that is allowed",
        arguments: [(HTTPRequest.Replay.automatic, 1), (.allowed, 2)]
    )
    func forbidden(replay: HTTPRequest.Replay, sends: Int) async {
        struct ByStatus: Authenticator {
            func apply(_ credential: Token, to request: inout HTTPRequest) {
                request.headers["Authorization"] = credential.value
            }
            func refresh(_ credential: Token, for session: Session) async throws -> Token { Token(value: "t2") }
            func didRequest(
                _ request: HTTPRequest,
                with response: HTTPResponse,
                failDueToAuthenticationError error: any Error
            ) -> Bool { response.status == .forbidden }
            func isRequest(_ request: HTTPRequest, authenticatedWith credential: Token) -> Bool {
                request.headers["Authorization"] == credential.value
            }
        }
        let loader = ScriptedLoader(.status(403), .status(200, body: "ok"))
        let interceptor = AuthenticationInterceptor(authenticator: ByStatus(), credential: Token(value: "t1"))
        let session = Session.testing(loader, interceptor: interceptor)
        var plain = HTTPRequest("/a", method: .post, body: .text("x"))
        plain.replay = replay
        let request = session.request(plain)
        _ = await request.serializingData().response
        #expect(loader.requests.count == sends)
        #expect(interceptor.credential == Token(value: "t2"))
        #expect(request.attempts.first?.reason == (sends == 1 ? .notReplayable : .credentialsRefreshed))
    }

    /// An interceptor that logs, or does nothing at all, and asks another one.
    private struct Wrapping: RequestInterceptor {
        let inner: any RequestInterceptor

        func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
            try await inner.adapt(request, for: session)
        }

        func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
            await inner.retry(request, for: session, dueTo: error)
        }
    }

    @Test(
        "R23: the replay after a refresh uses up no budget and no attempt, also where the interceptor is wrapped"
    )
    func wrapped() async throws {
        let service = TokenService(accepting: 2)
        let session = Session.testing(service, interceptor: Wrapping(inner: interceptor(service))) { settings in
            settings.budgets = Retry.Budgets { _ in
                RetryBudget(ratio: 0, minimumRetriesPerSecond: 0)
            }
        }
        let request = session.request(HTTPRequest("/a", method: .post, body: .text("x"))).validate()
        let response = await request.serializingString().response
        #expect(response.value == "200")
        #expect(service.refreshes == 1)
        #expect(response.attempts.map(\.reason) == [.credentialsRefreshed, .succeeded])
        #expect(response.attempts.first?.rules.isSuperset(of: Rules(23, 27)) == true)
    }

    @Test("R27: what a wrapped interceptor has refreshed for one attempt says nothing of another retrier's retries")
    func wrappedOnce() async throws {
        let service = TokenService(acceptsNothing: true)
        let always = Retrier { request, _, _ in request.retryCount < 3 ? .retry : .doNotRetry }
        let wrapping = Wrapping(inner: interceptor(service))
        let session = Session.testing(
            service,
            interceptor: RefrainSession.Interceptor(retriers: [always], interceptors: [wrapping])
        ) { settings in
            settings.budgets = Retry.Budgets { _ in
                RetryBudget(ratio: 0, minimumRetriesPerSecond: 0)
            }
        }
        let response = await session.request(HTTPRequest.sample).serializingResponse().response
        // The other retrier is asked last, and its retry is paid for: there is nothing to pay with.
        #expect(response.attempts.map(\.reason) == [.budgetExhausted])
    }

    @Test("R27: within a second attempt of an outer retry stage a 401 is refreshed for, and nothing else is retried")
    func nested() async throws {
        let service = TokenService(accepting: 2)
        let asked = Counter()
        let others = Retrier { _, _, _ in
            asked.increment()
            return .retry
        }
        let interceptors: [any RequestInterceptor] = [others, RetryPolicy.recommended, interceptor(service)]
        let session = Session.testing(service, interceptor: RefrainSession.Interceptor(interceptors: interceptors))
        let response = await NestedRetry.within {
            await session.request(HTTPRequest.sample).serializingResponse().response
        }
        #expect(response.response?.status == 200)
        #expect(response.attempts.map(\.reason) == [.credentialsRefreshed, .succeeded])
        #expect(service.requests == 2)

        // Refused once more, or for another reason: the attempts are those of the stage further out (rule R24).
        for (refusing, status, sends) in [(TokenService(acceptsNothing: true), 401, 2), (TokenService(), 503, 1)] {
            let sent = Counter()
            let loader = AnyLoader { request in
                sent.increment()
                guard status == 401 else { return .success(HTTPResponse(request: request, status: 503)) }
                return await refusing.load(request)
            }
            let interceptors: [any RequestInterceptor] = [others, RetryPolicy.recommended, interceptor(refusing)]
            let session = Session.testing(loader, interceptor: RefrainSession.Interceptor(interceptors: interceptors))
            let response = await NestedRetry.within {
                await session.request(HTTPRequest.sample).serializingResponse().response
            }
            #expect(response.response?.status.rawValue == status)
            #expect(response.attempts.last?.reason == .nested)
            #expect(sent.value == sends)
        }
        #expect(asked.value == 0)
    }

    @Test("A: AuthenticationInterceptor: a request that wants no authentication is not signed, nor refreshed for")
    func unauthenticated() async throws {
        let service = TokenService(accepting: 2)
        let session = Session.testing(
            service,
            interceptor: interceptor(service, token: Token(value: "t1", requiresRefresh: true))
        )
        var request = HTTPRequest.sample
        request.authentication = .none
        let response = await session.request(request).validate().serializingData().response
        #expect(response.error?.responseCode == 401)
        #expect(response.response?.request.headers["Authorization"] == nil)
        #expect(service.refreshes == 0)
        #expect(service.requests == 1)
    }

    @Test(
        "R27: a refresh that makes its request in a task of its own does not wait for itself",
        .timeLimit(.minutes(5))
    )
    func detachedRefresh() async throws {
        let service = TokenService(accepting: 2)
        let authenticator = TokenAuthenticator { _, session in
            try await Task.detached {
                var request = HTTPRequest("/token")
                request.headers["X-Refresh"] = "1"
                request.authentication = .none
                return Token(value: try await session.request(request).validate().serializingString().value)
            }.value
        }
        let interceptor = Interceptor(authenticator: authenticator, credential: Token(value: "t1"))
        // The refresh makes token 3 the accepted one.
        let session = Session.testing(service, interceptor: interceptor)
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "200")
    }

    /// Answers numbered requests in the order of their numbers, each with a 401; all others at once.
    private func turnstile(_ mayEnd: [Signal]) -> some HTTPLoader {
        AnyLoader { request in
            if let number = Int(request.url.lastPathComponent) { await mayEnd[number].wait() }
            return .success(HTTPResponse(request: request, status: 401))
        }
    }

    @Test("R27: a failed refresh is not repeated for requests in flight, but for later ones")
    func sharedFailure() async throws {
        let signals = (0..<4).map { _ in Signal() }
        let (arrived, refreshes) = (Counter(), Counter())
        let held = turnstile(signals)
        let loader = AnyLoader { request in
            _ = arrived.increment()
            return await held.load(request)
        }
        let interceptor = Interceptor(
            authenticator: TokenAuthenticator { _, _ in throw TestError(name: "refresh \(refreshes.increment())") },
            credential: Token(value: "t1"),
            refreshWindow: nil
        )
        let session = Session.testing(loader, interceptor: Wrapping(inner: interceptor))
        let tasks = (0..<4).map { session.request(HTTPRequest("/\($0)")).serializingData() }
        await arrived.reaches(4)
        for (task, signal) in zip(tasks, signals) {
            signal.set()
            let error = await task.response.error
            #expect(error?.underlyingError as? TestError == TestError(name: "refresh 1"))
        }
        #expect(refreshes.value == 1)
        let later = await session.request(HTTPRequest.sample).serializingData().response.error
        #expect(later?.underlyingError as? TestError == TestError(name: "refresh 2"))
    }

    @Test("R27: a credential from outside ends the failure of the refresh before it")
    func replacedAfterFailure() async throws {
        let mayEnd = Signal()
        let (arrived, refreshes) = (Counter(), Counter())
        let loader = AnyLoader { request in
            _ = arrived.increment()
            if request.url.lastPathComponent == "late", arrived.value <= 2 { await mayEnd.wait() }
            let isAccepted = request.headers["Authorization"] == "Bearer t3"
            return .success(HTTPResponse(request: request, status: isAccepted ? 200 : 401, body: .text("x")))
        }
        let interceptor = Interceptor(
            authenticator: TokenAuthenticator { _, _ in
                guard refreshes.increment() > 1 else { throw TestError(name: "refresh") }
                return Token(value: "t3")
            },
            credential: Token(value: "t1"),
            refreshWindow: nil
        )
        let session = Session.testing(loader, interceptor: interceptor)
        let late = session.request(HTTPRequest("/late")).validate().serializingString()
        await arrived.reaches(1)
        #expect(await session.request(HTTPRequest.sample).serializingData().response.error != nil)
        interceptor.credential = Token(value: "t2")
        interceptor.credential = Token(value: "t1")
        mayEnd.set()
        #expect(try await late.value == "x")
        #expect(refreshes.value == 2)
    }
}
