// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import TestSupport
import Testing

@Suite("HTTP dates, there and back", .computing)
struct HTTPDateRoundTripTests {
    /// A calendar of the test's own, which goes from day to day and knows no formulas.
    struct Calendar {
        static let days = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
        static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var year = 1970
        var month = 1
        var day = 1
        var days = 0

        var weekday: String { Self.days[days % 7] }

        mutating func advance() {
            let leap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0
            let length = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            days += 1
            day += 1
            if day > length { (day, month) = (1, month + 1) }
            if month > 12 { (month, year) = (1, year + 1) }
        }

        func forms(_ second: Int) -> [String] {
            let time = "\(pad(second / 3600)):\(pad(second / 60 % 60)):\(pad(second % 60))"
            let name = Self.months[month - 1]
            return [
                "\(weekday.prefix(3)), \(pad(day)) \(name) \(year) \(time) GMT",
                "\(weekday), \(pad(day))-\(name)-\(pad(year % 100)) \(time) GMT",
                "\(weekday.prefix(3)) \(name) \(day < 10 ? " \(day)" : "\(day)") \(time) \(year)",
            ]
        }

        private func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    }

    static func check(_ calendar: Calendar, second: Int) -> Bool {
        let instant = WallClock.Instant(sinceEpoch: .seconds(calendar.days * 86_400 + second))
        let forms = calendar.forms(second)
        return forms.allSatisfy { HTTPDate.parse($0, now: instant) == instant } && HTTPDate.format(instant) == forms[0]
    }

    @Test(
        "R15: every second of selected days survives all three forms",
        arguments: [(1970, 1, 1), (1999, 12, 31), (2000, 2, 29), (2016, 12, 31), (2024, 2, 28), (2100, 3, 1)]
    )
    func everySecond(year: Int, month: Int, day: Int) {
        var calendar = Calendar()
        while (calendar.year, calendar.month, calendar.day) != (year, month, day) { calendar.advance() }
        for second in stride(from: 0, to: 86_400, by: exhaustiveStep) {
            guard Self.check(calendar, second: second) else {
                Issue.record("second \(second) of \(year)-\(month)-\(day)")
                return
            }
        }
    }

    @Test("R15: every day from 1970 to 2450 survives all three forms, at a random second")
    func everyDay() {
        let seed = UInt64(0x5EED)
        let random = RandomSource(seed: seed)
        var calendar = Calendar()
        while calendar.year < 2450 {
            defer { calendar.advance() }
            guard calendar.days % exhaustiveStep == 0 else { continue }
            let second = Int(random.next() % 86_400)
            guard Self.check(calendar, second: second) else {
                Issue.record("seed \(seed), \(calendar), second \(second)")
                return
            }
        }
    }

    @Test("R15: 10,000 random instants of the years 0 to 9999 survive being written and read")
    func anyInstant() {
        let seed = UInt64(0x5EED)
        var random = RandomSource(seed: seed)
        for _ in 0..<10_000 {
            let instant = WallClock.Instant(
                sinceEpoch: .seconds(Int64.random(in: -62_167_219_200...253_402_300_799, using: &random))
            )
            let text = HTTPDate.format(instant)
            #expect(text.utf8.count == 29 && HTTPDate.parse(text, now: .now) == instant, "seed \(seed): \(text)")
        }
    }
}
