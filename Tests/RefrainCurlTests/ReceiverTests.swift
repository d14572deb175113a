import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("CurlLoader: requests whose results are received, not awaited", .timeLimit(.minutes(5)))
struct ReceiverTests {
    /// Keeps what it is told.
    private final class Receiver: ResultReceiver {
        private let state = Locked<[HTTPResult]>([])

        var results: [HTTPResult] { state.withLock { $0 } }

        func receive(_ result: HTTPResult) { state.withLock { $0.append(result) } }

        func result() async throws -> HTTPResult {
            #expect(await eventually { !results.isEmpty })
            return try #require(results.first)
        }
    }

    let server: FaultServer
    let loader = CurlLoader()

    init() throws { server = try FaultServer() }

    @Test("the response is received once")
    func response() async throws {
        for number in 1...3 {
            let receiver = Receiver()
            _ = loader.begin(try HTTPRequest(server.baseURL + "/ok"), for: receiver)
            let response = try await receiver.result().get()
            #expect(response.status == 200)
            #expect(receiver.results.count == 1)
            #expect(server.count(path: "/ok") == number)
        }
    }

    @Test("R9: an exchange that is cancelled is received as cancelled, once")
    func cancelled() async throws {
        let receiver = Receiver()
        let exchange = try #require(loader.begin(try HTTPRequest(server.baseURL + "/hang"), for: receiver))
        #expect(await eventually { server.count(path: "/hang") == 1 })
        loader.cancel(exchange)
        let error = try failure(of: try await receiver.result())
        #expect(error.code == .cancelled)
        loader.cancel(exchange)
        _ = try await loader.response(for: HTTPRequest(server.baseURL + "/ok"))
        #expect(receiver.results.count == 1)
    }

    @Test("R31: an exchange of another loader, or anything else, is not cancelled")
    func foreign() async throws {
        let other = CurlLoader()
        _ = try await other.response(for: HTTPRequest(server.baseURL + "/ok"))
        let receiver = Receiver()
        let exchange = try #require(loader.begin(try HTTPRequest(server.baseURL + "/hang"), for: receiver))
        #expect(await eventually { server.count(path: "/hang") == 1 })
        other.cancel(exchange)
        other.cancel(receiver)
        _ = try await other.response(for: HTTPRequest(server.baseURL + "/ok"))
        #expect(receiver.results.isEmpty)
        loader.cancel(exchange)
        #expect(try failure(of: try await receiver.result()).code == .cancelled)
    }

    @Test("R31: a request that cannot be received so is refused before anything is sent")
    func refused() async throws {
        var streamed = try HTTPRequest(server.baseURL + "/ok")
        streamed.streamsResponse = true
        let receiver = Receiver()
        #expect(loader.begin(streamed, for: receiver) == nil)
        #expect(try failure(of: try await receiver.result()).code == .invalidRequest)
        let second = Receiver()
        var malformed = try HTTPRequest(server.baseURL + "/ok")
        malformed.headers["X-Split"] = "a\r\nb: c"
        #expect(loader.begin(malformed, for: second) == nil)
        #expect(try failure(of: try await second.result()).bytesSent == 0)
        #expect(server.count(path: "/ok") == 0)
    }

    @Test("a loader that goes ends what it has begun")
    func gone() async throws {
        let receiver = Receiver()
        do {
            let short = CurlLoader()
            _ = short.begin(try HTTPRequest(server.baseURL + "/hang"), for: receiver)
            #expect(await eventually { server.count(path: "/hang") == 1 })
        }
        #expect(try failure(of: try await receiver.result()).code == .sessionInvalidated)
    }
}
