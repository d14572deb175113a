// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@Suite("Text that a terminal may get")
struct PrintableTextTests {
    @Test("controls, marks of direction and invisible characters become question marks; other text stays as it is")
    func replaces() {
        #expect(PrintableText.plain("é ☂\n[31m") == "é ☂\n[31m")
        #expect(PrintableText.plain("a\u{1B}[31m\r\nb\u{202E}c\u{200B}\0") == "a?[31m?\nb?c??")
    }

    @Test("on one line, line feeds and the separators of Unicode become question marks, too")
    func oneLine() {
        #expect(PrintableText.line("a\nb\u{2028}c\td") == "a?b?c?d")
        #expect(PrintableText.line("plain") == "plain")
        #expect(PrintableText.isControl("\n") && PrintableText.isControl("\u{FE0F}") && !PrintableText.isControl(" "))
    }
}
