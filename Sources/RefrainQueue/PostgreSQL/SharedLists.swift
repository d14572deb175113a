// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
internal import RefrainCore
internal import RefrainHTTP

extension RequestList {
    /// Rows of lists in PostgreSQL, for runs on any number of machines.
    ///
    /// A claim lasts for the lease, so that a run that was stopped for longer has lost what it had.
    package final class SharedStore: Store {
        private let store: PostgresStore
        private let connection: PostgresConnection
        private let queue: String
        private let token = Int64.random(in: 1...Int64.max)
        private let began: Int64
        package let claims: Claims
        /// An index has no room for longer ones.
        package var nameLimit: Int? { 1000 }
        /// The requests of this run that write a file, by what those for one file have in common.
        private var owners: [String: String] = [:]

        /// Connects, and makes the tables and the queue where they are missing.
        ///
        /// - Parameters:
        ///   - text: a URL or the words of libpq.
        ///   - name: what the requests are kept under; a queue of a program with the same name is another one.
        ///   - lease: how long a claim lasts without a renewal.
        ///   - makesQueue: false to write nothing, so that a role that may only read can look at the requests.
        /// - Throws: ``QueueError/Code/noSuchItem`` where the queue is missing and is not made.
        package init(
            _ text: String,
            name: String,
            lease: Duration,
            makesQueue: Bool = true
        ) throws(QueueError) {
            queue = "list/\(name)"
            store = try PostgresStore(text, queue: queue, lease: lease, makesQueue: makesQueue)
            connection = store.connection
            claims = Claims(Lease(store.lease, from: .now))
            began = try connection.query("SELECT \(PostgresStore.clock)").first?.first?.flatMap { Int64($0) } ?? 0
        }

        package var renewalInterval: Duration? { (store.lease ?? .seconds(30)) / 3 }

        package func renew() throws(QueueError) {
            let start = ContinuousClock.now
            let renewed = try store.renew([token])
            claims.ids.withLock { $0.formIntersection(renewed) }
            claims.lease.renew(from: start)
        }

        package func register(
            _ requests: [New],
            isDurable: Bool = true,
            taking: (Row, Int) -> Taking = { _, _ in .nothing }
        ) throws(QueueError) -> [Row?] {
            let array = PostgresConnection.array
            let names: [String?] = requests.map { $0.name }
            _ = try connection.query(
                """
                INSERT INTO refrain_request (queue, dedupe, head, key, safety, changed) \
                SELECT $1::text, d, h, k, 0, \(PostgresStore.clock) FROM unnest($2::text[], $3::text[], $4::text[]) \
                AS u (d, h, k) ORDER BY d ON CONFLICT DO NOTHING
                """,
                [queue, array(names), array(requests.map { $0.title }), array(requests.map { $0.key })]
            )
            let rows = try rows("AND dedupe = ANY ($4::text[])", [array(names)])
            let byName = Dictionary(rows.map { ($0.name, $0) }) { first, _ in first }
            var all: [Row?] = []
            for request in requests {
                guard let row = byName[request.name] else {
                    throw QueueError(.foreign, "the database does not keep the row of \(request.title)")
                }
                let owner = request.target.map { owners[$0] ?? request.name }
                if let target = request.target { owners[target] = owner }
                all.append(owner ?? request.name == request.name ? row : nil)
            }
            return all
        }

        package func note(list name: String, isRead: Bool) throws(QueueError) {
            let sql =
                "UPDATE refrain_queue SET lists = lists || jsonb_build_object($2::text, $3::boolean) WHERE name = $1"
            _ = try connection.query(sql, [queue, name, "\(isRead)"])
        }

        /// Whether all lists were read to their ends; nil: no list is noted.
        package func areListsRead() throws(QueueError) -> Bool? {
            let sql = "SELECT bool_and(value::boolean) FROM refrain_queue, jsonb_each_text(lists) WHERE name = $1"
            return try connection.query(sql, [queue]).first?.first?.map { $0 == "t" }
        }

        // Other lists may have the same requests.
        package func forgetLeftovers() -> (count: Int, files: [String]) { (0, []) }

        package func all() throws(QueueError) -> [Row] { try rows("ORDER BY id") }

        private func rows(_ condition: String, _ values: [String] = []) throws(QueueError) -> [Row] {
            try connection.query(
                """
                SELECT id, dedupe, head, state, key, \(PostgresStore.now) - begun, attempts, claims, status, error, \
                CASE WHEN due > \(PostgresStore.now) AND token <> $3::bigint THEN owner END, changed >= $2::bigint, \
                changed, detail::json ->> 'bytes', detail::json ->> 'file', detail::json ->> 'validator', \
                detail::json ->> 'place', detail::json ->> 'partial', detail::json ->> 'forgotten' \
                FROM refrain_request WHERE queue = $1 \(condition)
                """,
                [queue, "\(began)", "\(token)"] + values
            ).map { row in
                func number(_ column: Int) -> Int64? { row[column].flatMap { Int64($0) } }
                let outcome = RequestQueue.Item.Outcome(number: number(3))
                var found = Row(
                    revision: .init(id: number(0) ?? 0, outcome: outcome, changed: number(12) ?? 0),
                    name: row[1] ?? "",
                    title: row[2] ?? "",
                    outcome: outcome
                )
                (found.key, found.age) = (row[4], number(5).map { .milliseconds($0) })
                found.attempts = Int(clamping: number(6) ?? 0)
                found.status = number(8).map { Int(clamping: $0) }
                (found.error, found.owner, found.isRecent) = (row[9], row[10], row[11] == "t")
                found.isLeftBehind = outcome == .claimed && found.owner == nil
                found.claims = found.isLeftBehind ? Int(clamping: number(7) ?? 0) : 0
                (found.bytes, found.file, found.validator) = (number(13) ?? 0, row[14], row[15])
                (found.place, found.isPartial, found.isForgotten) = (row[16], row[17] == "true", row[18] != nil)
                return found
            }
        }

        package func claim(_ rows: [Row.Revision]) throws(QueueError) -> [Bool] {
            guard !rows.isEmpty else { return [] }
            // The lease is one for the run, so that it must last for what is claimed now.
            if !claims.lease.isValid { try renew() }
            let array = PostgresConnection.array
            let taken = try connection.query(
                """
                WITH c AS MATERIALIZED (SELECT r.id FROM refrain_request r \
                JOIN unnest($1::bigint[], $2::int[], $3::bigint[]) AS u (id, state, changed) \
                ON r.id = u.id WHERE (r.token = $5::bigint AND r.due IS NOT NULL) OR (r.state = u.state \
                AND r.changed = u.changed AND (r.due IS NULL OR r.due <= \(PostgresStore.now))) \
                ORDER BY r.id FOR UPDATE OF r SKIP LOCKED) \
                UPDATE refrain_request t SET state = 1, due = \(PostgresStore.clock) + $4::bigint, token = $5::bigint, \
                owner = $6, changed = greatest(\(PostgresStore.clock), t.changed + 1) \
                FROM c WHERE t.id = c.id RETURNING t.id
                """,
                [
                    array(rows.map { "\($0.id)" }), array(rows.map { "\($0.outcome.number)" }),
                    array(rows.map { "\($0.changed)" }), store.leaseText, "\(token)", store.owner,
                ]
            )
            let ids = Set(taken.compactMap { $0[0].flatMap { Int64($0) } })
            claims.ids.withLock { $0.formUnion(ids) }
            return rows.map { ids.contains($0.id) }
        }

        package func begin(_ id: Int64, age: Duration, key: String?) throws(QueueError) -> Bool {
            let sql = """
                UPDATE refrain_request SET begun = \(PostgresStore.clock) - $3::bigint, key = $4, \
                attempts = attempts + 1, claims = claims + 1 \
                WHERE id = $1::bigint AND token = $2::bigint AND due IS NOT NULL RETURNING id
                """
            return try !connection.query(sql, ["\(id)", "\(token)", "\(age.inMilliseconds)", key]).isEmpty
        }

        package func count(_ sends: [(id: Int64, count: Int, claims: Int)]) throws(QueueError) -> [Bool] {
            let owned = try write(
                sends.map(\.id),
                "attempts = t.attempts + u.n, claims = greatest(0, t.claims + u.c)",
                "$3::int[], $4::int[]) AS u (id, n, c)",
                [sends.map { "\($0.count)" }, sends.map { "\($0.claims)" }]
            )
            return sends.map { owned.contains($0.id) }
        }

        package func finish(_ results: [Result], mayBeWritten: Bool = false) throws(QueueError) -> [Bool] {
            let values: [[String?]] = [
                results.map { "\($0.outcome.number)" }, results.map { "\($0.attempts)" },
                results.map { $0.hasBegun ? "t" : "f" }, results.map { $0.status.map { "\($0)" } },
                results.map { Self.stored($0.error) }, results.map { "\($0.bytes)" },
                results.map { Self.stored($0.file) },
                results.map { Self.stored($0.validator) }, results.map { Self.stored($0.place) },
                results.map { $0.isPartial ? "t" : nil },
            ]
            let columns = """
                $3::int[], $4::int[], $5::boolean[], $6::int[], $7::text[], $8::bigint[], $9::text[], $10::text[], \
                $11::text[], $12::boolean[]) \
                AS u (id, state, n, begun, status, error, bytes, file, validator, place, partial)
                """
            let detail = """
                json_strip_nulls(json_build_object('bytes', u.bytes, 'file', u.file, 'validator', u.validator, \
                'place', u.place, 'partial', u.partial))::text
                """
            var owned = try write(
                results.map(\.id),
                """
                state = u.state, due = NULL, token = NULL, owner = NULL, claims = 0, attempts = t.attempts + u.n, \
                begun = CASE WHEN u.begun THEN t.begun END, status = u.status, error = u.error, detail = \(detail), \
                changed = greatest(\(PostgresStore.clock), t.changed + 1)
                """,
                columns,
                values
            )
            if mayBeWritten, owned.count < results.count {
                // The first parameter is that of the token, which a written row has no more.
                let written = try connection.query(
                    """
                    SELECT t.id FROM refrain_request t JOIN unnest($2::bigint[], \(columns) ON t.id = u.id \
                    WHERE t.due IS NULL AND $1::bigint IS NOT NULL AND t.state = u.state \
                    AND (t.status, t.error, t.detail) IS NOT DISTINCT FROM (u.status, u.error, \(detail))
                    """,
                    ["\(token)", PostgresConnection.array(results.map { "\($0.id)" })]
                        + values.map(PostgresConnection.array)
                )
                owned.formUnion(written.compactMap { $0[0].flatMap { Int64($0) } })
            }
            claims.ids.withLock { $0.subtract(results.map(\.id)) }
            let lost: [String?] = results.map(\.id).filter { !owned.contains($0) }.map { "\($0)" }
            if !lost.isEmpty {
                let sql = "SELECT 1 FROM refrain_request WHERE id = ANY ($1::bigint[])"
                guard try connection.query(sql, [PostgresConnection.array(lost)]).count == lost.count else {
                    throw QueueError(.noSuchItem, "rows of requests that are under way were deleted")
                }
            }
            return results.map { owned.contains($0.id) }
        }

        /// PostgreSQL does not store a NUL, which the text of a server may have.
        private static func stored(_ text: String?) -> String? { text?.replacing("\0", with: "") }

        private func write(
            _ ids: [Int64],
            _ change: String,
            _ columns: String,
            _ values: [[String?]]
        ) throws(QueueError) -> Set<Int64> {
            let rows = try connection.query(
                "UPDATE refrain_request t SET \(change) FROM unnest($2::bigint[], \(columns) "
                    + "WHERE t.id = u.id AND t.token = $1::bigint AND t.due IS NOT NULL RETURNING t.id",
                ["\(token)", PostgresConnection.array(ids.map { "\($0)" })] + values.map(PostgresConnection.array)
            )
            return Set(rows.compactMap { $0[0].flatMap { Int64($0) } })
        }

        /// Gives back what this run has claimed and not sent; the rest is another one's when the lease ends.
        package func release() throws(QueueError) {
            let sql = """
                UPDATE refrain_request SET state = 0, due = NULL, token = NULL, owner = NULL, \
                changed = greatest(\(PostgresStore.clock), changed + 1) \
                WHERE token = $1::bigint AND due IS NOT NULL AND begun IS NULL
                """
            claims.ids.withLock { $0 = [] }
            _ = try connection.query(sql, ["\(token)"])
        }

        package func settle(_ changes: [(row: Row, settlement: Settlement)]) throws(QueueError) {
            try connection.transaction { () throws(QueueError) in
                for (row, settlement) in changes {
                    var (change, detail): (String, [String]) = ("state = 0, error = NULL, detail = NULL", [])
                    switch settlement {
                    case .again: change += ", begun = NULL, key = NULL"
                    case .againWithKey: break
                    case .forgotten:
                        change = "state = 2, detail = $4"
                        detail = [#"{"forgotten":true}"#]
                    }
                    let sql = """
                        UPDATE refrain_request SET \(change), due = NULL, token = NULL, owner = NULL, claims = 0, \
                        changed = greatest(\(PostgresStore.clock), changed + 1) WHERE id = $1::bigint \
                        AND state = $2::int AND changed = $3::bigint AND (due IS NULL OR due <= \(PostgresStore.now)) \
                        RETURNING id
                        """
                    let values = ["\(row.id)", "\(row.outcome.number)", "\(row.changed)"]
                    let written = try connection.query(sql, values + detail)
                    guard !written.isEmpty else { throw QueueError(.noSuchItem, "\(row.title) has changed meanwhile") }
                }
            }
        }
    }
}
#endif
