// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCLI

@Suite("Durations")
struct DurationTextTests {
    @Test(
        "a duration is a number with a unit",
        arguments: [
            ("250ms", Duration.milliseconds(250)), ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)),
            ("1h", .seconds(3600)), ("2d", .seconds(172_800)), ("10us", .microseconds(10)), ("0.5m", .seconds(30)),
            ("100ms", .milliseconds(100)), ("007s", .seconds(7)), ("3min", .seconds(180)),
        ]
    )
    func reads(text: String, expected: Duration) throws {
        #expect(try DurationText.parse(text, option: "--timeout") == expected)
    }

    @Test(
        "what is no duration is refused with the option's name and the text",
        arguments: [
            "", "5", "s", "-5s", "+5s", "1e5s", "nan", "infs", "1.5.5s", ".5s", "1.s", "1,5s", "٣s", "5 s", "5S", "0s",
            "0.0ms",
            "99999999999999999999999s", "1099511627776s", "5ss", "1\u{0}s", " 1s",
        ]
    )
    func refuses(text: String) {
        let error = #expect(throws: UsageError.self) { try DurationText.parse(text, option: "--timeout") }
        #expect(error?.description.hasPrefix("--timeout: \"") == true)
    }

    @Test("zero is accepted only where it makes sense")
    func zero() throws {
        #expect(try DurationText.parse("0s", option: "--backoff", allowsZero: true) == .zero)
    }

    @Test("a number of any length is refused and does not trap")
    func long() {
        let digits = String(repeating: "9", count: 1_000_000)
        #expect(throws: UsageError.self) { try DurationText.parse(digits + "s", option: "--timeout") }
    }

    @Test("every whole number of milliseconds is read exactly")
    func milliseconds() throws {
        for number in 1...10_000 {
            #expect(try DurationText.parse("\(number)ms", option: "o") == .milliseconds(number))
        }
    }

    @Test("a duration is shown in a few digits")
    func short() {
        #expect(DurationText.short(.microseconds(653)) == "653 µs")
        #expect(DurationText.short(.microseconds(5040)) == "5.0 ms")
        #expect(DurationText.short(.milliseconds(74)) == "74 ms")
        #expect(DurationText.short(.milliseconds(1240)) == "1.24 s")
        #expect(DurationText.short(.seconds(300)) == "5.0 min")
        #expect(DurationText.short(.seconds(36_000)) == "10.0 h")
    }
}
