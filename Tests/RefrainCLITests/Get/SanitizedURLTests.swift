// SPDX-License-Identifier: Apache-2.0
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
}
