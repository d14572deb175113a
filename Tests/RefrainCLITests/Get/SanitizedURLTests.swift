// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@testable import RefrainCLI

@Suite("URLs in messages")
struct SanitizedURLTests {
    @Test(
        "user and password are left out, and nothing else is",
        arguments: [
            ("http://h/a?b#c", "http://h/a?b#c"), ("http://user:secret@h:80/a", "http://h:80/a"),
            ("http://secret@h", "http://h"), ("https://user:sec@ret@h?x", "https://h?x"),
            ("http://h/a@b", "http://h/a@b"), ("http://h?a@b", "http://h?a@b"), ("http://h#a@b", "http://h#a@b"),
        ]
    )
    func text(url: String, expected: String) {
        #expect(SanitizedURL.text(url) == expected)
    }

    @Test(
        "of what is no URL, all is left out that may be a password",
        arguments: [
            ("http://user:sec ret@h/", "http://…@h/"), ("http://user:sec/ret@h/", "http://…@h/"),
            ("user:secret@h/", "…@h/"), ("htp://bad", "htp://bad"), ("nonsense", "nonsense"), ("a@b://c", "a@b://c"),
        ]
    )
    func refused(text: String, expected: String) {
        #expect(SanitizedURL.refused(text) == expected)
    }

    @Test("a URL that counts as normal is left as it is by all that gives equal ones the same text; 10,000 texts")
    func normal() throws {
        let seed = UInt64.random(in: 0...(.max))
        var random = Seeded(seed)
        // Of each, the first ones are normal, and most are of these.
        let words: [(normal: Int, [String])] = [
            (2, ["http://", "https://", "HTTP://", "ftp://", "//", ""]),
            (3, ["h", "example.com", "127.0.0.1", "H", "[::1]", "user@h", "user:secret@h", "h_", "é", ""]),
            (2, ["", ":8080", ":80", ":443", ":", ":0", ":99999", ":080"]), (1, ["/", "", "?", "#"]),
        ]
        let parts = ["/", "a", "B", "1.bin", "~", "+", ":80", ".", "..", "%41", "%2F", "%", "?", "#", "@", "é", " "]
        func one(of texts: [String], _ normal: Int) -> String {
            let isNormal = Int.random(in: 0..<5, using: &random) > 0
            return texts[Int.random(in: 0..<(isNormal ? normal : texts.count), using: &random)]
        }
        var count = 0
        for _ in 0..<10_000 {
            var url = words.map { one(of: $1, $0) }.joined()
            for _ in 0..<Int.random(in: 0...6, using: &random) { url += one(of: parts, 7) }
            guard URLText.isNormal(url) else { continue }
            count += 1
            let others = [
                URLText.withoutDotSegments(url), SanitizedURL.text(url), SignedURL.withoutSignature(url),
                SanitizedURL.withoutFragment(url), SanitizedURL.canonical(url), SanitizedURL.withPath(url),
                SanitizedURL.withoutNeedlessEscapes(url), URLText.sent(try HTTPRequest(url).url),
            ]
            #expect(Set(others) == [url] && URLText.isPlain(url), "seed \(seed): \(url) as \(others)")
        }
        #expect(count > 1000)
    }
}
