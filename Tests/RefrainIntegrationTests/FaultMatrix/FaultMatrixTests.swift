// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The fault matrix", .timeLimit(.minutes(10)))
struct FaultMatrixTests {
    @Test("R1, R2, R3, R4, R5, R7, R8, R10, R18, R26: each fault ends for each request as the rules say")
    func matrix() async throws {
        try await MatrixComparison.run(MatrixTable(ExpectedTable.text))
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
}
