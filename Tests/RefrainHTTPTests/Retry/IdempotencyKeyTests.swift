// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("Idempotency keys")
struct IdempotencyKeyTests {
    private func order(_ key: HTTPRequest.IdempotencyKey = .custom("order-17")) throws -> HTTPRequest {
        var order = try HTTPRequest("http://api.example/orders", method: .post, body: .text("one tea"))
        order.idempotencyKey = key
        return order
    }

    @Test("R5: a key is written wherever the request passes, whatever stages there are")
    func everyChain() async throws {
        let mock = MockLoader().otherwise(.status(201))
        let chains: [any HTTPLoader] = [
            mock, AnyLoader(mock), Throttle(maximumNumberOfRequests: 1) --> mock, Timeout(total: .seconds(9)) --> mock,
            ResetGuard() --> mock, Deduplicate() --> mock, Resume() --> mock, Redirect() --> mock, Retry() --> mock,
            ModifyRequest { $0 } --> mock,
            ResetGuard() --> Deduplicate() --> Throttle(maximumNumberOfRequests: 1) --> mock,
        ]
        for chain in chains { _ = await chain.load(try order()) }
        #expect(mock.requests.count == chains.count)
        #expect(mock.requests.allSatisfy { $0.headers["Idempotency-Key"] == "\"order-17\"" })
    }

    @Test("R5: a transport of the caller's own receives the key in every form of a call")
    func ownTransport() async throws {
        struct Own: HTTPLoader {
            func load(_ request: HTTPRequest) async -> HTTPResult {
                .success(HTTPResponse(request: request, status: 201, headers: request.headers))
            }
        }
        #expect(try await Own().response(for: order()).headers["Idempotency-Key"] == "\"order-17\"")
        let chain = ResetGuard() --> Own()
        #expect(try await chain.response(for: order()).headers["Idempotency-Key"] == "\"order-17\"")
        #expect(try order().validated().headers["Idempotency-Key"] == "\"order-17\"")
    }

    @Test("R5: nothing adds a key that was not asked for, and one that was written by hand is kept")
    func nothingElse() async throws {
        let mock = MockLoader().otherwise(.status(201))
        _ = await mock.load(try order(.none))
        #expect(mock.requests[0].headers["Idempotency-Key"] == nil)
        var byHand = try order(.generated)
        byHand.headers["Idempotency-Key"] = "by-hand"
        _ = await mock.load(byHand)
        #expect(mock.requests[1].headers["Idempotency-Key"] == "by-hand")
    }

    @Test("R5: the name of the field can be set; other fields than the standard one carry the key as it is")
    func fieldName() async throws {
        let mock = MockLoader().otherwise(.status(503))
        var order = try order()
        order.idempotencyKeyField = "PayPal-Request-Id"
        let chain = Retry(.immediately(maxAttempts: 2), budgets: nil) --> mock
        let response = try await chain.response(for: order)
        #expect(response.attempts.count == 2, "the key makes the POST safe to repeat")
        #expect(mock.requests.allSatisfy { $0.headers["PayPal-Request-Id"] == "order-17" })
        #expect(mock.requests.allSatisfy { $0.headers["Idempotency-Key"] == nil })
        order.idempotencyKeyField = "not a token"
        let refused = order
        await #expect(throws: HTTPError.self) { try await mock.response(for: refused) }
    }

    @Test(
        "R26: a redirect to another origin drops the key's field, whatever its name",
        arguments: ["X-Idempotency-Key", "Idempotency-Key"]
    )
    func otherOrigin(name: String) async throws {
        let mock = MockLoader().then(.status(307, headers: ["Location": "http://other.example/"])).otherwise(
            .status(200)
        )
        var order = try order()
        order.idempotencyKeyField = name
        _ = try await (Redirect() --> mock).response(for: order)
        #expect(mock.requests.map { $0.headers[name] != nil } == [true, false])
    }

    @Test(
        "R5: a key that cannot be written fails the request before anything is sent",
        arguments: ["", "tee\u{e9}", "a\nb"]
    )
    func unwritable(key: String) async throws {
        let mock = MockLoader().otherwise(.status(200))
        let request = try order(.custom(key))
        await #expect(throws: HTTPError.self) { try await mock.response(for: request) }
        #expect(mock.requests.isEmpty)
    }

    /// Sends a request for each of two elements.
    private struct Answers: AsyncSequence, Sendable {
        let loader: any HTTPLoader
        let request: HTTPRequest

        struct Iterator: AsyncIteratorProtocol {
            let answers: Answers
            var left = 2

            mutating func next() async throws -> HTTPStatus? {
                guard left > 0 else { return nil }
                left -= 1
                return try await answers.loader.response(for: answers.request).status
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(answers: self) }
    }

    @Test("R5: what a sequence sends has the same key where the sequence is iterated again")
    func sequence() async throws {
        let mock = MockLoader().then(.failure(.networkConnectionLost)).then(.failure(.networkConnectionLost))
            .then(.status(201)).otherwise(.status(202))
        let answers = Answers(loader: mock, request: try order(.generated)).retry(.immediately(maxAttempts: 3))
        var statuses: [HTTPStatus] = []
        for try await status in answers { statuses.append(status) }
        #expect(statuses == [201, 202])
        let keys = mock.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys[0] != nil && keys[0] == keys[1] && keys[1] == keys[2] && keys[2] != keys[3], "\(keys)")
    }
}
