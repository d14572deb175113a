// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import RefrainAsyncHTTPClient
import RefrainTesting
import Testing

@Suite("AsyncHTTPClient as the transport")
struct AsyncHTTPClientLoaderTests {
    private static let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .zero, maxAttempts: 3))
    let server: FaultServer

    init() throws { server = try FaultServer() }

    private func withLoader<Value>(
        _ configuration: HTTPClient.Configuration = .quiet,
        _ body: (AsyncHTTPClientLoader) async throws -> Value
    ) async throws -> Value {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let value = try await body(AsyncHTTPClientLoader(client))
            try await client.shutdown()
            return value
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    private func failure(of result: HTTPResult) throws -> HTTPError {
        guard case .failure(let error) = result else { throw CancellationError() }
        return error
    }

    @Test("a request arrives as it was made, and the response as it was sent")
    func exchange() async throws {
        server.on("/echo") { request in
            let words = [request.method, request.header("X-A") ?? "", String(decoding: request.body, as: UTF8.self)]
            return [.respond(.init(201, headers: [("X-B", "1"), ("X-B", "2")], body: words.joined(separator: " ")))]
        }
        try await withLoader { loader in
            var request = try HTTPRequest(server.baseURL + "/echo#part", method: "PATCH", body: .text("text"))
            request.headers["X-A"] = "a"
            let response = try await loader.response(for: request)
            #expect(response.status == 201 && response.text == "PATCH a text")
            #expect(response.headers[values: "X-B"] == ["1", "2"] && response.exchange.version == "1.1")
            #expect(server.log.first?.header("Content-Type") == "text/plain; charset=utf-8")
            #expect(server.log.first?.path == "/echo")
        }
    }

    @Test("a host arrives in its ASCII form, and user and password as a field")
    func authority() async throws {
        var configuration = HTTPClient.Configuration.quiet
        configuration.dnsOverride = ["xn--bcher-kva.example": "127.0.0.1"]
        let port = server.port
        server.on("/who") { request in
            let values = [request.header("Host") ?? "", request.header("Authorization") ?? "none"]
            return [.respond(.init(200, body: values.joined(separator: " ")))]
        }
        try await withLoader(configuration) { loader in
            func answer(_ authority: String, _ headers: HTTPHeaders = [:]) async throws -> String? {
                try await loader.response(for: HTTPRequest("http://\(authority):\(port)/who", headers: headers)).text
            }
            let answers = [
                try await answer("b%C3%BCcher.example"), try await answer("us%40er:p%3Aw@127.0.0.1"),
                try await answer("u:p@127.0.0.1", ["Authorization": "Own"]),
            ]
            #expect(answers[0] == "xn--bcher-kva.example:\(port) none")
            #expect(answers[1] == "127.0.0.1:\(port) Basic dXNAZXI6cDp3")
            #expect(answers[2] == "127.0.0.1:\(port) Own")
        }
    }

    @Test("a path that the client would replace by / is refused, and a query is sent as it is")
    func paths() async throws {
        server.on("/q") { [.respond(.init(200, body: $0.target))] }
        try await withLoader { loader in
            let request = try HTTPRequest(server.baseURL + "/%FF/x", method: .delete)
            let error = try failure(of: await loader.load(request))
            #expect(error.code == .badURL && error.bytesSent == 0)
            #expect(server.log.isEmpty)
            #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/q?%FF&a=%2F")).text == "/q?%FF&a=%2F")
        }
    }

    @Test("the codings of Alamofire's default fields, which the client does not undo, are not asked for")
    func codings() async throws {
        server.on("/codings") { [.respond(.init(200, body: $0.header("Accept-Encoding") ?? "none"))] }
        try await withLoader { loader in
            let url = server.baseURL + "/codings"
            let standard = try await loader.response(for: HTTPRequest(url, headers: .default))
            let own = try await loader.response(for: HTTPRequest(url, headers: ["Accept-Encoding": "gzip"]))
            #expect(standard.text == "none" && own.text == "gzip")
        }
    }

    @Test("R4: streamed bodies are sent as they are read, one-shot ones once")
    func bodies() async throws {
        try await withLoader { loader in
            let chain = Retry(Self.policy) --> loader
            @Sendable func chunks() -> AsyncStream<[UInt8]> {
                AsyncStream { continuation in
                    for _ in 0..<100 { continuation.yield([UInt8](repeating: 65, count: 10_000)) }
                    continuation.finish()
                }
            }
            let path = server.baseURL + "/status/503?times=1"
            var request = try HTTPRequest(path, method: .put, body: .stream(length: 1_000_000) { chunks() })
            #expect(try await chain.response(for: request).status == 200)
            #expect(server.log.map(\.bodyLength) == [1_000_000, 1_000_000])
            server.clearLog()
            request = try HTTPRequest(path + "&again", method: .put, body: .oneShot(chunks(), length: nil))
            #expect(try await chain.response(for: request).status == 503)
            #expect(server.log.map(\.bodyLength) == [1_000_000])
        }
    }

    @Test("a body is collected up to its limit, or streamed, and one that was cut is a failure: R10")
    func responses() async throws {
        try await withLoader { loader in
            var request = try HTTPRequest(server.baseURL + "/bytes/300000")
            #expect(try await loader.response(for: request).body.collect().count == 300_000)
            request.maximumBodySize = 1000
            #expect(try failure(of: await loader.load(request)).code == .dataLengthExceedsMaximum)
            request.maximumBodySize = nil
            request.streamsResponse = true
            var count = 0
            for try await chunk in try await loader.response(for: request).body { count += chunk.count }
            #expect(count == 300_000)
            for path in ["/bytes/300000?cut=1000", "/close-chunked", "/reset-body"] {
                let cut = try HTTPRequest(server.baseURL + path)
                #expect(try failure(of: await loader.load(cut)).code == .networkConnectionLost, "\(path)")
            }
        }
    }

    @Test("R11: a download that was cut goes on where it was")
    func download() async throws {
        try await withLoader { loader in
            let retry = Retry(Self.policy, budgets: nil)
            let sink = Collector()
            var request = try HTTPRequest(server.baseURL + "/bytes/300000?cut-each=100000")
            request.download = Download(to: sink)
            #expect(try await (retry --> Resume() --> loader).response(for: request).status == 206)
            let whole = try await loader.response(for: HTTPRequest(server.baseURL + "/bytes/300000"))
            #expect(sink.bytes.withLock { $0 } == (try await whole.body.collect()))
            #expect(server.log.dropFirst().prefix(2).allSatisfy { $0.header("If-Range") != nil })
        }
    }

    @Test("R2: what cannot have left is known to be unsent; of all else nothing is known")
    func evidence() async throws {
        let refused = try FaultServer(mode: .refuse)
        let cases: [(url: String, code: HTTPError.Code, bytesSent: Int64?)] = [
            (refused.baseURL + "/", .cannotConnectToHost, 0), ("http://host.invalid/", .cannotFindHost, 0),
            (server.baseURL + "/reset-before", .networkConnectionLost, nil),
            (server.baseURL + "/close-before", .networkConnectionLost, nil),
            ("https://127.0.0.1:\(server.port)/", .secureConnectionFailed, nil),
        ]
        try await withLoader { loader in
            for (url, code, bytesSent) in cases {
                let error = try failure(of: await loader.load(HTTPRequest(url, method: .post)))
                #expect(error.code == code && error.bytesSent == bytesSent, "\(url): \(error)")
            }
        }
    }

    @Test("R9, R20: a task that is cancelled ends its request, and a limit of the Timeout stage an attempt")
    func cancellation() async throws {
        try await withLoader { loader in
            for path in ["/hang", "/hang-headers", "/hang-body", "/hang-unread"] {
                let request = try HTTPRequest(server.baseURL + path)
                let task = Task { await loader.load(request) }
                while server.requests(toPath: path).isEmpty { await Task.yield() }
                task.cancel()
                #expect(try failure(of: await task.value).code == .cancelled, "\(path)")
                var limited = request
                limited.timeouts.total = .milliseconds(50)
                #expect(try failure(of: await (Timeout() --> loader).load(limited)).code == .timedOut, "\(path)")
            }
        }
    }

    @Test("R20: each limit of a request ends it, also while the body of a streamed response is read")
    func limits() async throws {
        try await withLoader { loader in
            func meet(_ path: String, _ limits: Timeout.Limits) async -> HTTPError.Code? {
                guard var request = try? HTTPRequest(server.baseURL + path) else { return .badURL }
                request.timeouts = limits
                request.streamsResponse = true
                do {
                    _ = try await loader.response(for: request).body.collect()
                    return nil
                } catch {
                    return (error as? HTTPError)?.code ?? .unknown
                }
            }
            let limit = Duration.milliseconds(60)
            let total = Timeout.Limits(connect: nil, firstByte: nil, idle: nil, total: limit)
            let idle = Timeout.Limits(connect: nil, firstByte: nil, idle: limit, total: nil)
            let firstByte = Timeout.Limits(connect: nil, firstByte: limit, idle: nil, total: nil)
            for path in ["/hang", "/hang-headers", "/hang-body", "/hang-unread"] {
                #expect(await meet(path, total) == .timedOut, "\(path)")
                #expect(await meet(path, idle) == .timedOut, "\(path)")
            }
            #expect(await meet("/hang", firstByte) == .timedOut)
            // Whatever moves is not idle; it takes twice the limit, and a pause of a busy machine does not reach it.
            let patient = Timeout.Limits(connect: nil, firstByte: nil, idle: .seconds(2), total: nil)
            #expect(await meet("/trickle?bytes=20&interval=200", patient) == nil)
            // Takes two seconds, so that the whole cannot have arrived before it is read.
            #expect(await meet("/trickle?bytes=20&interval=100", total) == .timedOut)
        }
    }

    @Test("R20: the idle time does not run while the source of a body has nothing to send")
    func slowSource() async throws {
        try await withLoader { loader in
            let (chunks, source) = AsyncStream<[UInt8]>.makeStream()
            var request = try HTTPRequest(server.baseURL + "/ok", method: .put, body: .oneShot(chunks, length: nil))
            request.timeouts = Timeout.Limits(connect: nil, firstByte: nil, idle: .seconds(2), total: nil)
            async let response = loader.response(for: request)
            source.yield([65])
            // Twice the limit. The limit leaves a busy machine time for the answer.
            try await Task.sleep(for: .seconds(4))
            source.finish()
            let status = try await response.status
            #expect(status == 200)
        }
    }

    @Test("R8: a TRACE with a body, which the client refuses, is not tried again")
    func trace() async throws {
        let request = try HTTPRequest(server.baseURL + "/ok", method: "TRACE", body: .text("a"))
        let error = try await withLoader { try failure(of: await (Retry(Self.policy) --> $0).load(request)) }
        #expect(error.code == .invalidRequest && error.attempts.count == 1 && error.bytesSent == 0)
    }

    @Test("R3, R26: a client that follows redirects by itself is refused")
    func redirects() async throws {
        var configuration = HTTPClient.Configuration.quiet
        configuration.redirectConfiguration = .follow(max: 5, allowCycles: false)
        let request = try HTTPRequest(server.baseURL + "/redirect-to?url=/ok")
        let error = try await withLoader(configuration) { try failure(of: await $0.load(request)) }
        #expect(error.code == .invalidRequest && error.message?.contains(".disallow") == true)
        // Nor is a loop that it has followed tried again (rule R8).
        server.on("/loop") { _ in [.respond(.init(302, headers: [("Location", "/loop")]))] }
        let loop = try HTTPRequest(server.baseURL + "/loop")
        let looping = try await withLoader(configuration) { loader in
            try failure(of: await (Retry(Self.policy) --> loader).load(loop))
        }
        #expect(looping.code == .httpTooManyRedirects && server.count(path: "/loop") == 1)
        let chain = try await withLoader { try await (Redirect() --> $0).response(for: request).status }
        #expect(chain == 200)
    }
}

extension HTTPClient.Configuration {
    /// Without redirects and further attempts to connect.
    static var quiet: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(5)
        return configuration
    }
}

/// Keeps what comes.
private final class Collector: Download.Sink {
    let bytes = Box<[UInt8]>([])

    func write(_ bytes: [UInt8]) async throws { self.bytes.withLock { $0 += bytes } }
    func startOver() async throws { bytes.withLock { $0 = [] } }
}
#endif
