// SPDX-License-Identifier: Apache-2.0
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@Suite("Deadlines of a session's requests", .timeLimit(.minutes(10)))
struct DeadlineTests {
    private let clock = TestClock()
    private let loader = ScriptedLoader(.status(200, body: "ok"))

    private func session(_ adapters: [any RequestAdapter] = []) -> Session {
        Session.testing(loader, interceptor: Interceptor(adapters: adapters), clock: nil) { settings in
            settings.clocks = clock.retryClocks()
        }
    }

    private func limited() -> HTTPRequest {
        var request = HTTPRequest.sample
        request.timeout = .seconds(3)
        return request
    }

    @Test("R20: the deadline ends the wait for an adapter")
    func adapter() async {
        let hold = MockLoader.Gate()
        let gate = MockLoader().then(.held(by: hold, .status(200)))
        let session = session([
            Adapter { request, _ in
                _ = await gate.load(request)
                return request
            }
        ])
        let task = Task { await session.request(limited()).serializingData().response }
        await hold.arrivals(atLeast: 1)
        await clock.advanceToNextSleeper()
        #expect(await task.value.error?.transportCode == .deadlineExceeded)
        #expect(loader.requests.isEmpty)
        #expect(hold.count == 0)
    }

    @Test("R20: the deadline ends an attempt of a loader that keeps no time itself")
    func attempt() async {
        let hold = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: hold, .status(200)))
        let session = Session.testing(mock, interceptor: nil, clock: nil) { $0.clocks = clock.retryClocks() }
        let task = Task { await session.request(limited()).serializingData().response }
        await hold.arrivals(atLeast: 1)
        await clock.advanceToNextSleeper()
        #expect(clock.now.offset == .seconds(3))
        #expect(await task.value.error?.transportCode == .deadlineExceeded)
        #expect(hold.count == 0)
    }

    @Test("R20: an attempt of a loader that keeps no time itself ends in its own, and is repeated")
    func attemptTimeout() async throws {
        let hold = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: hold, .status(500))).then(.status(200, body: .text("ok")))
        let policy = RetryPolicy.recommended.with(schedule: .immediately())
        let session = Session.testing(mock, interceptor: policy, clock: nil) { $0.clocks = clock.retryClocks() }
        var request = HTTPRequest.sample
        request.attemptTimeout = .seconds(2)
        let task = Task { [request] in await session.request(request).serializingString().response }
        await hold.arrivals(atLeast: 1)
        await clock.advanceToNextSleeper()
        let response = await task.value
        #expect(try response.result.get() == "ok")
        #expect(response.attempts.map(\.error) == [.timedOut, nil])
    }

    @Test("R20: the deadline ends the time in which a request is suspended")
    func suspended() async throws {
        let loader = ScriptedLoader(.status(503), .status(200, body: "ok"))
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(1)))
        let session = Session.testing(loader, interceptor: policy, clock: nil) { $0.clocks = clock.retryClocks() }
        let request = session.request(limited())
        let task = Task { await request.serializingData().response }
        await clock.sleepers(atLeast: 1)
        request.suspend()
        await clock.advanceToNextSleeper()
        await clock.advanceToNextSleeper()
        #expect(clock.now.offset == .seconds(3))
        #expect(await task.value.error?.transportCode == .deadlineExceeded)
        #expect(loader.requests.count == 1)
    }

    @Test("An adapter has its time on a clock that moves by itself, and a deadline does not take it away")
    func jumpingClock() async throws {
        let clock = TestClock(.autoAdvancing)
        let session = Session.testing(
            loader,
            interceptor: Interceptor(adapters: [Adapter { request, _ in request }]),
            clock: nil
        ) { $0.clocks = clock.retryClocks() }
        let response = await session.request(limited()).serializingString().response
        #expect(try response.result.get() == "ok")
        #expect(clock.sleeps.isEmpty)
    }

    @Test("R20: the deadline ends a body that is read here, of a loader that keeps no time itself", arguments: 0..<4)
    func body(kind: Int) async throws {
        let loader = ScriptedLoader(
            .compute { request in
                let chunks = AsyncThrowingStream<[UInt8], any Error> {
                    await untilCancelled()
                    throw CancellationError()
                }
                return .success(HTTPResponse(request: request, status: 200, body: .oneShot(chunks)))
            }
        )
        let session = Session.testing(loader, interceptor: nil, clock: nil) { $0.clocks = clock.retryClocks() }
        let request: Request
        switch kind {
        case 0: request = session.request(limited()).downloadProgress { _ in }
        case 1: request = session.request(limited()).onHTTPResponse { _ in }
        case 2: request = session.request(limited())
        default: request = session.download(limited())
        }
        let hasEnded = Signal()
        request.whenEnded { hasEnded.set() }
        request.resume()
        await clock.advanceToNextSleeper()
        #expect(clock.now.offset == .seconds(3))
        await hasEnded.wait()
        #expect(request.error?.transportCode == .deadlineExceeded)
    }
}
