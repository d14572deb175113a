// SPDX-License-Identifier: Apache-2.0
import Foundation
import RefrainHTTP
import RefrainTesting
import RefrainURLSession
import Testing

@Suite("URLSessionLoader: streams in both directions", .serialized, .timeLimit(.minutes(10)))
struct BodyTests {
    let server: FaultServer
    let loader = URLSessionLoader()

    init() throws { server = try FaultServer() }

    private func streaming(_ path: String) throws -> HTTPRequest {
        var request = try HTTPRequest(server.baseURL + path)
        request.streamsResponse = true
        return request
    }

    private func upload(_ body: HTTPBody, to path: String = "/ok") throws -> HTTPRequest {
        try HTTPRequest(server.baseURL + path, method: .post, body: body)
    }

    // MARK: Responses

    @Test("a response is handed over with its head, before its body has come")
    func headFirst() async throws {
        let response = try await loader.response(for: streaming("/hang-body"))
        #expect(response.status == 200)
        #expect(response.body.replayability == .once)
    }

    @Test("a streamed body arrives whole, and is the same as a collected one")
    func whole() async throws {
        let response = try await loader.response(for: streaming("/bytes/3000000"))
        #expect(response.body.length == 3_000_000)
        let collected = try await loader.response(for: HTTPRequest(server.baseURL + "/bytes/3000000"))
        #expect(try await collected.body.collect() == response.body.collect())
    }

    @Test("a body outlives the last other holder of its loader")
    func bodyHoldsLoader() async throws {
        let body = try await URLSessionLoader().response(for: streaming("/trickle?bytes=20&interval=5")).body
        #expect(try await body.collect().count == 20)
    }

