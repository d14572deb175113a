// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("On the wire: noise", .timeLimit(.minutes(10)))
struct NoiseTests {
    /// A response of random bytes, or a good one with a few of its bytes changed.
    private static func noise(_ seed: UInt64) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state >> 33) % bound
        }
        if next(4) == 0 { return (0..<next(3000)).map { _ in UInt8(next(256)) } }
        let heads = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: /noise\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 429 Slow\r\nRateLimit: \"a\";r=0;t=0\r\nX-RateLimit-Reset: 0\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 206 Part\r\nContent-Range: bytes 0-4/5\r\nETag: \"a\"\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n\u{1f}0123456789",
        ]
        var bytes = Array(heads[next(heads.count)].utf8)
        for _ in 0..<next(6) {
            switch next(3) {
            case 0: bytes[next(bytes.count)] = UInt8(next(256))
            case 1: bytes.remove(at: next(bytes.count))
            default: bytes.insert(contentsOf: (0..<next(20)).map { _ in UInt8(next(256)) }, at: next(bytes.count))
            }
        }
        return bytes
    }

    @Test("R30, R31: whatever bytes come back, the process lives and each call completes exactly once")
    func sweep() async throws {
        let server = try FaultServer()
        server.on("/noise") { request in
            let seed = request.query("seed").flatMap { UInt64($0) } ?? 0
            return [.send(Self.noise(seed)), .close]
        }
        let chain = try Redirect() --> Retry(quick(2), budgets: nil) --> RateLimiter() --> Resume() --> transport()
        let completions = Locked([Int](repeating: 0, count: 300))
        try await concurrently(300, inFlight: 16) { number in
            let method: HTTPMethod = number % 3 == 0 ? .post : .get
            var request = try HTTPRequest("\(server.baseURL)/noise?seed=\(number)", method: method)
            request.timeouts.total = .seconds(60)
            request.timeout = .seconds(90)
            request.pacing = .on
            if number % 3 == 1 { request.download = Download(to: NowhereSink()) }
            let task = chain.load(request) { _ in completions.withLock { $0[number] += 1 } }
            _ = await task.result
        }
        #expect(completions.withLock { $0 } == [Int](repeating: 1, count: 300))
        #expect(server.log.count >= 300)
    }
}

private struct NowhereSink: Download.Sink {
    func write(_ bytes: [UInt8]) async throws {}
    func startOver() async throws {}
}
