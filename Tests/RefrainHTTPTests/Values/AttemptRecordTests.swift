// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The record of a call")
struct AttemptRecordTests {
    @Test("R29: every record survives a trip through JSON")
    func roundTrip() throws {
        let reasons: [RetryReason] = [.succeeded, .transientStatus, .retryAfterTooLong, RetryReason(rawValue: "own")]
        for seed in UInt64(0)..<1_000 {
            var random = RandomSource(seed: seed)
            let record = AttemptRecord(
                number: .random(in: 1...9, using: &random),
                start: Duration(
                    secondsComponent: .random(in: 0...1_000_000, using: &random),
                    attosecondsComponent: .random(in: 0..<1_000_000_000_000_000_000, using: &random)
                ),
                duration: .nanoseconds(Int64.random(in: 0 ... .max, using: &random)),
                status: Bool.random(using: &random)
                    ? HTTPStatus(rawValue: .random(in: 100...999, using: &random)) : nil,
                error: Bool.random(using: &random) ? HTTPError.Code.allCases.randomElement(using: &random) : nil,
                bytesSent: Bool.random(using: &random) ? .random(in: 0 ... .max, using: &random) : nil,
                decision: Bool.random(using: &random) ? .retry : .finish,
                reason: reasons.randomElement(using: &random) ?? .succeeded,
                rules: Rules(rawValue: .random(in: 0 ... .max, using: &random) & ~1),
                delay: .milliseconds(.random(in: 0...300_000, using: &random))
            )
            let json = try JSONEncoder().encode(record)
            #expect(try JSONDecoder().decode(AttemptRecord.self, from: json) == record, "seed \(seed)")
        }
    }

    @Test("Rules are named in ascending order, and what is no rule is left out")
    func rules() throws {
        #expect(Rules(15, 2, 7).names == ["R2", "R7", "R15"])
        #expect(Rules(0, -1, 64, .max).isEmpty)
        let read = try JSONDecoder().decode(Rules.self, from: Data(#"["R2","R63","X","R64","R","r3","R-1"]"#.utf8))
        #expect(read == Rules(2, 63))
        #expect("\(Rules(15, 2, 7))" == "R2, R7, R15")
        #expect("\(Rules())" == "")
    }

    @Test(
        "R31: durations of any length are told in milliseconds without a trap",
        arguments: [
            Duration(secondsComponent: .max, attosecondsComponent: 0), Duration(attoseconds: .max),
            Duration(attoseconds: .min),
        ]
    )
    func extremes(duration: Duration) {
        let record = AttemptRecord(number: 1, start: .zero, duration: duration, decision: .finish, reason: .cancelled)
        let milliseconds = duration > .zero ? Int64.max : .min
        #expect(record.description == "1. no outcome in \(milliseconds) ms, ended: cancelled")
    }
}
