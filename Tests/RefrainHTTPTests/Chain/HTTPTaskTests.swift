// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("Tasks with callbacks")
struct HTTPTaskTests {
    @Test("B: HTTPTask: a loaded request calls back with its response, and handlers added later run at once")
    func completes() async {
        let task = MockLoader().then(.status(204)).load(sampleRequest()) { _ in }
        #expect(await task.result.status == 204)
        let late = Journal<HTTPStatus?>()
        task.addCompletionHandler { late.append($0.status) }
        #expect(late.entries == [204])
        task.addCancelHandler { late.append(nil) }
        task.cancel()
        #expect(late.entries == [204])
        #expect(await task.result.status == 204)
    }

    @Test(
        "R9: a cancelled task cancels its loader, runs its cancel handlers in reverse and completes once, as cancelled"
    )
    func cancels() async {
        let hold = MockLoader.Gate()
        let (events, feed) = AsyncStream.makeStream(of: String.self)
        let task = MockLoader().then(.held(by: hold, .status(200))).load(sampleRequest()) {
            feed.yield($0.errorCode?.rawValue ?? "a response")
        }
        task.addCancelHandler { feed.yield("first") }
        task.addCancelHandler { feed.yield("second") }
        await hold.arrivals(atLeast: 1)
        task.cancel()
        task.cancel()
        #expect(await task.result.errorCode == .cancelled)
        // The thread that completes the task may still be on its way to the first handler.
        let seen = await events.prefix(3).reduce(into: []) { $0.append($1) }
        #expect(seen.filter { $0 != "cancelled" } == ["second", "first"])
        #expect(hold.count == 0)
    }

    @Test("B: HTTPTask: a response that comes after the cancellation is not handed over")
    func lateResponse() async {
        let gate = MockLoader.Gate()
        // A loader that pays no heed to cancellation.
        let deaf = AnyLoader { request in
            await Task { await MockLoader().then(.held(by: gate, .status(200))).load(request) }.value
        }
        let task = deaf.load(sampleRequest()) { _ in }
        await gate.arrivals(atLeast: 1)
        task.cancel()
        await gate.release()
        #expect(await task.result.errorCode == .cancelled)
    }

    @Test("B: HTTPTask: each task has a name of its own")
    func identity() {
        let mock = MockLoader().otherwise(.status(200))
        let ids = (0..<100).map { _ in mock.load(sampleRequest()) { _ in }.id }
        #expect(Set(ids).count == 100)
    }

    @Test("R30: a thousand tasks cancelled from several sides complete once each")
    func completesOnceUnderFire() async {
        let mock = MockLoader().otherwise(.status(200))
        let (completions, feed) = AsyncStream.makeStream(of: Int.self)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let task = mock.load(sampleRequest()) { _ in feed.yield(number) }
                    async let other: Void = task.cancel()
                    task.cancel()
                    await other
                    _ = await task.result
                }
            }
        }
        let seen = await completions.prefix(1_000).reduce(into: []) { $0.append($1) }
        #expect(seen.sorted() == Array(0..<1_000))
    }

    @Test("B: ResetGuard: the completion form of reset calls back when the loader has been reset")
    func resetForm() async {
        let mock = MockLoader()
        await withCheckedContinuation { continuation in mock.reset { continuation.resume() } }
        #expect(mock.resets == 1)
    }
}
