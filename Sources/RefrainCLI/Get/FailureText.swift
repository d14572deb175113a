// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The message for a failed request, on one line.
enum FailureText {
    /// The line, without a line feed.
    static func line(_ outcome: FetchOutcome) -> String {
        var text = SanitizedURL.shown(outcome.url) + ": "
        if let refusal = outcome.error?.underlyingError as? TerminalSink.Refusal {
            return Sanitized.line(text + "\(refusal)")
        }
        if let error = outcome.error {
            // Our own reason not to send it says all; the code is for callers of the library.
            var message = error.message ?? ""
            if let limit = limit(of: error, outcome) { message += (message.isEmpty ? "" : ": ") + limit }
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
        if let url = redirected(outcome) { text += ", at \(SanitizedURL.shown(url))" }
        let attempts = outcome.attempts.count { $0.reason != .redirected }
        if attempts > 1 { text += ", after \(attempts) attempts" }
        if let reason = outcome.attempts.last?.reason, said.contains(reason) {
            if reason == .timeUsedUp { text += ", and the time for attempts is over" }
            text += " [\(reason.rawValue)]"
        }
        if outcome.attempts.last?.reason == .deadlineExceeded, outcome.error?.code != .deadlineExceeded,
            let limit = outcome.lastRequest.timeLimits.request
        {
            text += ", and there is no time for another attempt: \(limit)"
        }
        if let advice = advice(outcome) ?? remedy(outcome) { text += ": \(advice)" }
        return Sanitized.line(text)
    }

    /// The option that limits the time that ran out; nil if no time did, or if it is unknown which.
    private static func limit(of error: HTTPError, _ outcome: FetchOutcome) -> String? {
        let (request, limits) = (outcome.lastRequest, outcome.lastRequest.timeLimits)
        if error.code == .deadlineExceeded { return limits.request }
        guard error.code == .timedOut else { return nil }
        if let total = request.attemptTimeout, let last = outcome.attempts.last, last.duration >= total {
            return limits.attempt
        }
        if error.bytesSent == 0 { return limits.connect ?? "--connect-timeout allows more" }
        // An attempt with a limit of its own may be silent for as long.
        return request.attemptTimeout == nil && !limits.hasMinimumSpeed ? "a longer --timeout allows more" : nil
    }

    /// What to do about a server that asks for a longer wait than is allowed; nil for any other failure.
    private static func advice(_ outcome: FetchOutcome) -> String? {
        guard let date = outcome.retryAfterDate else { return nil }
        let request = outcome.lastRequest
        // Servers count in seconds, some of which this request has taken.
        let end = outcome.began.advanced(by: outcome.elapsed)
        let seconds = Int64(min(max(end.duration(to: date).inSeconds, 0), 1e9).rounded(.up))
        var way = "allow more attempts with --attempts or --retry-for"
        if .seconds(seconds) > request.retryAfterPolicy.cap {
            let span = seconds > 60 ? "\((seconds + 59) / 60)m" : "\(seconds)s"
            way = "wait for it with --max-server-delay \(span)"
        } else if let limit = request.timeLimits.request, let timeout = request.timeout,
            outcome.elapsed + .seconds(seconds) >= timeout
        {
            way = "allow more time than \(limit)"
        }
        return "run it again then, or \(way)"
    }

    /// What to do about a request that may have been processed, or met a server without TLS; nil for any other failure.
    private static func remedy(_ outcome: FetchOutcome) -> String? {
        if outcome.attempts.last?.reason == .notReplayable, outcome.remark == nil {
            return "the server may have processed it; --idempotency-key, where the server knows keys, or "
                + "--replay-unsafe sends it again"
        }
        // OpenSSL's words for an answer that is not TLS.
        if let error = outcome.error, error.code == .secureConnectionFailed,
            error.message?.contains("wrong version number") == true
        {
            return "the server does not speak TLS at this port; try http://"
        }
        return nil
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
