// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
internal import Dispatch
internal import RefrainCore
internal import RefrainHTTP

/// Requests of lists that several machines work on, in the table of the queues.
///
/// A run that has the list sends its requests, so a row has no header fields and no body. No worker of a queue takes
/// such rows, since they are not due; a run claims those that its list names. A claim lasts for the lease, and every
/// write names the token of the run, so that one that was stopped for longer changes nothing.
package final class SharedRequests {
    /// Calls a closure at even intervals, on a thread of its own, until it is cancelled.
    package final class Renewal: @unchecked Sendable {
        // @unchecked Sendable: a timer of Dispatch may be used from any thread.
        private let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "refrain.claims"))

        package init(every interval: Duration, _ renew: @escaping @Sendable () -> Void) {
            timer.schedule(deadline: .now() + interval.inSeconds, repeating: interval.inSeconds)
            timer.setEventHandler(handler: renew)
            timer.activate()
        }

        package func cancel() { timer.cancel() }

        deinit { timer.cancel() }
    }

    /// Makes blocking calls one after the other, away from the threads of the tasks.
    package struct CallThread: Sendable {
        private let queue = DispatchQueue(label: "refrain.state")

        package init() {}

        package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await resumption { continuation in
                queue.async { continuation.resume(returning: body()) }
            }
        }
    }

    /// A row, as a run finds it.
    package struct Row: Sendable {
        package var id: Int64
        package var name: String
        /// Method and URL.
        package var title: String
        package var outcome: RequestQueue.Item.Outcome
        package var key: String?
        /// How long ago it may first have been sent; nil: it was not.
        ///
        /// Negative where the clock was set back since.
        package var age: Duration?
        package var attempts: Int
        /// How many runs have ended, one after the other, while they had it under way.
        package var claims: Int
        package var status: Int?
        package var error: String?
        /// What the run that wrote its result has added.
        package var detail: String?
        /// The run that has it, as `HOST/PID`; nil: none has, or its lease is over.
        package var owner: String?
        /// Whether its state has changed since this run began.
        package var isRecent: Bool
        /// When its state changed, in milliseconds since 1970 by the database's clock.
        package var changed: Int64
    }

    /// A request to register.
    package struct New: Sendable {
        package var name: String
        package var title: String
        package var key: String?

        package init(name: String, title: String, key: String?) {
            (self.name, self.title, self.key) = (name, title, key)
        }
    }

    /// The result of a claimed request.
    package struct Outcome: Sendable {
        package var id: Int64
        package var outcome: RequestQueue.Item.Outcome
        package var attempts: Int
        package var status: Int?
        package var error: String?
        package var detail: String?
        /// Whether it may have been done, so that its row keeps the time at which it was first sent.
        package var hasBegun: Bool

        package init(
            id: Int64,
            outcome: RequestQueue.Item.Outcome,
            attempts: Int,
            status: Int?,
            error: String?,
            detail: String?,
            hasBegun: Bool
        ) {
            (self.id, self.outcome, self.attempts, self.status) = (id, outcome, attempts, status)
            (self.error, self.detail, self.hasBegun) = (error, detail, hasBegun)
        }
    }

    private let store: PostgresStore
    private let connection: PostgresConnection
    private let queue: String
    private let token = Int64.random(in: 1...Int64.max)
    private let began: Int64
    /// What this run may send.
    package let claims: Claims

    /// The claims of a run, which may be asked from any thread.
    package final class Claims: Sendable {
        fileprivate let lease: Lease
        fileprivate let ids = Locked<Set<Int64>>([])

        fileprivate init(_ lease: Lease) { self.lease = lease }

        /// Whether the run has claimed a request, and no other run has it as far as the database has said.
        package func holds(_ id: Int64) -> Bool { ids.withLock { $0.contains(id) } }

        /// Whether a request may still be sent, by this machine's own clock and by what the database said last.
        package func mayStillSend(_ id: Int64) -> Bool { lease.isValid && holds(id) }
    }

    /// Connects, and makes the tables where they are missing.
    ///
    /// - Parameters:
    ///   - text: a URL or the words of libpq.
    ///   - name: what the requests are kept under; a queue of a program with the same name is another one.
    ///   - lease: how long a claim lasts without a renewal.
    package init(_ text: String, name: String, lease: Duration) throws(QueueError) {
        queue = "list/\(name)"
        store = try PostgresStore(text, queue: queue, lease: lease)
        connection = store.connection
        claims = Claims(Lease(store.lease, from: .now))
        began = try connection.query("SELECT \(PostgresStore.clock)").first?.first?.flatMap { Int64($0) } ?? 0
    }

    /// How often ``renew()`` must be called.
    package var renewalInterval: Duration { (store.lease ?? .seconds(30)) / 3 }

    /// Extends all claims of this run, and gives up those that another run has taken.
    package func renew() throws(QueueError) {
        let start = ContinuousClock.now
        let renewed = try store.renew([token])
        claims.ids.withLock { $0.formIntersection(renewed) }
        claims.lease.renew(from: start)
    }

    /// Writes the rows that are missing, and returns all, in the order of the requests.
    package func register(_ requests: [New]) throws(QueueError) -> [Row] {
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
        var all: [Row] = []
        for request in requests {
            guard let row = byName[request.name] else {
                throw QueueError(.foreign, "the database does not keep the row of \(request.title)")
            }
            all.append(row)
        }
        return all
    }

    /// Notes whether all requests of a list have rows.
    package func note(list name: String, isRead: Bool) throws(QueueError) {
        let sql = "UPDATE refrain_queue SET lists = lists || jsonb_build_object($2::text, $3::boolean) WHERE name = $1"
        _ = try connection.query(sql, [queue, name, "\(isRead)"])
    }

    /// Whether all lists were read to their ends; nil: no list is noted.
    package func areListsRead() throws(QueueError) -> Bool? {
        let sql = "SELECT bool_and(value::boolean) FROM refrain_queue, jsonb_each_text(lists) WHERE name = $1"
        return try connection.query(sql, [queue]).first?.first?.map { $0 == "t" }
    }

    /// All rows, oldest first.
    package func all() throws(QueueError) -> [Row] { try rows("ORDER BY id") }

    private func rows(_ condition: String, _ values: [String] = []) throws(QueueError) -> [Row] {
        try connection.query(
            """
            SELECT id, dedupe, head, state, key, \(PostgresStore.now) - begun, attempts, claims, status, error, \
            detail, CASE WHEN due > \(PostgresStore.now) AND token <> $3::bigint THEN owner END, \
            changed >= $2::bigint, changed FROM refrain_request WHERE queue = $1 \(condition)
            """,
            [queue, "\(began)", "\(token)"] + values
        ).map { row in
            func number(_ column: Int) -> Int64? { row[column].flatMap { Int64($0) } }
            return Row(
                id: number(0) ?? 0,
                name: row[1] ?? "",
                title: row[2] ?? "",
                outcome: RequestQueue.Item.Outcome(number: number(3)),
                key: row[4],
                age: number(5).map { .milliseconds($0) },
                attempts: Int(clamping: number(6) ?? 0),
                claims: Int(clamping: number(7) ?? 0),
                status: number(8).map { Int(clamping: $0) },
                error: row[9],
                detail: row[10],
                owner: row[11],
                isRecent: row[12] == "t",
                changed: number(13) ?? 0
            )
        }
    }

    /// Takes requests that are as they were read; false for each that has changed since, or that another run has.
    package func claim(_ rows: [Row]) throws(QueueError) -> [Bool] {
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

    /// Notes that a claimed request is about to be sent, and counts the send; it is on the disk when this returns.
    ///
    /// - Parameters:
    ///   - age: how long ago it was first sent.
    ///   - key: its key.
    /// - Returns: false where another run has taken it.
    package func begin(_ id: Int64, age: Duration, key: String?) throws(QueueError) -> Bool {
        let sql = """
            UPDATE refrain_request SET begun = \(PostgresStore.clock) - $3::bigint, key = $4, attempts = attempts + 1, \
            claims = claims + 1 WHERE id = $1::bigint AND token = $2::bigint AND due IS NOT NULL RETURNING id
            """
        return try !connection.query(sql, ["\(id)", "\(token)", "\(age.inMilliseconds)", key]).isEmpty
    }

    /// Adds sends of claimed requests to the attempts of their rows, and notes whether they are under way; false for
    /// each that another run has taken.
    package func count(_ sends: [(id: Int64, count: Int, claims: Int)]) throws(QueueError) -> [Bool] {
        let owned = try write(
            sends.map(\.id),
            "attempts = t.attempts + u.n, claims = greatest(0, t.claims + u.c)",
            "$3::int[], $4::int[]) AS u (id, n, c)",
            [sends.map { "\($0.count)" }, sends.map { "\($0.claims)" }]
        )
        return sends.map { owned.contains($0.id) }
    }

    /// Writes results; false for each whose row another run has taken.
    ///
    /// It is an error if a row is gone, since no other run knows the request.
    ///
    /// - Parameter mayBeWritten: whether the answer to an earlier write of these results was lost, so that rows which
    ///   have them were not taken.
    package func finish(_ results: [Outcome], mayBeWritten: Bool = false) throws(QueueError) -> [Bool] {
        // PostgreSQL does not store a NUL, which the text of a server may have.
        let errors: [String?] = results.map { $0.error?.replacing("\0", with: "") }
        let states: [String?] = results.map { "\($0.outcome.number)" }
        let statuses: [String?] = results.map { $0.status.map { "\($0)" } }
        let details: [String?] = results.map { $0.detail }
        var owned = try write(
            results.map(\.id),
            """
            state = u.state, due = NULL, token = NULL, owner = NULL, claims = 0, attempts = t.attempts + u.n, \
            begun = CASE WHEN u.begun THEN t.begun END, status = u.status, error = u.error, detail = u.detail, \
            changed = greatest(\(PostgresStore.clock), t.changed + 1)
            """,
            "$3::int[], $4::int[], $5::boolean[], $6::int[], $7::text[], $8::text[]) "
                + "AS u (id, state, n, begun, status, error, detail)",
            [
                states, results.map { "\($0.attempts)" }, results.map { $0.hasBegun ? "t" : "f" }, statuses, errors,
                details,
            ]
        )
        if mayBeWritten, owned.count < results.count {
            let ids: [String?] = results.map { "\($0.id)" }
            let written = try connection.query(
                """
                SELECT t.id FROM refrain_request t JOIN unnest($1::bigint[], $2::int[], $3::int[], $4::text[], \
                $5::text[]) AS u (id, state, status, error, detail) ON t.id = u.id WHERE t.due IS NULL \
                AND t.state = u.state \
                AND (t.status, t.error, t.detail) IS NOT DISTINCT FROM (u.status, u.error, u.detail)
                """,
                [ids, states, statuses, errors, details].map(PostgresConnection.array)
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

    /// Gives back what this run has claimed and not sent; what it may have sent is another one's when the lease ends.
    package func release() throws(QueueError) {
        let sql = """
            UPDATE refrain_request SET state = 0, due = NULL, token = NULL, owner = NULL, \
            changed = greatest(\(PostgresStore.clock), changed + 1) \
            WHERE token = $1::bigint AND due IS NOT NULL AND begun IS NULL
            """
        claims.ids.withLock { $0 = [] }
        _ = try connection.query(sql, ["\(token)"])
    }

    /// What becomes of a row that is settled.
    package enum Settlement: Sendable {
        /// It is sent again, as if it had never been sent.
        case again
        /// It is sent again with its key.
        case againWithKey
        /// It counts as done.
        case done(detail: String)
    }

    /// Settles rows, all or none.
    ///
    /// - Throws: ``QueueError`` where one has changed since it was read; nothing was written then.
    package func settle(_ changes: [(row: Row, settlement: Settlement)]) throws(QueueError) {
        try connection.transaction { () throws(QueueError) in
            for (row, settlement) in changes {
                var (change, detail): (String, [String]) = ("state = 0, error = NULL, detail = NULL", [])
                switch settlement {
                case .again: change += ", begun = NULL, key = NULL"
                case .againWithKey: break
                case .done(let text): (change, detail) = ("state = 2, detail = $4", [text])
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
#endif
