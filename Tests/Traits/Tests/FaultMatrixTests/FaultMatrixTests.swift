// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
import RefrainHTTP
import Testing

@Suite("The fault matrix over AsyncHTTPClient")
struct FaultMatrixTests {
    @Test("R1, R2, R3, R4, R5, R7, R8, R10, R18, R20, R26: each fault ends as the rules say, but for the deviations")
    func matrix() async throws {
        let table = try MatrixTable(ExpectedTable.text)
        try await MatrixComparison.run(table.deviating(as: Deviations.text))
    }
}
#endif
