import Testing

@testable import RefrainCLI

@Suite("Text from outside")
struct ShownTests {
    @Test("control characters are replaced, line feeds stay where there are lines")
    func plain() {
        #expect(Shown.plain("a\u{1B}[2Jb\nc\r\u{7F}\u{9B}31m\té") == "a?[2Jb\nc???31m?é")
        #expect(Shown.line("a\nb\u{1B}") == "a?b?")
        #expect(Shown.text("a\nb\u{9B}") == "\"a\\nb?\"")
    }

    @Test("a report has no control character in it, not even one that JSON takes")
    func json() {
        #expect(JSON.string("a\u{9B}é\u{A0}\u{1B}Â").text == "\"a\\u009bé\u{A0}\\u001bÂ\"")
    }
}
