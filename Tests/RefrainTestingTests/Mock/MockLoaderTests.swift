// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("MockLoader")
struct MockLoaderTests {
    let mock = MockLoader()

    private func request(_ path: String = "", method: HTTPMethod = .get, body: HTTPBody = .empty) throws -> HTTPRequest
    {
        try HTTPRequest("https://example.com/\(path)", method: method, body: body)
    }

    @Test("B: MockLoader: replies come first in, first out, whatever form they have")
    func firstInFirstOut() async throws {
        mock.then(.status(503, headers: ["Retry-After": "7"], body: .text("later"), bytesSent: 80))
            .then(.failure(.networkConnectionLost, bytesSent: 120, message: "cut off"))
            .then { .success(HTTPResponse(request: $0, status: 200)) }
        let first = try await mock.response(for: request("a"))
        #expect(first.status == 503)
        #expect(first.headers["retry-after"] == "7")
        #expect(try await first.body.collect() == Array("later".utf8))
        #expect(first.exchange.bytesSent == 80)
        let failure = await #expect(throws: HTTPError.self) { try await mock.response(for: request("b")) }
        #expect(failure?.code == .networkConnectionLost)
        #expect(failure?.bytesSent == 120)
        #expect(failure?.message == "cut off")
        #expect(try await mock.response(for: request("c")).status == 200)
        #expect(mock.requests.map(\.description) == ["a", "b", "c"].map { "GET https://example.com/\($0)" })
    }

    @Test(
        "B: MockLoader: a request with nothing lined up fails, is told what to do, and is not tried again"
    )
    func nothingLinedUp() async throws {
        mock.then(.status(200))
        _ = await mock.load(try request())
        let error = await #expect(throws: HTTPError.self) { try await mock.response(for: request("second")) }
        #expect(error?.code == .callerFailed)
        #expect(error?.bytesSent == 0)
        let text = "\(try #require(error))"
        for part in ["https://example.com/second", "request number 2", "then(_:)", "otherwise(_:)"] {
            #expect(text.contains(part))
        }
    }

    @Test("B: MockLoader: a reply for all others, and one for several requests")
    func othersAndSeveral() async throws {
        mock.then(times: 2, .status(503)).then(times: -1, .status(500)).otherwise(.status(204))
        #expect(mock.remainingReplies == 2)
        var statuses: [HTTPStatus] = []
        for _ in 0..<4 { statuses.append(try await mock.response(for: request()).status) }
        #expect(statuses == [503, 503, 204, 204])
        #expect(mock.remainingReplies == 0)
    }

    @Test("R31: a reply can be lined up for any number of requests")
    func always() async throws {
        mock.then(.status(500)).then(times: .max, .status(503)).then(times: .max, .status(502))
        #expect(mock.remainingReplies == .max)
        var statuses: [HTTPStatus] = []
        for _ in 0..<3 { statuses.append(try await mock.response(for: request()).status) }
        #expect(statuses == [500, 503, 503])
        #expect(mock.remainingReplies == .max)
    }

    @Test("B: MockLoader: a held reply comes when it is released")
    func release() async throws {
        let hold = MockLoader.Gate()
        mock.then(times: 2, .held(by: hold, .status(200)))
        let request = try request()
        let tasks = (0..<2).map { _ in Task { await mock.load(request) } }
        await hold.arrivals(atLeast: 2)
        #expect(hold.count == 2)
        await hold.release()
        for task in tasks { #expect(try await task.value.get().status == 200) }
        // A gate that is open stays open.
        mock.then(.held(by: hold, .status(204)))
        #expect(try await mock.response(for: request).status == 204)
    }

    @Test("R9: a held request ends as cancelled when its task is cancelled")
    func cancelHeld() async throws {
        let hold = MockLoader.Gate()
        mock.then(.held(by: hold, .status(200)))
        let request = try request()
        let task = Task { await mock.load(request) }
        await hold.arrivals(atLeast: 1)
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value.get() }
        #expect(error?.code == .cancelled)
        #expect(hold.count == 0)
    }

    @Test("B: MockLoader: a reset ends what is held, and is counted")
    func reset() async throws {
        let hold = MockLoader.Gate()
        mock.then(.held(by: hold, .status(200)))
        let request = try request()
        let task = Task { await mock.load(request) }
        await hold.arrivals(atLeast: 1)
        await mock.reset()
        let error = await #expect(throws: HTTPError.self) { try await task.value.get() }
        #expect(error?.code == .cancelled)
        #expect(mock.resets == 1)
    }

    @Test("B: MockLoader: a reset ends what has arrived, however far it has come", .timeLimit(.minutes(5)))
    func resetAtAnyMoment() async throws {
        for _ in 0..<2_000 {
            let mock = MockLoader()
            mock.then(.held(by: MockLoader.Gate(), .status(200)))
            let request = try request()
            let task = Task { await mock.load(request) }
            await mock.requests(atLeast: 1)
            await mock.reset()
            // The time limit cancels the test, which ends what the reset has not.
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            #expect(throws: HTTPError.self) { try result.get() }
        }
    }

    @Test("R4: an answer has read the request's body, a failure that sent nothing has not")
    func readsBodies() async throws {
        mock.then(.failure(.cannotConnectToHost, bytesSent: 0)).then(.status(200)).then(.status(200))
        let stream = AsyncStream<[UInt8]> { continuation in
            continuation.yield([1, 2, 3])
            continuation.finish()
        }
        let request = try request(method: .post, body: .oneShot(stream))
        _ = await mock.load(request)
        #expect(request.body.replayability == .once)
        #expect(try await mock.response(for: request).status == 200)
        #expect(request.body.replayability == .onceAndRead)
        let error = await #expect(throws: HTTPError.self) { try await mock.response(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
    }

    @Test("many tasks at once get one reply each")
    func threadSafe() async throws {
        mock.then(times: 1000, .status(200)).otherwise(.status(500))
        let request = try request()
        let good = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<1500 { group.addTask { (try? await mock.load(request).get().status) == 200 } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(good == 1000)
        #expect(mock.requests.count == 1500)
    }

    @Test("a retry stage over the mock waits on the test clock")
    func underRetry() async throws {
        let clock = TestClock(.autoAdvancing)
        mock.then(.status(503)).then(.status(200))
        let loader = Retry(Backoff.constant(delay: .seconds(3)), budgets: nil, clocks: clock.retryClocks()) --> mock
        #expect(try await loader.response(for: request()).status == 200)
        #expect(clock.sleeps == [.seconds(3)])
    }

    @Test("R9: a request that is cancelled does not wait for its completion", .timeLimit(.minutes(1)))
    func cancelledCompletion() async throws {
        let kept = Observed<(@Sendable (HTTPResult) -> Void)?>(nil)
        mock.then { _, completion in kept.withLock { $0 = completion } }
        let request = try request()
        let task = Task { [mock] in await mock.load(request) }
        await kept.wait { $0 != nil }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value.get() }
        #expect(error?.code == .cancelled)
        // Comes too late, and changes nothing.
        kept.withLock { $0 }?(.failure(HTTPError(.timedOut, request: request)))
    }
}
