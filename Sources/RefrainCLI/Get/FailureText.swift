// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The message for a failed request, on one line.
enum FailureText {
    /// The line, without a line feed.
    static func line(_ outcome: FetchOutcome) -> String {
        var text = outcome.url + ": "
        if let refusal = outcome.error?.underlyingError as? TerminalSink.Refusal {
            return Sanitized.line(text + "\(refusal)")
        }
        if let error = outcome.error {
            // Our own reason not to send it says all; the code is for callers of the library.
            let message = error.message ?? ""
            text += error.code == .callerFailed && !message.isEmpty ? message : error.code.rawValue
            if error.code != .callerFailed, !message.isEmpty { text += " (\(message))" }
            if let date = error.retryAfterDate { text += "; come back at \(HTTPDate.format(date))" }
            if let last = error.lastFailure, last != error.code {
                text += "; the last attempt failed with \(last.rawValue)"
            }
        } else if let status = outcome.status {
            text += "status \(status)"
            if let schemes = unknownSchemes(outcome) {
                text += " (the server accepts \(schemes) credentials; only Basic and Bearer are supported)"
            }
            if outcome.isAwaited == false { text += ", and not the awaited response" }
        }
        if let url = redirected(outcome) { text += ", at \(url)" }
        let attempts = outcome.attempts.count { $0.reason != .redirected }
        if attempts > 1 { text += ", after \(attempts) attempts" }
        if let reason = outcome.attempts.last?.reason, said.contains(reason) {
            if reason == .timeUsedUp { text += ", and the time for attempts is over" }
            text += " [\(reason.rawValue)]"
        }
        return Sanitized.line(text)
    }

    /// The cause in a word or two: the code of the error, or the status.
    static func cause(_ outcome: FetchOutcome) -> String {
        outcome.error?.code.rawValue ?? outcome.status.map { "status \($0)" } ?? "unknown"
    }

    /// The schemes of a 401 if none of them is supported (RFC 9110 §11.6.1); nil for any other answer.
    private static func unknownSchemes(_ outcome: FetchOutcome) -> String? {
        guard outcome.status?.rawValue == 401, let headers = outcome.response?.headers else { return nil }
        let challenges = headers[values: "WWW-Authenticate"]
        let isSpoken = challenges.contains { challenge in
            let text = challenge.lowercased()
            return text.contains("basic") || text.contains("bearer")
        }
        guard !isSpoken else { return nil }
        let schemes = challenges.compactMap { $0.split(separator: " ").first.map(String.init) }
        guard !schemes.isEmpty, schemes.allSatisfy(HTTPHeaders.isValidName) else { return nil }
        return Set(schemes).sorted().joined(separator: " and ")
    }

    /// The target of the last redirect; nil without one.
    private static func redirected(_ outcome: FetchOutcome) -> String? {
        let url = outcome.effectiveURL
        return outcome.attempts.contains { $0.reason == .redirected } && url != outcome.url ? url : nil
    }

    /// Reasons that add information to the outcome.
    private static let said: Set<RetryReason> = [
        .notReplayable, .replayForbidden, .bodyNotReplayable, .attemptsUsedUp, .timeUsedUp,
    ]
}
