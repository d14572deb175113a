// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import TestSupport
import Testing

@Suite("Content fields", .computing)
struct ContentFieldTests {
    @Test("R10: a length that stands several times counts once, others are invalid")
    func contentLength() {
        func parse(_ values: String...) -> ContentLength { ContentLength.parse(fieldValues: values) }
        #expect(parse() == .absent)
        #expect(parse("5") == .bytes(5))
        #expect(parse("5, 5", "05") == .bytes(5))
        #expect(parse("9223372036854775807") == .bytes(.max))
        for text in [
            "", ",", "5,", "5, 6", "-1", "+5", "5.0", "0x5", "1e3", "5 5", "٥", "5\0", "5\r\n", "9223372036854775808",
            "NaN", String(repeating: "9", count: 40), String(repeating: "9", count: 1_000_000),
        ] {
            #expect(parse(text) == .invalid, "\(text.prefix(50).debugDescription)")
            #expect(parse("5", text) == .invalid)
        }
        #expect(parse("5", "6") == .invalid)
    }

    @Test("R11: parts are read, with and without a total")
    func contentRange() {
        func parse(_ values: String...) -> ContentRange? { ContentRange.parse(fieldValues: values) }
        #expect(parse("bytes 0-9/10") == .part(first: 0, last: 9, total: 10))
        #expect(parse("bytes 5-5/*") == .part(first: 5, last: 5, total: nil))
        #expect(parse("bytes */10") == .unsatisfied(total: 10))
        #expect(parse(" Bytes 42-1233/1234\t") == .part(first: 42, last: 1233, total: 1234))
        #expect(parse("bytes 0-0/1", "bytes 0-0/1") == .part(first: 0, last: 0, total: 1))
        #expect(parse("bytes 0-0/1", "bytes 0-0/2") == nil)
        let longest = "bytes 0-9223372036854775806/9223372036854775807"
        #expect(parse(longest) == .part(first: 0, last: .max - 1, total: .max))
    }

    @Test(
        "R11: malformed parts are none",
        arguments: [
            "", "bytes", "bytes ", "0-9/10", "bytes 0-9", "bytes 0-9/", "bytes 0-/10", "bytes -9/10", "bytes 9-0/10",
            "bytes 0-10/10", "bytes 0-9/9", "bytes */*", "bytes *", "bytes=0-9/10", "bytes 0-9/10 ,",
            "bytes 0-9/10, 10-19/20", "bytes  0-9/10", "bytes 0 - 9/10", "items 0-9/10", "bytes 0-9/-1",
            "bytes +0-9/10", "bytes 0-9/10\0", "bytes 0-9223372036854775808/*", "bytes ٠-٩/*",
            "bytes */9999999999999999999999999999999999999999",
            "bytes 9223372036854775807-9223372036854775807/9223372036854775807",
        ]
    )
    func malformedContentRange(text: String) {
        #expect(ContentRange.parse(fieldValues: [text]) == nil)
    }

