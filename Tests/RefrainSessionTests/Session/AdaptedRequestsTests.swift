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

@Suite("What was sent counts, and not what was asked for", .timeLimit(.minutes(10)))
struct AdaptedRequestsTests {
    private func redirecting(_ location: String) -> ScriptedLoader {
        ScriptedLoader(.status(302, headers: ["Location": location]), .status(200, body: "ok"))
    }

    /// Sends requests for one host to another one, over TLS.
    private let rewriting = Adapter { request, _ in
        guard request.url.host() == "host.test",
            var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        else { return request }
        parts.scheme = "https"
        parts.host = "api.real.test"
        var request = request
        request.url = parts.url ?? request.url
        return request
    }

    @Test("R26: a field that an adapter sets and calls secret does not cross origins")
    func secret() async {
        let loader = redirecting("http://other.test/x")
        let adapter = Adapter { request, _ in
            var request = request
            request.headers["X-Api-Key"] = "secret"
            request.secretHeaders.insert("X-Api-Key")
            return request
        }
        let session = Session.testing(loader, interceptor: Interceptor(adapters: [adapter]))
        _ = await session.request(HTTPRequest.sample).serializingString().response
        #expect(loader.requests.map { $0.headers["X-Api-Key"] } == ["secret", nil])
    }

    @Test("R26: https never falls to http, also where an adapter has brought it there")
    func downgrade() async {
        let loader = redirecting("http://plain.test/x")
        let session = Session.testing(loader, interceptor: Interceptor(adapters: [rewriting]))
        let request = HTTPRequest("/a", method: .put, body: .text("private"))
        let response = await session.request(request).serializingString().response
        #expect(loader.requests.count == 1)
        #expect(response.error?.transportCode == .insecureRedirect)
    }

    @Test("R26: the origin is the one that the request was sent to, and credentials stay with it")
    func sameOrigin() async {
        let loader = redirecting("https://api.real.test/b")
        let session = Session.testing(loader, interceptor: Interceptor(adapters: [rewriting]))
        let signing = Adapter { request, _ in
            var request = request
            request.headers["Authorization"] = "Bearer x"
            return request
        }
        _ = await session.request(HTTPRequest("/a"), interceptor: signing).serializingString().response
        #expect(loader.requests.map { $0.headers["Authorization"] } == ["Bearer x", "Bearer x"])
    }

    @Test("R2: a GET of which an adapter makes a POST is not sent twice")
    func method() async {
        let loader = ScriptedLoader(.status(503), .status(200))
        let adapter = Adapter { request, _ in
            var request = request
            request.method = .post
            request.body = .text("charge")
            return request
        }
        let session = Session.testing(
            loader,
            interceptor: Interceptor(interceptors: [adapter, .recommendedRetryPolicy])
        )
        let response = await session.request(HTTPRequest.sample).serializingString().response
        #expect(loader.requests.map(\.method) == [.post])
        #expect(response.attempts.map(\.reason) == [.notReplayable])
    }

    /// Makes its request anew, and sets one option on it.
    private let renewing = Adapter { request, _ in
        var anew = HTTPRequest(request.url, method: request.method, headers: request.headers, body: request.body)
        anew.replay = .allowed
        return anew
    }

    @Test("R6, R26: an adapter that makes its request anew gives no credentials back that a redirect has dropped")
    func renewedAfterRedirect() async {
        let loader = redirecting("http://other.test/x")
        let oauth = OAuth(store: OAuth.InMemoryTokenStore(OAuth.Token(accessToken: "secret"))) { nil }
        let session = Session.testing(oauth --> loader, interceptor: Interceptor(adapters: [renewing]))
        _ = await session.request(HTTPRequest.sample).serializingString().response
        #expect(loader.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil])
    }

    @Test("An adapter that makes its request anew keeps the options of the caller that it does not set")
    func renewedOptions() async {
        let loader = ScriptedLoader(.status(200))
        let seen = Journal<String>()
        let looking = Adapter { request, _ in
            seen.append(request[option: Note.self])
            return request
        }
        let session = Session.testing(loader, interceptor: Interceptor(adapters: [renewing, looking]))
        var request = HTTPRequest.sample
        request.maximumBodySize = 10
        request.throttle = .never
        request.authentication = .none
        request.replay = .forbidden
        request[option: Note.self] = "mine"
        _ = await session.request(request).serializingString().response
        #expect(loader.requests.map(\.maximumBodySize) == [10])
        #expect(loader.requests.map(\.throttle) == [.never])
        #expect(loader.requests.map(\.authentication) == [.none])
        #expect(loader.requests.map(\.replay) == [.allowed])
        #expect(loader.requests.map { $0[option: Note.self] } == ["mine"])
        #expect(seen.entries == ["mine"])
    }

    private enum Note: HTTPRequestOption { static let defaultValue = "none" }

    @Test("R22, R25: a request that an adapter completes draws on the budget of the origin that it was sent to")
    func completedURL() async throws {
        let loader = ScriptedLoader(.status(503))
        let completing = Adapter { request, _ in
            var request = request
            request.url = URL(string: "http://host.test/\(request.url.path)") ?? request.url
            return request
        }
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 2))
        let budget = RetryBudget(ratio: 0.2, minimumRetriesPerSecond: 0)
        let session = Session.testing(
            loader,
            interceptor: Interceptor(adapters: [completing], interceptors: [policy])
        ) { $0.budgets = Retry.Budgets { _ in budget } }
        let request = try HTTPRequest(path: "people")
        for _ in 0..<50 { _ = await session.request(request).serializingData().response }
        #expect(loader.requests.count <= 60)
        #expect(loader.requests.count > 50)
    }
}
