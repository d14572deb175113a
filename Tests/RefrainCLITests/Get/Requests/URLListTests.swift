// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
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

    @Test("lines are counted, also empty ones and those without an end")
    func places() throws {
        let requests = try URLList.parse(Array("http://h/1\n\n#\nhttp://h/4\n\nhttp://h/6".utf8), name: "list")
        #expect(requests.map { "\($0.position)" } == ["list:1", "list:4", "list:6"])
    }

    @Test("what is taken for a URL at a glance is one that a request can be made of")
    func glance() {
        let pieces = [
            "http://", "https://", "h", "H.x", "-", ".", ":", ":80", ":0", ":65536", "/", "//", "?", "#", "a", "%41",
            "%",
            "%4", "@", "[", "]", "::1", " ", "\t", "ü", "|", "\\", "^", "'", "\"", "<", "{", "..", ";", "\u{7F}",
            "\u{0}",
        ]
        var number: UInt32 = 1
        var plain = 0
        for _ in 0..<50_000 {
            var url = number & 1 == 0 ? "http://h/" : "https://"
            for _ in 0..<4 {
                number = number &* 1_664_525 &+ 1_013_904_223
                url += pieces[Int(number >> 16) % pieces.count]
            }
            guard URLText.isPlain(url) else { continue }
            plain += 1
            #expect(throws: Never.self, "\(url)") { try HTTPRequest(url) }
        }
        #expect(plain > 200)
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
