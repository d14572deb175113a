// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

@Suite("Text from outside")
struct SanitizedTests {
    @Test("control characters are replaced, line feeds stay where there are lines")
    func plain() {
        #expect(Sanitized.plain("a\u{1B}[2Jb\nc\r\u{7F}\u{9B}31m\té") == "a?[2Jb\nc???31m?é")
        #expect(Sanitized.line("a\nb\u{1B}") == "a?b?")
        #expect(Sanitized.text("a\nb\u{9B}") == "\"a\\nb?\"")
    }

    @Test(
        "marks of direction, characters without a width and separators of lines are replaced (UTS 39, UTR 36)",
        arguments: [
            "\u{202E}", "\u{202A}", "\u{2066}", "\u{2069}", "\u{200E}", "\u{200F}", "\u{061C}", "\u{200B}", "\u{200C}",
            "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{2028}", "\u{2029}", "\u{E0041}", "\u{180E}", "\u{3164}",
        ]
    )
    func invisible(scalar: String) {
        #expect(Sanitized.plain("a\(scalar)b") == "a?b")
        #expect(Sanitized.text("a\(scalar)b") == "\"a?b\"")
        let text = JSON.string("a\(scalar)b").text
        #expect(text.hasPrefix("\"a\\u") && text.utf8.allSatisfy { $0 < 0x80 }, "\(text)")
    }

    @Test("letters of right-to-left scripts stay as they are")
    func letters() {
        for text in ["שלום", "سلام", "日本語", "é", "🙂"] { #expect(Sanitized.plain(text) == text) }
    }

    @Test("a report has no control character in it, not even one that JSON takes")
    func json() {
        #expect(JSON.string("a\u{9B}é\u{A0}\u{1B}Â").text == "\"a\\u009bé\u{A0}\\u001bÂ\"")
    }

    @Test("text from outside is shown without control characters, and cut")
    func text() {
        #expect(Sanitized.text("a\r\n\t\u{0}\u{1B}b") == "\"a\\r\\n\\t\\0?b\"")
        #expect(Sanitized.text(String(repeating: "x", count: 500)).count == 123)
    }
}
