// SPDX-License-Identifier: Apache-2.0
import Refrain
import Testing

@testable import RefrainCLI

@Suite("Pictures")
struct PictureTests {
    @Test("a timeline draws attempts and waits on one scale")
    func timeline() {
        let text = Timeline("title", TimelineSVGTests.attempts, total: .seconds(4), width: 8).text
        #expect(
            text == """
                title
                   1 │██····  │ 503 in 1.00 s, again after 2.00 s (transientStatus)
                   2 │      ██│ 200 in 1.00 s

                """
        )
    }

    @Test("R34: a timeline and a picture tell the time that an attempt was held back")
    func heldBack() {
        var record = AttemptRecord(
            number: 1,
            start: .zero,
            duration: .seconds(3),
            status: 200,
            decision: .finish,
            reason: .succeeded
        )
        record.pacing = AttemptRecord.Pacing()
        record.pacing?.heldFor = .seconds(1)
        record.pacing?.waitedForCost = .milliseconds(500)
        record.pacing?.circuit = .open
        #expect(
            Timeline("title", [record], total: .seconds(4), width: 8).text == """
                title
                   1 │░░░███  │ 200 in 3.00 s, held back 1.00 s by a refusal that named a time, 500 ms by the limit \
                of their cost; a circuit breaker would be open

                """
        )
        let picture = TimelineSVG(title: "t", summary: "s", [record], total: .seconds(4)).text
        #expect(picture.contains("class=\"held\"") && picture.contains("held back 1.00 s by a refusal"))
    }

    @Test("a timeline of no time, of endless time and of no attempts does not trap")
    func extremes() {
        let endless = AttemptRecord(
            number: .max,
            start: .zero,
            duration: .longestDelay,
            decision: .retry,
            reason: .resumed,
            delay: .longestDelay
        )
        #expect(!Timeline("t", [endless], total: .zero).text.isEmpty)
        #expect(Timeline("t", [], total: .zero).text == "t\n")
    }

    @Test("the schedule's picture has a row for each retry")
    func schedule() throws {
        let text = ScheduleChart(.exponential(from: .seconds(1), maxAttempts: 4)).text
        let rows = text.split(separator: "\n")
        #expect(rows.count == 5)
        #expect(rows[3].hasSuffix(String(repeating: "█", count: 40)))
        #expect(ScheduleChart(.never).text == "One attempt, and no retry.\n")
        #expect(!ScheduleChart(.constant(delay: .longestDelay, maxAttempts: nil)).text.isEmpty)
    }

    @Test("JSON is escaped, ordered, and free of infinity")
    func json() {
        let value = JSON.object([
            ("b\"\\\n\u{1}", .string("é\t\u{7F}")),
            ("a", .array([.null, .number(.infinity), .number(7.7), .integer(-1)])),
            ("c", .rounded(7.699_999_999_9, places: 6)),
        ])
        #expect(value.text == #"{"b\"\\\n\u0001":"é\t\u007f","a":[null,null,7.7,-1],"c":7.7}"#)
    }
}
