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

@Suite("The rules hold for what retriers answer", .timeLimit(.minutes(10)))
struct RetryRulesTests {
    let always = Retrier { _, _, _ in .retry }

    @Test("R2: a POST that may have been processed is not sent again, whatever a retrier answers")
    func postIsNotReplayed() async {
        let loader = ScriptedLoader(.status(500))
        let session = Session.testing(loader, interceptor: always)
        let request = session.request(HTTPRequest("/a", method: .post, body: .text("x"))).validate()
        let response = await request.serializingData().response
        #expect(response.error?.responseCode == 500)
        #expect(loader.requests.count == 1)
        #expect(response.attempts.last?.reason == .notReplayable)
    }

    @Test("R2: a POST is sent again where its caller allows it")
    func allowedReplay() async throws {
        let loader = ScriptedLoader(.status(500), .status(200, body: "ok"))
        let session = Session.testing(loader, interceptor: always)
        var request = HTTPRequest("/a", method: .post, body: .text("x"))
        request.replay = .allowed
        #expect(try await session.request(request).serializingString().value == "ok")
    }

    @Test("R2: a POST answered by 401 was not processed, so a retrier may have it sent again")
    func unauthorizedPost() async throws {
        let loader = ScriptedLoader(.status(401), .status(200, body: "ok"))
        let session = Session.testing(loader, interceptor: always)
        let request = HTTPRequest("/a", method: .post, body: .text("x"))
        #expect(try await session.request(request).serializingString().value == "ok")
    }

    @Test("R4: a body that was read once is not sent again, whatever a retrier answers")
    func oneShotBody() async {
        let loader = ScriptedLoader(
            .compute { request in
                _ = try? await request.body.collect()
                return .failure(HTTPError(.networkConnectionLost, request: request))
            }
        )
        let session = Session.testing(loader, interceptor: always)
        let body = HTTPBody.oneShot(
            AsyncStream<[UInt8]> {
                $0.yield([1]); $0.finish()
            }
        )
        let response = await session.request(HTTPRequest("/a", method: .put, body: body)).serializingData().response
        #expect(loader.requests.count == 1)
        #expect(response.attempts.last?.reason == .bodyNotReplayable)
    }

    @Test("R15: a retrier's delay gives way to a longer Retry-After")
    func serverDelayWins() async throws {
        let clock = InstantClock()
        let loader = ScriptedLoader(.status(503, headers: ["Retry-After": "7"]), .status(200, body: "ok"))
        let retrier = Retrier { _, _, _ in .retryWithDelay(.seconds(2)) }
        let session = Session.testing(loader, interceptor: retrier, clock: clock) { $0.random = RandomSource(seed: 1) }
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
        // Jitter may add a tenth to a server's delay.
        let wait = try #require(clock.waits.first)
        #expect((.seconds(7)...(.milliseconds(7_700))).contains(wait))
    }

    @Test("R17: a retrier's delay that is longer than the server's stands")
    func retrierDelayWins() async throws {
        let clock = InstantClock()
        let loader = ScriptedLoader(.status(503, headers: ["Retry-After": "7"]), .status(200, body: "ok"))
        let retrier = Retrier { _, _, _ in .retryWithDelay(.seconds(20)) }
        let session = Session.testing(loader, interceptor: retrier, clock: clock)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
        #expect(clock.waits == [.seconds(20)])
    }

    @Test("R18: a server that wants too long a wait ends the request with the date to come back at")
    func retryAfterTooLong() async {
        let loader = ScriptedLoader(.status(503, headers: ["Retry-After": "86400"]))
        let session = Session.testing(loader, interceptor: always)
        let error = await session.request(HTTPRequest.sample).validate().serializingData().response.error
        #expect(error?.transportCode == .retryAfterTooLong)
        #expect(error?.retryAfterDate != nil)
        #expect(error?.retryAfterDate == error?.transportError?.retryAfterDate)
        #expect(loader.requests.count == 1)
    }

