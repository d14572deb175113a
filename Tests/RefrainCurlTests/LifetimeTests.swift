// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainCurl

@Suite("CurlLoader: what is deallocated, and when", .timeLimit(.minutes(10)))
struct LifetimeTests {
    /// References that keep nothing alive.
    private final class Traces: Sendable {
        private struct State {
            weak var transfer: Transfer?
            weak var pipe: ByteChannel?
            weak var loop: EventLoop?
        }

        private let state = Locked(State())

        init(_ transfer: Transfer, _ loader: CurlLoader) {
            state.withLock { $0 = State(transfer: transfer, loop: loader.loop) }
        }

        /// Notes the pipe of a body, which is there as soon as its response is.
        func notePipe(of transfer: Transfer) { state.withLock { $0.pipe = transfer.response.pipe } }

        var transferIsGone: Bool { state.withLock { $0.transfer == nil && $0.pipe == nil } }
        var allIsGone: Bool { transferIsGone && state.withLock { $0.loop == nil } }
    }

    private let server: FaultServer

    init() throws { server = try FaultServer() }

    /// Begins a request, and says how to look at what it has made.
    private func begin(_ path: String, on loader: CurlLoader, streams: Bool = true) throws -> (Transfer, Traces) {
        var request = try HTTPRequest(server.baseURL + path)
        request.streamsResponse = streams
        let transfer = Transfer(request, owner: loader)
        return (transfer, Traces(transfer, loader))
    }

    @Test(
        "a body that is dropped unread goes with its transfer, at once or when its rest was read, while the loader lives",
        arguments: ["/bytes/300000", "/bytes/30000", "/trickle?bytes=2000&interval=1", "/hang-body", "/huge"]
    )
    func droppedBody(path: String) async throws {
        let loader = CurlLoader()
        let traces: Traces
        do {
            let (transfer, made) = try begin(path, on: loader)
            traces = made
            await resumption { loader.loop.submit(transfer, .task($0)) }
            #expect(try transfer.takeResult().get().status == 200)
            traces.notePipe(of: transfer)
            // So that some of the body is held.
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(await eventually { traces.transferIsGone })
        withExtendedLifetime(loader) {}
    }

    @Test(
        "what is under way, or waits, goes with its loader",
        arguments: ["/hang", "/hang-body", "/bytes/300000"],
        [false, true]
    )
    func shutdown(path: String, waits: Bool) async throws {
        var traces: [Traces] = []
        do {
            var configuration = CurlLoader.Configuration()
            configuration.maximumConnectionsPerHost = 1
            let loader = try CurlLoader(configuration: configuration)
            let blocking = waits ? Task { await loader.load(try HTTPRequest(server.baseURL + "/hang?key=first")) } : nil
            if waits { #expect(await eventually { server.count(path: "/hang") == 1 }) }
            let (transfer, made) = try begin(path, on: loader)
            traces.append(made)
            let task = Task { await resumption { loader.loop.submit(transfer, .task($0)) } }
            try await Task.sleep(for: .milliseconds(50))
            await loader.shutdown()
            await task.value
            _ = transfer.takeResult()
            _ = try await blocking?.value
        }
        for trace in traces { #expect(await eventually { trace.allIsGone }) }
    }
}
