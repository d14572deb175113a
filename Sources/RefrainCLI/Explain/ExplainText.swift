internal import Refrain

/// A question and its answer, for people.
struct ExplainText {
    let text: String

    init(_ question: ExplainQuestion) {
        let answer = question.answer
        let facts = question.facts
        let outcome =
            switch facts.outcome {
            case .status(let status): "status \(status)"
            case .failure(let code): "failure \(code.rawValue)"
            }
        var lines = ["\(facts.method), attempt \(facts.attempt.number): \(outcome)", ""]
        lines.append("  decision  \(Self.words(answer.decision))")
        lines.append("  reason    \(answer.reason.rawValue)")
        if let delay = answer.delay { lines.append("  delay     \(Self.words(delay))") }
        if let credit = answer.credit { lines.append("  credit    \(credit.words)") }
        if let date = answer.retryAfterDate {
            lines.append("  come back at \(Decimals.text(date, places: 0)) (seconds since 1970)")
        }
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
