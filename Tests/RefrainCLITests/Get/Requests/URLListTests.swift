import Testing

@testable import RefrainCLI

@Suite("Lists of URLs")
struct URLListTests {
    private func parse(_ text: String) throws -> [String] {
        try URLList.parse(Array(text.utf8), name: "list").map(\.url)
    }

    @Test("blank lines, comments, white space and carriage returns do not count")
    func reads() throws {
        #expect(
            try parse("http://h/1\r\n\n  \n# http://h/2\n\t http://h/3 \nhttp://h/4") == [
                "http://h/1", "http://h/3", "http://h/4",
            ]
        )
        #expect(try parse("") == [])
    }

    @Test("a byte order mark in front of the list is no part of its first line")
    func byteOrderMark() throws {
        #expect(try parse("\u{FEFF}http://h/1\nhttp://h/2") == ["http://h/1", "http://h/2"])
        #expect(try parse("\u{FEFF}# a list\n") == [])
    }

    @Test("a host of another script may pass, and one that no name can be made of is refused without its password")
    func foreignHost() throws {
        for url in ["http://bücher.example/", "http://bücher@h/ü?ü"] { #expect(try parse(url) == [url]) }
        let error = #expect(throws: UsageError.self) { try parse("http://user:secret@a%2Fb.example/") }
        #expect(error?.description.contains("secret") == false)
    }

    @Test("one bad line in 100,000 is named by file and number")
    func culprit() {
        var lines = (1...100_000).map { "http://h/\($0)" }
        lines[77_776] = "htp//bad"
        let error = #expect(throws: UsageError.self) { try parse(lines.joined(separator: "\n")) }
        #expect(error?.description.hasPrefix("list:77777: \"htp//bad\"") == true)
    }

    @Test(
        "a line that is not UTF-8, relative, or of another scheme is refused",
        arguments: ["/a", "ftp://h/", "http://", "http://h:0/", "http://a b/"]
    )
    func refuses(line: String) {
        #expect(throws: UsageError.self) { try parse(line) }
        #expect(throws: UsageError.self) { try URLList.parse([0x68, 0xFF], name: "list") }
    }
}
