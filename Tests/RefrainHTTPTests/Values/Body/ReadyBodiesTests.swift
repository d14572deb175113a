// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Bodies of JSON and forms, and what responses say")
struct ReadyBodiesTests {
    private struct Person: Codable, Equatable {
        var name: String
    }

    @Test("B: values: a value goes out as JSON and comes back")
    func json() async throws {
        let body = try HTTPBody.json(Person(name: "Ada"))
        #expect(body.contentType == "application/json")
        #expect(try await body.collectText() == #"{"name":"Ada"}"#)
        let response = HTTPResponse(request: sampleRequest(), status: 200, body: body)
        #expect(try response.decode(Person.self) == Person(name: "Ada"))
        #expect(throws: EncodingError.self) { try HTTPBody.json(Double.infinity) }
    }

    @Test(
        "B: values: a body that is no such value, or a stream, is an error that says so, and keeps the response"
    )
    func undecodable() throws {
        for body in [HTTPBody.text("[1"), .text("[]"), .empty, .oneShot(chunks("{}"))] {
            let response = HTTPResponse(request: sampleRequest(), status: 418, body: body)
            let error = #expect(throws: HTTPError.self) { try response.decode(Person.self) }
            #expect(error?.code == .cannotParseResponse)
            #expect(error?.response?.status == 418)
            #expect(error?.message?.isEmpty == false)
        }
    }

    @Test("B: values: text is read in the character set that the response names, and never fails")
    func text() {
        func response(_ bytes: [UInt8], _ type: String?) -> HTTPResponse {
            HTTPResponse(
                request: sampleRequest(),
                status: 200,
                headers: type.map { ["Content-Type": $0] } ?? [:],
                body: .bytes(bytes)
            )
        }
        #expect(response([0xC3, 0xBC], nil).text == "ü")
        #expect(response([0xFC], "text/plain; charset=ISO-8859-1").text == "ü")
        #expect(response([0x61, 0xFC], "text/plain; charset=utf-8").text == "a\u{FFFD}")
        #expect(response([0x61], "nonsense").text == "a")
        #expect(response([0xFC], "text/plain; charset=ISO_8859-1").text == "ü")
        #expect(response([0x61, 0xFC], "text/plain; charset=us-ascii").text == "aü")
        for name in ["windows-1252", "CP1252", "\"x-cp1252\""] {
            #expect(response([0x80, 0x93, 0xFC], "text/plain; charset=\(name)").text == "€“ü")
        }
        #expect(response([0xFE, 0xFF, 0x20, 0xAC], "text/plain; charset=utf-16").text == "€")
        #expect(response([0xAC, 0x20], "text/plain; charset=utf-16le").text == "€")
        #expect(response([0, 0, 0x20, 0xAC], "text/plain; charset=utf-32be").text == "€")
        #expect(response([0xC3, 0xBC], "text/plain; charset=shift_jis").text == "ü")
        #expect(response([1, 2], nil).data == Data([1, 2]))
        let streamed = HTTPResponse(request: sampleRequest(), status: 200, body: .oneShot(chunks("a")))
        #expect(streamed.text == nil)
        #expect(streamed.data == nil)
    }

    @Test(
        "B: values: a form is encoded as the WHATWG URL standard says",
        arguments: [
            ([("a", "b c"), ("a", "ü&=+")], "a=b+c&a=%C3%BC%26%3D%2B"),
            ([("*-._", "~!'()")], "*-._=%7E%21%27%28%29"),
            ([("", "")], "="),
            ([("k", "\r\n\u{0}")], "k=%0D%0A%00"),
            ([("😀", "/?")], "%F0%9F%98%80=%2F%3F"),
            ([], ""),
        ] as [([(String, String)], String)]
    )
    func form(fields: [(String, String)], text: String) async throws {
        let body = HTTPBody.form(fields.map { (name: $0.0, value: $0.1) })
        #expect(body.contentType == "application/x-www-form-urlencoded")
        #expect(try await body.collectText() == text)
    }

    @Test("A body that can be read once ends its retry at once with what broke it; one that starts again is retried")
    func retriedBodies() async throws {
        let clock = TestClock(.autoAdvancing)
        @Sendable func breaking() -> AsyncThrowingStream<[UInt8], any Error> {
            AsyncThrowingStream { chunks in
                chunks.yield([1])
                chunks.finish(throwing: HTTPError(.networkConnectionLost, request: sampleRequest()))
            }
        }
        for (body, waits) in [(HTTPBody.oneShot(breaking()), 0), (.stream { breaking() }, 2)] {
            let before = clock.sleeps.count
            do {
                for try await _ in body.retry(.standard, clock: clock) {}
                Issue.record("no error")
            } catch {
                #expect((error as? HTTPError)?.code == .networkConnectionLost)
            }
            #expect(clock.sleeps.count == before + waits)
        }
    }
}
