// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Responses in text")
struct HTTPResponseTests {
    private func record(_ number: Int) -> AttemptRecord {
        AttemptRecord(number: number, start: .zero, duration: .zero, decision: .finish, reason: .succeeded)
    }

    @Test("a response is described on one line, without the credentials of its URL")
    func description() throws {
        let request = try HTTPRequest("https://user:secret@api.example.com/x?token=secret", method: .post)
        var response = HTTPResponse(request: request, status: .ok, body: .text("abc"))
        response.attempts = [record(1)]
        #expect("\(response)" == "200 OK, \(request), 3 bytes")
        #expect(!"\(response)".contains("secret"))
        response.attempts.append(record(2))
        #expect("\(response)" == "200 OK, \(request), 3 bytes, 2 attempts")
        #expect("\(HTTPResult.success(response))" == "success(200 OK, \(request), 3 bytes, 2 attempts)")
    }

    @Test("a body of one byte, none or a stream is described as such, and a status without a phrase by its class")
    func bodies() {
        let request = sampleRequest()
        let (empty, byte) = (HTTPResponse(request: request, status: 299), HTTPBody.text("a"))
        #expect("\(empty)" == "299 Success, \(request), 0 bytes")
        #expect("\(HTTPResponse(request: request, status: 404, body: byte))" == "404 Not Found, \(request), 1 byte")
        let stream = HTTPBody.stream { AsyncStream<[UInt8]> { $0.finish() } }
        #expect("\(HTTPResponse(request: request, status: 200, body: stream))" == "200 OK, \(request), a stream")
    }

    @Test("an instant has a date of Foundation")
    func dates() {
        let instant = WallClock.Instant(sinceEpoch: .milliseconds(1_500))
        #expect(Date(instant) == Date(timeIntervalSince1970: 1.5))
    }
}
