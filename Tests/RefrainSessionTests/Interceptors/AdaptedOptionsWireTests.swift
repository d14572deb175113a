// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

/// What an adapter, or a stage behind the retry stage, says of its request; counted where it arrives.
@Suite("On the wire: what an adapter says of its request", .timeLimit(.minutes(5)))
struct AdaptedOptionsWireTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.on("/lost") { _ in [.readBody, .reset] }
        server.answer("/down", 503)
    }

    private func sends(
        _ method: HTTPMethod,
        to path: String,
        retrier: any RequestRetrier = RetryPolicy.recommended,
        _ change: @escaping @Sendable (inout HTTPRequest) -> Void
    ) async -> Int {
        server.clearLog()
        let adapter = Adapter { request, _ in
            var request = request
            change(&request)
            return request
        }
        let session = Session.overSockets(Interceptor(adapter: adapter, retrier: retrier))
        _ = await session.request(server.baseURL + path, method: method).serializingData().response
        return server.count(path: path)
    }

    @Test("R2: an adapter forbids or allows to send its request again")
    func replay() async {
        #expect(await sends(.delete, to: "/lost") { _ in } == 3)
        #expect(await sends(.delete, to: "/lost") { $0.replay = .forbidden } == 1)
        #expect(await sends(.post, to: "/lost") { _ in } == 1)
        #expect(await sends(.post, to: "/lost") { $0.replay = .allowed } == 3)
    }

    @Test("R5: a key that an adapter sets is sent, is the same on every attempt, and makes a POST safe")
    func key() async {
        #expect(await sends(.post, to: "/lost") { $0.idempotencyKey = .custom("order-17") } == 3)
        #expect(server.log.allSatisfy { $0.header("Idempotency-Key") == "\"order-17\"" })
        #expect(await sends(.post, to: "/lost") { $0.idempotencyKey = .generated } == 3)
        let keys = Set(server.log.map { $0.header("Idempotency-Key") ?? "none" })
        #expect(keys.count == 1 && !keys.contains("none"))
        let own = await sends(.post, to: "/lost") { request in
            request.idempotencyKeyField = "X-Idempotency-Key"
            request.idempotencyKey = .generated
        }
        #expect(own == 3 && Set(server.log.map { $0.header("X-Idempotency-Key") }).count == 1)
    }

    @Test("an adapter's strategy takes the place of the policies")
    func strategy() async {
        #expect(await sends(.get, to: "/down") { $0.retryStrategy = Backoff.immediately(maxAttempts: 5) } == 5)
        #expect(await sends(.get, to: "/down") { $0.retryStrategy = .never } == 1)
    }

    @Test("R20: an adapter's timeout is that of the call, and its policy on the server's delays counts")
    func time() async {
        server.on("/later") { _ in [.respond(.init(503, headers: [("Retry-After", "60")]))] }
        #expect(await sends(.get, to: "/later") { $0.timeout = .seconds(30) } == 1)
        #expect(await sends(.get, to: "/later") { $0.retryAfterPolicy = .honoured(upTo: .seconds(10)) } == 1)
        #expect(await sends(.get, to: "/later") { $0.retryAfterPolicy = .ignored } == 3)
    }

    @Test("R26: an adapter says whether a redirect is followed")
    func redirects() async {
        server.on("/moved") { _ in [.respond(.init(302, headers: [("Location", "/end")]))] }
        server.on("/end") { _ in [.respond(.init(200))] }
        _ = await sends(.get, to: "/moved") { _ in }
        #expect(server.count(path: "/end") == 1)
        _ = await sends(.get, to: "/moved") { $0.followsRedirects = false }
        #expect(server.count(path: "/end") == 0)
    }

    @Test("R26: a key that an adapter sets does not reach another origin")
    func keyOfAnotherOrigin() async throws {
        let other = try FaultServer()
        defer { other.stop() }
        server.on("/moved") { _ in [.respond(.init(307, headers: [("Location", "\(other.baseURL)/end")]))] }
        other.on("/end") { _ in [.respond(.init(200))] }
        for field in [HTTPRequest.IdempotencyKey.fieldName, "X-Order"] {
            other.clearLog()
            _ = await sends(.post, to: "/moved") { request in
                request.idempotencyKeyField = field
                request.idempotencyKey = .custom("order-17")
            }
            #expect(server.log.map { $0.header(field) != nil } == [true])
            #expect(other.log.map { $0.header(field) } == [nil])
        }
    }

    @Test("a request that an adapter made anew keeps what it says, and what the caller said of the first one")
    func madeAnew() async throws {
        let url = server.baseURL + "/lost"
        let adapter = Adapter { request, _ in
            var made = HTTPRequest(request.url, method: .post)
            made.idempotencyKey = .custom("order-17")
            return made
        }
        let session = Session.overSockets(Interceptor(adapter: adapter, retrier: RetryPolicy.recommended))
        _ = await session.request(url, method: .post).serializingData().response
        #expect(server.log.map { $0.header("Idempotency-Key") } == Array(repeating: "\"order-17\"", count: 3))
        server.clearLog()
        var forbidden = try HTTPRequest(url, method: .post, headers: [:])
        forbidden.replay = .forbidden
        _ = await session.request(forbidden).serializingData().response
        #expect(server.log.count == 1)
    }

    @Test("R2, R5: a stage behind Retry says as much as the caller")
    func stage() async throws {
        func sends(_ method: HTTPMethod, _ change: @escaping @Sendable (inout HTTPRequest) -> Void) async throws -> Int
        {
            server.clearLog()
            let modify = ModifyRequest { request in
                var request = request
                change(&request)
                return request
            }
            let clocks = InstantClock().pair
            let chain = Retry(.recommended, budgets: nil, clocks: clocks) --> modify --> CurlLoader()
            _ = await chain.load(try HTTPRequest(server.baseURL + "/lost", method: method, headers: [:]))
            return server.log.count
        }
        #expect(try await sends(.put) { $0.replay = .forbidden } == 1)
        #expect(try await sends(.post) { $0.replay = .allowed } == 3)
        #expect(try await sends(.post) { $0.idempotencyKey = .generated } == 3)
        #expect(Set(server.log.map { $0.header("Idempotency-Key") ?? "none" }).count == 1)
        #expect(try await sends(.get) { $0.retryStrategy = Backoff.immediately(maxAttempts: 5) } == 5)
    }
}
