// SPDX-License-Identifier: Apache-2.0
import RefrainSession
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct ForeignRequest: Error {}

@Suite("Sessions that share exchanges", .timeLimit(.minutes(10)))
struct CoalescingTests {
    private let stage = Deduplicate()
    private let mayEnd = Signal()

    private func session(
        _ loader: any HTTPLoader,
        _ interceptor: (any RequestInterceptor)? = nil,
        monitors: [any EventMonitor] = []
    ) -> Session {
        Session.testing(loader, interceptor: interceptor, monitors: monitors) { [stage] in $0.deduplicate = stage }
    }

    /// Answers these statuses in order, the first one when it may.
    private func loader(_ statuses: Int...) -> ScriptedLoader {
        let number = Counter()
        return ScriptedLoader(
            .compute { [mayEnd] request in
                await mayEnd.wait()
                let status = statuses[min(number.increment(), statuses.count) - 1]
                let body = HTTPBody.text("\(status)")
                return .success(HTTPResponse(request: request, status: HTTPStatus(rawValue: status), body: body))
            }
        )
    }

    @Test("identical requests share one exchange; each has its own checks and its own readers")
    func sharing() async throws {
        let loader = loader(200)
        let session = session(loader)
        let first = session.request(HTTPRequest.sample).validate().serializingString()
        let strict = session.request(HTTPRequest.sample).validate(statusCode: 300..<400).serializingData()
        #expect(stage.numberOfWaitingRequests == 2)
        mayEnd.set()
        #expect(try await first.value == "200")
        #expect(await strict.response.error?.responseCode == 200)
        #expect(loader.requests.count == 1)
    }

    @Test("the checks of a request that joins see what it asked for, and not what the first one sent")
    func ownRequest() async throws {
        let loader = ScriptedLoader(
            .status(302, headers: ["Location": "/moved"]),
            .compute { [mayEnd] request in
                await mayEnd.wait()
                return .success(HTTPResponse(request: request, status: 200, body: .text("200")))
            }
        )
        let session = session(loader)
        let first = session.request(HTTPRequest.sample).serializingString()
        #expect(stage.numberOfWaitingRequests == 1)
        let second = session.request(HTTPRequest.sample)
            .validate { request, _, _ in
                request?.url == HTTPRequest.sample.url ? .success(()) : .failure(ForeignRequest())
            }
            .serializingString()
        #expect(stage.numberOfWaitingRequests == 2)
        mayEnd.set()
        #expect(try await first.value == "200")
        #expect(try await second.value == "200")
        #expect(loader.requests.map(\.url.path) == ["/sample", "/moved"])
    }

    /// Answers each request, when it may, with the credential that it came with.
    private func credentialLoader() -> ScriptedLoader {
        ScriptedLoader(
            .compute { [mayEnd] request in
                await mayEnd.wait()
                let body = HTTPBody.text(request.headers["Authorization"] ?? "none")
                return .success(HTTPResponse(request: request, status: 200, body: body))
            }
        )
    }

    @Test("requests that adapters sign share nothing, though they ask for the same before that")
    func ownCredentials() async throws {
        let loader = credentialLoader()
        let session = session(loader)
        let tasks = ["ada", "ben"].map { name in
            let adapter = Adapter { request, _ in
                var request = request
                request.headers["Authorization"] = name
                return request
            }
            return session.request(HTTPRequest.sample, interceptor: adapter).serializingString()
        }
        await loader.requests(atLeast: 2)
        mayEnd.set()
        #expect(try await tasks[0].value == "ada")
        #expect(try await tasks[1].value == "ben")
    }

