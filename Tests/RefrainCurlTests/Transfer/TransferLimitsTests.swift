// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@testable import RefrainCurl

@Suite("The limits of a transfer")
struct TransferLimitsTests {
    typealias Situation = TransferLimits.Situation

    /// Limits of 1, 2, 4 and 8 s, of a transfer that was submitted at 0.
    private func limits() -> TransferLimits {
        var timeouts = Timeout.Limits.standard
        timeouts.connect = .seconds(1)
        timeouts.firstByte = .seconds(4)
        timeouts.idle = .seconds(2)
        timeouts.total = .seconds(8)
        var limits = TransferLimits(timeouts)
        limits.begin(submittedAt: 0)
        return limits
    }

    private let second: Int64 = 1_000_000_000

    @Test("R20: the limit of connecting counts only while nothing was sent, and a second start does not restart it")
    func connecting() {
        var limits = limits()
        limits.beginConnecting(now: 0)
        limits.beginConnecting(now: second / 2)
        let limit = limits.limit(Situation(isConnecting: true))
        #expect(limit > second && limit < second + second / 4)
        #expect(limits.message(Situation(isConnecting: true), now: limit) == "no connection was made in time")
        #expect(limits.limit(Situation(isSent: true)) == 4 * second)
    }

    @Test("R20: silence counts from the last byte, and not while the caller is slow")
    func silence() {
        var limits = limits()
        limits.noteActivity(now: second)
        #expect(limits.limit(Situation(isSent: true, hasAnswerBegun: true)) == 3 * second)
        #expect(limits.limit(Situation(isSent: true, hasAnswerBegun: true, isReceivePaused: true)) == 8 * second)
        #expect(limits.limit(Situation(isSent: true, hasAnswerBegun: true, isSendPaused: true)) == 8 * second)
        // Unless the response goes on meanwhile.
        let answering = Situation(isSent: true, hasAnswerBegun: true, isSendPaused: true, isAnswering: true)
        #expect(limits.limit(answering) == 3 * second)
        // A rate limit of our own is no silence.
        #expect(limits.limit(Situation(isSent: true, hasAnswerBegun: true, ownPause: second)) == 4 * second)
    }

    @Test("R20: the first byte counts until the response begins, the total time always")
    func firstByte() {
        var limits = limits()
        limits.noteActivity(now: 7 * second)
        #expect(limits.limit(Situation(isSent: true)) == 4 * second)
        #expect(limits.limit(Situation(isSent: true, hasAnswerBegun: true)) == 8 * second)
        let answered = Situation(isSent: true, hasAnswerBegun: true)
        #expect(limits.message(answered, now: 8 * second) == "the attempt took longer than its total time")
    }

    @Test("A deferred body is awaited for 20 ms, and a server that reads no more of the request for a second")
    func afterTheHead() {
        var limits = limits()
        limits.noteActivity(now: second)
        let answered = Situation(isSent: true, hasAnswerBegun: true, awaitsReading: true)
        #expect(limits.limit(answered) == 2 * second)
        #expect(limits.beginWaitForBody(now: second) == second + second / 50)
        #expect(limits.nextCheck(answered, nextAddress: .never, now: second) == second + second / 50)
        limits.endWaitForBody()
        #expect(limits.nextCheck(answered, nextAddress: .never, now: second) == 2 * second)
    }
}
