// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import Refrain
@testable import RefrainCLI

@Suite("What a run shows while it works")
struct ProgressTests {
    @Test(
        "the line of a list has bytes, rate and shares, and fits into its terminal",
        arguments: [20, 40, 60, 80, 200]
    )
    func list(columns: Int) {
        let line = Progress.listText(
            columns,
            done: 3,
            of: 5000,
            failed: 0,
            bytes: 61_200_000,
            rate: 10_100_000,
            left: .seconds(185),
            [
                ("image.iso", "45 %"), ("a-very-long-name-of-a-file-that-does-not-fit.tar.gz", "again in 1.8 s"),
                ("c", "1 KB"),
            ]
        )
        #expect(line.hasPrefix("3/5000"))
        #expect(columns < 40 || line.count < columns, "\(line)")
        #expect(columns < 60 || line.contains("61.2 MB, 10.1 MB/s, 3.1 min left"), "\(line)")
        #expect(columns < 80 || line.contains(" left: image.iso 45 %"), "\(line)")
        #expect(columns < 200 || line.contains(".tar.gz again in 1.8 s"), "\(line)")
    }

    private func notice(_ record: AttemptRecord, maxAttempts: Int? = nil, timeout: Duration? = nil) -> RetryNotice {
        var policy = CommandPolicy(policy: .recommended, window: .seconds(60))
        policy = CommandPolicy(
            policy: policy.policy.with(schedule: .constant(delay: .seconds(1), maxAttempts: maxAttempts)),
            window: maxAttempts == nil ? .seconds(60) : nil
        )
        let now = ContinuousClock.now
        return RetryNotice(
            record,
            RetryNotice.Limits(policy, timeout: timeout),
            start: now - .seconds(10),
            failingSince: now - .seconds(6),
            now: now,
            date: .now
        )
    }

    private func record(
        _ status: Int?,
        _ error: HTTPError.Code? = nil,
        _ reason: RetryReason = .transientStatus,
        delay: Duration = .milliseconds(1800)
    ) -> AttemptRecord {
        AttemptRecord(
            number: 2,
            start: .zero,
            duration: .milliseconds(5),
            status: status.map { HTTPStatus(rawValue: $0) },
            error: error,
            decision: .retry,
            reason: reason,
            delay: delay
        )
    }

    @Test("a retry is told with its cause, its number, its time and the end, on one line")
    func line() {
        let line = notice(record(503)).line
        let form = /503 Service Unavailable; attempt 3 at [0-9:]{8}, in 1.80 s; gives up after [0-9:]{8}/
        #expect(line.wholeMatch(of: form) != nil, "\(line)")
        let counted = notice(record(nil, .networkConnectionLost), maxAttempts: 4).line
        #expect(counted.hasPrefix("connection lost; attempt 3 of 4 at "), "\(counted)")
        #expect(!counted.contains("gives up"))
        let resumed = notice(record(nil, .networkConnectionLost, delay: .zero), maxAttempts: 4).line
        #expect(resumed == "connection lost; attempt 3 of 4 now")
        // One that is not counted comes on top.
        let free = notice(record(nil, .networkConnectionLost, delay: .zero), maxAttempts: 2).line
        #expect(free == "connection lost; attempt 3 now")
        #expect(notice(record(500), maxAttempts: 4, timeout: .seconds(20)).line.contains("gives up after"))
        #expect(
            notice(record(202, nil, .conditionNotMet)).line.hasPrefix(
                "202 Accepted, not the awaited response; "
            )
        )
    }

    @Test("the countdown fits into its terminal", arguments: [40, 60, 80, 200])
    func countdown(columns: Int) {
        let notice = notice(record(503))
        let text = notice.countdown(columns, now: notice.instant - .milliseconds(700))
        #expect(text.count < columns && text.contains("attempt 3") && text.contains("in 0.7 s"), "\(text)")
        #expect(columns < 80 || text.contains("gives up after"))
    }

    @Test("-v, --dry-run and messages leave out the parameters of a URL that are secrets")
    func secretParameters() {
        let head = "GET /echo?token=abc&page=2&access_token=def HTTP/1.1\r\nHost: h\r\nX-Api-Key: ghi\r\n\r\n"
        let shown = VerboseLog.text(.requestHead(Array(head.utf8)))
        #expect(shown.hasPrefix("> GET /echo?token=***&page=2&access_token=*** HTTP/1.1\n> Host: h\n"), "\(shown)")
        #expect(!shown.contains("ghi"))
        let note = VerboseLog.text(.note("[HTTP/2] [1] [:path: /echo?token=abc]"))
        #expect(note == "* [HTTP/2] [1] [:path: /echo?token=***]\n")
        #expect(SanitizedURL.shown("http://u:p@h/?sig=abc&x=1#f") == "http://h/?sig=***&x=1#f")
        #expect(SanitizedURL.shown("http://h/a?x=1") == "http://h/a?x=1")
        #expect(SanitizedURL.refused("ftp://u:p@h/?token=abc") == "ftp://…@h/?token=***")
        let location = VerboseLog.text(.responseHead(Array("Location: //u:p@h/a?token=abc\r\n".utf8)))
        #expect(location == "< Location: //h/a?token=***\n")
        let referer = VerboseLog.text(.requestHead(Array("GET / HTTP/1.1\r\nReferer: http://h/?token=abc\r\n".utf8)))
        #expect(referer == "> GET / HTTP/1.1\n> Referer: http://h/?token=***\n")
    }

    @Test("a line is cut by the columns that its characters take")
    func width() {
        for (text, columns, shown) in [("abc", 2, "ab"), ("日本語 45 %", 7, "日本語 "), ("日本語", 5, "日本")] {
            #expect(StatusLine.fitting(text, in: columns) == shown)
        }
    }

    @Test("the words of other programs name failures")
    func words() {
        let known: [(String, HTTPError.Code)] = [
            ("ECONNRESET", .networkConnectionLost), ("28", .timedOut), ("connection reset", .networkConnectionLost),
            ("Connection reset by peer", .networkConnectionLost), ("timedOut", .timedOut), ("TIMEDOUT", .timedOut),
            ("connection refused", .cannotConnectToHost), ("7", .cannotConnectToHost), ("6", .cannotFindHost),
            ("curl: (28) Operation timed out after 3001 milliseconds", .timedOut), ("ETIMEDOUT", .timedOut),
        ]
        for (text, code) in known { #expect(FailureWords.code(text) == code, "\(text)") }
        #expect(FailureWords.code("nonsense") == nil)
        // No word stands for two failures.
        let words = FailureWords.known.flatMap(\.words)
        #expect(Set(words).count == words.count)
    }
}
