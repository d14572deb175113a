// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@testable import RefrainHTTP

/// The examples and rules of the HTML Standard §9.2.6.
@Suite("Server-sent events", .computing)
struct ServerSentEventTests {
    private func events(_ text: String) async throws -> [HTTPBody.ServerSentEvent] {
        try await body([text]).serverSentEvents().all()
    }

    private func message(_ data: String, _ id: String = "") -> HTTPBody.ServerSentEvent {
        HTTPBody.ServerSentEvent(data: data, lastEventID: id)
    }

    @Test("lines of data are joined by LF")
    func stocks() async throws {
        #expect(try await events("data: YHOO\ndata: +2\ndata: 10\n\n") == [message("YHOO\n+2\n10")])
    }

    @Test(
        "comments are nothing, an id stays until another one comes, an empty id resets it, a last block without an empty line is discarded"
    )
    func fourBlocks() async throws {
        let text =
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\ndata: no end"
        #expect(
            try await events(text) == [message("first event", "1"), message("second event"), message(" third event")]
        )
    }

    @Test("an empty data line is an event, no data line is none")
    func emptyData() async throws {
        #expect(try await events("data\n\ndata\ndata\n\ndata:") == [message(""), message("\n")])
        #expect(try await events("event: x\n\ndata: y\n\n") == [message("y")])
    }

    @Test("one space after the colon is not part of the value")
    func space() async throws {
        #expect(try await events("data:test\n\ndata: test\n\n") == [message("test"), message("test")])
    }

    @Test("types, unknown fields, a byte order mark, and each of the three line ends")
    func types() async throws {
        #expect(
            try await events("\u{FEFF}event: add\r\ndata: 1\r\rfoo: bar\ndata: 2\r\n\r\n")
                == [HTTPBody.ServerSentEvent(type: "add", data: "1"), message("2")]
        )
        #expect(try await events("data: a\n\n\u{FEFF}data: b\n\n") == [message("a")], "only at the beginning")
    }

    @Test("a line that the stream ends within sets nothing: its number may have been cut")
    func cutLine() async throws {
        var events = body(["retry: 3000\nretr", "y: 5"]).serverSentEvents().makeAsyncIterator()
        #expect(try await events.next() == nil)
        #expect(events.parser.reconnectionDelay == .seconds(3))
    }

    @Test("an id with NUL is ignored; so is a retry that is no number, and a long one saturates")
    func malformed() throws {
        var parser = ServerSentEventParser(limit: 100)
        func take(_ line: String) throws -> HTTPBody.ServerSentEvent? { try parser.take(Array(line.utf8)) }
        _ = try take("id: 7")
        _ = try take("id: 8\u{0}")
        _ = try take("retry: 1500")
        _ = try take("retry: 15 00")
        _ = try take("retry: -1")
        _ = try take("retry:")
        #expect(parser.reconnectionDelay == .milliseconds(1500))
        #expect(parser.lastEventID == "", "an id counts from the end of its block")
        #expect(try take("") == nil)
        #expect(parser.lastEventID == "7")
        _ = try take("retry: \(String(repeating: "9", count: 80))")
        #expect(parser.reconnectionDelay == .milliseconds(1 << 53))
    }

    @Test("an event over the limit is an error")
    func limit() async throws {
        let large = String(repeating: "x", count: 60)
        await #expect(throws: HTTPBody.LineTooLong.self) {
            try await body(["data: \(large)\ndata: \(large)\n\n"]).serverSentEvents(upTo: 100).all()
        }
    }

    @Test("however the bytes are cut into chunks, the events are the same (10,000 seeds)")
    func cutsDoNotMatter() async throws {
        let words = ["data", "id", "event", "retry", ":", " ", "\n", "\r", "\r\n", "\n\n", "7", "x", "\u{FEFF}"]
        for seed in UInt64(0)..<10_000 {
            var random = RandomSource(seed: seed)
            let text = (0..<Int(random.unit() * 16)).map { _ in words[Int(random.unit() * Double(words.count))] }
                .joined()
            let whole = try await body([text]).serverSentEvents().all()
            let parts = try await body(cut(Array(text.utf8), &random)).serverSentEvents().all()
            guard whole == parts else {
                Issue.record("the events differ with seed \(seed)")
                return
            }
        }
    }
}
