// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import Testing

@testable import RefrainQueue

/// Compares what a store claims with what its rows allow, while they change at random.
enum LaneModel {
    /// The rows that a claim may take, looked for in all of them; those that wait for an hour are not due.
    private static let free = """
        SELECT id FROM refrain_request r WHERE state = 0 AND due <= changed + 1000000 AND (lane IS NULL OR
        NOT EXISTS (SELECT 1 FROM refrain_request o WHERE o.lane = r.lane AND o.due IS NOT NULL
        AND (o.id < r.id OR o.state = 1))) ORDER BY id
        """
    /// The rows that a claim looks at.
    private static let seen = "SELECT id FROM refrain_request WHERE due IS NOT NULL AND CAST(behind AS integer) = 0"

    /// - Parameter query: returns the identifiers that a statement selects.
    static func check(
        _ store: any QueueStore,
        _ new: (_ lane: String?) throws -> NewRequest,
        _ query: (String) throws -> [Int64]
    ) throws {
        var random = RandomSource(seed: 7)
        var held: [Claim] = []
        _ = try store.enqueue(try (0..<40).map { _ in try new("long") })
        for step in 1...400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let lane = ["a", "b", "c", nil].randomElement(using: &random) ?? nil
                _ = try store.enqueue([try new(lane), try new(lane)])
            case 3 where !held.isEmpty:
                try store.release([held.removeFirst()])
            case 4..<8 where !held.isEmpty:
                held.shuffle(using: &random)
                let outcomes: [ClaimResult.Outcome] = [.done, .failed, .later(.zero), .later(.seconds(3600))]
                _ = try store.finish([ClaimResult(held.removeFirst(), outcomes.randomElement(using: &random) ?? .done)])
            case 8:
                let failed = try store.rows(.outcome(.failed, after: 0, limit: 999)).randomElement(using: &random)
                if let failed { #expect(try store.settle(failed.id, .again, newKey: "")) }
            default:
                let limit = Int.random(in: 1...3, using: &random)
                let free = try query(free)
                let claims = try store.claim(limit, token: Int64(step), wantsBegun: false)
                #expect(claims.count == min(limit, free.count))
                #expect(Set(claims.map(\.id)).isSubset(of: free))
                held += claims
            }
            if step % 40 == 0 { _ = try query("DELETE FROM refrain_request WHERE id % 7 = 3 AND state = 0") }
        }
        // The oldest, and what was looked at before an older one was settled to be sent again.
        let waiting = try query("SELECT id FROM refrain_request WHERE due IS NOT NULL AND lane = 'long'").count
        #expect(try query(seen + " AND lane = 'long'").count < 4 && waiting > 8)
    }

    /// Claims and finishes all that is due; returns the identifiers in the order of the claims.
    static func drain(_ store: any QueueStore) throws -> [Int64?] {
        var taken: [Int64?] = []
        for token in 1...Int64.max {
            let claims = try store.claim(9, token: token, wantsBegun: false)
            if claims.isEmpty { break }
            taken += claims.map(\.id)
            _ = try store.finish(claims.map { ClaimResult($0, .done) })
        }
        return taken
    }
}
