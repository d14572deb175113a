// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

/// Meets the cells of a table, and compares what was seen with what the table says.
enum MatrixComparison {
    static func run(_ table: MatrixTable) async throws {
        let faults = table.faults
        try await concurrently(faults.count, inFlight: 8) { number in
            let run = try MatrixRun(fault: faults[number])
            defer { run.stop() }
            let cells = table.cells.filter { $0.fault == faults[number] }
            try await concurrently(cells.count, inFlight: 14) { number in
                let seen = try await run.meet(cells[number], token: Self.token(number))
                Self.compare(cells[number], seen)
            }
            // Whatever was still on its way when its call ended has arrived by now.
            for (number, cell) in cells.enumerated() where cell.expected.arrivals == nil {
                let arrivals = run.arrivals(Self.token(number)).count
                #expect(cell.expected.attempts.contains(arrivals), "\(cell.name): \(arrivals) arrived in the end")
            }
        }
    }

    /// Ends with a sign that no number has, so that no token is the beginning of another one.
    private static func token(_ number: Int) -> String { "cell-\(number)-" }

    private static func compare(_ cell: MatrixCell, _ seen: Observation) {
        let expected = cell.expected
        let reason = seen.attempts.last?.reason.rawValue ?? "no record"
        let trail = seen.attempts.map { "\($0.status?.description ?? $0.error?.rawValue ?? "?"): \($0.reason)" }
        let story = "\(cell.name)\n  \(trail) \(seen.message)"
        #expect(expected.outcomes.contains(seen.outcome), "outcome \(seen.outcome), not \(expected.outcomes): \(story)")
        #expect(expected.reasons.contains(reason), "reason \(reason), not \(expected.reasons): \(story)")
        #expect(expected.attempts.contains(seen.attempts.count), "\(seen.attempts.count) attempts: \(story)")
        #expect(
            expected.arrivals?.contains(seen.arrivals) ?? (seen.arrivals == seen.attempts.count),
            "R3: \(seen.arrivals) arrived, \(seen.attempts.count) on record: \(story)"
        )
        let rules = Set(seen.attempts.last?.rules.names ?? [])
        #expect(rules.isSubset(of: expected.rules), "by \(rules.sorted()): \(story)")
        if let number = seen.firstNumber {
            #expect((number > 1) == (cell.connection == .reused), "request \(number) of its connection: \(story)")
        }
    }
}
