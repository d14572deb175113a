// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("Timeout")
struct TimeoutTests {
    private struct TimeKeeper: HTTPLoader {
        let mock: MockLoader
        var keepsTimeouts: Bool { true }
        func load(_ request: HTTPRequest) async -> HTTPResult { await mock.load(request) }
    }

    private let clock = TestClock()
    private let hold = MockLoader.Gate()

    private func stage(_ total: Duration) throws -> Timeout { Timeout(total: total, clocks: clock.retryClocks()) }

    @Test("R9: an attempt that takes too long is cancelled, and ends as timed out")
    func timesOut() async throws {
        let loader = try stage(.seconds(5)) --> MockLoader().then(.held(by: hold, .status(200)))
        let task = Task { await loader.load(sampleRequest()) }
        await hold.arrivals(atLeast: 1)
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(4))
        #expect(hold.count == 1)
        await clock.advance(by: .seconds(1))
        #expect(await task.value.errorCode == .timedOut)
        #expect(hold.count == 0)
    }

    @Test("An attempt that ends in time keeps its result, and the timer goes with it")
    func inTime() async throws {
        let loader = try stage(.seconds(5)) --> MockLoader().then(.status(200)).then(.failure(.dnsLookupFailed))
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(await loader.load(sampleRequest()).errorCode == .dnsLookupFailed)
        #expect(clock.sleepers == 0)
    }

    @Test("R9: the caller's own cancellation stays a cancellation")
    func callerCancels() async throws {
        let loader = try stage(.seconds(5)) --> MockLoader().then(.held(by: hold, .status(200)))
        let task = Task { await loader.load(sampleRequest()) }
        await hold.arrivals(atLeast: 1)
        task.cancel()
        #expect(await task.value.errorCode == .cancelled)
        #expect(clock.sleepers == 0)
    }

    @Test("R9: work that a cancelled task begins knows of it from the beginning")
    func cancelledBefore() async throws {
        let loader =
            try stage(.seconds(5))
            --> AnyLoader { request in
                .success(HTTPResponse(request: request, status: Task.isCancelled ? 503 : 200))
            }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await loader.load(sampleRequest())
        }
        #expect(await task.value.status == 503)
    }

    @Test(
        "R9: a stream whose head comes as the limit cuts it has timed out, and is not read",
        arguments: [true, false]
    )
    func headAsItIsCut(isStage: Bool) async throws {
        let cut = AnyLoader { [clock] request in
            // As a transport whose head has arrived, and whose body the cancellation ends.
            try? await clock.sleep(for: .seconds(60))
            let end = HTTPError(.cancelled, request: request)
            let body = HTTPBody.oneShot(AsyncThrowingStream<[UInt8], any Error> { throw end })
            let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
            return .success(HTTPResponse(request: request, status: 200, headers: headers, body: body))
        }
        let loader = isStage ? AnyLoader(try stage(.seconds(5)) --> cut) : cut
        var request = sampleRequest(method: .post)
        if !isStage { request.attemptTimeout = .seconds(5) }
        let events = loader.events(for: request, retrying: Backoff.never, budgets: nil, clocks: clock.retryClocks())
        let task = Task { for try await _ in events {} }
        await clock.sleepers(atLeast: 2)
        await clock.advance(by: .seconds(5))
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test("R10: a body that ends because its limit has cancelled it is cut short, and no success")
    func cutBody() async throws {
        let loader = AnyLoader { request in
            // As of most sequences of the caller's, cancellation is the end.
            let chunks = AsyncStream<[UInt8]> { $0.yield([1]) }
            return .success(HTTPResponse(request: request, status: 200, body: .oneShot(chunks)))
        }
        let task = Task { [chain = try stage(.seconds(5)) --> loader] in await chain.load(sampleRequest()) }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(5))
        #expect(await task.value.errorCode == .timedOut)
    }

    @Test("R20: the time of an attempt includes a body that its loader has left to be read")
    func unreadBody() async throws {
        let loader = AnyLoader { [clock] request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> {
                try await clock.sleep(for: .seconds(60))
                return nil
            }
            return .success(HTTPResponse(request: request, status: 200, body: .oneShot(chunks)))
        }
        let task = Task { [chain = try stage(.seconds(5)) --> loader] in await chain.load(sampleRequest()) }
        await clock.sleepers(atLeast: 2)
        await clock.advance(by: .seconds(5))
        #expect(await task.value.errorCode == .timedOut)
    }

    @Test(
        "R20: a streamed body of a loader that keeps no time is cut by the idle time and by the total",
        arguments: [3, 10]
    )
    func streams(limit: Int) async throws {
        let loader = AnyLoader { [clock] request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> {
                try await clock.sleep(for: .seconds(4))
                return [1]
            }
            return .success(HTTPResponse(request: request, status: 200, body: .oneShot(chunks)))
        }
        var request = sampleRequest()
        request.streamsResponse = true
        request.timeouts.idle = limit < 4 ? .seconds(limit) : .seconds(5)
        request.attemptTimeout = limit < 4 ? nil : .seconds(limit)
        let response = try await (Timeout(clocks: clock.retryClocks()) --> loader).response(for: request)
        let task = Task { try await response.body.collect() }
        for _ in 1...limit {
            // The server and the limit.
            await clock.sleepers(atLeast: 2)
            await clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test(
        "R9: an attempt that its limit has cut has timed out, whatever a loader of the caller's makes of that",
        arguments: [HTTPError.Code.cancelled, .unknown, .callerFailed]
    )
    func nameOfTheCut(code: HTTPError.Code) async throws {
        struct Cut: Error {}
        let loader = AnyLoader { [clock] request in
            try? await clock.sleep(for: .seconds(60))
            return .failure(HTTPError(code, request: request, underlyingError: Cut()))
        }
        let task = Task { [chain = try stage(.seconds(5)) --> loader] in await chain.load(sampleRequest()) }
        await clock.sleepers(atLeast: 2)
        await clock.advance(by: .seconds(5))
        #expect(await task.value.errorCode == .timedOut)
    }

    @Test("A cancellation from further in, as by a reset, is not taken for the timeout")
    func innerCancellation() async throws {
        let loader = try stage(.seconds(5)) --> MockLoader().then(.failure(.cancelled))
        #expect(await loader.load(sampleRequest()).errorCode == .cancelled)
    }

    @Test("Limits that the request has set itself stay, be it to none; the others are filled in")
    func ownLimits() async throws {
        let mock = MockLoader().otherwise(.status(200))
        let stage = Timeout(
            total: .seconds(5),
            connect: .seconds(1),
            firstByte: .seconds(2),
            clocks: clock.retryClocks()
        )
        var own = sampleRequest()
        own.attemptTimeout = .seconds(9)
        own.timeouts.connect = nil
        _ = await (stage --> mock).load(sampleRequest())
        _ = await (stage --> mock).load(own)
        let filled = Timeout.Limits(
            connect: .seconds(1),
            firstByte: .seconds(2),
            idle: .seconds(60),
            total: .seconds(5)
        )
        let kept = Timeout.Limits(connect: nil, firstByte: .seconds(2), idle: .seconds(60), total: .seconds(9))
        #expect(mock.requests.map(\.timeouts) == [filled, kept])
    }

    @Test("R20: what a deadline leaves cuts a total, and is not taken for the caller's choice")
    func deadlineCuts() async throws {
        var request = sampleRequest()
        request.timeout = .seconds(60)
        let mock = MockLoader().otherwise(.status(200))
        let retry = Retry(nil, budgets: nil, clocks: clock.retryClocks())
        _ = await (retry --> (try stage(.seconds(5))) --> mock).load(request)
        request.timeout = .seconds(3)
        _ = await (retry --> (try stage(.seconds(5))) --> mock).load(request)
        #expect(mock.requests.map(\.attemptTimeout) == [.seconds(5), .seconds(3)])
    }

    @Test("A loader that keeps time by itself is not raced")
    func noRace() async throws {
        let mock = MockLoader().then(.status(200))
        _ = await (try stage(.seconds(5)) --> TimeKeeper(mock: mock)).load(sampleRequest())
        _ = await (try stage(.seconds(5)) --> AnyLoader(TimeKeeper(mock: mock.then(.status(200))))).load(
            sampleRequest()
        )
        #expect(clock.sleeps.isEmpty)
        #expect(mock.requests.first?.attemptTimeout == .seconds(5))
    }

    @Test("The total ends with the head of a stream of events, and the transport has none", .timeLimit(.minutes(1)))
    func totalOfEvents() async throws {
        let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
        let stream = MockLoader.Reply.status(200, headers: headers, body: .text("data: a\n\n"))
        let mock = MockLoader().then(stream).then(.held(by: hold, stream))
        let loader = try stage(.seconds(5)) --> TimeKeeper(mock: mock)
        let events = loader.events(
            for: sampleRequest(method: .post),
            retrying: Backoff.never,
            budgets: nil,
            clocks: clock.retryClocks()
        )
        for try await event in events { #expect(event.data == "a") }
        #expect(mock.requests.map(\.timeLeft) == [nil])
        let silent = Task { for try await _ in events {} }
        await hold.arrivals(atLeast: 1)
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(5))
        let error = await #expect(throws: HTTPError.self) { try await silent.value }
        #expect(error?.code == .timedOut)
    }

    @Test("After Retry, each attempt has the whole time, and an attempt that timed out is tried again")
    func eachTry() async throws {
        let retry = Retry(Backoff.immediately(), budgets: nil, clocks: clock.retryClocks())
        let mock = MockLoader().then(.held(by: hold, .status(200))).then(.status(200))
        let loader = retry --> (try stage(.seconds(5))) --> mock
        let task = Task { await loader.load(sampleRequest()) }
        await clock.sleepers(atLeast: 1)
        await hold.arrivals(atLeast: 1)
        await clock.advance(by: .seconds(5))
        let result = await task.value
        #expect(result.status == 200)
        #expect(result.attempts.map(\.error) == [.timedOut, nil])
    }

    @Test(
        "R31: limits that are not positive count as a millisecond",
        arguments: [Duration.zero, .seconds(-1)]
    )
    func clamped(limit: Duration) async {
        let mock = MockLoader().otherwise(.status(200))
        _ = await (Timeout(total: limit, idle: limit) --> mock).load(sampleRequest())
        #expect(mock.requests.first?.timeouts.total == .milliseconds(1))
        #expect(mock.requests.first?.timeouts.idle == .milliseconds(1))
    }

    @Test("R31: a limit beyond all measure is no limit, and no trap")
    func endless() async throws {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        let loader = Timeout(total: longest) --> MockLoader().then(.status(200))
        #expect(await loader.load(sampleRequest()).status == 200)
    }
}
