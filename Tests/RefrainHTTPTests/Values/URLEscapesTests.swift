// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Escapes in URLs", .computing)
struct URLEscapesTests {
    @Test(
        "what is escaped stays as it is, and what must be escaped is",
        arguments: [
            ("http://a.example/a%20b|c", "http://a.example/a%20b%7Cc"),
            ("http://a.example/caf%C3%A9/{id}", "http://a.example/caf%C3%A9/%7Bid%7D"),
            ("http://a.example/?filter[name]=John%20Doe", "http://a.example/?filter%5Bname%5D=John%20Doe"),
            ("http://a.example/é%20x", "http://a.example/%C3%A9%20x"),
            ("http://a.example/100%", "http://a.example/100%25"),
            ("http://a.example/%zz%4", "http://a.example/%25zz%254"),
            ("http://a.example/%2F%2f", "http://a.example/%2F%2f"),
            ("http://a.example?q=\"%22", "http://a.example?q=%22%22"),
            ("http://a.example/#a#b%20", "http://a.example/#a%23b%20"),
            ("http://u:p%20w@a.example:8080/a|b", "http://u:p%20w@a.example:8080/a%7Cb"),
            ("http://[::1]:8080/[x]%20", "http://[::1]:8080/%5Bx%5D%20"),
            ("http://a.example/~._-!$&'()*+,;=:@/?", "http://a.example/~._-!$&'()*+,;=:@/?"),
        ]
    )
    func escapes(_ text: String, _ wanted: String) throws {
        #expect(try HTTPRequest(text).url.absoluteString == wanted)
    }

    @Test("of 10,000 random paths each keeps its meaning, and what was escaped once is not escaped again")
    func property() {
        let pieces = [
            "%20", "%", "%4", "a", "/", "?", "[", "]", "|", "é", "\"", "{", "^", "+", "&x=", "%C3%A9", "=", "\\",
        ]
        forEachSeed { random in
            var text = "http://a.example/"
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                text += pieces.randomElement(using: &random) ?? ""
            }
            guard let sent = try? HTTPRequest(text).url.absoluteString else { return false }
            return meaning(of: sent) == meaning(of: text) && (try? HTTPRequest(sent).url.absoluteString) == sent
                && sent.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        }
    }

    /// The bytes that the text stands for.
    private func meaning(of text: String) -> [UInt8] {
        var bytes = Array(text.utf8)[...]
        var meaning: [UInt8] = []
        while let byte = bytes.popFirst() {
            let digits = String(decoding: bytes.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let escaped = UInt8(digits, radix: 16)
            {
                meaning.append(escaped)
                bytes = bytes.dropFirst(2)
            } else {
                meaning.append(byte)
            }
        }
        return meaning
    }
}
