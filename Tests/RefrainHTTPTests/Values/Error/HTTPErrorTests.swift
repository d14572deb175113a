// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@Suite("Errors and records")
struct HTTPErrorTests {
    private func record(_ number: Int, _ decision: AttemptRecord.Decision, _ reason: RetryReason) -> AttemptRecord {
        AttemptRecord(
            number: number,
            start: .milliseconds(10 * number),
            duration: .milliseconds(7),
            status: number == 1 ? 503 : nil,
            error: number == 1 ? nil : .networkConnectionLost,
            bytesSent: 120,
            decision: decision,
            reason: reason,
            rules: Rules(7, 15),
            delay: decision == .retry ? .milliseconds(250) : .zero
        )
    }

    @Test("R29: an error tells what happened, to which request, after which attempts, and what to do")
    func description() throws {
        let request = try HTTPRequest("https://user:secret@api.example.com/x", method: .post)
        var error = HTTPError(.networkConnectionLost, request: request, message: "too many failures")
        error.attempts = [record(1, .retry, .transientStatus), record(2, .finish, .budgetExhausted)]
        let lines = error.description.split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        #expect(
            lines[0] == "POST https://api.example.com/x failed: networkConnectionLost (too many failures). "
                + "This limit is local: the retry budget of the origin is used up; the server was not asked again"
        )
        #expect(lines[1] == "  1. status 503 in 7 ms, again after 250 ms: transientStatus")
        #expect(lines[2] == "  2. networkConnectionLost in 7 ms, ended: budgetExhausted")
    }

    @Test("B: values: an error is a value: a copy that is changed leaves the first one alone")
    func copies() {
        let first = HTTPError(.timedOut, request: sampleRequest())
        var second = first
        second.code = .cancelled
        second.message = "changed"
        second.bytesSent = 3
        #expect(first.code == .timedOut)
        #expect(first.message == nil)
        #expect(first.bytesSent == nil)
        #expect(second.code == .cancelled)
    }

    @Test(
        "R24: an error whose attempts are used up, or that must not be repeated, says so; no retries have used up nothing"
    )
    func exhaustion() {
        for (reason, isExhausted) in [
            (RetryReason.attemptsUsedUp, false), (.budgetExhausted, true), (.deadlineExceeded, true),
            (.retryAfterTooLong, true),
            (.exhaustedWithin, true), (.finalFailure, false), (.cancelled, false), (.notReplayable, true),
            (.replayForbidden, true), (.bodyNotReplayable, true), (.strategyDeclined, true), (.noStrategy, false),
        ] {
            var error = HTTPError(.timedOut, request: sampleRequest())
            #expect(!error.retriesAreExhausted)
            error.attempts = [record(1, .finish, reason)]
            #expect(error.retriesAreExhausted == isExhausted, "\(reason)")
        }
        // What follows a redirect is no retry, so that no attempts are used up by it.
        for (first, isExhausted) in [(RetryReason.transientStatus, true), (.redirected, false)] {
            var error = HTTPError(.timedOut, request: sampleRequest())
            error.attempts = [record(1, .retry, first), record(2, .finish, .attemptsUsedUp)]
            #expect(error.retriesAreExhausted == isExhausted, "\(first)")
        }
    }

    @Test("R24: an error whose code rules a further attempt out says so, whatever its record")
    func exhaustionByCode() {
        let codes: Set<HTTPError.Code> = [.retryAfterTooLong, .circuitOpen, .deadlineExceeded]
        for code in HTTPError.Code.allCases {
            var error = HTTPError(code, request: sampleRequest())
            #expect(error.retriesAreExhausted == codes.contains(code), "\(code)")
            error.attempts = [record(1, .finish, .finalFailure)]
            #expect(error.retriesAreExhausted == codes.contains(code), "\(code)")
        }
    }

    @Test("R8: there are the 48 codes of URLError and fourteen of our own, each with a name of its own")
    func codes() {
        #expect(HTTPError.Code.allCases.count == 62)
        #expect(Set(HTTPError.Code.allCases.map(\.rawValue)).count == 62)
    }
}
