// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("On the wire: stages that sign requests", .timeLimit(.minutes(10)))
struct AuthenticationTests {
    let server: FaultServer
    /// The number of the token that the server accepts.
    let accepted = Locked(1)

    init() throws {
        server = try FaultServer()
        server.on("/basic") { request in
            request.header("Authorization") == "Basic QWRhOnNlY3JldA=="
                ? [.respond(.ok)]
                : [.respond(.init(401, headers: [("WWW-Authenticate", "Basic realm=\"all\"")]))]
        }
        server.on("/data") { [accepted] request in
            let isAccepted = request.header("Authorization") == "Bearer t\(accepted.withLock { $0 })"
            return isAccepted ? [.respond(.ok)] : [.respond(.init(401))]
        }
        server.on("/token") { [accepted] _ in
            let number = accepted.withLock { number in
                number += 1
                return number
            }
            return [.respond(.init(200, body: "t\(number)"))]
        }
    }

    private func request(_ path: String) throws -> HTTPRequest { try HTTPRequest(server.baseURL + path) }

    /// Hands out what the server says, through a loader of its own.
    private func oauth(_ token: String?) throws -> OAuth {
        let (loader, url) = (try transport(), server.baseURL + "/token")
        let fetch: @Sendable () async throws -> OAuth.Token = {
            let response = try await loader.response(for: HTTPRequest(url, method: .post))
            return OAuth.Token(accessToken: response.text ?? "", refreshToken: "again")
        }
        let stored = token.map { OAuth.Token(accessToken: $0, refreshToken: "again") }
        return OAuth(
            store: OAuth.InMemoryTokenStore(stored),
            refresh: { _ in try await fetch() },
            logIn: { try await fetch() }
        )
    }

    @Test("B: BasicAuth: credentials are asked for once, while a hundred requests wait for them")
    func basic() async throws {
        let asked = Locked(0)
        let stage = BasicAuth { _ in
            asked.withLock { $0 += 1 }
            return try BasicAuth.Credentials(user: "Ada", password: "secret")
        }
        let chain = try stage --> transport()
        let tasks = try (0..<100).map { _ in chain.load(try request("/basic")) { _ in } }
        for task in tasks { #expect(try await task.result.get().status == 200) }
        #expect(asked.withLock { $0 } == 1)
        let before = server.log.count
        #expect(try await chain.response(for: request("/basic")).status == 200)
        #expect(server.log.count == before + 1)
    }

    @Test(
        "R2, R27: a 401 before a large body was read is answered with credentials, and the body arrives whole, once",
        arguments: [false, true]
    )
    func earlyChallenge(closes: Bool) async throws {
        let body = [UInt8](repeating: 7, count: 8_000_000)
        server.on("/early", readsBody: false) { request in
            if request.header("Authorization") == "Basic QWRhOnNlY3JldA==" { return [.readBody, .respond(.ok)] }
            var answer = FaultServer.Response(401, headers: [("WWW-Authenticate", "Basic realm=\"all\"")])
            if closes { answer.headers.append(("Connection", "close")) }
            // RFC 9112 §9.3: what is left of the body is read, or the connection closed.
            return closes ? [.respond(answer), .close] : [.respond(answer), .readBody]
        }
        let stage = BasicAuth { _ in try BasicAuth.Credentials(user: "Ada", password: "secret") }
        let chain = try Retry(RetryPolicy.recommended, budgets: nil) --> stage --> transport()
        let request = try HTTPRequest(server.baseURL + "/early", method: .post, body: .bytes(body))
        let response = try await chain.response(for: request)
        #expect(response.status == 200)
        let arrived = server.requests(toPath: "/early")
        #expect(arrived.count == 2)
        #expect(arrived.last?.bodyLength == body.count)
    }

    @Test("R7: a 413 before a large body was read is final: the answer counts, and nothing is sent again")
    func earlyRefusal() async throws {
        server.on("/early", readsBody: false) { _ in
            [.respond(.init(413, headers: [("Connection", "close")], body: "too large")), .close]
        }
        let chain = try Retry(RetryPolicy.recommended, budgets: nil) --> transport()
        let body = HTTPBody.bytes([UInt8](repeating: 7, count: 8_000_000))
        let response = try await chain.response(for: HTTPRequest(server.baseURL + "/early", method: .put, body: body))
        #expect(response.status == 413)
        #expect(response.text == "too large")
        #expect(response.attempts.count == 1)
        #expect(server.count(path: "/early") == 1)
    }

    @Test("B: OAuth: a stored token, then a refresh for all who are refused, then a log-in where nothing is stored")
    func oauthStages() async throws {
        let chain = try oauth("t1") --> transport()
        #expect(try await chain.response(for: request("/data")).status == 200)
        #expect(server.count(path: "/token") == 0)
        accepted.withLock { $0 = 7 }
        let tasks = try (0..<200).map { _ in chain.load(try request("/data")) { _ in } }
        for task in tasks { #expect(try await task.result.get().status == 200) }
        #expect(server.count(path: "/token") == 1)
        let stranger = try oauth(nil) --> transport()
        #expect(try await stranger.response(for: request("/data")).status == 200)
        #expect(server.count(path: "/token") == 2)
    }

    @Test("B: Auth: the option of a request chooses who signs it, over one transport")
    func routes() async throws {
        let basic = BasicAuth(.beforehand) { _ in try BasicAuth.Credentials(user: "Ada", password: "secret") }
        let auth = Auth([.basic: basic, .oauth: try oauth("t1")], default: .oauth)
        let chain = try auth --> transport(1)
        for method in [Auth.Method.automatic, .oauth, .basic, .none] {
            var request = try request("/ok")
            request.authentication = method
            #expect(try await chain.response(for: request).status == 200)
        }
        let fields = server.requests(toPath: "/ok").map { $0.header("Authorization") }
        #expect(fields == ["Bearer t1", "Bearer t1", "Basic QWRhOnNlY3JldA==", nil])
        #expect(Set(server.requests(toPath: "/ok").map(\.connection)).count == 1)
    }
}
