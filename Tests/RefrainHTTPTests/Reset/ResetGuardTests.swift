// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("ResetGuard and Autocancel")
struct ResetGuardTests {
    @Test(
        "a guard that drains refuses requests, lets those in flight return, and cancels what is left after the timeout"
    )
    func drains() async {
        for timeout in [nil, Duration.seconds(20)] {
            let gate = MockLoader.Gate()
            let clock = TestClock()
            let guarding = ResetGuard()
            let loader = guarding --> MockLoader().otherwise(.held(by: gate, .status(200)))
            let task = loader.load(sampleRequest()) { _ in }
            await gate.arrivals(atLeast: 1)
            let draining = Task { await guarding.drain(timeout: timeout, clock: clock) }
            if timeout != nil {
                await clock.sleepers(atLeast: 1)
                #expect(await loader.load(sampleRequest()).errorCode == .resetInProgress)
                await clock.advance(by: .seconds(20))
                #expect(await !draining.value)
                #expect(await task.result.errorCode == .cancelled)
            } else {
                await gate.release()
                #expect(await draining.value)
                #expect(await task.result.status == 200)
            }
            #expect(await loader.load(sampleRequest()).errorCode == .resetInProgress)
        }
    }

    private let hold = MockLoader.Gate()
    private let clock = TestClock()

    @Test("B: ResetGuard: a reset cancels what is in flight, awaits it, and opens again")
    func cancelsAndReopens() async {
        let guardStage = ResetGuard()
        let mock = MockLoader().then(.held(by: hold, .status(200))).then(.status(201))
        let loader = guardStage --> mock
        let task = loader.load(sampleRequest()) { _ in }
        await hold.arrivals(atLeast: 1)
        #expect(guardStage.numberOfRequests == 1)
        await loader.reset()
        #expect(hold.count == 0)
        #expect(mock.resets == 1)
        #expect(await task.result.errorCode == .cancelled)
        #expect(await loader.load(sampleRequest()).status == 201)
        #expect(guardStage.numberOfRequests == 0)
    }

    /// A loader whose request stays until a gate opens, cancelled or not.
    private func deaf(_ gate: MockLoader.Gate, onCancel: @escaping @Sendable () -> Void) -> AnyLoader {
        AnyLoader { request in
            await withTaskCancellationHandler {
                await Task { await MockLoader().then(.held(by: gate, .status(200))).load(request) }.value
            } onCancel: {
                onCancel()
            }
        }
    }

    @Test("B: ResetGuard: requests are refused until the last one in flight has returned")
    func refusesUntilAllHaveReturned() async {
        let cancellations = Journal<Void>()
        let loader = ResetGuard() --> deaf(hold) { cancellations.append(()) }
        let first = loader.load(sampleRequest()) { _ in }
        await hold.arrivals(atLeast: 1)
        let reset = Task { await loader.reset() }
        await cancellations.entries(atLeast: 1)
        let refused = await loader.load(sampleRequest())
        #expect(refused.errorCode == .resetInProgress)
        if case .failure(let error) = refused { #expect(error.bytesSent == 0) }
        await hold.release()
        await reset.value
        #expect(await first.result.status == 200)
        #expect(await loader.load(sampleRequest()).status == 200)
    }

    @Test("B: ResetGuard: requests are refused until what follows has been reset")
    func refusesUntilTheRestIsReset() async {
        let gate = hold
        let loader =
            ResetGuard()
            --> AnyLoader(reset: {
                _ = await MockLoader().then(.held(by: gate, .status(200))).load(sampleRequest())
            }) { .success(HTTPResponse(request: $0, status: 200)) }
        let reset = Task { await loader.reset() }
        await gate.arrivals(atLeast: 1)
        #expect(await loader.load(sampleRequest()).errorCode == .resetInProgress)
        await gate.release()
        await reset.value
        #expect(await loader.load(sampleRequest()).status == 200)
    }

    @Test("B: ResetGuard: resets that overlap are one, and all of their callers wait for its end")
    func shared() async {
        let resets = Journal<Void>()
        let gate = hold
        let loader =
            ResetGuard()
            --> AnyLoader(reset: {
                resets.append(())
                _ = await MockLoader().then(.held(by: gate, .status(200))).load(sampleRequest())
            }) { .success(HTTPResponse(request: $0, status: 200)) }
        let first = Task { await loader.reset() }
        await gate.arrivals(atLeast: 1)
        let thread = OwnThread()
        let others = (0..<10).map { _ in Task(executorPreference: thread) { await loader.reset() } }
        // The thread takes its jobs in order: it comes to this one when all the others wait.
        await Task(executorPreference: thread) {}.value
        await gate.release()
        await first.value
        for other in others { await other.value }
        #expect(resets.entries.count == 1)
    }

    @Test("B: Retry: a reset finds the requests that wait for their next attempt, for a slot, and for an answer")
    func findsAll() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let retry = Retry(Backoff.constant(delay: .seconds(60)), budgets: nil, clocks: clock.retryClocks())
        let mock = MockLoader().then(.status(503)).otherwise(.held(by: hold, .status(200)))
        let calls = TrackedCalls()
        let loader = ResetGuard() --> retry --> calls --> throttle --> mock
        let inBackOff = loader.load(sampleRequest("1")) { _ in }
        await clock.sleepers(atLeast: 1)
        let inFlight = loader.load(sampleRequest("2")) { _ in }
        await hold.arrivals(atLeast: 1)
        let inQueue = loader.load(sampleRequest("3")) { _ in }
        await calls.settle(3)
        #expect(throttle.numberOfWaitingRequests == 1)
        await loader.reset()
        for task in [inBackOff, inFlight, inQueue] {
            let code = await task.result.errorCode
            #expect(code == .cancelled)
        }
        #expect(await inBackOff.result.attempts.count == 1)
        #expect(mock.requests.count == 2)
        #expect(clock.sleepers == 0)
        #expect(hold.count == 0)
        #expect(throttle.numberOfRunningRequests == 0)
        #expect(throttle.numberOfWaitingRequests == 0)
    }

