internal import Refrain

/// What is said of a request that failed, on one line.
enum FailureText {
    /// The line, without a line feed.
    static func line(_ outcome: FetchOutcome) -> String {
        var text = outcome.url + ": "
        if let error = outcome.error {
            text += error.code.rawValue
            if let message = error.message { text += " (\(message))" }
            if let date = error.comeBackAt { text += "; come back at \(HTTPDate.format(date))" }
            if let last = error.lastFailure, last != error.code {
                text += "; the last try failed with \(last.rawValue)"
            }
        } else if let status = outcome.status {
            text += "status \(status)"
        }
        let tries = outcome.attempts.count { $0.reason != .redirected }
        if tries > 1 { text += ", after \(tries) tries" }
        if let reason = outcome.attempts.last?.reason, said.contains(reason) { text += " [\(reason.rawValue)]" }
        return Shown.line(text)
    }

    /// Reasons that say more than the outcome does.
    private static let said: Set<RetryReason> = [.notReplayable, .replayForbidden, .bodyNotReplayable, .triesUsedUp]
}
