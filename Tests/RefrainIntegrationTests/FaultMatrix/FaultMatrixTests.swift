import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The fault matrix")
struct FaultMatrixTests {
    @Test("R1, R2, R3, R4, R5, R7, R8, R10, R18, R26: each fault ends for each request as the rules say")
    func matrix() async throws {
        let table = try MatrixTable(ExpectedTable.text)
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

    @Test("R31: every fault of the catalogue, every mode and every fault of TLS stands in the table")
    func completeness() throws {
        let faults = try MatrixTable(ExpectedTable.text).faults
        for entry in FaultServer.catalogue where entry.kind == .fault {
            let path = "/" + entry.name
            #expect(faults.contains { $0.prefix { $0 != "?" } == path || $0.hasPrefix(path + "/") }, "\(path)")
        }
        for mode in FaultServer.Mode.allCases where mode != .normal {
            #expect(faults.contains("mode: \(mode.rawValue)"))
        }
    }

    @Test("each fault of other servers has its test", arguments: WireFault.all)
    func wireFault(fault: WireFault) throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let files = try FileManager.default.subpathsOfDirectory(atPath: root + "/Tests")
        let title = "\"" + fault.test
        let isMet = try files.filter { $0.hasSuffix("Tests.swift") }
            .contains { try String(contentsOfFile: "\(root)/Tests/\($0)", encoding: .utf8).contains(title) }
        #expect(isMet, "no test is called so: \(fault.test)")
    }

    @Test("the published table is the one that is tested; REFRAIN_PUBLISH=1 writes it anew")
    func published() throws {
        let page = PublishedTable.page(try MatrixTable(ExpectedTable.text))
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let file = URL(filePath: root + "/Documentation/FaultMatrix.md")
        if ProcessInfo.processInfo.environment["REFRAIN_PUBLISH"] == "1" {
            try page.write(to: file, atomically: true, encoding: .utf8)
        }
        let published = try String(contentsOf: file, encoding: .utf8)
        #expect(published == page, "run REFRAIN_PUBLISH=1 swift test --filter FaultMatrixTests")
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
            seen.arrivals == expected.arrivals ?? seen.attempts.count,
            "R3: \(seen.arrivals) arrived, \(seen.attempts.count) on record: \(story)"
        )
        let rules = Set(seen.attempts.last?.rules.names ?? [])
        #expect(rules.isSubset(of: expected.rules), "by \(rules.sorted()): \(story)")
        if let number = seen.firstNumber {
            #expect((number > 1) == (cell.connection == .reused), "request \(number) of its connection: \(story)")
        }
    }
}
