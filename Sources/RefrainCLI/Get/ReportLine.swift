// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The line of a report for one request.
enum ReportLine {
    /// The line as an object.
    static func json(_ outcome: FetchOutcome, _ template: RequestTemplate) -> JSON {
        var members: [(String, JSON)] = [
            ("url", .string(SanitizedURL.shown(outcome.url))),
            ("method", .string(outcome.method)),
            ("started", .string("\(outcome.began)")),
            ("status", status(outcome.status)),
            ("error", .optional(outcome.error) { .string($0.code.rawValue) }),
            ("bytes", .integer(outcome.bytes)),
            ("elapsed_ms", milliseconds(outcome.elapsed)),
            ("attempts", .array(outcome.attempts.map(attempt))),
        ]
        if !outcome.isSkipped {
            members.append(("request_headers", fields(template.fields(of: outcome.lastRequest))))
            if let response = outcome.response { members.append(("headers", fields(response.headers))) }
        }
        if let date = outcome.retryAfterDate { members.append(("come_back_at", .string("\(date)"))) }
        if outcome.isSkipped { members.append(("skipped", .string("done in an earlier run"))) }
        if let cost = outcome.cost { members.append(("cost", .rounded(cost, places: 3))) }
        if outcome.isPartial { members.append(("partial", .integer(outcome.bytes))) }
        if let reason = outcome.attempts.last?.reason { members.append(("reason", .string(reason.rawValue))) }
        if let file = outcome.file { members.append(("file", .string(file))) }
        return .object(members)
    }

    private static func fields(_ headers: HTTPHeaders) -> JSON {
        .array(headers.map { JSON.array([.string($0.name), .string(SecretFields.shown($0))]) })
    }

    private static func attempt(_ record: AttemptRecord) -> JSON {
        var members: [(String, JSON)] = [
            ("number", .integer(Int64(record.number))),
            ("start_ms", milliseconds(record.start)),
            ("duration_ms", milliseconds(record.duration)),
            ("status", status(record.status)),
            ("error", .optional(record.error) { .string($0.rawValue) }),
            ("bytes_sent", .optional(record.bytesSent) { .integer($0) }),
            ("decision", .string(record.decision.rawValue)),
            ("reason", .string(record.reason.rawValue)),
            ("delay_ms", milliseconds(record.delay)),
        ]
        if let pacing = record.pacing { members += PacingText.members(pacing) }
        if let credit = record.credit { members.append(("credit", .string(credit.rawValue))) }
        return .object(members)
    }

    private static func status(_ status: HTTPStatus?) -> JSON {
        .optional(status) { .integer(Int64($0.rawValue)) }
    }

    private static func milliseconds(_ duration: Duration) -> JSON {
        .rounded(duration.inSeconds * 1000, places: 3)
    }
}