    @Test(
        "the digests of a field are bytes by the name of their function; other members, and what is malformed, are none"
    )
    func digests() {
        func digests(_ lines: String...) -> [String: [UInt8]] {
            HTTPHeaders(lines.map { ("Repr-Digest", $0) } + [("Content-Digest", "a=:AA==:")]).digests(in: "repr-digest")
        }
        #expect(
            digests("sha-256=:AQID:", "sha-512=:/w==:;x, unixsum=30, a=(:AA==:), b") == [
                "sha-256": [1, 2, 3], "sha-512": [255],
            ]
        )
        #expect(digests("sha-256=:AQID:, sha-256=:AA==:") == ["sha-256": [0]])
        #expect(digests("sha-256=:AQID:", "sha-512=:") == [:])
        #expect(digests() == [:])
    }

    @Test("R11: entity tags compare as the table of RFC 9110 §8.8.3.2 has it, byte for byte")
    func entityTags() throws {
        func tag(_ text: String) throws -> EntityTag { try #require(EntityTag.parse(fieldValues: [text])) }
        let rows: [(String, String, strong: Bool, weak: Bool)] = [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true),
            // The same letter, composed in two ways.
            ("\"\u{E9}\"", "\"e\u{301}\"", false, false),
        ]
        for row in rows {
            let (left, right) = (try tag(row.0), try tag(row.1))
            #expect(left.isStronglyEqual(to: right) == row.strong)
            #expect(left.isWeaklyEqual(to: right) == row.weak)
            #expect(left.fieldValue == row.0)
        }
        #expect(try tag("\"\u{E9}\"") != tag("\"e\u{301}\""))
        #expect(EntityTag.parse(fieldValues: ["\"\u{E9}\"", "\"e\u{301}\""]) == nil)
        #expect(try tag("\"\"").opaque.isEmpty)
        #expect(try tag("\"a\\\"").opaque == "a\\")
    }

    @Test(
        "R11: malformed entity tags are none",
        arguments: [
            "", "abc", "\"", "\"abc", "abc\"", "w/\"1\"", "W/1", "W /\"1\"", "\"a\"b\"", "\"a b\"", "\"\0\"",
            "\"a\", \"b\"", "*", "\"\u{7F}\"",
        ]
    )
    func malformedEntityTags(text: String) {
        #expect(EntityTag.parse(fieldValues: [text]) == nil)
    }

    @Test("Media types are read with their parameters")
    func mediaTypes() throws {
        let type = try #require(MediaType("Text/HTML; Charset=\"utf-8\" ;boundary=\"a\\\"b;,\";;x=Y;"))
        #expect(type.essence == "text/html")
        #expect(type[parameter: "charset"] == "utf-8")
        #expect(type[parameter: "boundary"] == "a\"b;,")
        #expect(type[parameter: "x"] == "Y")
        #expect(MediaType("text/html; charset= \tgbk; x= \"y\"") == MediaType("text/html;charset=gbk;x=y"))
        for text in [
            "", "text", "text/", "/html", "text /html", "text/html charset=x", "text/html, text/plain", "text/html\0",
            "tëxt/html",
        ] {
            #expect(MediaType(text) == nil, "\(text.debugDescription)")
        }
    }

    @Test("A malformed parameter of a media type is ignored, and the others count")
    func malformedParameters() throws {
        for fault in ["a", "a=", "=b", "a=\"", "a=\"\\", "a = b", "a=\"\n\"", "a=\"b\"c", "a=b c", "\"", "a=(", " "] {
            let type = try #require(MediaType("text/html;x=y;\(fault)"), "\(fault.debugDescription)")
            #expect(type == MediaType("text/html;x=y"), "\(fault.debugDescription)")
            guard !fault.hasPrefix("a=\"") || fault.hasSuffix("c") else { continue }
            #expect(MediaType("text/html;\(fault);x=y") == type, "\(fault.debugDescription)")
        }
        // In a list of ranges it makes the whole malformed, since where it ends is unknown; all types are allowed then.
        #expect(try #require(MediaType("image/png")).isAcceptable(accept: ["text/html;a, text/plain"]))
    }

    @Test("The most exact range of an Accept field decides")
    func accept() throws {
        func accepts(_ accept: [String], _ type: String) throws -> Bool {
            try #require(MediaType(type)).isAcceptable(accept: accept)
        }
        #expect(try accepts([], "a/b"))
        #expect(try accepts(["*/*"], "a/b"))
        #expect(try accepts(["image/*"], "image/png;x=y"))
        #expect(try !accepts(["image/*"], "text/png"))
        #expect(try accepts(["text/plain;q=0.5", "application/json"], "application/JSON; charset=utf-8"))
        #expect(try !accepts(["text/plain;q=0.5", "application/json"], "text/html"))
        #expect(try !accepts(["*/*, text/html;q=0"], "text/html"))
        #expect(try !accepts(["text/html;q=0.000, */*"], "text/html"))
        #expect(try accepts(["text/*;q=0, text/html;q=0.001"], "text/html"))
        #expect(try accepts(["text/html;level=1, */*;q=0"], "text/html;level=1"))
        #expect(try !accepts(["text/html;level=1, */*;q=0"], "text/html"))
        #expect(try accepts(["nonsense"], "text/html"))
        // A server may leave out a parameter that it was asked for, as Alamofire expects.
        #expect(try accepts(["application/json; charset=utf-8"], "application/json"))
        #expect(try accepts(["text/plain, application/json;indent=4"], "application/json;charset=utf-8"))
        #expect(try !accepts(["text/html;level=1;q=0"], "text/html"))
    }

    @Test("Fields of 1 MB are read or refused in linear time")
    func megabytes() {
        #expect(MediaType("text/html" + String(repeating: ";a=\"\\\"", count: 200_000))?.essence == "text/html")
        #expect(MediaType("text/html" + String(repeating: ";a=b", count: 250_000))?.parameters.count == 250_000)
        let fives = String(repeating: "5,", count: 500_000) + "5"
        #expect(ContentLength.parse(fieldValues: [fives]) == .bytes(5))
        #expect(RetryAfter.parse(fieldValues: [fives], now: .now) != nil)
        #expect(RetryAfter.parse(fieldValues: [String(repeating: "Sun,", count: 250_000)], now: .now) == nil)
        #expect(EntityTag.parse(fieldValues: ["\"" + String(repeating: "x", count: 1_000_000) + "\""]) != nil)
    }
}
