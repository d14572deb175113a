// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// A question and its answer, for people.
struct ExplainText {
    let text: String

    init(_ question: ExplainQuestion) {
        let answer = question.answer
        let context = question.context
        let outcome =
            switch context.outcome {
            case .status(let status): "status \(status)"
            case .failure(let code): "failure \(code.rawValue)"
            }
        var lines = ["\(context.method), attempt \(context.attempt.number): \(outcome)", ""]
        lines.append("  decision  \(Self.words(answer.decision))")
        lines.append("  reason    \(answer.reason.rawValue)")
        if let delay = answer.delay { lines.append("  delay     \(Self.words(delay))") }
        if let credit = answer.credit { lines.append("  credit    \(credit.words)") }
        if let date = answer.retryAfterDate {
            let instant = WallClock.Instant(sinceEpoch: .seconds(date))
            let wait = instant.sinceEpoch - context.now.sinceEpoch
            lines.append("  come back \(DateText.local(instant)), in \(DurationText.short(wait))")
        }
        if let recorded = question.recorded {
            let wait = recorded.decision == "retry" ? ", after \(DurationText.short(recorded.delay))" : ""
            lines.append("  recorded  \(recorded.decision)\(wait): \(recorded.reason)")
        }
        if let pacing = question.recorded?.pacing { lines.append("  \(PacingText.words(pacing))") }
        if let command = question.command { lines.append("  policy    \(command.words)") }
        if answer.rules.names.isEmpty { lines.append("  rules     none") }
        for (index, name) in answer.rules.names.enumerated() {
            lines.append((index == 0 ? "  rules     " : "            ") + "\(name): \(RuleText.words(name))")
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func words(_ decision: ExplainAnswer.Decision) -> String {
        switch decision {
        case .retry: "retry"
        case .finish: "finish: there is no further attempt"
        case .retryAfterTooLong: "come back later: the server asks for a longer wait than is allowed"
        }
    }

    private static func words(_ delay: ClosedRange<Double>) -> String {
        let (low, high) = (Decimals.text(delay.lowerBound, places: 3), Decimals.text(delay.upperBound, places: 3))
        return low == high ? "\(low) s" : "\(low) s to \(high) s"
    }
}

/// The rules in a few words each, for `refrain explain`; `Documentation/Rules.md` has the whole text.
enum RuleText {
    /// The words of a rule by its name, such as `R7`.
    static func words(_ name: String) -> String { words[name] ?? "see Documentation/Rules.md" }

    private static let words = [
        "R1": "a safe or idempotent method may be sent again after any transient outcome",
        "R2":
            "any other method is sent again only where it cannot have been processed, with a key, or with the caller's permission",
        "R3": "one attempt is one send, and each is recorded",
        "R4": "a body that cannot be replayed is sent at most once",
        "R5": "an idempotency key makes a request safe to send again; it is the same on every attempt",
        "R6": "each attempt is made from the original request",
        "R7": "408, 421, 425, 429 and most 5xx statuses are transient; other statuses are final",
        "R8": "transport failures are transient, except those that another attempt cannot fix",
        "R9": "a cancelled request is never sent again",
        "R10": "a response that was cut short is a failure",
        "R11": "a download resumes where it was cut, if the rest is known to belong to it",
        "R12": "the delays and the number of attempts are the schedule's",
        "R13": "no delay exceeds the schedule's cap",
        "R14": "delays are spread at random, so that requests do not wait in lock-step",
        "R15": "Retry-After is honoured",
        "R16": "a date is read against the response's own Date",
        "R17": "the longer of the server's delay and the schedule's delay applies",
        "R18": "a server's delay that is too long ends the request, with the date to come back at",
        "R19": "rate limit fields are read if they are configured",
        "R20": "no delay passes the timeout of the call",
        "R21": "delays are measured on a monotonic clock",
        "R22": "retries draw on a budget for each origin",
        "R23": "retries, resumptions and hedges draw on the same budget",
        "R24": "retries do not multiply: one loop makes them",
        "R25": "a server that fails everything gets little more than the requests that were made",
        "R26": "redirects are followed up to 20 times, and credentials stay with their origin",
        "R27": "a 401 refreshes the credential once for all requests that wait",
        "R28": "the rest of a discarded response is drained or closed",
        "R29": "every attempt is on record",
        "R30": "a request completes exactly once",
        "R31": "nothing that a server or a caller passes ends the process",
        "R32": "overload leads to fewer retries, and to longer delays if the policy has them",
        "R33": "a failed connect looks the name up again",
        "R34": "a refusal that names its time holds all requests to the same place until then",
        "R35": "requests and their cost keep to the limits, and no permit is lost",
        "R36": "a stream is an attempt up to its first event; what breaks off later fails with what came",
        "R37": "a queued request is stored before it is sent, under a key that never changes, and ends once",
        "R38": "many processes keep one limit together",
        "R39": "no answer is taken for another request's",
    ]
}
