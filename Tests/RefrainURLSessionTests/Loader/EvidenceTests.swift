// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@testable import RefrainURLSession

@Suite("What URLSession says of what was sent", .timeLimit(.minutes(10)))
struct EvidenceTests {
    typealias Transaction = TransmissionMetrics.Transaction

    @Test("R2: nothing was sent where no task was started")
    func notStarted() { #expect(TransmissionMetrics().bytesSent == 0) }

    @Test("R2: without metrics the bytes sent are unknown, unless a part of the body was reported as sent")
    func noMetrics() {
        #expect(TransmissionMetrics(wasStarted: true).bytesSent == nil)
        #expect(TransmissionMetrics(wasStarted: true, transactions: []).bytesSent == nil)
        #expect(TransmissionMetrics(wasStarted: true, bodyBytes: 5).bytesSent == 5)
    }

    @Test("R2: nothing was sent where the metrics say that no request was begun")
    func notBegun() {
        let evidence = TransmissionMetrics(wasStarted: true, transactions: [Transaction(requestBegan: false)])
        #expect(evidence.bytesSent == 0)
    }

    @Test("R2: a request that was begun can have left, also where nothing was counted")
    func begun() {
        let silent = TransmissionMetrics(wasStarted: true, transactions: [Transaction(requestBegan: true)])
        #expect(silent.bytesSent == 1)
        let counted = Transaction(requestBegan: true, headBytes: 100, bodyBytes: 20)
        #expect(TransmissionMetrics(wasStarted: true, transactions: [counted]).bytesSent == 120)
    }

    @Test("R3: what URLSession sends again by itself is counted as well, and saturates")
    func resent() {
        let twice = [Transaction(requestBegan: true, headBytes: 100), Transaction(requestBegan: false)]
        #expect(TransmissionMetrics(wasStarted: true, transactions: twice).bytesSent == 100)
        let endless = Transaction(requestBegan: true, headBytes: .max, bodyBytes: .max)
        #expect(TransmissionMetrics(wasStarted: true, transactions: [endless, endless]).bytesSent == .max)
        #expect(TransmissionMetrics(wasStarted: true, bodyBytes: 7, transactions: twice).bytesSent == 100)
    }

    @Test("R20: a limit that has passed is named; the next look is at the first one that has not")
    func limits() {
        let start = ContinuousClock.now
        func after(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }
        var timeouts = AttemptTimeouts(
            Timeout.Limits(connect: .seconds(1), firstByte: .seconds(5), idle: .seconds(20), total: .seconds(60)),
            start: start
        )
        #expect(timeouts.timeoutMessage(at: after(4)) == nil)
        #expect(timeouts.nextCheck(after: after(4)) == after(5))
        #expect(timeouts.timeoutMessage(at: after(5))?.contains("head") == true)
        timeouts.hasResponse = true
        timeouts.lastActivity = after(6)
        #expect(timeouts.timeoutMessage(at: after(25)) == nil)
        #expect(timeouts.nextCheck(after: after(25)) == after(26))
        #expect(timeouts.timeoutMessage(at: after(26))?.contains("nothing") == true)
        timeouts.rests = true
        #expect(timeouts.timeoutMessage(at: after(59)) == nil)
        #expect(timeouts.nextCheck(after: after(30)) == after(50))
        #expect(timeouts.timeoutMessage(at: after(60))?.contains("total") == true)
        timeouts.drainLimit = after(40)
        #expect(timeouts.timeoutMessage(at: after(41))?.contains("unread") == true)
        let none = AttemptTimeouts(Timeout.Limits(connect: nil, firstByte: nil, idle: nil, total: nil), start: start)
        #expect(none.nextCheck(after: start) == nil)
    }
}
