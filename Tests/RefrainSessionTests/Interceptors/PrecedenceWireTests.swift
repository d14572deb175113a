// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the caller names wins, and what code ported from elsewhere sends; counted where it arrives.
@Suite("On the wire: what the caller names wins", .timeLimit(.minutes(5)))
struct PrecedenceWireTests {
    private let server: FaultServer
    private let always = Retrier { request, _, _ in request.retryCount < 2 ? .retry : .doNotRetry }

    init() throws {
        server = try FaultServer()
        server.answer("/down", 503)
        server.answer("/missing", 404)
        server.answer("/login", 401)
    }

    private func sends(_ path: String) -> Int { server.count(path: path) }

    /// A session that was given no interceptor.
    private func unasked() -> Session {
        var settings = Session.Settings()
        settings.budgets = nil
        settings.clocks = InstantClock().pair
        return Session(loader: CurlLoader(), settings: settings)
    }

    @Test("what a caller's validation accepted is sent once, whichever policy would retry it")
    func accepted() async {
        let metrics = MetricsMonitor()
        let session = Session.overSockets(always, monitors: [metrics])
        let missing = session.request(server.baseURL + "/missing").validate(statusCode: [200, 404])
        #expect(await missing.serializingString().response.value == "404")
        #expect(sends("/missing") == 1 && metrics.snapshot.givenUp.isEmpty)
        let patient = Session.overSockets(RetryPolicy())
        _ = await patient.request(server.baseURL + "/down").validate(statusCode: 200..<600).serializingData().response
        #expect(sends("/down") == 1)
        let refreshes = Counter()
        let authentication = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { token, _ in
                refreshes.increment()
                return token
            },
            credential: Token(value: "ada")
        )
        let signed = Session.overSockets(authentication)
        let login = signed.request(server.baseURL + "/login", method: .post).validate(statusCode: 200..<500)
        _ = await login.serializingData().response
        #expect(sends("/login") == 1 && refreshes.value == 0)
        _ = await patient.request(server.baseURL + "/down").validate(contentType: ["text/plain"]).serializingData()
            .response
        #expect(sends("/down") == 1 + 3, "a check of the type accepts no status")
    }

    @Test(
        "a policy on the request limits the default policy, and not one that the session was given",
        arguments: [(0, 1), (1, 2)]
    )
    func ownPolicy(limit: Int, expected: Int) async {
        let url = server.baseURL + "/down"
        let session = unasked()
        _ = await session.request(url, interceptor: RetryPolicy(retryLimit: limit)).serializingData().response
        #expect(sends("/down") == expected)
        let given = Session.overSockets(RetryPolicy.recommended)
        _ = await given.request(url, interceptor: RetryPolicy(retryLimit: limit)).serializingData().response
        #expect(sends("/down") == expected + 3)
    }

    @Test("Task.retrying round a session's call: as many sends as its own runs, and none where one must not repeat")
    func outerLoop() async {
        typealias Row = (
            name: String, session: Session, method: HTTPMethod, replay: HTTPRequest.Replay?, runs: Int, sends: Int
        )
        let rows: [Row] = [
            ("the default policy", unasked(), .get, nil, 4, 4),
            ("a policy of no retries", Session.overSockets(RetryPolicy(retryLimit: 0)), .get, nil, 4, 4),
            ("a retrier that declined", Session.overSockets(always), .get, nil, 1, 3),
            ("a POST that may have been processed", Session.overSockets(RetryPolicy.recommended), .post, nil, 1, 1),
            ("a forbidden replay", Session.overSockets(RetryPolicy.recommended), .get, .forbidden, 1, 1),
        ]
        for (number, row) in rows.enumerated() {
            let path = "/row\(number)"
            server.answer(path, 503)
            let runs = Counter()
            let base = server.baseURL
            let task = Task.retrying(maxRetryCount: 3, retryDelay: .seconds(1), clock: InstantClock()) {
                runs.increment()
                var request = try HTTPRequest(base + path, method: row.method, headers: [:])
                if row.method == .post { request.body = .text("x") }
                if let replay = row.replay { request.replay = replay }
                return try await row.session.request(request).validate().serializingString().value
            }
            _ = await task.result
            #expect(runs.value == row.runs && sends(path) == row.sends, "\(row.name)")
        }
    }

    enum Unsafe: CaseIterable { case post, patch, upload, stream, forbidden, decoding }

    @Test(
        "R24: Task.retrying round a session's default policy sends what must not be repeated once",
        arguments: Unsafe.allCases
    )
    func unsafeInOuterLoop(kind: Unsafe) async throws {
        let path = "/unsafe-\(kind)"
        server.on(path) { _ in kind == .decoding ? [.readBody, .respond(.init(201, body: "ok"))] : [.readBody, .reset] }
        let (session, url) = (unasked(), server.baseURL + path)
        let task = Task.retrying(maxRetryCount: 2, retryDelay: .seconds(1), clock: InstantClock()) {
            switch kind {
            case .post:
                return try await session.data(for: HTTPRequest(url, method: .post, headers: [:], body: .text("tea"))).0
                    .count
            case .patch:
                return try await session.request(url, method: .patch).serializingData().value.count
            case .upload:
                return try await session.upload(Data("tea".utf8), to: url).serializingData().value.count
            case .stream:
                let source = AsyncStream<[UInt8]> { continuation in
                    continuation.yield(Array("tea".utf8))
                    continuation.finish()
                }
                let request = try HTTPRequest(url, method: .put, headers: [:], body: .oneShot(source, length: 3))
                return try await session.request(request).serializingData().value.count
            case .forbidden:
                var request = try HTTPRequest(url, method: .put, headers: [:], body: .text("tea"))
                request.replay = .forbidden
                return try await session.request(request).serializingData().value.count
            case .decoding:
                return try await session.request(url, method: .post).serializingDecodable([Int].self).value.count
            }
        }
        let result = await task.result
        #expect(throws: RefrainError.self) { try result.get() }
        #expect(sends(path) == 1)
    }

    @Test("R24: Task.retrying waits for the delay that the server requests of the default policy")
    func delayInOuterLoop() async throws {
        server.on("/later") { request in
            request.occurrence == 1
                ? [.respond(.init(503, headers: [("Retry-After", "7")]))] : [.respond(.init(200, body: "ok"))]
        }
        let (session, clock, url) = (unasked(), InstantClock(), server.baseURL + "/later")
        _ = try await Task.retrying(maxRetryCount: 2, retryDelay: .milliseconds(10), clock: clock) {
            try await session.request(url).validate().serializingData().value
        }.value
        #expect(clock.waits == [.seconds(7)])
        server.answer("/next-year", 503)
        server.on("/next-year") { _ in [.respond(.init(503, headers: [("Retry-After", "31536000")]))] }
        let late = server.baseURL + "/next-year"
        let result = await Task.retrying(maxRetryCount: 2, retryDelay: .milliseconds(10), clock: clock) {
            try await session.request(late).validate().serializingData().value
        }.result
        #expect(throws: RefrainError.self) { try result.get() }
        #expect(sends("/next-year") == 1)
    }

    @Test("R22: the budget holds within Task.retrying, too, and ends the task where it is empty")
    func budgetInOuterLoop() async throws {
        var settings = Session.Settings()
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 1)
        settings.budgets = Retry.Budgets { _ in budget }
        settings.clocks = InstantClock().pair
        let session = Session(loader: CurlLoader(), settings: settings)
        let url = server.baseURL + "/down"
        for _ in 0..<20 {
            _ = await Task.retrying(maxRetryCount: 3, retryDelay: .zero, clock: InstantClock()) {
                try await session.request(url).validate().serializingData().value
            }.result
        }
        #expect(sends("/down") < 30)
    }

    @Test("R5: a generated key is the same in every run of the operation, and that of each request its own")
    func keyInOuterLoop() async throws {
        server.on("/orders") { request in
            request.occurrence < 4
                ? [.readBody, .respond(.init(request.occurrence == 1 ? 201 : 503, body: "ok"))]
                : [.respond(.init(201, body: "ok"))]
        }
        let (session, url) = (unasked(), server.baseURL + "/orders")
        @Sendable func place(_ text: String) async throws {
            var order = try HTTPRequest(url, method: .post, headers: [:], body: .text(text))
            order.idempotencyKey = .generated
            _ = try await session.request(order).validate().serializingData().value
        }
        try await Task.retrying(maxRetryCount: 3, retryDelay: .seconds(1), clock: InstantClock()) {
            try await place("tea")
            try await place("cake")
        }.value
        let keys = server.log.map { $0.header("Idempotency-Key") ?? "none" }
        #expect(keys.count == 6 || keys.count == 5, "tea, cake (503), tea (503), tea, cake")
        #expect(Set(keys).count == 2 && keys[0] != keys[1])
    }

    @Test("R5: a body of JSON that is made again in each run has the same bytes and the key of the first one")
    func keyOfJSONInOuterLoop() async throws {
        struct Order: Encodable { let item = "tea", size = 2, to = "Ulm", gift = true, note = "", number = 7 }
        server.on("/orders") { request in
            [.readBody, .respond(.init(request.occurrence.isMultiple(of: 2) ? 201 : 503, body: "ok"))]
        }
        let (session, url) = (unasked(), server.baseURL + "/orders")
        for _ in 0..<50 {
            try await Task.retrying(maxRetryCount: 1, retryDelay: .seconds(1), clock: InstantClock()) {
                var order = try HTTPRequest(url, method: .post, headers: [:], body: .json(Order()))
                order.idempotencyKey = .generated
                _ = try await session.request(order).validate().serializingData().value
            }.value
        }
        #expect(server.log.count == 100)
        #expect(Set(server.log.map { $0.header("Idempotency-Key") ?? "none" }).count == 50)
    }

    @Test("R5: a loop of withRetry keeps the key of the request that failed")
    func keyInPlainLoop() async throws {
        server.on("/order") { request in
            request.occurrence == 1 ? [.readBody, .reset] : [.readBody, .respond(.init(201, body: "ok"))]
        }
        var order = try HTTPRequest(server.baseURL + "/order", method: .post, headers: [:], body: .text("tea"))
        order.idempotencyKey = .generated
        let (loader, request) = (CurlLoader(), order)
        _ = try await withRetry(.immediately(maxAttempts: 3)) { try await loader.response(for: request) }
        let keys = server.log.map { $0.header("Idempotency-Key") ?? "none" }
        #expect(keys.count == 2 && Set(keys).count == 1 && keys[0] != "none")
    }

    @Test("R2: withRetry round a chain without a policy does not repeat what must not be sent twice")
    func plainLoop() async throws {
        server.on("/plain") { _ in [.readBody, .reset] }
        let url = server.baseURL + "/plain"
        let chain = Throttle(maximumNumberOfRequests: 4) --> CurlLoader()
        func run(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) async throws -> Int {
            server.clearLog()
            var made = try HTTPRequest(url, method: .post, headers: [:], body: .text("tea"))
            change(&made)
            let request = made
            _ = try? await withRetry(.immediately(maxAttempts: 3)) { try await chain.response(for: request) }
            return sends("/plain")
        }
        #expect(try await run { _ in } == 1)
        #expect(try await run { $0.method = .put } == 3)
        #expect(try await run { ($0.method, $0.replay) = (.put, .forbidden) } == 1)
        #expect(try await run { $0.replay = .allowed } == 3)
        #expect(try await run { $0.idempotencyKey = .custom("order-17") } == 3)
        #expect(server.log.allSatisfy { $0.header("Idempotency-Key") == "\"order-17\"" })
    }

    @Test("requests that wait for a token refresh end as cancelled when the session is reset, not with their 401")
    func resetDuringRefresh() async {
        let (isAsked, mayEnd) = (Signal(), Signal())
        let authentication = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { token, _ in
                isAsked.set()
                // The reset ends the requests, and leaves the refresh to those of other sessions.
                await mayEnd.wait()
                return token
            },
            credential: Token(value: "old")
        )
        let session = Session.overSockets(authentication)
        let gathering = Gathering(5)
        server.on("/login") { request in
            gathering.wait(request)
            return [.respond(.init(401))]
        }
        let tasks = (0..<5).map { _ in session.request(server.baseURL + "/login").validate().serializingData() }
        await isAsked.wait()
        await session.reset()
        defer { mayEnd.set() }
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
        #expect(sends("/login") == 5, "each was sent once")
    }

    @Test("R22: of concurrent calls on an empty budget each sees its 503, with the reason on the error")
    func exhaustedBudget() async {
        let session = Session.overSockets(RetryPolicy.recommended) { settings in
            let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 1)
            settings.budgets = Retry.Budgets { _ in budget }
        }
        let tasks = (0..<12).map { _ in session.request(server.baseURL + "/down").validate().serializingData() }
        var exhausted = 0
        for task in tasks {
            let response = await task.response
            #expect(response.error?.responseCode == 503 && response.response?.status == 503)
            if response.error?.attempts.last?.reason == .budgetExhausted { exhausted += 1 }
        }
        #expect(exhausted > 0 && (12..<36).contains(sends("/down")))
    }

    @Test("a refresh that goes through the same chain passes a throttle of one")
    func throttledRefresh() async throws {
        let base = server.baseURL
        server.on("/private") { request in
            let isSigned = request.headers.contains { $0 == ("Authorization", "Bearer new") }
            return [.respond(.init(isSigned ? 200 : 401, body: "ok"))]
        }
        server.answer("/token", 200)
        let authentication = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { _, session in
                _ = try await session.request(base + "/token").validate().serializingString().value
                return Token(value: "new")
            },
            credential: Token(value: "old")
        )
        let session = Session.overSockets(authentication, clock: nil) { settings in
            settings.throttle = Throttle(maximumNumberOfRequests: 1)
        }
        #expect(try await session.request(base + "/private").validate().serializingString().value == "ok")
        #expect(sends("/private") == 2 && sends("/token") == 1)
    }

    @Test(
        "a strategy that reads Retry-After as a number of seconds waits for no number and no negative one, and ends",
        arguments: ["nan", "-1", "inf", "1e400", "0.5"]
    )
    func hostileDelay(value: String) async {
        server.on("/limited") { _ in [.respond(.init(429, headers: [("Retry-After", value)], body: "no"))] }
        let porting = Retrier { request, _, _ in
            guard request.retryCount < 2, let text = request.response?.headers["Retry-After"],
                let seconds = Double(text)
            else { return .doNotRetry }
            return .retryWithDelay(seconds)
        }
        let session = Session.overSockets(porting)
        let response = await session.request(server.baseURL + "/limited").serializingData().response
        #expect(response.response?.statusCode == 429)
        #expect((1...3).contains(sends("/limited")))
    }

    @Test("R16, R19: a limit that resets in 0.6 s is waited for as long, though the answer's Date has whole seconds")
    func fractionalReset() async throws {
        let fractions = Journal<Double>()
        server.on("/limit") { request in
            guard !request.occurrence.isMultiple(of: 2) else { return [.respond(.init(200, body: "ok"))] }
            let now = Date().timeIntervalSince1970
            fractions.append(now.truncatingRemainder(dividingBy: 1))
            let date = HTTPDate.format(WallClock.Instant(sinceEpoch: .seconds(Int64(now))))
            let fields = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "\(now + 0.6)"), ("Date", date)]
            return [.respond(.init(429, headers: fields, body: "wait"))]
        }
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 2))
        let session = Session.overSockets(policy, clock: nil)
        // An answer that is read within the second of its date is told from a clock that is wrong by nothing.
        var prompt: DataResponse<String, RefrainError>?
        for _ in 0..<50 where prompt == nil {
            let response = await session.request(server.baseURL + "/limit").serializingString().response
            #expect(response.value == "ok")
            guard let first = response.attempts.first, let fraction = fractions.entries.last else { continue }
            if first.duration < .milliseconds(300), fraction < 0.7 { prompt = response }
        }
        let delay = try #require(prompt?.attempts.first?.delay)
        #expect(delay <= .milliseconds(700), "the longest is 0.6 s and a tenth of jitter")
        let times = server.requests(toPath: "/limit").map(\.time).suffix(2)
        #expect(try #require(times.last) - #require(times.first) >= 0.55)
    }

    @Test("an optional that is nil arrives as the encoding says")
    func nils() async throws {
        struct Optionals: Encodable, Sendable {
            var one: String? = "one"
            var two: String?
        }
        server.answer("/form", 200)
        let encoder = URLEncodedFormParameterEncoder(form: URLEncoding.Form(nils: .null))
        let session = Session.overSockets()
        let url = server.baseURL + "/form"
        _ = try await session.request(url, parameters: Optionals(), encoder: encoder).serializingString().value
        #expect(server.log.map(\.path) == ["/form?one=one&two=null"])
    }

    @Test("the last spelling of a field's name is sent")
    func spelling() async throws {
        server.answer("/ok", 200)
        var headers: HTTPHeaders = ["x-name": "1"]
        headers.update(name: "X-Name", value: "2")
        let request = try HTTPRequest(server.baseURL + "/ok", headers: headers)
        let session = Session.overSockets()
        #expect(try await session.request(request).serializingString().value == "200")
        #expect(server.log.first?.headers.contains(["X-Name", "2"]) == true)
    }

    @Test("changes before the start are part of the request of each attempt, also where it is made anew")
    func changesBeforeStart() async {
        struct Maker: Session.RequestConvertible {
            let address: String

            func asHTTPRequest() throws -> HTTPRequest { try HTTPRequest(address, headers: [:]) }
        }
        server.answer("/twice", 503, 200)
        let session = Session.overSockets(RetryPolicy.recommended)
        let request = session.request(Maker(address: server.baseURL + "/twice"))
        request.beforeStart { $0.headers["X-Before"] = "yes" }
        _ = await request.serializingData().response
        #expect(server.requests(toPath: "/twice").map { $0.header("X-Before") } == ["yes", "yes"])
    }

    @Test("text without a scheme is a relative URL, which an adapter completes; else it fails when it would be sent")
    func relative() async throws {
        server.answer("/users", 200)
        let base = try server.baseURL.asURL()
        let completing = Adapter { request, _ in
            var request = request
            request.url = base.appending(path: request.url.path)
            return request
        }
        let session = Session.overSockets(completing)
        #expect(try await session.request("/users").serializingString().value == "200")
        let plain = Session.overSockets(CountingInterceptor(.doNotRetry))
        let response = await plain.request("users").serializingData().response
        guard case .sessionTaskFailed(let error)? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(error.code == .badURL && error.description.contains("no scheme"))
        #expect(response.metrics == HTTPResponse.Exchange(bytesSent: 0), "an attempt without a response has facts, too")
        #expect(response.request?.url.absoluteString == "users" && response.response == nil)
        #expect(sends("/users") == 1)
    }
}
