// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

/// Collects a content; how many pieces came on the transport's thread, and how many as chunks.
private final class DirectBytes: DirectSink {
    struct Failure: Error, Equatable {}

    struct State {
        var bytes: [UInt8] = []
        var (direct, chunks) = (0, 0)
    }

    let state = Locked(State())
    private let limit: Int

    /// - Parameter limit: after how many bytes it fails.
    init(limit: Int = .max) { self.limit = limit }

    var takesDirectly: Bool { true }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        let size = state.withLock { state in
            state.bytes.append(contentsOf: bytes)
            state.direct += 1
            return state.bytes.count
        }
        if size > limit { throw Failure() }
    }

    func write(_ bytes: [UInt8]) async throws {
        state.withLock { state in
            state.bytes += bytes
            state.chunks += 1
        }
    }

    func startOver() async throws { state.withLock { $0 = State() } }
}

@Suite("On the wire: downloads that are written where they arrive", .timeLimit(.minutes(10)))
struct DirectDeliveryTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func load(_ target: String, into sink: DirectBytes) async throws -> HTTPResult {
        var request = try HTTPRequest(server.baseURL + target)
        request.download = Download(to: sink)
        return try await (Retry(quick(), budgets: nil) --> Resume() --> transport()).load(request)
    }

    @Test("R11: the content is the source's, whole or cut on the way", arguments: [("", 1), ("?cut-each=1300000", 3)])
    func content(query: String, sends: Int) async throws {
        let sink = DirectBytes()
        let response = try await load("/bytes/3000000" + query, into: sink).get()
        let state = sink.state.withLock { $0 }
        #expect(SHA256.hex(of: state.bytes) == response.headers["X-Content-SHA256"])
        #expect(response.body.isEmpty && server.log.count == sends)
        // The last 400 KB of the cut one are below the length from which on it pays.
        #expect((state.chunks == 0) == query.isEmpty, "\(state.direct) and \(state.chunks)")
        #if os(Linux)
        #expect(state.direct > 0)
        #endif
    }

    @Test("a sink that fails ends the download with its error, and there is no further attempt")
    func failure() async throws {
        let sink = DirectBytes(limit: 1_500_000)
        let result = try await load("/bytes/3000000", into: sink)
        guard case .failure(let error) = result else {
            Issue.record("it was no failure")
            return
        }
        #expect(error.code == .callerFailed && error.underlyingError is DirectBytes.Failure, "\(error)")
        #expect(server.log.count == 1)
        #expect(sink.state.withLock { $0.bytes.count } < 3_000_000)
    }

    @Test("R9: a cancelled task ends while bytes arrive")
    func cancellation() async throws {
        let sink = DirectBytes()
        let task = Task { try await load("/hang-body?bytes=3000000&after=1500000", into: sink) }
        while sink.state.withLock({ $0.bytes.isEmpty }) { await Task.yield() }
        task.cancel()
        let result = try await task.value
        guard case .failure(let error) = result else {
            Issue.record("it was no failure")
            return
        }
        #expect(error.code == .cancelled, "\(error)")
    }
}
