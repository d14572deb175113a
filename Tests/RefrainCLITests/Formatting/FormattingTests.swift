// SPDX-License-Identifier: Apache-2.0
import Refrain
import Testing

@testable import RefrainCLI

@Suite("Sizes, statuses, fields and numbers on the command line")
struct FormattingTests {
    @Test(
        "a size is a number with a unit: thousands, or 1024s with an i",
        arguments: [
            ("64KB", 64_000), ("10MB", 10_000_000), ("500", 500), ("500B", 500), ("1KiB", 1024), ("1.5MiB", 1_572_864),
            ("2gb", 2_000_000_000), ("1TiB", 1 << 40),
        ]
    )
    func sizes(text: String, expected: Int) throws {
        #expect(try SizeText.parse(text, option: "--max-body") == expected)
    }

    @Test(
        "what is no size is refused",
        arguments: ["", "-1", "KB", "10XB", "1e3", "0", "0.1B", "99999999999999999999TB", "5000000TiB", "1 KB", "١KB"]
    )
    func badSizes(text: String) {
        #expect(throws: UsageError.self) { try SizeText.parse(text, option: "--max-body") }
    }

    @Test("a list of statuses replaces the usual ones, or adds to them")
    func statuses() throws {
        let list = try StatusListText("500,502-504", option: "o")
        #expect(list.statuses == [500, 502, 503, 504] && !list.areAdded)
        let added = try StatusListText("+404", option: "o")
        #expect(added.statuses == [404] && added.areAdded)
    }

    @Test(
        "what is no list of statuses is refused",
        arguments: [
            "", "+", "99", "600", "500,", ",500", "504-500", "500-", "-500", "5xx", "500-502-504", "500 501", "199",
        ]
    )
    func badStatuses(text: String) {
        #expect(throws: UsageError.self) { try StatusListText(text, option: "o") }
    }

    @Test("a header field is split at its first colon, and trimmed")
    func headers() throws {
        #expect(try HeaderText.parse("A:b", option: "o") == ("A", "b"))
        #expect(try HeaderText.parse("X-Y: \t a: b \t", option: "o") == ("X-Y", "a: b"))
        #expect(try HeaderText.parse("Empty:", option: "o") == ("Empty", ""))
    }

    @Test(
        "a field that could break out of the head is refused",
        arguments: [
            "nocolon", ": x", "A B: c", "A: b\r\nC: d", "A: b\n", "A: b\rc", "A: \u{0}", "A : b", "Ä: b", "A\n: b",
        ]
    )
    func badHeaders(text: String) {
        #expect(throws: UsageError.self) { try HeaderText.parse(text, option: "--header") }
    }

    @Test(
        "a field that is refused is named, and its value is not shown: it may be a secret",
        arguments: [
            ("Authorization: Bearer SECRET\rX", "the value of Authorization contains a control character at byte 14"),
            ("Authorization: \u{0}SECRET", "at byte 1"), ("Authorization Bearer SECRET", "\"Authorization …\""),
            ("SECRET", "no colon"), ("SECRET\r", "no colon"), ("Authorization\tBasic SEC:RET", "\"Authorization …\""),
            (" SECRET", "no colon"), ("\r SECRET", "no colon"),
        ]
    )
    func secrets(text: String, expected: String) {
        let error = #expect(throws: UsageError.self) { try HeaderText.parse(text, option: "--header") }
        let words = error?.description ?? ""
        #expect(!words.contains("SEC") && words.contains(expected), "\(words)")
    }

    @Test("numbers keep their places, and large ones do not trap")
    func decimals() {
        #expect(Decimals.text(1.005, places: 1) == "1.0")
        #expect(Decimals.text(-0.25, places: 2) == "-0.25")
        #expect(Decimals.text(12, places: 0) == "12")
        #expect(Decimals.text(1e300, places: 2) == "1e+300")
        #expect(Decimals.text(.infinity, places: 2) == "inf")
        #expect(Decimals.text(3.05, places: 3) == "3.050")
    }
}
