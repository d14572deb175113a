// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@Suite("ServerTrust")
struct ServerTrustTests {
    static let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test("A: serverTrust: an evaluator is found by its very host, in any case")
    func hosts() throws {
        let trust = try ServerTrust(evaluators: [
            "API.example.com": .disabledAndInsecure, "::1": .certificateFile("/a"),
        ])
        #expect(trust.evaluator(forHost: "api.EXAMPLE.com") == .disabledAndInsecure)
        #expect(trust.evaluator(forHost: "api.example.com.") == .disabledAndInsecure)
        #expect(trust.evaluator(forHost: "[::1]") == .certificateFile("/a"))
        for host in ["example.com", "www.api.example.com", "api.example.com.evil.test", ""] {
            #expect(trust.evaluator(forHost: host) == nil)
        }
    }

    @Test("A: serverTrust: an evaluator is found by every spelling of its host, in the trust as in the request")
    func spellings() throws {
        let pinned = try ServerTrust.Evaluator.publicKeys([Self.pin])
        let urls = ["https://bücher.example/", "https://b%C3%BCcher.example", "https://XN--Bcher-KVA.example:444/"]
        for name in ["bücher.example", "BÜCHER.example.", "xn--bcher-kva.example"] {
            let trust = try ServerTrust(evaluators: [name: pinned, "example.com": .disabledAndInsecure])
            for url in urls {
                #expect(try trust.evaluator(for: HTTPRequest(url)) == pinned, "\(name) \(url)")
            }
            #expect(try trust.evaluator(for: HTTPRequest("https://ex%61mple.com/")) == .disabledAndInsecure)
            #expect(throws: InvalidArgument.self) {
                try ServerTrust(evaluators: [name: pinned, "BÜCHER.example": pinned])
            }
        }
    }

    @Test(
        "a name that is no host is refused",
        arguments: [
            "https://a.test", "a.test:443", "a.test/b", "", ".", "*.a.test", "a b", "a%2Etest", "::1/64",
            "a\u{AD}b.test",
        ]
    )
    func badHosts(name: String) {
        #expect(throws: InvalidArgument.self) { try ServerTrust(evaluators: [name: .system]) }
    }

    @Test("the same host twice is refused")
    func twice() {
        #expect(throws: InvalidArgument.self) { try ServerTrust(evaluators: ["a.test": .system, "A.test": .system]) }
    }

    @Test("a pin is read, and written as it was; all others are refused")
    func pins() throws {
        let evaluator = try ServerTrust.Evaluator.publicKeys([Self.pin])
        #expect(evaluator.pins.map(\.description) == [Self.pin])
        #expect(evaluator.authorities == .system)
        for text in ["", "sha256//", "sha256//AAAA", "sha1//" + Self.pin.dropFirst(8), Self.pin + ";", "sha256//;;"] {
            let error = #expect(throws: InvalidArgument.self) { try ServerTrust.Evaluator.publicKeys([text]) }
            #expect(error?.description.contains("32 bytes") == true)
        }
        #expect(throws: InvalidArgument.self) { try ServerTrust.Evaluator.publicKeys([]) }
    }
}
