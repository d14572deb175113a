// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCore

@Suite("Dates in text")
struct CivilTimeTests {
    @Test(
        "an instant is described by its date and time in UTC, with milliseconds",
        arguments: [
            (Duration.zero, "1970-01-01T00:00:00.000Z"),
            (.seconds(951_782_400), "2000-02-29T00:00:00.000Z"),
            (.seconds(1_795_343_658) + .milliseconds(123), "2026-11-22T10:34:18.123Z"),
            (.seconds(1_795_343_658) + .microseconds(7_999), "2026-11-22T10:34:18.007Z"),
            (.milliseconds(-1), "1969-12-31T23:59:59.999Z"),
            (.nanoseconds(-1), "1969-12-31T23:59:59.999Z"),
            (.seconds(-62_167_219_200), "0000-01-01T00:00:00.000Z"),
        ]
    )
    func description(sinceEpoch: Duration, text: String) {
        #expect("\(WallClock.Instant(sinceEpoch: sinceEpoch))" == text)
    }

    @Test("an instant beyond the years of four digits is described by the first or the last of them, without a trap")
    func extremes() {
        #expect("\(WallClock.Instant(sinceEpoch: Duration(attoseconds: .max)))" == "9999-12-31T23:59:59.000Z")
        #expect("\(WallClock.Instant(sinceEpoch: Duration(attoseconds: .min)))" == "0000-01-01T00:00:00.000Z")
    }
}
