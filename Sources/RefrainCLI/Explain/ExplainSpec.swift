// SPDX-License-Identifier: Apache-2.0
internal import Refrain

extension CommandSpec {
    static let explain = CommandSpec(
        name: .explain,
        summary: "explain what get would do after a failure, without sending anything",
        forms: [
            "STATUS|FAILURE [options]", "'LINE OF A REPORT' [--attempt N]",
            "--method M (--status CODE | --error CODE) [options]", "--schedule [options]", "--batch FILE|-",
        ],
        groups: [
            Group(
                title: "What happened",
                options: [
                    OptionSpec(
                        .method,
                        short: "X",
                        aliases: ["request"],
                        .required("METHOD"),
                        "The method. Default: GET.",
                        choices: OptionSpec.methods
                    ),
                    OptionSpec(.status, short: "s", .required("CODE"), "The status of the answer."),
                    OptionSpec(
                        .error,
                        short: "e",
                        .required("CODE"),
                        "The failure: networkConnectionLost, ECONNRESET, connection reset, or curl's exit status such as 56.",
                        choices: HTTPError.Code.allCases.map(\.rawValue)
                    ),
                    OptionSpec(
                        .header,
                        short: "H",
                        .required("'NAME: VALUE'"),
                        "A field of the answer; may be repeated."
                    ),
                    OptionSpec(.bytesSent, .required("N"), "The bytes of the request that can have left."),
                    OptionSpec(
                        .body,
                        .required("KIND"),
                        "The request's body: none, replayable, once or once-read.",
                        choices: HTTPBody.Replayability.allCases.map(\.rawValue)
                    ),
                    OptionSpec(.idempotencyKey, .optional("KEY"), "The request carries an idempotency key."),
                    OptionSpec(
                        .replay,
                        .required("LEAVE"),
                        "What the caller allows: automatic, allowed or forbidden.",
                        choices: HTTPRequest.Replay.allCases.map(\.rawValue)
                    ),
                    OptionSpec(.attempt, .required("N"), "The number of the attempt, from 1. Default: 1."),
                    OptionSpec(.now, .required("SECONDS"), "The wall clock, in seconds since 1970. Default: now."),
                    OptionSpec(.deadline, .required("D"), "The time for the whole request."),
                    OptionSpec(
                        .elapsed,
                        .required("D"),
                        "How much of it has passed; with --retry-for, how long attempts have failed."
                    ),
                ]
            ),
            Group(
                title: "The policy",
                options: [
                    OptionSpec(
                        .policy,
                        .required("NAME"),
                        "A policy of the library, recommended or alamofire. Default: that of refrain get.",
                        choices: PolicyName.allCases.map(\.rawValue)
                    )
                ]
                    + Group.schedule + Group.answers
                    + [
                        OptionSpec(
                            .retryFor,
                            .required("D"),
                            "How long attempts may fail, as with refrain get. Default: 1m."
                        ),
                        OptionSpec(
                            .overloadBackoff,
                            .required("SCHEDULE"),
                            "The waits after a timeout, 429 or 503, with full jitter. Default: those of --backoff."
                        ),
                        OptionSpec(
                            .budget,
                            .required("NAME"),
                            "The retry budget of the library: standard, fleet or per-process.",
                            choices: ExplainBudget.Name.allCases.map(\.rawValue)
                        ),
                        OptionSpec(
                            .history,
                            .required("OUTCOME,…"),
                            "What the calls before came to, the last one last: statuses and failures. Each that failed "
                                + "has asked for a retry.",
                            choices: ["200"]
                        ),
                        OptionSpec(
                            .every,
                            .required("D"),
                            "The time from one of these calls to the next. Default: 1s."
                        ),
                    ]
            ),
            Group(
                title: "Forms",
                options: [
                    OptionSpec(.schedule, .none, "Print the waits of the schedule, and draw them."),
                    OptionSpec(.batch, .required("FILE|-"), "Answer a file of JSON objects, one per line."),
                    OptionSpec(.json, .none, "Answer with one line of JSON."),
                ]
            ),
        ],
        notes: [
            "A batch has one object per line: method and one of status and error, and optionally headers (a list of pairs), "
                + "bytes_sent, body, idempotency_key, attempt, now, deadline, elapsed (all three in seconds), policy, "
                + "replay, budget, history and every (in seconds). Each line is answered by one line: decision, reason, rules, delay_min, delay_max and "
                + "come_back_at, besides credit and chance if it asks about the budget, or error if the line is invalid. Unknown members are ignored. --batch allows "
                + "no other option but --json, and --schedule only those of the policy.",
            "The decision is made by the code that requests run. Without --policy and the options of the budget it is that of refrain get; "
                + "a line of a batch without a policy is decided by recommended. "
                + "An operand says what happened: a status (503), a failure (ECONNRESET, 'connection reset', or curl's exit status, 28), or a line "
                + "of refrain get --report, where --attempt chooses an attempt; - reads the last line of standard input.",
            "The failures, with the words of other programs: "
                + HTTPError.Code.allCases.map { code in
                    let words = FailureWords.known.first { $0.code == code }?.words.filter { !$0.isEmpty } ?? []
                    let shown = words.map { ASCIINumber.whole($0) == nil ? $0 : "curl's \($0)" }
                    return shown.isEmpty ? code.rawValue : "\(code.rawValue) (\(shown.joined(separator: ", ")))"
                }.joined(separator: "; ") + ".",
        ],
        examples: [
            ("refrain explain ECONNRESET", "what get does where a connection is reset"),
            ("tail -n 1 report.jsonl | refrain explain - --attempt 2", "why there was another attempt, or none"),
            ("refrain explain --method POST --status 503 --header 'Retry-After: 7' --attempt 2", "one decision"),
            (
                "refrain explain --error timedOut --history 200,timedOut --every 10s",
                "which credit covers the retry of a timeout after another one"
            ),
            ("refrain explain --schedule --attempts 6 --jitter equal", "the waits, drawn"),
        ]
    )
}