    @Test("R22: an empty budget ends what a retrier wants again")
    func budget() async throws {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: always) { settings in
            settings.budgets = Retry.Budgets { _ in
                RetryBudget(ratio: 0, minimumRetriesPerSecond: 0)
            }
        }
        let response = await session.request(HTTPRequest.sample).validate().serializingData().response
        #expect(response.error?.responseCode == 503)
        #expect(response.error?.attempts.last?.reason == .budgetExhausted)
        #expect(response.response?.status == 503)
        #expect(loader.requests.count == 1)
    }

    @Test("R20: a retrier's delay that would pass the deadline is not waited")
    func deadline() async {
        let clock = InstantClock()
        let loader = ScriptedLoader(.status(503))
        let retrier = Retrier { _, _, _ in .retryWithDelay(.seconds(60)) }
        let session = Session.testing(loader, interceptor: retrier, clock: clock)
        var request = HTTPRequest.sample
        request.timeout = .seconds(10)
        let response = await session.request(request).validate().serializingData().response
        #expect(response.error?.responseCode == 503)
        #expect(response.attempts.last?.reason == .deadlineExceeded)
        #expect(clock.waits.isEmpty)
    }

    @Test("R24: a session's error whose attempts are used up says so to an outer loop")
    func exhaustion() async throws {
        let loader = ScriptedLoader(.failure(.networkConnectionLost))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let count = Counter()
        await #expect(throws: RefrainError.self) {
            try await withRetry(Backoff.immediately(maxAttempts: 3)) {
                count.increment()
                return try await session.request(HTTPRequest.sample).serializingData().value
            }
        }
        #expect(count.value == 1)
        #expect(loader.requests.count == 3)
    }

    @Test("R24: a status that failed validation says that its attempts are used up, and carries their record")
    func exhaustedStatus() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let count = Counter()
        do {
            _ = try await withRetry(Backoff.immediately(maxAttempts: 3)) {
                count.increment()
                return try await session.request(HTTPRequest.sample).validate().serializingData().value
            }
            Issue.record("a 503 passed")
        } catch {
            let error = error as? RefrainError
            #expect(error?.responseCode == 503)
            #expect(error?.attempts.map(\.status) == [503, 503, 503])
        }
        #expect(count.value == 1)
        #expect(loader.requests.count == 3)
    }

    @Test("R26: what a redirect has dropped stays dropped, though an adapter adds it again")
    func redirect() async throws {
        let loader = ScriptedLoader(
            .status(302, headers: ["Location": "http://other.test/b"]),
            .status(200, body: "ok")
        )
        let adapter = Adapter { request, _ in
            var request = request
            request.headers["Authorization"] = "Bearer secret"
            return request
        }
        let session = Session.testing(loader, interceptor: adapter)
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "ok")
        #expect(loader.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil])
        #expect(loader.requests.last?.url.absoluteString == "http://other.test/b")
    }

    @Test("an adapter that makes a request of its own does not fall out of the chain")
    func adapterMakesNewRequest() async throws {
        let loader = ScriptedLoader(.status(503), .status(200, body: "ok"))
        let adapter = Adapter { request, _ in HTTPRequest(request.url, headers: ["X-New": "1"]) }
        let session = Session.testing(loader, interceptor: Interceptor(adapter: adapter, retrier: always))
        var request = HTTPRequest.sample
        request.attemptTimeout = .seconds(3)
        #expect(try await session.request(request).validate().serializingString().value == "ok")
        #expect(loader.requests.map(\.attemptTimeout) == [.seconds(3), .seconds(3)])
    }

    /// Makes a request of its own, of which the chain knows nothing.
    private static let remaking = Adapter { request, _ in
        HTTPRequest(request.url, method: request.method, headers: ["X-Own": "yes"], body: request.body)
    }

    @Test("R5: an adapter that makes its own request sends the same key on every attempt", arguments: [true, false])
    func keyOfItsOwn(isGenerated: Bool) async throws {
        let loader = ScriptedLoader(.status(503), .status(200))
        let interceptor = Interceptor(interceptors: [Self.remaking, .recommendedRetryPolicy])
        var order = HTTPRequest("/orders", method: .post, body: .text("tea"))
        if isGenerated { order.idempotencyKey = .generated } else { order.headers["Idempotency-Key"] = "\"by hand\"" }
        let session = Session.testing(loader, interceptor: interceptor)
        #expect(await session.request(order).serializingString().response.response?.status == 200)
        #expect(loader.requests.map { $0.headers["X-Own"] } == ["yes", "yes"])
        let keys = loader.requests.map { $0.headers["Idempotency-Key"] }
        #expect(Set(keys).count == 1)
        #expect(keys.first != .some(nil))
    }

    @Test("R5: an adapter that puts all header fields anew sends the key all the same")
    func keyAmongNewFields() async throws {
        let loader = ScriptedLoader(.status(200))
        let adapter = Adapter { request, _ in
            var request = request
            request.headers = ["X-Own": "yes"]
            return request
        }
        var order = HTTPRequest("/orders", method: .post, body: .text("tea"))
        order.idempotencyKey = .custom("k1")
        let session = Session.testing(loader, interceptor: adapter)
        _ = await session.request(order).serializingString().response
        #expect(loader.requests.map { $0.headers["Idempotency-Key"] } == ["\"k1\""])
    }

    @Test("what the caller marked as secret stays so where an adapter makes a request of its own")
    func secretOfItsOwn() async throws {
        let loader = ScriptedLoader(.status(200))
        var request = HTTPRequest.sample
        request.secretHeaders = ["X-Own"]
        let session = Session.testing(loader, interceptor: Self.remaking)
        _ = await session.request(request).serializingString().response
        #expect(loader.requests.map(\.secretHeaders) == [["X-Own"]])
    }

    @Test("R28: a refusal whose body is cut short is decided on by its head, whichever retrier decides")
    func brokenBody() async {
        for (answers, code) in [([429, 200], nil), ([429, 429], HTTPError.Code.networkConnectionLost)] {
            let left = Locked(answers[...])
            let loader = ScriptedLoader(
                .compute { request in
                    let status = HTTPStatus(rawValue: left.withLock { $0.popFirst() } ?? 500)
                    guard status != 200 else {
                        return .success(HTTPResponse(request: request, status: status, body: .text("ok")))
                    }
                    let chunks = AsyncThrowingStream<[UInt8], any Error> { chunks in
                        chunks.yield([1])
                        chunks.finish(throwing: HTTPError(.networkConnectionLost, request: request))
                    }
                    return .success(HTTPResponse(request: request, status: status, body: .oneShot(chunks)))
                }
            )
            let retrier = Retrier { request, _, _ in
                #expect(request.response?.status == 429)
                return request.retryCount < 1 ? .retry : .doNotRetry
            }
            let session = Session.testing(loader, interceptor: retrier)
            let request = session.request(HTTPRequest("/order", method: .post))
            let answer = await request.serializingData().response
            #expect(answer.error?.transportCode == code)
            #expect(request.attempts.map(\.status) == answers.map { HTTPStatus(rawValue: $0) })
        }
    }
}
