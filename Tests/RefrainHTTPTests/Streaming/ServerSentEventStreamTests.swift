// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("Server-sent events that reconnect")
struct ServerSentEventStreamTests {
    let mock = MockLoader()
    let clock = TestClock(.autoAdvancing)

    private func events(
        _ method: HTTPMethod = .get,
        attempts: Int = 3,
        budgets: Retry.Budgets? = nil,
        headers: HTTPHeaders = [:]
    ) throws -> HTTPRequest.ServerSentEvents {
        mock.events(
            for: try HTTPRequest("https://api.example.com/events", method: method, headers: headers),
            retrying: RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(2), maxAttempts: attempts)),
            budgets: budgets,
            clocks: clock.retryClocks()
        )
    }

    /// A stream with this text, which ends or breaks after it.
    private func stream(_ text: String, breaks: Bool = false, type: String = "text/event-stream") -> MockLoader.Reply {
        MockLoader.Reply { request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(Array(text.utf8))
                let error = HTTPError(.networkConnectionLost, request: request)
                continuation.finish(throwing: breaks ? error : nil)
            }
            let headers: HTTPHeaders = ["Content-Type": type]
            return .success(HTTPResponse(request: request, status: 200, headers: headers, body: .oneShot(chunks)))
        }
    }

    private func data(_ events: HTTPRequest.ServerSentEvents) async throws -> [String] {
        var data: [String] = []
        for try await event in events { data.append(event.data) }
        return data
    }

    @Test("a stream that ends or breaks goes on over another connection with Last-Event-ID, until a 204")
    func reconnects() async throws {
        mock.then(stream("id: 1\ndata: a\n\ndata: b\n\n")).then(stream("id: 2\ndata: c\n\ndata: lost", breaks: true))
            .then(.status(204))
        #expect(try await data(events()) == ["a", "b", "c"])
        #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "2"])
        #expect(mock.requests.map { $0.headers["Accept"] } == Array(repeating: "text/event-stream", count: 3))
        // No-store alone would let a cache answer with what it has.
        #expect(mock.requests.map { $0.headers["Cache-Control"] } == Array(repeating: "no-cache", count: 3))
        #expect(clock.sleeps == [.seconds(2), .seconds(2)])
    }

    @Test("an identifier is sent without the white space at its ends, which no field can have")
    func paddedIdentifier() async throws {
        mock.then(stream("id:  7\t\ndata: a\n\n")).then(stream("id: \t\ndata: b\n\n")).then(.status(204))
        #expect(try await data(events()) == ["a", "b"])
        #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == [nil, "7", nil])
    }

    @Test("the caller's identifier is sent until the stream has set another one, or has taken it back")
    func ownIdentifier() async throws {
        mock.then(stream("data: a\n\n")).then(stream("id: 7\ndata: b\n\n")).then(stream("id\ndata: c\n\n"))
            .then(stream("id: 8\u{1}\ndata: d\n\n")).then(.status(204))
        var identifiers: [String] = []
        for try await event in try events(headers: ["Last-Event-ID": "5"]) { identifiers.append(event.lastEventID) }
        #expect(identifiers == ["5", "7", "", "8\u{1}"])
        #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == ["5", "5", "7", nil, nil])
    }

    @Test("R17: retry: is the least wait, also where it comes without an event, and jitter only adds to it")
    func leastDelay() async throws {
        mock.then(stream("retry: 10000\ndata: a\n\n")).then(stream("retry: 20000\n\n")).then(stream("data: b\n\n"))
            .then(.status(204))
        #expect(try await data(events()) == ["a", "b"])
        let sleeps = clock.sleeps
        #expect(sleeps.count == 3)
        for (sleep, least) in zip(sleeps, [10, 20, 20]) {
            #expect(sleep >= .seconds(least) && sleep <= .seconds(least + 1))
        }
    }

    @Test("R17: retry: counts after any error of a body, also before the first event")
    func retryBeforeForeignError() async throws {
        struct Broken: Error {}
        mock.then { request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> { chunks in
                chunks.yield(Array("id: 7\nretry: 9000\n\n".utf8))
                chunks.finish(throwing: Broken())
            }
            let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
            return .success(HTTPResponse(request: request, status: 200, headers: headers, body: .oneShot(chunks)))
        }
        mock.then(.status(204))
        #expect(try await data(events()).isEmpty)
        #expect(clock.sleeps.count == 1 && clock.sleeps[0] >= .seconds(9))
        #expect(mock.requests.map { $0.headers["Last-Event-ID"] } == [nil, "7"])
    }

    @Test("R18: retry: is cut to the cap of server delays")
    func cap() async throws {
        mock.then(stream("retry: 99999999999999999999\ndata: a\n\n")).then(.status(204))
        #expect(try await data(events()) == ["a"])
        #expect(try #require(clock.sleeps.first) <= .seconds(301))
    }

    @Test("connections that bring no event are attempts of one call, and an event starts anew")
    func attempts() async throws {
        let empty = stream(": comment\n\n")
        mock.then(empty).then(.status(503)).then(stream("data: a\n\n")).then(times: 2, empty)
        var iterator = try events().makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        // The end of the connection is the first attempt of three.
        let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.attempts.map(\.reason) == [.transientFailure, .transientFailure, .attemptsUsedUp])
        #expect(mock.requests.count == 5)
        #expect(try await iterator.next() == nil)
    }

    @Test("connections that were open for long are no failed attempts, though they bring no event")
    func silence() async throws {
        func silent(for time: Duration, breaks: Bool = false) -> MockLoader.Reply {
            MockLoader.Reply { [clock] request in
                let chunks = AsyncThrowingStream<[UInt8], any Error> {
                    await clock.advance(by: time)
                    if breaks { throw HTTPError(.networkConnectionLost, request: request) }
                    return nil
                }
                let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
                return .success(HTTPResponse(request: request, status: 200, headers: headers, body: .oneShot(chunks)))
            }
        }
        mock.then(times: 5, silent(for: .seconds(30))).then(times: 5, silent(for: .seconds(40), breaks: true))
            .then(stream("data: a\n\n")).then(times: 3, silent(for: .seconds(29)))
        var iterator = try events().makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        #expect(mock.requests.count == 11)
        #expect(clock.sleeps == Array(repeating: .seconds(2), count: 10))
        let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(error?.attempts.count == 3)
        #expect(mock.requests.count == 13)
    }

    @Test(
        "R20: the timeouts of a request are those of its connections: no stream is cut by them, and what hangs is",
        .timeLimit(.minutes(5))
    )
    func timeouts() async throws {
        let clock = TestClock()
        let gate = MockLoader.Gate()
        mock.then(stream("data: a\n\n")).otherwise(.held(by: gate, .status(204)))
        var request = try HTTPRequest("https://api.example.com/events")
        request.timeout = .seconds(60)
        request.attemptTimeout = .seconds(5)
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(2), maxAttempts: 3))
        let events = mock.events(for: request, retrying: policy, budgets: nil, clocks: clock.retryClocks())
        let reading = Task { () async throws -> HTTPError? in
            var iterator = events.makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first?.data == "a")
            return await #expect(throws: HTTPError.self) { try await iterator.next() }
        }
        for _ in 1...2 {
            await clock.sleepers(atLeast: 1)
            await clock.advance(by: .seconds(2))
            await gate.arrivals(atLeast: 1)
            await clock.sleepers(atLeast: 1)
            await clock.advance(by: .seconds(5))
        }
        let error = try await reading.value
        #expect(error?.attempts.map(\.error) == [.networkConnectionLost, .timedOut, .timedOut])
        #expect(error?.attempts.last?.duration == .seconds(5))
        #expect(mock.requests.map(\.timeLeft) == [nil, nil, nil])
    }

    @Test("a status that is final is thrown", arguments: [404, 501, 201])
    func finalStatus(status: Int) async throws {
        mock.then(.status(HTTPStatus(rawValue: status)))
        let error = await #expect(throws: HTTPError.self) { try await data(events()) }
        #expect(error?.code == .badServerResponse)
        #expect(error?.response?.status.rawValue == status)
        #expect(mock.requests.count == 1)
    }

    @Test("another content type is retried once, as garbage is")
    func contentType() async throws {
        mock.otherwise(stream("data: a\n\n", type: "text/html"))
        let error = await #expect(throws: HTTPError.self) { try await data(events()) }
        #expect(error?.code == .badServerResponse)
        #expect(mock.requests.count == 2)
    }

    @Test("R2: a POST is not sent again: the end of its stream is the end, and a break is thrown")
    func post() async throws {
        mock.then(stream("data: a\n\n")).then(stream("data: a\n\n", breaks: true))
        #expect(try await data(events(.post)) == ["a"])
        await #expect(throws: HTTPError.self) { try await data(events(.post)) }
        #expect(mock.requests.count == 2)
    }

    @Test(
        "R36: the normal end of what is not safe is the end, with a key as well, and without an event",
        arguments: [
            ("data: a\n\n", ["a"]), ("data: a\n\ndata: [DONE]\n\n", ["a", "[DONE]"]),
            ("data: [DONE]\n\ndata: b\n\n", ["[DONE]"]), ("", []), (": comment\n\n", []),
        ]
    )
    func normalEnd(text: String, expected: [String]) async throws {
        for method in [HTTPMethod.post, .put, .patch] {
            for (breaks, replay) in [(false, HTTPRequest.Replay.automatic), (true, .automatic), (false, .allowed)] {
                let mock = MockLoader()
                mock.otherwise(stream(text, breaks: breaks))
                var request = try HTTPRequest("https://api.example.com/chat", method: method)
                request.idempotencyKey = .generated
                request.replay = replay
                // What breaks after the last event has ended well; what breaks before it has not.
                guard !breaks || text.contains("[DONE]") else { continue }
                let events = mock.events(for: request, budgets: nil, clocks: clock.retryClocks())
                #expect(try await data(events) == expected)
                #expect(mock.requests.count == 1)
            }
        }
    }

    @Test("a stream of a GET goes on after [DONE], which is an event like any other there")
    func doneOfGET() async throws {
        mock.then(stream("data: [DONE]\n\n")).then(stream("data: a\n\n")).then(.status(204))
        #expect(try await data(events()) == ["[DONE]", "a"])
        #expect(mock.requests.count == 3)
    }

    @Test("R5: the connections of one sequence have one key, and another sequence has another one")
    func key() async throws {
        mock.otherwise(stream("id: 1\ndata: a\n\n", breaks: true))
        var request = try HTTPRequest("https://api.example.com/chat", method: .post)
        request.idempotencyKey = .generated
        let events = mock.events(for: request, budgets: nil, clocks: clock.retryClocks())
        var keys: [Set<String?>] = []
        for _ in 1...2 {
            let sent = mock.requests.count
            var iterator = events.makeAsyncIterator()
            for _ in 1...4 { #expect(try await iterator.next()?.data == "a") }
            let sequence = mock.requests[sent...]
            #expect(sequence.count == 4)
            keys.append(Set(sequence.map { $0.headers["Idempotency-Key"] }))
        }
        #expect(keys.map(\.count) == [1, 1] && keys[0] != keys[1] && !keys[0].contains(nil))
    }

    @Test("R5: a key that a stage makes for each connection is that of the first one")
    func keyOfAStage() async throws {
        let stage = ModifyRequest { request in
            var request = request
            request.idempotencyKey = .custom("\(UInt64.random(in: 0 ... .max))")
            return request
        }
        mock.then(stream("data: a\n\n", breaks: true)).then(.status(503)).then(stream("data: b\n\n"))
        let request = try HTTPRequest("https://api.example.com/chat", method: .post)
        let events = (stage --> mock).events(for: request, budgets: nil, clocks: clock.retryClocks())
        #expect(try await data(events) == ["a", "b"])
        let keys = mock.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 3 && Set(keys).count == 1 && keys[0] != nil)
    }

    @Test("R5: a key that cannot be written is an error, and nothing is sent")
    func badKey() async throws {
        var request = try HTTPRequest("https://api.example.com/chat", method: .post)
        request.idempotencyKey = .custom("")
        let events = mock.events(for: request, budgets: nil, clocks: clock.retryClocks())
        let error = await #expect(throws: HTTPError.self) { try await data(events) }
        #expect(error?.code == .invalidRequest && mock.requests.isEmpty)
    }

    @Test("R23: reconnections draw on the budget, and each connection makes one deposit")
    func budget() async throws {
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 0)
        mock.then(stream("data: a\n\n"))
        let budgets = Retry.Budgets { _ in budget }
        let error = await #expect(throws: HTTPError.self) { try await data(events(budgets: budgets)) }
        #expect(error?.attempts.map(\.reason) == [.budgetExhausted])
        #expect(mock.requests.count == 1)
    }

    @Test("R9: cancellation ends the wait for a reconnection with CancellationError")
    func cancellation() async throws {
        let clock = TestClock()
        mock.then(stream("data: a\n\n"))
        let events = mock.events(
            for: try HTTPRequest("https://api.example.com/events"),
            retrying: RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(2), maxAttempts: 3)),
            budgets: nil,
            clocks: clock.retryClocks()
        )
        let task = Task { try await data(events) }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(mock.requests.count == 1)
    }

    @Test("a line that is too long ends the events, and is not asked for again", arguments: ["", "data: a\n\n"])
    func tooLong(before: String) async throws {
        mock.otherwise(stream(before + "data: " + String(repeating: "x", count: 100) + "\n\n"))
        let events = mock.events(
            for: try HTTPRequest("https://api.example.com/events"),
            budgets: nil,
            clocks: clock.retryClocks(),
            upTo: 50
        )
        await #expect(throws: HTTPBody.LineTooLong.self) { try await data(events) }
        #expect(mock.requests.count == 1)
    }
}