    @Test("B: Retry: a thousand requests in back-off end with a reset, and nothing is left behind")
    func massReset() async throws {
        let guardStage = ResetGuard()
        let retry = Retry(Backoff.constant(delay: .seconds(60)), budgets: nil, clocks: clock.retryClocks())
        let mock = MockLoader().otherwise(.status(503))
        let loader = guardStage --> retry --> Throttle(maximumNumberOfRequests: 8) --> mock
        let tasks = (0..<1_000).map { loader.load(sampleRequest("\($0)")) { _ in } }
        await clock.sleepers(atLeast: 1_000)
        await loader.reset()
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(clock.sleepers == 0)
        #expect(guardStage.numberOfRequests == 0)
        #expect(mock.requests.count == 1_000)
    }

    @Test("B: Retry: a thousand requests in back-off end when their callers cancel, and nothing is left behind")
    func massCancellation() async throws {
        let guardStage = ResetGuard()
        let retry = Retry(Backoff.constant(delay: .seconds(60)), budgets: nil, clocks: clock.retryClocks())
        let loader = guardStage --> retry --> MockLoader().otherwise(.status(503))
        let tasks = (0..<1_000).map { loader.load(sampleRequest("\($0)")) { _ in } }
        await clock.sleepers(atLeast: 1_000)
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(clock.sleepers == 0)
        #expect(guardStage.numberOfRequests == 0)
    }

    @Test("A stage that asks for a reset from within its own request does not wait for itself")
    func resetFromWithin() async {
        let slot = Locked<AnyLoader?>(nil)
        let resets = Journal<Void>()
        let loader = AnyLoader(
            ResetGuard()
                --> AnyLoader(reset: { resets.append(()) }) { request in
                    await slot.withLock { $0 }?.reset()
                    return Task.isCancelled
                        ? .failure(HTTPError(.cancelled, request: request))
                        : .success(HTTPResponse(request: request, status: 200))
                }
        )
        slot.withLock { $0 = loader }
        _ = await loader.load(sampleRequest())
        slot.withLock { $0 = nil }
        await loader.reset()
        #expect(!resets.entries.isEmpty)
        #expect(await loader.load(sampleRequest()).status == 200)
    }

    @Test("A reset that a stage further out passes on does not wait for the request that it was called from")
    func resetFromFurtherIn() async throws {
        let outer: [any HTTPMiddleware] = [Deduplicate(), ResetGuard(), Autocancel()]
        for stage in outer {
            let whole = Locked<AnyLoader?>(nil)
            let inner =
                ResetGuard()
                --> AnyLoader { request in
                    await whole.withLock { $0 }?.reset()
                    return .success(HTTPResponse(request: request, status: 200))
                }
            let outside = AnyLoader(reset: { await stage.reset(next: inner) }) { await stage.load($0, next: inner) }
            whole.withLock { $0 = outside }
            // It goes round the stage further out.
            let result = await inner.load(sampleRequest(method: .post))
            #expect(result.status == 200 || result.errorCode == .cancelled)
            whole.withLock { $0 = nil }
        }
    }

