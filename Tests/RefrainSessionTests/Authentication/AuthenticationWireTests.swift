// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@Suite("On the wire: authentication", .timeLimit(.minutes(10)))
struct AuthenticationWireTests {
    typealias Interceptor = AuthenticationInterceptor<TokenAuthenticator>

    private let server: FaultServer
    /// The number of the token that the server accepts; each refresh hands out the next one.
    private let accepted = Counter()

    init() throws {
        server = try FaultServer()
        accepted.increment()
        server.on("/data") { [accepted] request in
            let isAccepted = request.header("Authorization") == "Bearer t\(accepted.value)"
            return [.respond(.init(isAccepted ? 200 : 401, body: isAccepted ? "data" : "no"))]
        }
        server.on("/token") { [accepted] _ in [.respond(.init(200, body: "t\(accepted.increment())"))] }
    }

    /// Refreshes over the session that is given.
    private func authenticator(_ path: String = "/token") -> TokenAuthenticator {
        let url = server.baseURL + path
        return TokenAuthenticator { _, session in
            Token(value: try await session.request(url, method: .post).validate().serializingString().value)
        }
    }

    private func load(_ session: Session, _ path: String = "/data") -> Request.ResponseTask<String> {
        session.request(server.baseURL + path).validate().serializingString()
    }

    @Test("A: AuthenticationInterceptor: a thousand concurrent requests on an expired token make one refresh")
    func thousand() async {
        // The server has moved on: every request that was signed before the refresh is refused.
        accepted.increment()
        let interceptor = Interceptor(authenticator: authenticator(), credential: Token(value: "t1"))
        let session = Session.overSockets(interceptor)
        let tasks = (0..<1000).map { _ in load(session) }
        var answers: [String?] = []
        for task in tasks { answers.append(await task.response.value) }
        #expect(answers.count { $0 == "data" } == 1000)
        #expect(server.count(path: "/token") == 1)
        // Each was sent once, or once with the old token and once with the new one.
        let sends = server.requests(toPath: "/data").map { $0.header("Authorization") }
        #expect(sends.count { $0 == "Bearer t3" } == 1000)
        #expect(sends.count { $0 == "Bearer t1" } >= 1)
        #expect(sends.count <= 2000)
    }

    @Test("A: AuthenticationInterceptor: a thousand requests on a token that is due wait for one refresh, unsent")
    func thousandDue() async {
        let due = Token(value: "t1", requiresRefresh: true)
        let session = Session.overSockets(Interceptor(authenticator: authenticator(), credential: due))
        let tasks = (0..<1000).map { _ in load(session) }
        var succeeded = 0
        for task in tasks { succeeded += await task.response.value == "data" ? 1 : 0 }
        #expect(succeeded == 1000)
        #expect(server.count(path: "/token") == 1)
        #expect(server.requests(toPath: "/data").allSatisfy { $0.header("Authorization") == "Bearer t2" })
        #expect(server.count(path: "/data") == 1000)
    }

    @Test("a refresh that waits for itself, on a reference of its own to the session, ends with a typed error")
    func waitsForItself() async {
        accepted.increment()
        let url = server.baseURL + "/token"
        let own = Locked<Session?>(nil)
        let authenticator = TokenAuthenticator { _, _ in
            let task = Task.detached {
                guard let session = own.withLock({ $0 }) else { return "" }
                return try await session.request(url, method: .post).validate().serializingString().value
            }
            return Token(value: try await task.value)
        }
        let due = Token(value: "t1", requiresRefresh: true)
        let session = Session.overSockets(
            AuthenticationInterceptor(
                authenticator: authenticator,
                credential: due,
                refreshTimeLimit: .milliseconds(100)
            )
        )
        own.withLock { $0 = session }
        defer { own.withLock { $0 = nil } }
        let error = await load(session).response.error
        #expect((error?.underlyingError as? Auth.Failure) == .refreshTimedOut, "\(String(describing: error))")
        #expect(error.map { "\($0)".contains("refresh(_:for:)") } == true)
        #expect(server.count(path: "/data") == 0 && server.count(path: "/token") == 0)
    }

