// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import TestSupport
import Testing

@Suite("Retry-After", .computing)
struct RetryAfterTests {
    static let now = WallClock.Instant(sinceEpoch: .seconds(1_559_559_600))
    static let date = WallClock.Instant(sinceEpoch: .seconds(784_111_777))

    static func parse(_ values: String...) -> RetryAfter? { RetryAfter.parse(fieldValues: values, now: now) }

    @Test(
        "R15: seconds are digits only",
        arguments: [("0", 0), ("7", 7), ("007", 7), (" 120\t", 120), ("3600", 3600), ("1099511627776", 1 << 40)]
    )
    func seconds(text: String, seconds: Int64) {
        #expect(Self.parse(text) == .delay(.seconds(seconds)))
    }

    @Test(
        "R15: dates come in three forms",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ]
    )
    func dates(text: String) {
        #expect(Self.parse(text) == .date(Self.date))
    }

    @Test(
        "R15: malformed, signed, fractional and empty values are ignored",
        arguments: [
            "", " ", "-1", "+1", "1.5", "1.0", "1e3", "0x10", "1 2", "5s", "s", "NaN", "nan", "inf", "Infinity", "-0",
            ",",
            "5,", ",5", "5,,5", "\u{661}\u{662}", "\u{FF15}", "5\0", "\05", "5\r\n", "5\n", "\u{B2}", "٣", "five",
            "\"5\"",
            "Tue, 30 Feb 2016 00:00:00 GMT", "Sun", "Sun,", "Sun, Sun, 06 Nov 1994 08:49:37 GMT", "5;q=1", "\u{200B}5",
        ]
    )
    func malformed(text: String) {
        #expect(Self.parse(text) == nil)
        #expect(Self.parse("5", text) == nil)
    }

    @Test("R15: no field is no value")
    func absent() { #expect(Self.parse() == nil) }

    @Test("R15: values of any length saturate")
    func saturation() {
        let longest = RetryAfter.delay(.longestDelay)
        #expect(Self.parse(String(repeating: "9", count: 40)) == longest)
        #expect(Self.parse(String(repeating: "9", count: 1_000_000)) == longest)
        #expect(Self.parse("9223372036854775807") == longest)
        #expect(Self.parse("9223372036854775808") == longest)
        #expect(Self.parse("18446744073709551617") == longest)
        #expect(Self.parse(String(repeating: "0", count: 1_000_000) + "5") == .delay(.seconds(5)))
    }

    @Test("R15: a value that is repeated counts once, values that differ are ignored")
    func repetition() {
        let fixdate = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(Self.parse("5", "5") == .delay(.seconds(5)))
        #expect(Self.parse("5, 5") == .delay(.seconds(5)))
        #expect(Self.parse("5,05 ,\t005") == .delay(.seconds(5)))
        #expect(Self.parse("5", "6") == nil)
        #expect(Self.parse("5, 6") == nil)
        #expect(Self.parse(fixdate, "Sun Nov  6 08:49:37 1994") == .date(Self.date))
        #expect(Self.parse("\(fixdate), Sunday, 06-Nov-94 08:49:37 GMT") == .date(Self.date))
        #expect(Self.parse("Sun Nov  6 08:49:37 1994, \(fixdate)") == .date(Self.date))
        #expect(Self.parse(fixdate, "Sun, 06 Nov 1994 08:49:38 GMT") == nil)
        #expect(Self.parse(fixdate, "5") == nil)
        #expect(Self.parse("5, \(fixdate)") == nil)
    }

    @Test("R16: a date is read against the response's own Date, not ours")
    func ownDate() {
        let value = RetryAfter.date(Self.date)
        let delay = value.delay(date: ["Sun, 06 Nov 1994 08:49:30 GMT"], age: [], wallClock: Self.now)
        #expect(delay == .seconds(7))
    }

    @Test("R16: a Date with an Age, a malformed one and a contradictory one give way to the wall clock")
    func wallClock() {
        let value = RetryAfter.date(Self.now.advanced(by: .seconds(30)))
        let date = "Mon, 03 Jun 2019 10:59:50 GMT"
        #expect(value.delay(date: [date], age: [], wallClock: Self.now) == .seconds(40))
        #expect(value.delay(date: [date], age: ["0"], wallClock: Self.now) == .seconds(30))
        #expect(value.delay(date: [date], age: ["x"], wallClock: Self.now) == .seconds(30))
        #expect(value.delay(date: ["x"], age: [], wallClock: Self.now) == .seconds(30))
        #expect(value.delay(date: [], age: [], wallClock: Self.now) == .seconds(30))
        #expect(
            value.delay(date: [date, "Mon, 03 Jun 2019 10:59:51 GMT"], age: [], wallClock: Self.now) == .seconds(30)
        )
    }

    @Test("R16: a past date is a delay of zero")
    func past() {
        #expect(RetryAfter.date(Self.date).delay(date: [], age: [], wallClock: Self.now) == .zero)
    }

    @Test("R15: clocks and dates at the ends of time saturate")
    func endsOfTime() {
        let first = WallClock.Instant(sinceEpoch: Duration(attoseconds: .min))
        let last = WallClock.Instant(sinceEpoch: Duration(attoseconds: .max))
        #expect(RetryAfter.date(last).delay(date: [], age: [], wallClock: first) == .longestDelay)
        #expect(RetryAfter.date(first).delay(date: [], age: [], wallClock: last) == .zero)
        #expect(last.advanced(by: .longestDelay) == last)
        #expect(first.advanced(by: .seconds(-1)) == first)
        #expect(RetryAfter.parse(fieldValues: ["Fri, 31 Dec 9999 23:59:59 GMT"], now: last) != nil)
    }

    @Test("R15: of 10,000 random values only digits and dates are values")
    func anything() {
        let seed = UInt64(0x5EED)
        var random = RandomSource(seed: seed)
        let parts = [
            "0", "5", "99", ",", ", ", " ", "Sun", "06 Nov 1994 08:49:37 GMT", "-", "+", ".", "\0", "\r\n", "٣", "e",
        ]
        for _ in 0..<10_000 {
            let text = (0...Int.random(in: 0...3, using: &random)).map { _ in parts.randomElement(using: &random) ?? ""
            }
            .joined()
            guard case .delay(let delay)? = Self.parse(text) else { continue }
            let numbers = text.split { ", \t".contains($0) }.compactMap { Int64($0) }
            #expect(Set(numbers).count == 1 && delay == .seconds(numbers[0]), "seed \(seed): \(text.debugDescription)")
            #expect(
                text.utf8.allSatisfy { ", \t0123456789".utf8.contains($0) },
                "seed \(seed): \(text.debugDescription)"
            )
        }
    }

    @Test(
        "R15: milliseconds count alone, and where they are the delay of Retry-After before it was rounded",
        arguments: [
            (nil, "1500", nil, 1500), (nil, nil, "250", 250), (nil, "0", nil, 0), (nil, " 12.5 ", nil, 12.5),
            (nil, "100", "200", 100), (nil, "soon", "200", 200), (nil, "-1", nil, nil), (nil, "1e3", nil, nil),
            (nil, "", nil, nil), ("2", nil, nil, 2000), ("2", "1500", nil, 1500), ("2", "2999", nil, 2999),
            ("2", "1000", nil, 2000), ("2", "3000", nil, 2000), ("2", "0", nil, 2000), ("0", "999", nil, 999),
            ("soon", "1500", nil, 1500), ("2", "soon", nil, 2000),
        ] as [(String?, String?, String?, Double?)]
    )
    func milliseconds(standard: String?, short: String?, long: String?, delay: Double?) {
        var headers = HTTPHeaders()
        for (name, value) in [("Retry-After", standard), ("Retry-After-Ms", short), ("x-ms-retry-after-ms", long)] {
            if let value { headers.add(name, value) }
        }
        #expect(RetryAfter.read(headers, now: Self.now) == delay.map { .delay(.milliseconds($0)) })
    }

    @Test("R15: milliseconds give way to a date, are ignored where they differ, and saturate")
    func oddMilliseconds() {
        let date: HTTPHeaders = ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "retry-after-ms": "5"]
        #expect(RetryAfter.read(date, now: Self.now) == .date(Self.date))
        var headers: HTTPHeaders = ["retry-after-ms": "5"]
        headers.add("retry-after-ms", "6")
        #expect(RetryAfter.read(headers, now: Self.now) == nil)
        headers = ["retry-after-ms": String(repeating: "9", count: 100)]
        #expect(RetryAfter.read(headers, now: Self.now) == .delay(.longestDelay))
        headers.add("Retry-After", String(repeating: "9", count: 100))
        #expect(RetryAfter.read(headers, now: Self.now) == .delay(.longestDelay))
    }
}