    @Test("a request of the next user does not get what the one before has asked for")
    func nextUser() async throws {
        let loader = credentialLoader()
        let authentication = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { token, _ in token },
            credential: Token(value: "ada")
        )
        let session = session(loader, authentication)
        let first = session.request(HTTPRequest.sample).serializingString()
        await loader.requests(atLeast: 1)
        authentication.credential = Token(value: "ben")
        let second = session.request(HTTPRequest.sample).serializingString()
        await loader.requests(atLeast: 2)
        mayEnd.set()
        #expect(try await first.value == "Bearer ada")
        #expect(try await second.value == "Bearer ben")
    }

    @Test("requests whose interceptors only decide on further attempts share their exchange")
    func retriersOnly() async throws {
        let loader = loader(200)
        let session = session(loader, Retrier { _, _, _ in .doNotRetry })
        let tasks = (0..<2).map { _ in session.request(HTTPRequest.sample).serializingString() }
        #expect(stage.numberOfWaitingRequests == 2)
        mayEnd.set()
        for task in tasks { #expect(try await task.value == "200") }
        #expect(loader.requests.count == 1)
    }

    @Test("a request with a retrier of its own has an exchange of its own, which that one decides on")
    func ownRetrier() async throws {
        let loader = loader(503, 503, 200)
        let session = session(loader)
        let plain = session.request(HTTPRequest.sample).serializingString()
        await loader.requests(atLeast: 1)
        let policy = RetryPolicy(exponentialBackoffScale: 0)
        let own = session.request(HTTPRequest.sample, interceptor: policy).validate().serializingString()
        await loader.requests(atLeast: 2)
        mayEnd.set()
        #expect(try await own.value == "200")
        #expect(await plain.response.response?.status == 503)
        #expect(loader.requests.count == 3)
    }

    @Test("the request that started the exchange may be cancelled; its retriers are called for the remaining ones")
    func ownerKeeping() async throws {
        let loader = loader(503, 200)
        let session = session(loader, RetryPolicy(exponentialBackoffScale: 0))
        weak var began: DataRequest?
        func begin() -> Request.ResponseTask<String> {
            let request = session.request(HTTPRequest.sample).validate()
            began = request
            let task = request.serializingString()
            #expect(stage.numberOfWaitingRequests == 1)
            return task
        }
        func leave() async {
            let task = begin()
            stays = session.request(HTTPRequest.sample).validate().serializingString()
            #expect(stage.numberOfWaitingRequests == 2)
            began?.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
            #expect(stage.numberOfWaitingRequests == 1)
        }
        var stays: Request.ResponseTask<String>?
        await leave()
        // The first request is not referenced here any more.
        mayEnd.set()
        #expect(try await stays?.value == "200")
        #expect(loader.requests.count == 2)
        await untilFreed { began }
    }

    @Test("a suspended request does not delay the others of its exchange", .timeLimit(.minutes(5)))
    func suspended() async throws {
        let loader = loader(503, 200)
        let session = session(loader, RetryPolicy(exponentialBackoffScale: 0))
        let first = session.request(HTTPRequest.sample)
        let leading = first.serializingString()
        #expect(stage.numberOfWaitingRequests == 1)
        let joined = session.request(HTTPRequest.sample).serializingString()
        #expect(stage.numberOfWaitingRequests == 2)
        first.suspend()
        mayEnd.set()
        #expect(try await joined.value == "200")
        first.resume()
        #expect(try await leading.value == "200")
        #expect(loader.requests.count == 2)
    }

    @Test("a suspended request that waits alone is held, until another one joins", .timeLimit(.minutes(5)))
    func joinsSuspended() async throws {
        let loader = loader(503, 200)
        mayEnd.set()
        let suspends = Retrier { request, _, _ in
            request.suspend()
            return .retry
        }
        let isRetrying = Signal()
        let session = session(loader, suspends, monitors: [.retrying(isRetrying)])
        let first = session.request(HTTPRequest.sample)
        let leading = first.serializingString()
        await isRetrying.wait()
        #expect(loader.requests.count == 1)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "200")
        #expect(try await leading.value == "200")
        #expect(loader.requests.count == 2)
    }

    @Test(
        "a suspended request that is cancelled does not hold up the requests that share its exchange",
        .timeLimit(.minutes(5))
    )
    func cancelledSuspended() async throws {
        let loader = loader(503, 200)
        let session = session(loader, RetryPolicy(exponentialBackoffScale: 0))
        let first = session.request(HTTPRequest.sample)
        let leading = first.serializingString()
        #expect(stage.numberOfWaitingRequests == 1)
        let joined = session.request(HTTPRequest.sample).serializingString()
        #expect(stage.numberOfWaitingRequests == 2)
        first.suspend()
        first.cancel()
        #expect(await leading.response.error?.isExplicitlyCancelledError == true)
        mayEnd.set()
        #expect(try await joined.value == "200")
    }

    @Test("two sessions with the same settings share nothing: their loaders may speak for different users")
    func twoSessions() async throws {
        let loader = credentialLoader()
        func session(_ user: String) -> Session {
            let oauth = OAuth(store: OAuth.InMemoryTokenStore(OAuth.Token(accessToken: user))) { nil }
            return self.session(oauth --> loader)
        }
        let (ada, ben) = (session("ada"), session("ben"))
        let first = ada.request(HTTPRequest.sample).serializingString()
        let second = ben.request(HTTPRequest.sample).serializingString()
        let third = ben.request(HTTPRequest.sample).serializingString()
        #expect(stage.numberOfWaitingRequests == 3)
        #expect(stage.numberOfExchanges == 2)
        mayEnd.set()
        #expect(try await first.value == "Bearer ada")
        #expect(try await second.value == "Bearer ben")
        #expect(try await third.value == "Bearer ben")
    }

    @Test("a reset of one session ends nothing of another one with the same settings")
    func resetOfOne() async throws {
        let (one, two) = (session(loader(200)), session(loader(200)))
        let stays = two.request(HTTPRequest.sample).serializingString()
        #expect(stage.numberOfWaitingRequests == 1)
        await one.reset()
        mayEnd.set()
        #expect(try await stays.value == "200")
    }

    @Test("a request after a log-out does not join what was begun for the user before, within the session's loader")
    func loggedOut() async throws {
        let loader = credentialLoader()
        let oauth = OAuth(store: OAuth.InMemoryTokenStore(OAuth.Token(accessToken: "ada"))) {
            OAuth.Token(accessToken: "ben")
        }
        let session = session(oauth --> loader)
        let first = session.request(HTTPRequest.sample).serializingString()
        await loader.requests(atLeast: 1)
        await oauth.forgetToken()
        let second = session.request(HTTPRequest.sample).serializingString()
        #expect(stage.numberOfWaitingRequests == 2)
        mayEnd.set()
        #expect(try await first.value == "Bearer ada")
        #expect(try await second.value == "Bearer ben")
    }
}
