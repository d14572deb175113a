// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("What was begun within a request, and lives on", .timeLimit(.minutes(10)))
struct ScopesTests {
    /// A task that an adapter or an authenticator starts, and that works when the request is over.
    private final class Worker<Value: Sendable>: Sendable {
        private let go = Signal()
        private let task = Locked<Task<Value, Never>?>(nil)

        func start(_ work: @escaping @Sendable () async -> Value) {
            task.withLock { task in
                task = Task { [go] in
                    await go.wait()
                    return await work()
                }
            }
        }

        func finish() async throws -> Value {
            go.set()
            return try await #require(task.withLock { $0 }).value
        }
    }

    private struct Slow: Authenticator {
        let refreshing: @Sendable (Session) async throws -> Token

        func apply(_ credential: Token, to request: inout HTTPRequest) {
            request.headers["Authorization"] = credential.value
        }
        func refresh(_ credential: Token, for session: Session) async throws -> Token { try await refreshing(session) }
        func didRequest(
            _ request: HTTPRequest,
            with response: HTTPResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool { response.status == .unauthorized }
        func isRequest(_ request: HTTPRequest, authenticatedWith credential: Token) -> Bool {
            request.headers["Authorization"] == credential.value
        }
    }

    @Test("R24: a task that was begun within a second attempt has attempts of its own when that is over")
    func triesOfItsOwn() async throws {
        let worker = Worker<Void>()
        let inner = ScriptedLoader(.status(503), .status(200))
        let innerSession = Session.testing(inner, interceptor: .recommendedRetryPolicy)
        let attempts = Counter()
        let adapter = Adapter { request, _ in
            if attempts.increment() == 2 {
                worker.start { _ = await innerSession.request(HTTPRequest.sample).serializingString().response }
            }
            return request
        }
        let outer = Session.testing(
            ScriptedLoader(.status(503), .status(200)),
            interceptor: Interceptor(interceptors: [adapter, .recommendedRetryPolicy])
        )
        #expect(await outer.request(HTTPRequest.sample).serializingString().response.response?.status == 200)
        try await worker.finish()
        #expect(inner.requests.count == 2)
    }

    @Test("R24, R27: a refresh that a second attempt has begun has attempts of its own")
    func refreshes() async throws {
        let tokens = Counter()
        let calls = Counter()
        let loader = ScriptedLoader(
            .compute { request in
                let isFirst = request.url.path() == "/token" ? tokens.increment() == 1 : calls.increment() == 1
                let needsToken = request.url.path() != "/token" && request.headers["Authorization"] != "new"
                let status: HTTPStatus = isFirst ? 503 : needsToken ? 401 : 200
                return .success(HTTPResponse(request: request, status: status, body: .text("\(status)")))
            }
        )
        let authentication = AuthenticationInterceptor(
            authenticator: Slow { session in
                _ = try await session.request(HTTPRequest("/token")).validate().serializingString().value
                return Token(value: "new")
            },
            credential: Token(value: "old")
        )
        let session = Session.testing(
            loader,
            interceptor: Interceptor(interceptors: [authentication, .recommendedRetryPolicy])
        )
        let response = await session.request(HTTPRequest("/me")).validate().serializingString().response
        #expect(response.value == "200")
        #expect(tokens.value == 2)
    }

    @Test("R27: a task that was begun within a refresh is signed when that is over")
    func isSigned() async throws {
        let worker = Worker<Void>()
        let seen = Journal<String>()
        let loader = ScriptedLoader(
            .compute { request in
                let value = request.headers["Authorization"] ?? "none"
                if request.url.path() == "/profile" { seen.append(value) }
                let status: HTTPStatus = value == "new" ? 200 : 401
                return .success(HTTPResponse(request: request, status: status, body: .text("x")))
            }
        )
        let authentication = AuthenticationInterceptor(
            authenticator: Slow { session in
                worker.start {
                    _ = await session.request(HTTPRequest("/profile")).validate().serializingString().response
                }
                return Token(value: "new")
            },
            credential: Token(value: "old")
        )
        let session = Session.testing(loader, interceptor: authentication)
        #expect(await session.request(HTTPRequest("/me")).validate().serializingString().response.value == "x")
        try await worker.finish()
        #expect(seen.entries == ["new"])
    }

    @Test("B: ResetGuard: a reset that a task asks for waits, though the task was begun within a request")
    func resetWaits() async throws {
        let worker = Worker<Bool>()
        let isOver = Counter()
        let resumeAndAwait = Signal()
        let loader = ScriptedLoader(
            .compute { request in
                if request.url.path() == "/slow" {
                    await untilCancelled()
                    await resumeAndAwait.wait()
                    isOver.increment()
                }
                return .success(HTTPResponse(request: request, status: 200, body: .text("x")))
            }
        )
        let adapter = Adapter { request, session in
            if request.url.path() == "/first" {
                worker.start {
                    let reset = Task { await session.reset() }
                    // It has begun once the slow request is cancelled; that one returns only now.
                    resumeAndAwait.set()
                    await reset.value
                    return isOver.value == 1
                }
            }
            return request
        }
        let session = Session.testing(loader, interceptor: Interceptor(adapters: [adapter]))
        _ = await session.request(HTTPRequest("/first")).serializingString().response
        let slow = session.request(HTTPRequest("/slow")).serializingString()
        await loader.requests(atLeast: 2)
        #expect(try await worker.finish())
        _ = await slow.response
    }
}
