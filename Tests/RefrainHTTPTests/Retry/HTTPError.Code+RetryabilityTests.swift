import RefrainHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The table of failures")
struct FailureTableTests {
    @Test("R8: the published table of all codes says what the code does")
    func published() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let text = String(
            decoding: try Data(contentsOf: URL(filePath: root + "/Documentation/Failures.md")),
            as: UTF8.self
        )
        for line in Self.rows { #expect(text.contains(line), "the table lacks this row:\n\(line)") }
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == HTTPError.Code.allCases.count)
    }

    private static var rows: [String] {
        let bare = RetryPolicy()
        return HTTPError.Code.allCases.map { code in
            let recommended =
                switch code.retryability {
                case .transient: "tried again"
                case .transientOnce: "tried once more"
                case .final: "final"
                }
            let facts = facts(.get, .failure(code))
            let alamofire = bare.decide(in: facts).retries ? "tried again" : "final"
            let replay = code.isKnownUnsent ? "nothing left" : ""
            return "| `\(code.rawValue)` | \(recommended) | \(alamofire) | \(replay) | \(code.worthReason) |"
        }
    }
}
