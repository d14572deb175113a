// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
internal import Dispatch
internal import RefrainCore
public import RefrainHTTP

/// A limit that processes of any number of machines keep together in PostgreSQL (rule R38).
///
/// Give it to a pacer: `Pacer(.perMinute(requests: 500), quota: try await PostgresQuota("postgres://host/jobs"))`.
///
/// It is there with the trait `PostgreSQL`: one row for each key of an unlogged table, `refrain_quota`, which is made
/// where it is missing, and one statement for each booking. A crash of the server empties the table, so that the limit
/// begins anew.
public final class PostgresQuota: QuotaStore {
    /// The connection, which one call at a time uses on its thread.
    private final class Box: @unchecked Sendable {
        // @unchecked Sendable: the connection is used on the serial queue alone.
        let connection: PostgresConnection
        /// The last time, in two seconds of the server's clock, in which this process was counted, by key.
        var counted: [String: Int64] = [:]

        init(_ connection: PostgresConnection) { self.connection = connection }
    }

    private let box: Box
    private let queue: DispatchQueue

    /// Connects, and makes the table where it is missing.
    ///
    /// - Parameter text: a URL or the words of libpq, such as `postgres://host/database` or `service=orders`.
    /// - Throws: ``QueueError`` if the database cannot be used.
    public init(_ text: String) async throws(QueueError) {
        let queue = DispatchQueue(label: "refrain.quota")
        self.queue = queue
        box = try await blocking(on: queue) { () throws(QueueError) in
            let connection = try PostgresConnection(text)
            try connection.transaction { () throws(QueueError) in
                _ = try connection.query("SELECT pg_advisory_xact_lock(7166824502)")
                // A role that may not make tables may use one.
                let known = try connection.query("SELECT to_regclass('refrain_quota')")
                if known.first?.first == .some(nil) { try connection.run(Self.schema) }
            }
            return Box(connection)
        }
    }

    private static let schema = """
        CREATE UNLOGGED TABLE refrain_quota (name text PRIMARY KEY, due float8 NOT NULL,
            granted float8 NOT NULL, slot bigint NOT NULL, members int NOT NULL, before int NOT NULL)
            WITH (fillfactor = 50)
        """

    /// Books permits; one statement.
    public func book(_ key: String, rate: Double, wanted: Double, hold: Duration) async throws -> QuotaGrant {
        let box = box
        return try await blocking(on: queue) { () throws(QueueError) in
            let counted = box.counted[key] ?? 0
            let rows = try box.connection.query(
                Self.statement,
                [
                    key, "\(wanted)", "\(1000 / rate)", "\(max(0, hold.inSeconds * 1000))",
                    "\(QuotaGrant.horizon(wanted: wanted, rate: rate).inSeconds * 1000)", "\(counted)",
                ]
            )
            func number(_ column: Int) -> Double { rows.first?[column].flatMap { Double($0) } ?? 0 }
            box.counted[key] = rows.first?[3].flatMap { Int64($0) } ?? 0
            // Another program may have written into the row, so that any number can come back.
            return QuotaGrant(
                permits: number(0),
                start: .delay(seconds: number(1) / 1000),
                members: Int(exactly: number(2)) ?? 1
            )
        }
    }

    /// The row has the time up to which permits are given out, and counts who asks in each slot of two seconds.
    ///
    /// A slot that is half a minute ahead is one of before the server's clock was set back: what is due is as far ahead
    /// as it was then, and not also by that. A slot that is less ahead may be that of a statement which has waited.
    private static let statement = """
        WITH c AS MATERIALIZED (SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, \
        (extract(epoch FROM clock_timestamp()) / 2)::bigint AS slot, $2::float8 AS wanted, $3::float8 AS step, \
        $4::float8 AS hold, $5::float8 AS horizon, $6::bigint AS counted) \
        INSERT INTO refrain_quota AS q (name, due, granted, slot, members, before) \
        SELECT $1, now + hold + CASE WHEN hold < horizon THEN wanted * step ELSE 0 END, \
        CASE WHEN hold < horizon THEN wanted ELSE 0 END, slot, 1, 0 FROM c \
        ON CONFLICT (name) DO UPDATE SET (due, granted, slot, members, before) = (SELECT \
        s.start + CASE WHEN s.start - c.now < c.horizon THEN c.wanted * c.step ELSE 0 END, \
        CASE WHEN s.start - c.now < c.horizon THEN c.wanted ELSE 0 END, c.slot, \
        CASE WHEN q.slot <> c.slot THEN 1 WHEN c.counted = c.slot THEN q.members ELSE q.members + 1 END, \
        CASE WHEN q.slot = c.slot THEN q.before WHEN q.slot = c.slot - 1 THEN q.members ELSE 0 END \
        FROM c, LATERAL (SELECT greatest(q.due - CASE WHEN q.slot > c.slot + 15 THEN (q.slot - c.slot - 1) * 2000 \
        ELSE 0 END, c.now, c.now + c.hold) AS start) AS s) \
        RETURNING granted, (SELECT CASE WHEN q.granted > 0 THEN q.due - q.granted * step - now \
        ELSE greatest(0, q.due - now - horizon) END FROM c), greatest(members, before, 1), slot
        """
}
#endif
