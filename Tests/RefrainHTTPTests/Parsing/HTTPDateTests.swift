// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import Testing

@Suite("HTTP dates")
struct HTTPDateTests {
    static let now = WallClock.Instant(sinceEpoch: .seconds(1_559_559_600))

    static func seconds(_ text: String, now: WallClock.Instant = now) -> Int64? {
        HTTPDate.parse(text, now: now)?.sinceEpoch.components.seconds
    }

    @Test(
        "R15: all three forms of a date are read, and asctime is UTC",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sat Nov 16 08:49:37 1994", 784_975_777),
            (" \tSun, 06 Nov 1994 08:49:37 GMT ", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Mon, 29 Feb 2016 00:00:00 GMT", 1_456_704_000),
        ]
    )
    func forms(text: String, seconds: Int64) {
        #expect(Self.seconds(text) == seconds)
    }

    @Test("R15: a second of 60 is legal and is the next minute's first")
    func leapSecond() {
        #expect(Self.seconds("Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_800)
        #expect(Self.seconds("Saturday, 31-Dec-16 23:59:60 GMT") == 1_483_228_800)
        #expect(Self.seconds("Sat Dec 31 23:59:60 2016") == 1_483_228_800)
    }

    @Test("A weekday that is wrong for the date does not spoil it")
    func wrongWeekday() {
        #expect(Self.seconds("Mon, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
    }

    @Test(
        "R15: impossible and malformed dates are no dates",
        arguments: [
            "", " ", "Sun", "Sun,", "Sun, ", "0", "784111777",
            "Tue, 30 Feb 2016 00:00:00 GMT", "Tue, 29 Feb 2015 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT",
            "Tue, 31 Apr 2016 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Jan 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 gmt",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT",
            "Sun,06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37.5 GMT",
            "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
            "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sunday Nov  6 08:49:37 1994", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT",
            "Sun Nov  06 08:49:37 1994", "Su, 06 Nov 1994 08:49:37 GMT", "Sund, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT;", "Sun, 06 Nov 1994 08:49:37 GMT\0", "Sun, 06 Nov 1994\r\n08:49:37 GMT",
            "Sun, 06 Nov 1994 0\u{661}:49:37 GMT", "Sun, \u{660}\u{666} Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 199\u{FF14} 08:49:37 GMT", "1994-11-06T08:49:37Z",
        ]
    )
    func malformed(text: String) {
        #expect(Self.seconds(text) == nil)
    }

    @Test(
        "R15: a two-digit year is the latest that is not over 50 years ahead",
        arguments: [
            // Now is 3 June 2019, 11:00:00.
            ("Monday, 03-Jun-69 11:00:00 GMT", 3_137_482_800),
            ("Monday, 03-Jun-69 11:00:01 GMT", -18_277_199),
            ("Monday, 03-Jun-68 11:00:00 GMT", 3_105_946_800),
            ("Monday, 03-Jun-70 11:00:00 GMT", 13_258_800),
            ("Monday, 03-Jun-19 11:00:00 GMT", 1_559_559_600),
            ("Monday, 03-Jun-00 11:00:00 GMT", 960_030_000),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ]
    )
    func century(text: String, seconds: Int64) {
        #expect(Self.seconds(text) == seconds)
    }

    @Test("R15: the century follows the clock, whatever the clock says")
    func centuryOfOtherClocks() {
        let in2095 = WallClock.Instant(sinceEpoch: .seconds(3_944_678_400))
        #expect(Self.seconds("Sunday, 06-Nov-05 08:49:37 GMT", now: in2095) == 4_286_940_577)
        for sinceEpoch in [Duration(attoseconds: .min), Duration(attoseconds: .max), .zero, .seconds(Int64.min)] {
            _ = Self.seconds("Sunday, 06-Nov-94 08:49:37 GMT", now: WallClock.Instant(sinceEpoch: sinceEpoch))
        }
    }

    @Test("A date of 1 MB is no date")
    func megabyte() {
        #expect(Self.seconds(String(repeating: "Sun, ", count: 200_000)) == nil)
        #expect(Self.seconds("Sun, 06 Nov 1994 08:49:37 GMT" + String(repeating: "x", count: 1_000_000)) == nil)
    }

    @Test("Instants that dates cannot write become the nearest that they can")
    func formatting() {
        #expect(
            HTTPDate.format(WallClock.Instant(sinceEpoch: .seconds(784_111_777))) == "Sun, 06 Nov 1994 08:49:37 GMT"
        )
        #expect(HTTPDate.format(WallClock.Instant(sinceEpoch: .milliseconds(-1))) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.format(WallClock.Instant(sinceEpoch: .milliseconds(1999))) == "Thu, 01 Jan 1970 00:00:01 GMT")
        let last = HTTPDate.format(WallClock.Instant(sinceEpoch: Duration(attoseconds: .max)))
        #expect(last == "Fri, 31 Dec 9999 23:59:59 GMT")
        let first = HTTPDate.format(WallClock.Instant(sinceEpoch: Duration(attoseconds: .min)))
        #expect(first == "Sat, 01 Jan 0000 00:00:00 GMT")
    }
}