    @Test(
        "a refresh that leaves its task does not wait for itself on the session that it is given",
        .timeLimit(.minutes(2)),
        arguments: [false, true]
    )
    func leavesTask(isDue: Bool) async {
        accepted.increment()
        let url = server.baseURL + "/token"
        let authenticator = TokenAuthenticator { _, session in
            let task = Task.detached {
                try await session.request(url, method: .post).validate().serializingString().value
            }
            return Token(value: try await task.value)
        }
        let token = Token(value: "t1", requiresRefresh: isDue)
        let session = Session.overSockets(Interceptor(authenticator: authenticator, credential: token))
        for _ in 1...2 { #expect(await load(session).response.value == "data") }
        #expect(server.count(path: "/token") == 1)
    }

    @Test(
        "a reset of the session lets its refresh finish, so that a rotated token is not lost",
        .timeLimit(.minutes(2))
    )
    func resetDuringRefresh() async {
        accepted.increment()
        let begun = Signal()
        server.on("/slow-token") { [accepted] _ in
            begun.set()
            return [.sleep(.milliseconds(200)), .respond(.init(200, body: "t\(accepted.increment())"))]
        }
        let interceptor = Interceptor(authenticator: authenticator("/slow-token"), credential: Token(value: "t1"))
        let session = Session.overSockets(interceptor)
        let task = load(session)
        await begun.wait()
        await session.reset()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        // The request of the refresh has its answer; the token is stored a moment later.
        #expect(await load(session).response.value == "data")
        #expect(interceptor.credential == Token(value: "t3"))
        #expect(server.count(path: "/slow-token") == 1)
    }

    @Test("A: AuthenticationInterceptor: a failed refresh fails all waiting requests, and the next one may try again")
    func failingRefresh() async throws {
        accepted.increment()
        let url = server.baseURL + "/token-down-once"
        server.on("/token-down-once") { [accepted] request in
            request.occurrence == 1
                ? [.respond(.init(500, body: "no token"))] : [.respond(.init(200, body: "t\(accepted.increment())"))]
        }
        // All are sent before the first one is refused, so that none comes to be signed after the refresh has failed.
        let gathering = Gathering(30)
        server.on("/gathered") { [accepted] request in
            gathering.wait(request)
            let isAccepted = request.header("Authorization") == "Bearer t\(accepted.value)"
            return [.respond(.init(isAccepted ? 200 : 401, body: isAccepted ? "data" : "no"))]
        }
        let authenticator = TokenAuthenticator { _, session in
            Token(value: try await session.request(url, method: .post).validate().serializingString().value)
        }
        let interceptor = Interceptor(authenticator: authenticator, credential: Token(value: "t1"))
        let session = Session.overSockets(interceptor)
        let tasks = (0..<30).map { _ in load(session, "/gathered") }
        for task in tasks {
            let error = await task.response.error
            #expect(error?.isRequestRetryError == true)
            #expect((error?.underlyingError as? RefrainError)?.responseCode == 500)
        }
        #expect(server.count(path: "/token-down-once") == 1)
        #expect(server.count(path: "/gathered") == 30)
        #expect(try await load(session, "/gathered").value == "data")
        #expect(server.count(path: "/token-down-once") == 2)
    }

    @Test("A: AuthenticationInterceptor: a storm of refreshes ends as excessive, and is over with its window")
    func storm() async throws {
        server.answer("/closed", 401)
        let clock = InstantClock()
        let window = Auth.RefreshWindow()
        #expect(window.interval == .seconds(30) && window.maximumAttempts == 5)
        let interceptor = Interceptor(
            authenticator: authenticator(),
            credential: Token(value: "t1"),
            refreshWindow: window,
            clock: AnyClock(clock)
        )
        let session = Session.overSockets(interceptor, clock: clock)
        for _ in 0..<5 { #expect(await load(session, "/closed").response.error?.responseCode == 401) }
        #expect(server.count(path: "/token") == 5)
        for _ in 0..<3 {
            let error = await load(session, "/closed").response.error
            #expect(error?.underlyingError as? Auth.Failure == .excessiveRefresh)
        }
        #expect(server.count(path: "/token") == 5)
        clock.advance(by: .seconds(30))
        #expect(await load(session, "/closed").response.error?.responseCode == 401)
        #expect(server.count(path: "/token") == 6)
    }

    @Test("A: AuthenticationInterceptor: a refresh through the same session passes a full throttle and one connection")
    func sameSession() async throws {
        accepted.increment()
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let interceptor = Interceptor(authenticator: authenticator(), credential: Token(value: "t1"))
        let session = Session.testing(try CurlLoader(configuration: configuration), interceptor: interceptor) {
            $0.throttle = Throttle(maximumNumberOfRequests: 1)
        }
        let tasks = (0..<100).map { _ in load(session) }
        for task in tasks { #expect(try await task.value == "data") }
        #expect(server.count(path: "/token") == 1)
        #expect(Set(server.log.map(\.connection)) == [1])
    }

    @Test("A: AuthenticationInterceptor: a request that was signed with an older token is sent again without a refresh")
    func olderToken() async throws {
        let interceptor = Interceptor(authenticator: authenticator(), credential: Token(value: "t0"))
        server.on("/late") { [accepted] request in
            if request.header("Authorization") == "Bearer t\(accepted.value)" {
                return [.respond(.init(200, body: "data"))]
            }
            // Another request has logged in again while the refusal is in flight.
            interceptor.credential = Token(value: "t1")
            return [.respond(.init(401))]
        }
        let session = Session.overSockets(interceptor)
        #expect(try await load(session, "/late").value == "data")
        #expect(server.requests(toPath: "/late").map { $0.header("Authorization") } == ["Bearer t0", "Bearer t1"])
        #expect(server.count(path: "/token") == 0)
    }

    @Test("A: AuthenticationInterceptor: without a credential nothing is sent, and the error says so")
    func missing() async {
        let session = Session.overSockets(Interceptor(authenticator: authenticator()))
        let error = await load(session).response.error
        #expect(error?.underlyingError as? Auth.Failure == .missingCredential)
        #expect(server.log.isEmpty)
    }
}
