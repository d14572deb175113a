// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@Suite("On the wire: data(from:)", .timeLimit(.minutes(10)))
struct SessionDataWireTests {
    private struct Busy: Error {}

    @Test("it returns content and response of any status, and throws where there is none")
    func outcomes() async throws {
        let server = try FaultServer()
        server.answer("/missing", 404)
        server.answer("/down-once", 503, 200)
        let session = Session.overSockets(RetryPolicy.recommended)
        let (data, response) = try await session.data(from: server.baseURL + "/missing")
        #expect(String(decoding: data, as: UTF8.self) == "404" && response.statusCode == 404)
        let (_, second) = try await session.data(for: try HTTPRequest(server.baseURL + "/down-once", headers: [:]))
        #expect(second.statusCode == 200)
        #expect(server.count(path: "/down-once") == 2)
        await #expect(throws: RefrainError.self) { try await session.data(from: "no url") }
    }

    @Test("C: Task.retrying: a loader of data(from:) runs again for what it throws for")
    func retrying() async throws {
        let server = try FaultServer()
        server.answer("/down-twice", 503, 503, 200)
        let session = Session.overSockets()
        let task = Task.retrying(retryDelay: .zero) {
            let (data, response) = try await session.data(from: server.baseURL + "/down-twice")
            guard response.statusCode == 200 else { throw Busy() }
            return data.count
        }
        #expect(try await task.value == 3)
        #expect(server.count(path: "/down-twice") == 3)
    }

    @Test("a reset with a group leaves it when no request is in flight")
    func group() async throws {
        let server = try FaultServer()
        let loader = ResetGuard() --> CurlLoader()
        let ended = Counter()
        let task = loader.load(try HTTPRequest(server.baseURL + "/hang", headers: [:])) { _ in ended.increment() }
        await server.requests(atLeast: 1, toPath: "/hang")
        let group = DispatchGroup()
        loader.reset(with: group)
        await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
        _ = await task.result
        #expect(task.isCancelled && ended.value == 1)
        #expect(server.count(path: "/hang") == 1)
    }
}
