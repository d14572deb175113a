// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("PrintLoader")
struct PrintLoaderTests {
    private func printed(_ request: HTTPRequest, _ reply: MockLoader.Reply, secret: Set<String> = []) async -> [String]
    {
        let journal = Journal<String>()
        let clock = TestClock()
        let stage = PrintLoader(secretFields: secret, clocks: clock.retryClocks()) { journal.append($0) }
        _ = await (stage --> MockLoader().then(reply)).load(request)
        return journal.entries
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

    @Test("B: PrintLoader: what the request calls secret is left out, and users and passwords of any URL")
    func secretsOfTheRequest() async throws {
        var request = try HTTPRequest("https://api.example.com/", headers: ["X-Shop-Key": "hunter2", "X-Mail": "a@b"])
        request.secretHeaders = ["x-shop-key"]
        let headers: HTTPHeaders = [
            "Location": "https://user:hunter2@other.example/a@b", "x-SHOP-key": "hunter2",
            "Link": "<//user:hunter2@c.example>; rel=next, <https://d.example/?q=//x@y>",
        ]
        let lines = await printed(request, .status(302, headers: headers))
        #expect(!lines.joined().contains("hunter2"))
        #expect(lines.first?.hasSuffix("\n    X-Shop-Key: (left out)\n    X-Mail: a@b") == true)
        #expect(lines.last?.contains("\n    Location: https://other.example/a@b\n") == true)
        #expect(lines.last?.contains("\n    Link: <//c.example>; rel=next, <https://d.example/?q=//y>") == true)
        let failure = await printed(request, .failure(.unknown, message: "no way to https://user:hunter2@h/"))
        #expect(failure.last == "✗ 1 unknown (no way to https://h/) in 0 ms")
    }

    @Test("B: PrintLoader: a failure is told with its code, and no control character of a value reaches the sink")
    func failures() async {
        let lines = await printed(sampleRequest(), .failure(.networkConnectionLost, message: "bye\u{1B}[2J\n← 1 200"))
        #expect(lines.last == "✗ 1 networkConnectionLost (bye?[2J?← 1 200) in 0 ms")
    }
}
