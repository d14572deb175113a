// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: streams in both directions", .timeLimit(.minutes(10)))
struct StreamTests {
    let server: FaultServer
    let loader = CurlLoader()

    init() throws { server = try FaultServer() }

    private func streaming(_ path: String) throws -> HTTPRequest {
        var request = try HTTPRequest(server.baseURL + path)
        request.streamsResponse = true
        return request
    }

    @Test("a response is handed over with its head, before its body has come")
    func headFirst() async throws {
        let response = try await loader.response(for: streaming("/hang-body"))
        #expect(response.status == 200)
        #expect(response.body.replayability == .once)
    }

    @Test("a small body that comes with its head is there with the response", arguments: [0, 10, 2000])
    func small(count: Int) async throws {
        // In one piece: the server of the suite writes the head by itself, and the client could be told of it before.
        let server = RawServer { connection in
            let body = String(repeating: "b", count: count)
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n\(body)")
            }
        }
        var request = try HTTPRequest("http://127.0.0.1:\(server.port)/")
        request.streamsResponse = true
        let response = try await loader.response(for: request)
        #expect(response.body.replayability == (count == 0 ? .none : .replayable))
        #expect(response.body.length == Int64(count))
        #expect(try await response.body.collect().count == count)
    }

    @Test("what has come of a small body that is cut is read before its failure")
    func smallCut() async throws {
        let server = RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
                return
            }
        }
        var request = try HTTPRequest("http://127.0.0.1:\(server.port)/")
        request.streamsResponse = true
        let response = try await loader.response(for: request)
        var bytes: [UInt8] = []
        let error = try await #require(throws: HTTPError.self) {
            for try await chunk in response.body { bytes += chunk }
        }
        #expect(error.code == .networkConnectionLost && bytes == Array("0123456789".utf8))
    }

    @Test("a streamed body arrives whole, however slowly it is read", arguments: [false, true])
    func whole(isSlow: Bool) async throws {
        let response = try await loader.response(for: streaming("/bytes/3000000"))
        #expect(response.body.length == 3_000_000)
        var count = 0
        for try await chunk in response.body {
            count += chunk.count
            if isSlow { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(count == 3_000_000)
        let collected = try await loader.response(for: HTTPRequest(server.baseURL + "/bytes/3000000"))
        let streamed = try await loader.response(for: streaming("/bytes/3000000")).body.collect()
        #expect(try await collected.body.collect() == streamed)
    }

    @Test("a reader that pauses makes the server wait")
    func backPressure() async throws {
        let sent = Counter()
        server.on("/count") { _ in
            var generator = FaultServer.Generator(count: 200_000_000) { _, count in
                sent.add(count)
                return [UInt8](repeating: 1, count: count)
            }
            generator.framing = .plain
            return [.text("HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n"), .generate(generator)]
        }
        let response = try await loader.response(for: streaming("/count"))
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
        var previous = -1
        #expect(
            await eventually {
                try? await Task.sleep(for: .milliseconds(100))
                defer { previous = sent.value }
                return sent.value == previous
            }
        )
        // What fits into the pipe and into the buffers of both sockets.
        #expect(sent.value < 40_000_000)
        for _ in 0..<200 { _ = try await iterator.next() }
    }

    @Test("dropping a body unread closes the connection, or drains it where little is left (R28)")
    func dropping() async throws {
        do {
            let response = try await loader.response(for: streaming("/huge?bytes=100000000"))
            #expect(response.status == 200)
        }
        #expect(await eventually { server.openConnectionCount == 0 })
        let before = server.connectionCount
        for _ in 0..<10 {
            let response = try await loader.response(for: streaming("/bytes/30000"))
            #expect(response.status == 200)
            _ = consume response
            try await Task.sleep(for: .milliseconds(50))
        }
        // A busy machine may drain some of them too late for the next request, but not all.
        #expect(server.connectionCount < before + 10)
    }

    @Test(
        "R28: what is left of a dropped body is drained also where its length is not known, or that of its content is not",
        arguments: ["Transfer-Encoding: chunked\r\n\r\n", "Content-Encoding: gzip\r\nContent-Length: 22\r\n\r\n"]
    )
    func drains(fields: String) async throws {
        let chunked = Array("2\r\nok\r\n0\r\n\r\n".utf8)
        let coded: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 207, 6, 0, 71, 221, 220, 121, 2, 0, 0, 0,
        ]
        let rests = Counter()
        let server = RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\n" + fields)
                usleep(100_000)
                connection.write(fields.hasPrefix("T") ? chunked : coded)
                rests.add(1)
            }
        }
        var request = try HTTPRequest("http://127.0.0.1:\(server.port)/")
        request.streamsResponse = true
        for number in 1...5 {
            let response = try await loader.response(for: request)
            #expect(response.status == 200)
            _ = consume response
            #expect(await eventually { rests.value == number })
            // What the server has sent is read by then, as a rule.
            try await Task.sleep(for: .milliseconds(300))
        }
        // A busy machine may drain some of them too late for the next request, but not all.
        #expect(server.connectionCount < 5)
    }

    @Test("a reader that is cancelled ends the transfer")
    func cancelledReader() async throws {
        var request = try streaming("/hang-body")
        request.timeouts.idle = nil
        let response = try await loader.response(for: request)
        let task = Task { try await response.body.collect() }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let error = try await #require(throws: HTTPError.self) { try await task.value }
        #expect(error.code == .cancelled)
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test("a body outlives the last other holder of its loader")
    func bodyHoldsLoader() async throws {
        do {
            let body = try await CurlLoader().response(for: streaming("/trickle?bytes=20&interval=5")).body
            #expect(try await body.collect().count == 20)
        }
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test("reset and shutdown reach bodies that are being read")
    func resetMidBody() async throws {
        let first = try await loader.response(for: streaming("/hang-body")).body
        await loader.reset()
        #expect(try await #require(throws: HTTPError.self) { try await first.collect() }.code == .cancelled)
        let second = try await loader.response(for: streaming("/hang-body")).body
        await loader.shutdown()
        #expect(try await #require(throws: HTTPError.self) { try await second.collect() }.code == .sessionInvalidated)
    }

    @Test("time in which the reader is slow does not count as idle")
    func slowReaderIsNotIdle() async throws {
        // Without the digest, which takes the server longer than that where a sanitizer slows it down.
        var request = try streaming("/bytes/3000000?no-digest=1")
        request.timeouts.idle = .seconds(4)
        let response = try await loader.response(for: request)
        var iterator = response.body.makeAsyncIterator()
        var count = try await iterator.next()?.count ?? 0
        try await Task.sleep(for: .seconds(8))
        while let chunk = try await iterator.next() { count += chunk.count }
        #expect(count == 3_000_000)
    }

    @Test("what a slow reader refuses once it goes on ends the transfer at once")
    func refusedAfterPause() async throws {
        let limit = 256 << 10
        let server = RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.write(String(limit, radix: 16) + "\r\n")
            connection.write([UInt8](repeating: 1, count: limit) + [13, 10])
            // The reader has room for no more than that. What comes now is held back, and nothing comes after it.
            usleep(500_000)
            connection.write("1000\r\n")
            connection.write([UInt8](repeating: 2, count: 4096) + [13, 10])
            connection.waitForEnd()
        }
        var request = try HTTPRequest("http://127.0.0.1:\(server.port)/")
        request.streamsResponse = true
        request.maximumBodySize = limit + 100
        request.timeouts.idle = .seconds(120)
        let response = try await loader.response(for: request)
        try await Task.sleep(for: .milliseconds(1500))
        let clock = ContinuousClock()
        let start = clock.now
        let error = try await #require(throws: HTTPError.self) { try await response.body.collect() }
        #expect(error.code == .dataLengthExceedsMaximum, "\(error)")
        // Otherwise the idle limit would end it.
        #expect(clock.now - start < .seconds(60))
    }

    @Test("an upload is pulled as it is sent, with or without a length", arguments: [nil, 2_000_000] as [Int64?])
    func upload(length: Int64?) async throws {
        let body = HTTPBody.stream(length: length) { Chunks(count: 200, size: 10_000) }
        let response = try await loader.response(
            for: HTTPRequest(server.baseURL + "/echo", method: .post, body: body)
        )
        #expect(response.status == 200)
        let entry = try #require(server.log.first)
        #expect(entry.bodyLength == 2_000_000)
        #expect(entry.header("Content-Length") == length.map { "\($0)" })
        #expect((entry.header("Transfer-Encoding") == "chunked") == (length == nil))
        #expect(entry.header("Expect") == nil)
        #expect(try #require(response.exchange.bytesSent) > 2_000_000)
    }

    @Test(
        "an upload whose length is not what was said fails, and is never complete",
        arguments: [
            Int64(1), 9999, 1_999_999, 2_000_001, 5_000_000,
        ]
    )
    func wrongLength(length: Int64) async throws {
        let body = HTTPBody.stream(length: length) { Chunks(count: 200, size: 10_000) }
        let request = try HTTPRequest(server.baseURL + "/ok", method: .put, body: body)
        let error = try failure(of: await loader.load(request))
        #expect(error.code == .invalidRequest, "\(error)")
        #expect(await eventually { server.openConnectionCount == 0 })
        #expect(server.log.allSatisfy { !$0.complete })
    }

    @Test("a source that fails makes the request fail with its error")
    func failingSource() async throws {
        let body = HTTPBody.stream { Chunks(count: 20, size: 10_000, fails: true) }
        let error = try failure(
            of: await loader.load(HTTPRequest(server.baseURL + "/ok", method: .post, body: body))
        )
        #expect(error.code == .callerFailed)
        #expect(error.underlyingError is SourceFailed)
        let missing = try HTTPRequest(server.baseURL + "/ok", method: .post, body: .file("/nonexistent"))
        let fileError = try failure(of: await loader.load(missing))
        #expect(fileError.code == .fileDoesNotExist)
        #expect(fileError.bytesSent == 0)
    }

    @Test("a body that is no regular file is refused, and nothing waits for it to be one")
    func noRegularFile() async throws {
        let pipe = "/tmp/refrain-pipe-\(UInt64.random(in: 0 ... .max))"
        try #require(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        for path in [pipe, "/dev/zero"] {
            let request = try HTTPRequest(server.baseURL + "/ok", method: .put, body: .file(path))
            let error = try failure(of: await loader.load(request))
            #expect(error.code == .cannotOpenFile, "\(error)")
            #expect(error.bytesSent == 0)
        }
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
    }

    @Test("R4: a stream is untouched where no connection came about")
    func untouchedStream() async throws {
        let refusing = try FaultServer(mode: .refuse)
        let body = HTTPBody.oneShot(Chunks(count: 1, size: 10))
        let error = try failure(
            of: await loader.load(HTTPRequest(refusing.baseURL + "/", method: .post, body: body))
        )
        #expect(error.code == .cannotConnectToHost)
        #expect(error.bytesSent == 0)
        #expect(body.replayability == .once)
    }

    @Test("the source waits for the server, and is deallocated when the server closes the connection")
    func uploadBackPressure() async throws {
        let pulled = Counter()
        let body = HTTPBody.stream { Chunks(count: 20_000, size: 10_000, counter: pulled) }
        let task = Task {
            await loader.load(try HTTPRequest(server.baseURL + "/hang-unread", method: .post, body: body))
        }
        var previous = -1
        #expect(
            await eventually {
                try? await Task.sleep(for: .milliseconds(100))
                defer { previous = pulled.value }
                return pulled.value > 0 && pulled.value == previous
            }
        )
        #expect(pulled.value < 40_000_000)
        task.cancel()
        #expect(try failure(of: await task.value).code == .cancelled)
    }

    @Test("a file is sent as it is")
    func file() async throws {
        let path = "/proc/self/exe"
        let request = try HTTPRequest(server.baseURL + "/ok", method: .put, body: .file(path))
        #expect(try await loader.response(for: request).status == 200)
        #expect(try #require(server.log.first).bodyLength > 100_000)
    }
}

struct SourceFailed: Error {}

/// A number that several threads add to.
final class Counter: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func add(_ number: Int) { count.withLock { $0 += number } }
}

/// Chunks that are made when they are asked for.
struct Chunks: AsyncSequence, Sendable {
    var count: Int
    var size: Int
    var fails = false
    var counter: Counter?

    struct Iterator: AsyncIteratorProtocol {
        var chunks: Chunks
        var number = 0

        mutating func next() async throws -> [UInt8]? {
            guard number < chunks.count else {
                if chunks.fails { throw SourceFailed() }
                return nil
            }
            number += 1
            chunks.counter?.add(chunks.size)
            return [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: chunks.size)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }
}
