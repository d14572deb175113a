import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("PrintLoader")
struct PrintLoaderTests {
    private func printed(_ request: HTTPRequest, _ reply: MockReply, secret: Set<String> = []) async -> [String] {
        let journal = Journal<String>()
        let clock = TestClock()
        let stage = PrintLoader(secretFields: secret, clocks: clock.clockPair()) { journal.add($0) }
        _ = await (stage --> MockLoader().then(reply)).load(request)
        return journal.values
    }

    @Test("B: PrintLoader: a request and its response are told with fields and length of the body")
    func plain() async {
        var request = sampleRequest("people", method: .post, body: .text("hello"))
        request.headers = ["Accept": "text/plain"]
        let lines = await printed(request, .status(201, headers: ["ETag": "\"1\""], body: .text("abc")))
        #expect(
            lines == [
                "→ 1 POST https://api.example.com/people\n    Accept: text/plain\n    (5 bytes)",
                "← 1 201 in 0 ms\n    ETag: \"1\"\n    (3 bytes)",
            ]
        )
    }

    @Test("B: PrintLoader: secrets are left out: of fields, however they are spelled, and of URLs")
    func secrets() async throws {
        var request = try HTTPRequest("https://user:hunter2@api.example.com/")
        for name in ["authorization", "COOKIE", "Proxy-Authorization", "Idempotency-Key", "X-API-Key", "X-Mine"] {
            request.headers.add(name, "hunter2")
        }
        let text = await printed(request, .status(200, headers: ["set-cookie": "hunter2"]), secret: ["x-mine"])
            .joined()
        #expect(!text.contains("hunter2"))
        #expect(text.split(separator: "\n").filter { $0.contains(": (left out)") }.count == 7)
    }

    @Test("B: PrintLoader: a failure is told with its code, and no control character of a value reaches the sink")
    func failures() async {
        let lines = await printed(sampleRequest(), .failure(.networkConnectionLost, message: "bye\u{1B}[2J\n← 1 200"))
        #expect(lines.last == "✗ 1 networkConnectionLost (bye\\u{1b}[2J\\u{a}← 1 200) in 0 ms")
    }
}
