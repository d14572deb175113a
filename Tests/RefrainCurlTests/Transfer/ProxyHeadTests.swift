import RefrainHTTP
import Testing

@testable import RefrainCurl

@Suite("What a proxy says to CONNECT")
struct ProxyHeadTests {
    private func headers(_ lines: [String]) -> HTTPHeaders {
        var head = ProxyHead()
        for line in lines { Array((line + "\r\n").utf8).withUnsafeBufferPointer { head.read($0) } }
        return head.headers
    }

    @Test("the fields of the last answer count, trimmed, in order, and repeated ones as often as they come")
    func lastAnswer() {
        let lines = [
            "HTTP/1.1 407 Who are you", "Proxy-Authenticate: Basic", "Retry-After: 7", "",
            "HTTP/1.1 503 Busy", "retry-after: \t3 ", "Via: a", "Via: b", "",
        ]
        #expect(headers(lines) == ["retry-after": "3", "Via": "a", "Via": "b"])
    }

    @Test("what is no field is left out", arguments: ["", "no colon", ": no name", "a space : 1", " folded: 1"])
    func noField(line: String) {
        #expect(headers(["HTTP/1.1 503 Busy", line, "Via: a"]) == ["Via": "a"])
    }

    @Test("there is an end to what is kept")
    func many() {
        let lines = (0..<5000).map { "Field-\($0): 1" }
        #expect(headers(["HTTP/1.1 503 Busy"] + lines).count == HeadReader.maximumLines)
    }
}
