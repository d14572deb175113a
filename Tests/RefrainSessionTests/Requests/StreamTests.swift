import RefrainCore
import RefrainSession
import Testing

@Suite("Streams", .timeLimit(.minutes(1)))
struct StreamTests {
    /// What a transport holds for a body that nobody has read: here, only something to be let go of.
    private final class Connection: Sendable {}

    /// Answers a status with a body that can be read once and holds a connection until then, and then others.
    private final class StreamingLoader: HTTPLoader {
        private let script: Locked<[(Int, HTTPHeaders)]>
        private let last = Locked(WeakConnection())

        private struct WeakConnection: Sendable {
            weak var connection: Connection?
        }

        init(_ script: (Int, HTTPHeaders)...) { self.script = Locked(script) }

        /// Whether the last response's body still holds its connection.
        var holdsConnection: Bool { last.withLock { $0.connection != nil } }

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let (code, headers) = script.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            let connection = Connection()
            last.withLock { $0.connection = connection }
            let chunks = AsyncStream<[UInt8]>(unfolding: {
                withExtendedLifetime(connection) {}
                return nil
            })
            let (status, body) = (HTTPStatus(rawValue: code), HTTPBody.oneShot(chunks))
            return .success(HTTPResponse(request: request, status: status, headers: headers, body: body))
        }
    }

    private func ended(_ request: DataStreamRequest) async -> RefrainError? {
        do {
            for try await _ in request.chunks {}
            return nil
        } catch {
            return error as? RefrainError
        }
    }

    @Test("R28: a stream whose answer fails its check lets go of the connection, also while the request is kept")
    func refusedAnswer() async {
        let loader = StreamingLoader((404, [:]))
        let session = Session.testing(loader)
        let request = session.streamRequest(HTTPRequest.sample).validate()
        #expect(await ended(request)?.responseCode == 404)
        while loader.holdsConnection { await Task.yield() }
        #expect(request.response?.status == 404)
    }

    @Test(
        "R28: a stream that waits for its next try lets go of the connection of the last one",
        arguments: [true, false]
    )
    func backOff(validates: Bool) async {
        let loader = StreamingLoader((503, [:]), (200, [:]))
        let session = Session.testing(
            loader,
            interceptor: Retrier { request, _, _ in
                request.suspend()
                return .retry
            }
        )
        let request = session.streamRequest(HTTPRequest.sample)
        if validates { request.validate() }
        request.resume()
        while request.retryCount < 1 { await Task.yield() }
        while loader.holdsConnection { await Task.yield() }
        #expect(request.response?.status == 503)
        request.resume()
        #expect(await ended(request) == nil)
    }

    @Test("R28: an error that carries a stream's last answer does not keep its connection")
    func errorWithAnswer() async {
        let loader = StreamingLoader((503, ["Retry-After": "100000"]))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let request = session.streamRequest(HTTPRequest.sample)
        let error = await ended(request)
        #expect(error?.transportCode == .comeBackLater)
        while loader.holdsConnection { await Task.yield() }
        #expect(request.response?.status == 503)
    }

    @Test("a reader that is told of a failure finds the request ended with it, and not cancelled")
    func failureIsNoCancellation() async {
        for _ in 0..<1_000 {
            let session = Session.testing(ScriptedLoader(.status(404, body: "no")))
            let request = session.streamRequest(HTTPRequest.sample).validate()
            #expect(await ended(request)?.responseCode == 404)
            #expect(request.isFinished)
            #expect(request.error?.responseCode == 404)
        }
    }
}
