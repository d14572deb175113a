// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@testable import RefrainCurl

@Suite("The queue of an origin", .timeLimit(.minutes(10)))
struct OriginQueueTests {
    @Test("answers are expected to be short after sixteen short ones in a row, and no longer after a long one")
    func shortAnswers() {
        let queue = OriginQueue(connections: 1)
        #expect(!queue.expectsShortAnswers)
        for _ in 1...15 { queue.noteAnswer(size: 2048) }
        #expect(!queue.expectsShortAnswers)
        queue.noteAnswer(size: 0)
        #expect(queue.expectsShortAnswers)
        queue.noteAnswer(size: 2049)
        #expect(!queue.expectsShortAnswers)
        for _ in 1...15 { queue.noteAnswer(size: 2) }
        #expect(!queue.expectsShortAnswers)
        queue.noteAnswer(size: 2)
        #expect(queue.expectsShortAnswers)
    }

    @Test("behind a silence a connection may have been unused since then, and never for longer than the limit")
    func longestAge() {
        let second: MonotonicTime = 1_000_000_000
        for limit in [1, 55, 300] {
            let queue = OriginQueue(connections: 1)
            #expect(queue.longestAge(now: 500 * second, limit: limit) == limit)
            queue.noteSilence(since: 500 * second)
            #expect((0...1).contains(queue.longestAge(now: 501 * second, limit: limit)))
            #expect((29...30).contains(queue.longestAge(now: 530 * second, limit: max(limit, 55))))
            let age = queue.longestAge(now: 700 * second, limit: limit)
            #expect(limit == 300 ? (199...200).contains(age) : age == limit)
            #expect(queue.longestAge(now: 900 * second, limit: limit) == limit)
        }
    }

    @Test("a long answer after many short ones is whole, and so are those after it")
    func longAfterShort() async throws {
        let sizes = Array(repeating: 2, count: 20) + [300_000, 5000, 2] + Array(repeating: 4096, count: 18)
        let server = RawServer { connection in
            while let head = connection.readHead() {
                let size = Int(head.split(separator: " ")[1].dropFirst()) ?? 0
                let field = "X-Long: " + String(repeating: "h", count: 6000) + "\r\n"
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\(field)\r\n")
                connection.write(String(repeating: "0123456789", count: size / 10 + 1).prefix(size).description)
            }
        }
        let loader = CurlLoader()
        for size in sizes {
            let response = try await loader.response(for: HTTPRequest("http://127.0.0.1:\(server.port)/\(size)"))
            #expect(response.headers["X-Long"]?.count == 6000)
            let body = try await response.body.collect()
            #expect(body.count == size)
            #expect(zip(body, 0...).allSatisfy { $0 == UInt8(ascii: "0") + UInt8($1 % 10) })
        }
        await loader.shutdown()
        withExtendedLifetime(server) {}
    }
}
