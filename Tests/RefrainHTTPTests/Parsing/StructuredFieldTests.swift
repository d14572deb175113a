// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import TestSupport
import Testing

@Suite("Structured fields", .computing)
struct StructuredFieldTests {
    typealias Item = StructuredField.Item
    typealias BareItem = StructuredField.BareItem

    static func item(_ text: String) -> Item? { StructuredField.item(fieldValues: [text]) }

    @Test(
        "A bare item of each kind is read",
        arguments: [
            ("0", .integer(0)), ("-0", .integer(0)), ("42", .integer(42)), ("007", .integer(7)), ("  1  ", .integer(1)),
            ("-999999999999999", .integer(-999_999_999_999_999)), ("1.5", .decimal(.init(thousandths: 1500))),
            ("-0.125", .decimal(.init(thousandths: -125))),
            ("999999999999.999", .decimal(.init(thousandths: 999_999_999_999_999))),
            ("\"\"", .string("")), ("\"a b\"", .string("a b")), (#""\"\\""#, .string(#""\"#)),
            ("a", .token("a")), ("*a", .token("*a")), ("text/html;q=1", .token("text/html")), ("a:b", .token("a:b")),
            ("::", .bytes([])), (":aGVsbG8=:", .bytes(Array("hello".utf8))),
            (":aGVsbG8:", .bytes(Array("hello".utf8))), (":/+Ah:", .bytes([0xFF, 0xE0, 0x21])),
            (":iZ==:", .bytes([0x89])), ("?1", .boolean(true)), ("?0", .boolean(false)),
            ("@1659578233", .date(1_659_578_233)), ("@-1", .date(-1)),
            ("%\"f%c3%bc\"", .displayString("fü")), ("%\"%22%25\"", .displayString("\"%")),
        ] as [(String, BareItem)]
    )
    func bareItems(text: String, value: BareItem) {
        #expect(Self.item(text)?.value == value)
    }

    @Test(
        "One wrong character makes an item malformed",
        arguments: [
            "", " ", "-", "--1", "+1", "1.", ".1", "1.0000", "1000000000000.1", "1000000000000000", "-1000000000000000",
            "1 2", "1,2", "1e3", "0x1", "\t1", "1\t", "\u{661}", "\"", "\"a", "a\"", "\"a\" b", #""\a""#, #""\"#,
            "\"\u{7F}\"", "\"\0\"", "\"ü\"", "\"\n\"", "'a'", ":", ":a:", ":aGVsbG8", ":aGVsb G8=:", ":aGVsbG8.:",
            ":_-Ah:", ":=aGVsbG8=:", ":aGVsbG8==:", ":aG==VsbG8=:", ":====:", "?", "?2", "?10", "? 1", "@", "@1.5",
            "@x", "%", "%\"", "%\"a", "%\"%\"", "%\"%C3%BC\"", "%\"%c3\"", "%\"ü\"", "%foo", "a;", "a; ", "a;A=1",
            "a;=1", "a;b=", "a ;b", "a; b =1", "(1 2)", "ü", "\0", "1\0", String(repeating: "9", count: 40),
            "-" + String(repeating: "9", count: 40),
        ]
    )
    func malformed(text: String) {
        #expect(Self.item(text) == nil)
    }

    @Test("Parameters keep their order; a repeated one keeps its place and takes the last value")
    func parameters() throws {
        let item = try #require(Self.item("a;b;c=2; d=\"x\";b=?0;*e=f"))
        #expect(item.parameters.keys == ["b", "c", "d", "*e"])
        #expect(item.parameters["b"] == .boolean(false))
        #expect(item.parameters["c"] == .integer(2))
        #expect(item.parameters["d"] == .string("x"))
        #expect(item.parameters["*e"] == .token("f"))
    }

    @Test("Lists hold items and inner lists, over several lines")
    func lists() throws {
        let list = try #require(StructuredField.list(fieldValues: ["1 ,\t(a \"b\" );c;d=1, ()", "?1;x"]))
        #expect(list.count == 4)
        #expect(list.first == .item(Item(.integer(1))))
        guard case .innerList(let inner)? = list.dropFirst().first else {
            Issue.record("no inner list")
            return
        }
        #expect(inner.items.map(\.value) == [.token("a"), .string("b")])
        #expect(inner.parameters.keys == ["c", "d"])
        #expect(list.dropFirst(2).first == .innerList(StructuredField.InnerList([])))
        #expect(StructuredField.list(fieldValues: []) == [])
        #expect(StructuredField.list(fieldValues: [""]) == [])
    }

    @Test(
        "Malformed lists are none",
        arguments: [
            "1,", ",1", "1,,2", "1 2", "(1", "1)", "(1,2)", "(1 2", "((1))", "(1)(2)", "(1\t2)", "(a;b=(1))", "1, ",
            "()a",
        ]
    )
    func malformedLists(text: String) {
        #expect(StructuredField.list(fieldValues: [text]) == nil)
    }

    @Test("Dictionaries keep their order; a repeated key keeps its place and takes the last value")
    func dictionaries() throws {
        let members = try #require(StructuredField.dictionary(fieldValues: ["a=1;x, b, c=(1 2);y", "a=2"]))
        #expect(members.keys == ["a", "b", "c"])
        #expect(members["a"] == .item(Item(.integer(2))))
        #expect(members["b"] == .item(Item(.boolean(true))))
        #expect(StructuredField.dictionary(fieldValues: [])?.isEmpty == true)
    }

    @Test(
        "Malformed dictionaries are none",
        arguments: ["a=", "a=1,", "A=1", "=1", "a = 1", "a=1 b=2", "1=a", "a=1,,b", "a;b=,c"]
    )
    func malformedDictionaries(text: String) {
        #expect(StructuredField.dictionary(fieldValues: [text]) == nil)
    }

    @Test("R5: a key is sent as a string; 10,000 random ones are read back as they were")
    func strings() {
        let seed = UInt64(0x5EED)
        var random = RandomSource(seed: seed)
        for _ in 0..<10_000 {
            let count = Int.random(in: 0...20, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0x20...0x7E, using: &random) }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let written = StructuredField.serialize(text), Self.item(written)?.value == .string(text) else {
                Issue.record("seed \(seed): \(text.debugDescription)")
                return
            }
        }
        #expect(StructuredField.serialize("a\"b\\c") == #""a\"b\\c""#)
    }

    @Test(
        "R5: a string with other characters than printable ASCII cannot be sent",
        arguments: ["ü", "\n", "\r\n", "\0", "\u{7F}", "a\t"]
    )
    func unsendable(text: String) {
        #expect(StructuredField.serialize(text) == nil)
    }

    @Test("Long fields take their time, not more")
    func megabytes() {
        let count = 150_000
        let items = Array(repeating: "a;b=1", count: count).joined(separator: ",")
        #expect(StructuredField.list(fieldValues: [items])?.count == count)
        let keys = (0..<count).map { "k\($0)" }
        #expect(StructuredField.dictionary(fieldValues: [keys.joined(separator: ",")])?.keys.count == count)
        #expect(Self.item("a" + keys.map { ";" + $0 }.joined())?.parameters.keys.count == count)
        #expect(StructuredField.list(fieldValues: [String(repeating: "(", count: 1_000_000)]) == nil)
    }
}
