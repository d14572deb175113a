// SPDX-License-Identifier: Apache-2.0
/// A date and time of day in the proleptic Gregorian calendar, UTC.
package struct CivilTime {
    package var year: Int
    package var month: Int
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    package init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// The seconds since the epoch, or `nil` if there is no such date or time.
    ///
    /// A second of 60 is accepted and means the second after 59, because Unix time has no leap seconds.
    package var secondsSinceEpoch: Int64? {
        guard (0...9999).contains(year), (1...12).contains(month), (0...23).contains(hour) else { return nil }
        guard (0...59).contains(minute), (0...60).contains(second) else { return nil }
        guard day >= 1, day <= Self.days(inMonth: month, of: year) else { return nil }
        return Int64(
            Self.daysSinceEpoch(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        )
    }
}

extension CivilTime {
    /// The range that four-digit years can represent: the years 0 to 9999.
    package static let writable: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// The civil time of a number of seconds since the epoch, clamped to ``writable``.
    package init(secondsSinceEpoch: Int64) {
        let seconds = Int(min(max(secondsSinceEpoch, Self.writable.lowerBound), Self.writable.upperBound))
        let secondOfDay = ((seconds % 86_400) + 86_400) % 86_400
        (year, month, day) = Self.date(daysSinceEpoch: (seconds - secondOfDay) / 86_400)
        (hour, minute, second) = (secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60)
    }

    /// The civil time of an instant, clamped to ``writable``; fractions of a second are truncated.
    package init(_ instant: WallClock.Instant) { self.init(secondsSinceEpoch: Self.parts(of: instant).seconds) }

    /// The whole seconds since the epoch, rounded down and clamped to ``writable``, and the milliseconds after them.
    fileprivate static func parts(of instant: WallClock.Instant) -> (seconds: Int64, milliseconds: Int64) {
        // Clamped before they are taken apart: `components` would trap on seconds that do not fit into an Int64.
        let clamped = min(max(instant.sinceEpoch, .seconds(writable.lowerBound)), .seconds(writable.upperBound))
        let (seconds, attoseconds) = clamped.components
        guard attoseconds < 0 else { return (seconds, attoseconds / 1_000_000_000_000_000) }
        return (seconds - 1, (attoseconds + 1_000_000_000_000_000_000) / 1_000_000_000_000_000)
    }

    /// The day of the week: 0 is Sunday.
    package var weekday: Int {
        let days = Self.daysSinceEpoch(year: year, month: month, day: day)
        return ((days + 4) % 7 + 7) % 7
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// The days since 1970-01-01 (Hinnant's `days_from_civil`): years start in March, in eras of 400 years.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The inverse (Hinnant's `civil_from_days`).
    private static func date(daysSinceEpoch: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSinceEpoch + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension WallClock.Instant: CustomStringConvertible {
    /// The date and time in UTC by ISO 8601, such as `2026-11-22T10:34:18.123Z`.
    ///
    /// Truncates fractions of a millisecond, and clamps to the years 0 to 9999.
    public var description: String {
        func padded(_ number: some BinaryInteger, _ digits: Int = 2) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        let (seconds, milliseconds) = CivilTime.parts(of: self)
        let civil = CivilTime(secondsSinceEpoch: seconds)
        let date = "\(padded(civil.year, 4))-\(padded(civil.month))-\(padded(civil.day))"
        let time = "\(padded(civil.hour)):\(padded(civil.minute)):\(padded(civil.second))"
        return "\(date)T\(time).\(padded(milliseconds, 3))Z"
    }
}
