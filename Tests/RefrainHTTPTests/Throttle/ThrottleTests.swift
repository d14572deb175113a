// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("Throttle")
struct ThrottleTests {
    private let hold = MockLoader.Gate()
    private let calls = TrackedCalls()

    private func held() -> MockLoader { MockLoader().otherwise(.held(by: hold, .status(200))) }

    /// Starts requests one after the other, each in its place in the queue before the next begins.
    private func start(_ count: Int, on loader: some HTTPLoader) async -> [HTTPTask] {
        var tasks: [HTTPTask] = []
        for number in 0..<count {
            tasks.append(calls.start(sampleRequest("\(number)"), on: loader))
            await calls.settle()
        }
        return tasks
    }

    @Test("R9: a reset hands no slot from a request that it has cancelled to one that it is about to cancel")
    func resetHandsOnNoSlot() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let sent = Journal<String>()
        let cancelled = Journal<String>()
        let hasPaused = Locked(false)
        let server = AnyLoader { request in
            sent.append(request.name)
            return await withTaskCancellationHandler {
                await MockLoader().then(.held(by: MockLoader.Gate(), .status(200))).load(request)
            } onCancel: {
                cancelled.append(request.name)
                guard request.throttle == .never, cancelled.entries.contains("0"),
                    hasPaused.withLock({ hasPaused in
                        defer { hasPaused = true }
                        return !hasPaused
                    })
                else { return }
                // Stays in the midst of the reset for a while, so that the slot of the first one can go where it goes.
                let limit = ContinuousClock.now.advanced(by: .milliseconds(100))
                while throttle.numberOfWaitingRequests > 0, sent.entries.count == 21, ContinuousClock.now < limit {
                    // In between the locks are left to others.
                    let pause = ContinuousClock.now.advanced(by: .milliseconds(1))
                    // No event: the handler has to hold its thread.
                    while ContinuousClock.now < pause {}
                }
            }
        }
        let loader = ResetGuard() --> calls --> throttle --> server
        var tasks = (0..<20).map { number in loader.load(sampleRequest("\(number)")) { _ in } }
        await calls.settle(20)
        #expect(throttle.numberOfWaitingRequests == 19)
        for number in 0..<20 {
            var request = sampleRequest("beside-\(number)")
            request.throttle = .never
            tasks.append(loader.load(request) { _ in })
        }
        await sent.entries(atLeast: 21)
        await loader.reset()
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(sent.entries.count == 21, "\(sent.entries)")
    }

    @Test("B: Throttle: no more requests pass than the limit allows, and the others follow as they came")
    func firstComeFirstServed() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 2)
        let journal = Journal<String>()
        let gate = MockLoader.Gate()
        let mock = MockLoader()
        mock.then(times: 2, .held(by: gate, .status(200)))
        mock.otherwise(
            MockLoader.Reply { request in
                journal.append(request.name)
                return .success(HTTPResponse(request: request, status: 200))
            }
        )
        let tasks = await start(6, on: throttle --> mock)
        await gate.arrivals(atLeast: 2)
        #expect(mock.requests.count == 2)
        #expect(throttle.numberOfWaitingRequests == 4)
        throttle.setMaximumNumberOfRequests(1)
        await gate.release()
        for task in tasks { #expect(await task.result.status == 200) }
        #expect(journal.entries == ["2", "3", "4", "5"])
        #expect(throttle.numberOfRunningRequests == 0)
    }

    @Test("R9: a request that is cancelled in the queue leaves at once, was never sent, and delays no other")
    func cancelledWaiter() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let mock = held()
        let tasks = await start(3, on: throttle --> mock)
        tasks[1].cancel()
        let result = await tasks[1].result
        #expect(result.errorCode == .cancelled)
        #expect(throws: HTTPError.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.bytesSent == 0) }
        #expect(throttle.numberOfWaitingRequests == 1)
        await hold.release()
        #expect(await tasks[0].result.status == 200)
        #expect(await tasks[2].result.status == 200)
        #expect(mock.requests.map(\.name) == ["0", "2"])
    }

    @Test("B: Throttle: a request whose task is cancelled beforehand takes no slot")
    func cancelledBeforehand() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let mock = held()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await (throttle --> mock).load(sampleRequest())
        }
        #expect(await task.value.errorCode == .cancelled)
        #expect(mock.requests.isEmpty)
        #expect(throttle.numberOfRunningRequests == 0)
    }

    @Test("B: Throttle: a request that asks never to be throttled passes a full throttle and takes no slot")
    func never() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let mock = MockLoader().then(.held(by: hold, .status(200))).otherwise(.status(204))
        let loader = throttle --> mock
        let tasks = await start(2, on: loader)
        var request = sampleRequest("refresh")
        #expect(request.throttle == .always)
        request.throttle = .never
        #expect(await loader.load(request).status == 204)
        #expect(throttle.numberOfWaitingRequests == 1)
        await hold.release()
        for task in tasks { _ = await task.result }
    }

    @Test("B: Throttle: a higher limit lets waiting requests pass at once; a lower one interrupts no request")
    func limitChanges() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let mock = held()
        let tasks = await start(4, on: throttle --> mock)
        throttle.setMaximumNumberOfRequests(3)
        await hold.arrivals(atLeast: 3)
        #expect(throttle.numberOfWaitingRequests == 1)
        throttle.setMaximumNumberOfRequests(1)
        #expect(throttle.numberOfRunningRequests == 3)
        #expect(throttle.maximumNumberOfRequests == 1)
        await hold.release()
        for task in tasks { #expect(await task.result.status == 200) }
    }

    @Test(
        "R31: a limit under 1 counts as 1, and is refused in words where it comes from outside",
        arguments: [0, -1, .min]
    )
    func refusedLimits(limit: Int) throws {
        let refusal = InvalidArgument("maximumNumberOfRequests", is: limit, expected: "1 or more")
        #expect(throws: refusal) { try Throttle.validated(maximumNumberOfRequests: limit) }
        let throttle = Throttle()
        #expect(throttle.maximumNumberOfRequests == .max)
        throttle.setMaximumNumberOfRequests(limit)
        #expect(throttle.maximumNumberOfRequests == 1)
        #expect(Throttle(maximumNumberOfRequests: limit).maximumNumberOfRequests == 1)
    }

    @Test("B: Throttle: a reset sends everybody in the queue away, and the throttle works on")
    func reset() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let tasks = await start(5, on: throttle --> held())
        await throttle.reset()
        for task in tasks.dropFirst() { #expect(await task.result.errorCode == .cancelled) }
        #expect(throttle.numberOfRunningRequests == 1)
        await hold.release()
        #expect(await tasks[0].result.status == 200)
        #expect(await (throttle --> MockLoader().then(.status(200))).load(sampleRequest()).status == 200)
    }

    @Test("B: Throttle: a thousand requests, cancelled at random times, leave no slot taken and no waiter")
    func massCancellation() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 3)
        let loader = throttle --> MockLoader().otherwise(.status(200))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let task = loader.load(sampleRequest("\(number)")) { _ in }
                    if !number.isMultiple(of: 3) { task.cancel() }
                    _ = await task.result
                }
            }
        }
        #expect(throttle.numberOfRunningRequests == 0)
        #expect(throttle.numberOfWaitingRequests == 0)
    }
}