    @Test(
        "A refresh may reset its chain, also where its request has left or another reset is in progress",
        arguments: [false, true]
    )
    func resetFromRefresh(isInProgress: Bool) async throws {
        let (begun, goesOn, ended) = (Signal(), Signal(), Signal())
        let whole = Locked<AnyLoader?>(nil)
        let oauth = OAuth {
            begun.set()
            await goesOn.wait()
            await whole.withLock { $0 }?.reset()
            ended.set()
            return nil
        }
        let loader = AnyLoader(ResetGuard() --> oauth --> MockLoader().otherwise(.status(200)))
        whole.withLock { $0 = loader }
        let task = loader.load(sampleRequest()) { _ in }
        await begun.wait()
        var reset: Task<Void, Never>?
        if isInProgress {
            // It cancels the request, and waits for the refresh.
            reset = Task { await loader.reset() }
        } else {
            task.cancel()
        }
        #expect(await task.result.errorCode == .cancelled)
        goesOn.set()
        await ended.wait()
        await reset?.value
        whole.withLock { $0 = nil }
    }

    @Test("The caller's own cancellation reaches the loader behind the guard")
    func callerCancels() async {
        let guardStage = ResetGuard()
        let loader = guardStage --> MockLoader().then(.held(by: hold, .status(200)))
        let task = Task { await loader.load(sampleRequest()) }
        await hold.arrivals(atLeast: 1)
        task.cancel()
        #expect(await task.value.errorCode == .cancelled)
        #expect(guardStage.numberOfRequests == 0)
    }

    @Test("B: Autocancel: it cancels what has passed it, and lets in what comes during the reset")
    func autocancel() async {
        let resetGate = MockLoader.Gate()
        let gate = hold
        let mock = MockLoader().then(.held(by: gate, .status(200))).otherwise(.status(202))
        let loader =
            Autocancel()
            --> AnyLoader(reset: {
                _ = await MockLoader().then(.held(by: resetGate, .status(200))).load(sampleRequest())
            }) { await mock.load($0) }
        let task = loader.load(sampleRequest()) { _ in }
        await gate.arrivals(atLeast: 1)
        let reset = Task { await loader.reset() }
        await resetGate.arrivals(atLeast: 1)
        #expect(await task.result.errorCode == .cancelled)
        #expect(await loader.load(sampleRequest()).status == 202)
        await resetGate.release()
        await reset.value
    }

    @Test("R9: a loop round a chain does not send again what a reset has cancelled, nor what it has refused")
    func outerLoop() async {
        let mock = MockLoader().then(.held(by: hold, .status(200))).otherwise(.status(201))
        let cancellations = Journal<Void>()
        let gate = MockLoader.Gate()
        let chain = ResetGuard() --> Retry(RetryPolicy.recommended, budgets: nil) --> mock
        let slow = ResetGuard() --> deaf(gate) { cancellations.append(()) }
        func loop(_ loader: any HTTPLoader) -> Task<HTTPResponse, any Error> {
            Task { [clock] in
                try await withRetry(.immediately(maxAttempts: 3), clock: clock, retriesExhausted: true) {
                    try await loader.response(for: sampleRequest())
                }
            }
        }
        let cancelled = loop(chain)
        await hold.arrivals(atLeast: 1)
        await chain.reset()
        await #expect(throws: HTTPError.self) { try await cancelled.value }
        #expect(mock.requests.count == 1)

        let first = loop(slow)
        await gate.arrivals(atLeast: 1)
        let reset = Task { await slow.reset() }
        await cancellations.entries(atLeast: 1)
        let refused = Journal<HTTPError.Code?>()
        await #expect(throws: HTTPError.self) {
            try await withRetry(.immediately(maxAttempts: 3)) { () async throws -> HTTPResponse in
                let result = await slow.load(sampleRequest())
                refused.append(result.errorCode)
                return try result.get()
            }
        }
        #expect(refused.entries == [.resetInProgress])
        await gate.release()
        await reset.value
        _ = await first.result
    }
}