    @Test("a body that is dropped unread ends its exchange")
    func dropping() async throws {
        do { #expect(try await loader.response(for: streaming("/hang-body")).status == 200) }
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test("a reader that is cancelled ends the exchange, and so does a reset")
    func endings() async throws {
        let response = try await loader.response(for: streaming("/hang-body"))
        let task = Task { try await response.body.collect() }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        #expect(try await #require(throws: HTTPError.self) { try await task.value }.code == .cancelled)
        let second = try await loader.response(for: streaming("/hang-body")).body
        await loader.reset()
        #expect(try await #require(throws: HTTPError.self) { try await second.collect() }.code == .cancelled)
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    // MARK: Requests

    @Test("a stream is sent as it is made, with or without a length", arguments: [nil, 2_000_000] as [Int64?])
    func stream(length: Int64?) async throws {
        let body = HTTPBody.stream(length: length) { Chunks(count: 200, size: 10_000) }
        #expect(try await loader.response(for: upload(body)).status == 200)
        let entry = try #require(server.log.first)
        #expect(entry.bodyLength == 2_000_000)
        #expect(entry.complete)
    }

    @Test("a file is sent as it is")
    func file() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("refrain-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(repeating: 7, count: 300_000).write(to: url)
        #expect(try await loader.response(for: upload(.file(url.path))).status == 200)
        let entry = try #require(server.log.first)
        #expect(entry.bodyLength == 300_000)
        #expect(entry.header("Content-Length") == "300000")
    }

    @Test("R4: a one-shot body is sent once, and not again")
    func oneShot() async throws {
        let chain = Retry(RetryPolicy(exponentialBackoffScale: 0), budgets: nil) --> loader
        var request = try upload(.oneShot(Chunks(count: 3, size: 1000)), to: "/status/503")
        request.replay = .allowed
        let response = try await chain.response(for: request)
        #expect(response.status == 503)
        #expect(server.log.map(\.bodyLength) == [3000])
    }

    @Test("a stream whose length is not what was said fails, and is never complete", arguments: [1, 29_999, 30_001])
    func wrongLength(length: Int64) async throws {
        let body = HTTPBody.stream(length: length) { Chunks(count: 3, size: 10_000) }
        let error = try failure(of: await loader.load(upload(body)))
        #expect(error.code == .invalidRequest, "\(error)")
        #expect(server.log.allSatisfy { !$0.complete })
    }

    @Test("a source that fails makes the request fail with its error, and no server sees a whole body")
    func failingSource() async throws {
        let body = HTTPBody.stream { Chunks(count: 20, size: 10_000, end: .failing) }
        let error = try failure(of: await loader.load(upload(body)))
        #expect(error.code == .callerFailed, "\(error)")
        #expect(error.underlyingError is SourceFailed)
        #expect(await eventually { server.openConnectionCount == 0 })
        #expect(server.log.allSatisfy { !$0.complete })
    }

    @Test("R20: the time for which a source makes the peer wait is no silence of the peer's")
    func slowSource() async throws {
        var request = try upload(.stream { Chunks(count: 2, size: 10_000, end: .late(.seconds(8))) })
        request.timeouts = Timeout.Limits(connect: nil, firstByte: nil, idle: .seconds(4), total: nil)
        #expect(try await loader.response(for: request).status == 200)
        #expect(server.log.map(\.bodyLength) == [20_000])
    }

    @Test("a request whose source hangs can be cancelled, and runs out of time")
    func hangingSource() async throws {
        let body = HTTPBody.stream { Chunks(count: 2, size: 10_000, end: .hanging) }
        let request = try upload(body)
        let task = Task { await loader.load(request) }
        try await Task.sleep(for: .milliseconds(100))
        task.cancel()
        #expect(try failure(of: await task.value).code == .cancelled)
        var limited = request
        limited.attemptTimeout = .milliseconds(100)
        #expect(try failure(of: await loader.load(limited)).code == .timedOut)
        #expect(try await loader.response(for: upload(.text("next"))).status == 200)
    }

    @Test("R9, R20: while a source is silent, limits hold, and a cancellation, a reset and a shutdown come at once")
    func silentSource() async throws {
        func upload() throws -> HTTPRequest {
            try self.upload(.stream { Chunks(count: 0, size: 0, end: .late(.seconds(600))) })
        }
        func get(within limit: Duration = .seconds(600)) throws -> HTTPRequest {
            var request = try HTTPRequest(server.baseURL + "/hang")
            request.attemptTimeout = limit
            return request
        }
        let start = ContinuousClock.now
        let early = Task { await loader.load(try get()) }
        #expect(await eventually { server.log.count == 1 })
        let first = Task { await loader.load(try upload()) }
        try await Task.sleep(for: .milliseconds(200))
        let second = Task { await loader.load(try upload()) }
        let waiting = Task { await loader.load(try get()) }
        #expect(try failure(of: await loader.load(get(within: .milliseconds(300)))).code == .timedOut)
        for task in [early, waiting, first] {
            task.cancel()
            #expect(try failure(of: await task.value).code == .cancelled)
        }
        await loader.reset()
        #expect(try failure(of: await second.value).code == .cancelled)
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
        let third = Task { await loader.load(try upload()) }
        let last = Task { await loader.load(try get()) }
        try await Task.sleep(for: .milliseconds(200))
        await loader.shutdown()
        #expect(try failure(of: await third.value).code == .sessionInvalidated)
        #expect(try failure(of: await last.value).code == .sessionInvalidated)
        #expect(ContinuousClock.now - start < .seconds(300))
    }

    @Test("R30: uploads that are cancelled before, while and after their task is made complete, and are deallocated")
    func cancelledUploads() async throws {
        for round in 0..<40 {
            let tasks = (0..<6).map { number in
                let end = number == 0 ? Chunks.End.late(.milliseconds(20)) : .well
                return Task { await loader.load(try upload(.stream { Chunks(count: 3, size: 1000, end: end) })) }
            }
            try await Task.sleep(for: .microseconds(round * 100))
            for task in tasks { task.cancel() }
            for task in tasks {
                if case .failure(let error) = try await task.value { #expect(error.code == .cancelled, "\(error)") }
            }
        }
        await loader.reset()
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
    }
}
