// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
internal import RefrainCore
internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The rows of a queue in PostgreSQL, which the workers of several machines share.
///
/// A claim lasts for the lease and is renewed; one that has expired is due again. Times are milliseconds of the
/// database's clock.
package final class PostgresStore: QueueStore {
    package let lease: Duration?
    package let pollInterval = Duration.seconds(1)

    /// The version of the tables.
    private static let version = 2

    let connection: PostgresConnection
    private let queue: String
    let owner: String
    let leaseText: String
    /// The highest `due` of the last claims; forgotten at each upkeep, since a row may be committed late.
    ///
    /// What lies before it is mostly dead rows, which a long transaction elsewhere keeps from being removed.
    private var lowMark: Int64 = 0
    /// The server's clock at the last upkeep.
    private var lastUpkeep = Int64.max

    /// Connects, and makes the tables and the queue where they are missing.
    ///
    /// - Parameter makesQueue: false to write nothing, so that a role that may only read can look at a queue.
    /// - Throws: ``QueueError/Code/noSuchItem`` where the queue is missing and is not made.
    package init(
        _ text: String,
        queue: String,
        lease: Duration,
        makesQueue: Bool = true
    ) throws(QueueError) {
        self.queue = queue
        let lease = max(lease.clampedToDelay, .seconds(1))
        self.lease = lease
        leaseText = "\(lease.inMilliseconds)"
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        owner = "\(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))/\(getpid())"
        // A transaction that an application leaves open must not keep claims from being renewed.
        connection = try PostgresConnection(text, lockTimeout: min(.seconds(5), lease / 4))
        if makesQueue { try prepare() } else { try find() }
    }

    /// The time of a write, and that of a comparison, which an index can be used for.
    static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    static let now = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"

    // MARK: Tables

    private func prepare() throws(QueueError) {
        try connection.transaction { () throws(QueueError) in
            try connection.run("SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(7166824501)")
            let known = try connection.query("SELECT to_regclass('refrain_queue')")
            if known.first?.first == .some(nil) { try connection.run(Self.schema) }
            var version = try connection.query("SELECT max(version) FROM refrain_queue").first?.first ?? nil
            if version == "1" {
                try connection.run(Self.migration)
                version = "\(Self.version)"
            }
            guard version == nil || version == "\(Self.version)" else {
                throw QueueError(
                    .newerVersion,
                    "the tables have version \(version ?? ""), and this version of Refrain knows \(Self.version): update it"
                )
            }
            _ = try connection.query(
                """
                INSERT INTO refrain_queue (name, version, paused) VALUES ($1, $2::int, false) ON CONFLICT DO NOTHING
                """,
                [queue, "\(Self.version)"]
            )
            _ = try connection.query("SELECT \(Self.columns) FROM refrain_request t LIMIT 0")
        }
    }

    /// Checks that the tables and the queue are there.
    private func find() throws(QueueError) {
        var found: [String?] = []
        if try connection.query("SELECT to_regclass('refrain_queue')").first?.first != .some(nil) {
            let sql = "SELECT max(version), count(*) FILTER (WHERE name = $1) FROM refrain_queue"
            found = try connection.query(sql, [queue]).first ?? []
        }
        guard found.count == 2, found[1] != "0" else {
            throw QueueError(.noSuchItem, "the database has no queue of this name")
        }
        // Tables of another version are changed or refused, as by any other use.
        if found[0] != "\(Self.version)" { try prepare() }
    }

    private static let schema = """
        CREATE TABLE refrain_queue (name text PRIMARY KEY, version int NOT NULL, paused boolean NOT NULL,
            lists jsonb NOT NULL DEFAULT '{}');
        CREATE TABLE refrain_request (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, queue text NOT NULL, dedupe text, lane text,
            head text NOT NULL, body bytea, file text, key text, safety int NOT NULL,
            state int NOT NULL DEFAULT 0, due bigint, token bigint, owner text,
            claims int NOT NULL DEFAULT 0, attempts int NOT NULL DEFAULT 0, begun bigint,
            changed bigint NOT NULL, status int, error text, record text, detail text,
            behind boolean NOT NULL DEFAULT false)
            WITH (autovacuum_vacuum_scale_factor = 0.01);
        CREATE UNIQUE INDEX refrain_request_dedupe ON refrain_request (queue, dedupe) WHERE dedupe IS NOT NULL;
        CREATE INDEX refrain_request_begun ON refrain_request (queue, due, id)
            WHERE due IS NOT NULL AND begun IS NOT NULL;
        CREATE INDEX refrain_request_lane ON refrain_request (queue, lane, id)
            WHERE due IS NOT NULL AND lane IS NOT NULL;
        CREATE INDEX refrain_request_token ON refrain_request (token) WHERE token IS NOT NULL;
        CREATE INDEX refrain_request_ended ON refrain_request (queue, state, changed) WHERE due IS NULL;
        \(lanes)
        """

    /// Keeps what is behind an older request of its lane out of the index in which claims look.
    ///
    /// Such a row has `behind` until the rows before it have outcomes or are gone. At the end of the transaction that
    /// inserts it, an older row is locked, so that the end of that row sees this one; where none can be locked at once,
    /// the row enters the index. A claim looks at the lane itself.
    private static let lanes = """
        CREATE INDEX refrain_request_due ON refrain_request (queue, due, id) WHERE due IS NOT NULL AND NOT behind;
        CREATE OR REPLACE FUNCTION refrain_request_lane() RETURNS trigger
            LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
        BEGIN
            IF TG_NAME <> 'refrain_request_new' THEN
                UPDATE refrain_request SET behind = false WHERE behind AND id = (SELECT id FROM refrain_request
                    WHERE queue = OLD.queue AND lane = OLD.lane AND due IS NOT NULL ORDER BY id LIMIT 1);
                RETURN NULL;
            END IF;
            -- The others see the rows as they were when the transaction began, and cannot lock one that has changed.
            IF current_setting('transaction_isolation') = 'read committed' THEN
                PERFORM 1 FROM refrain_request WHERE queue = NEW.queue AND lane = NEW.lane AND due IS NOT NULL
                    AND id < NEW.id ORDER BY id DESC LIMIT 1 FOR SHARE SKIP LOCKED;
                IF FOUND THEN RETURN NULL; END IF;
            END IF;
            UPDATE refrain_request SET behind = false WHERE id = NEW.id;
            RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER refrain_request_new AFTER INSERT OR UPDATE OF behind ON refrain_request
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.behind) EXECUTE FUNCTION refrain_request_lane();
        CREATE TRIGGER refrain_request_end AFTER UPDATE OF due ON refrain_request FOR EACH ROW
            WHEN (NEW.due IS NULL AND OLD.due IS NOT NULL AND OLD.lane IS NOT NULL)
            EXECUTE FUNCTION refrain_request_lane();
        CREATE TRIGGER refrain_request_gone AFTER DELETE ON refrain_request FOR EACH ROW
            WHEN (OLD.due IS NOT NULL AND OLD.lane IS NOT NULL) EXECUTE FUNCTION refrain_request_lane()
        """

    /// Changes the tables of version 1.
    private static let migration = """
        ALTER TABLE refrain_request ADD COLUMN behind boolean NOT NULL DEFAULT false;
        DROP INDEX refrain_request_due;
        \(lanes);
        UPDATE refrain_request SET behind = true WHERE lane IS NOT NULL AND due IS NOT NULL AND state = 0;
        ALTER TABLE refrain_queue ADD COLUMN lists jsonb NOT NULL DEFAULT '{}';
        UPDATE refrain_queue SET version = \(version)
        """

    private static let columns = "t.id, t.head, t.body, t.file, t.key, t.safety, t.claims, t.attempts"

    // MARK: Enqueuing

    /// The INSERT of a request, also for the application's own transaction.
    ///
    /// A lane is locked until the transaction ends: without it a later row that commits first would be claimed first.
    static let insert = """
        INSERT INTO refrain_request (queue, dedupe, lane, head, body, file, key, safety, due, changed, behind) \
        SELECT $1::text, $2::text, $3::text, $4::text, $5::bytea, $6::text, $7::text, $8::int, \
        \(clock) + $9::bigint, \(clock), $3::text IS NOT NULL FROM (SELECT CASE WHEN $3::text IS NOT NULL THEN \
        pg_advisory_xact_lock(hashtextextended($1::text || '/' || $3::text, 0)) END) AS lock ON CONFLICT DO NOTHING
        """

    /// The values of ``insert``.
    static func values(_ new: NewRequest, queue: String) -> [Database.Value] {
        Array(SQLiteStore.values(new, queue: queue, now: 0).dropLast())
    }

    package func enqueue(_ requests: [NewRequest]) throws(QueueError) -> [Int64?] {
        // Lanes and names are locked in one order, so that two of these do not wait for each other. It is that of their
        // bytes, as the database compares them: texts of Swift may be equal and have different ones.
        let lanes = Set(requests.compactMap { $0.lane.map { Array($0.utf8) } })
            .sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
        let names = requests.map { Array(($0.name ?? "").utf8) }
        let order =
            requests.indices.filter { requests[$0].lane != nil }
            + requests.indices.filter { requests[$0].lane == nil }
            .sorted { names[$0] == names[$1] ? $0 < $1 : names[$0].lexicographicallyPrecedes(names[$1]) }
        let ids = try enqueue(order.map { requests[$0] }, lanes)
        var all = [Int64?](repeating: nil, count: requests.count)
        for (index, id) in zip(order, ids) { all[index] = id }
        return all
    }

    private func enqueue(_ requests: [NewRequest], _ lanes: [String]) throws(QueueError) -> [Int64?] {
        let parts = Self.parts(of: requests)
        guard !lanes.isEmpty || parts.count > 1 else { return try insert(requests[...]) }
        return try connection.transaction { () throws(QueueError) in
            for lane in lanes {
                let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1::text || '/' || $2::text, 0))"
                _ = try connection.query(lock, [queue, lane])
            }
            var ids: [Int64?] = []
            for part in parts { ids += try insert(requests[part]) }
            return ids
        }
    }

    /// The most bytes of bodies that one statement inserts: the server takes no parameter of 1 GiB.
    static let partLimit = 4 << 20

    /// Divides requests by the size of their bodies.
    static func parts(of requests: [NewRequest]) -> [Range<Int>] {
        var (parts, start, size): ([Range<Int>], Int, Int) = ([], 0, 0)
        for (index, new) in requests.enumerated() {
            size += new.request.body.count
            guard size > partLimit, index > start else { continue }
            parts.append(start..<index)
            (start, size) = (index, new.request.body.count)
        }
        return parts + [start..<requests.count]
    }

    private func insert(_ requests: ArraySlice<NewRequest>) throws(QueueError) -> [Int64?] {
        let array = PostgresConnection.array
        let names: [String?] = requests.map { $0.name }
        let lanes: [String?] = requests.map { $0.lane }
        let heads: [String?] = requests.map { $0.request.head }
        let bodies: [String?] = requests.map { new in
            new.request.body.isEmpty ? nil : PostgresConnection.text(of: new.request.body)
        }
        let files: [String?] = requests.map { $0.request.file?.text }
        let keys: [String?] = requests.map { $0.request.key }
        let safeties: [String?] = requests.map { "\($0.request.safety.rawValue)" }
        let delays: [String?] = requests.map { "\(max(.zero, $0.delay).inMilliseconds)" }
        let rows = try connection.query(
            """
            INSERT INTO refrain_request (queue, dedupe, lane, head, body, file, key, safety, due, changed, behind) \
            SELECT $1::text, d, l, h, b, f, k, s, \(Self.clock) + w, \(Self.clock), l IS NOT NULL \
            FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::int[], \
            $9::bigint[]) \
            WITH ORDINALITY AS u (d, l, h, b, f, k, s, w, n) ORDER BY n ON CONFLICT DO NOTHING RETURNING id, dedupe
            """,
            [
                queue, array(names), array(lanes), array(heads), array(bodies), array(files), array(keys),
                array(safeties),
                array(delays),
            ]
        )
        // The rows are in the order of the requests, without those whose names were there.
        var remaining = rows[...]
        return requests.map { request in
            guard let row = remaining.first, row[1].map({ Array($0.utf8) }) == request.name.map({ Array($0.utf8) })
            else { return nil }
            remaining.removeFirst()
            return row[0].flatMap { Int64($0) }
        }
    }

    // MARK: Claims

    package func claim(_ limit: Int, token: Int64, wantsBegun: Bool) throws(QueueError) -> [Claim] {
        if wantsBegun { lowMark = 0 }
        let rows = try connection.query(
            """
            WITH c AS MATERIALIZED (SELECT r.id, r.due, r.begun FROM refrain_request r WHERE r.queue = $1 \
            AND r.due <= \(Self.now) AND r.due >= $2::bigint AND NOT r.behind \(wantsBegun ? "AND r.begun IS NOT NULL" : "") \
            AND (r.lane IS NULL OR NOT EXISTS (SELECT 1 FROM refrain_request o WHERE o.queue = r.queue \
            AND o.lane = r.lane AND o.due IS NOT NULL AND o.id < r.id) AND NOT EXISTS (SELECT 1 FROM refrain_request o \
            WHERE o.token IS NOT NULL AND o.queue = r.queue AND o.lane = r.lane AND o.state = 1 \
            AND o.due > \(Self.now))) \
            ORDER BY r.due, r.id LIMIT $3::int FOR UPDATE OF r SKIP LOCKED) \
            UPDATE refrain_request t SET state = 1, due = \(Self.clock) + $4::bigint, token = $5::bigint, owner = $6, \
            claims = t.claims + 1, changed = \(Self.clock), \
            begun = CASE WHEN t.safety > 0 THEN coalesce(t.begun, \(Self.clock)) ELSE t.begun END \
            FROM c WHERE t.id = c.id RETURNING \(Self.columns), \(Self.now) - c.begun, c.due
            """,
            [queue, "\(lowMark)", "\(limit)", leaseText, "\(token)", owner]
        )
        if !wantsBegun { lowMark = max(lowMark, rows.compactMap { $0[9].flatMap { Int64($0) } }.max() ?? 0) }
        return rows.map { row in Self.claim(row, token) }.sorted { $0.id < $1.id }
    }

    private static func claim(_ row: [String?], _ token: Int64) -> Claim {
        func number(_ column: Int) -> Int64? { row[column].flatMap { Int64($0) } }
        return Claim(
            id: number(0) ?? 0,
            token: token,
            request: StoredRequest(
                head: row[1] ?? "",
                body: PostgresConnection.bytes(of: row[2]),
                file: row[3].flatMap(FileReference.init),
                key: row[4],
                safety: number(5).flatMap(StoredRequest.Safety.init) ?? .once
            ),
            claims: Int(clamping: number(6) ?? 1),
            attempts: Int(clamping: number(7) ?? 0),
            age: number(8).map { .milliseconds(max(0, $0)) }
        )
    }

    package func begin(_ claims: [Claim]) throws(QueueError) -> [Bool] {
        try write(
            claims.map { ($0.id, $0.token) },
            """
            begun = coalesce(t.begun, \(Self.clock)), claims = u.claims \
            FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS u (id, token, claims)
            """,
            [PostgresConnection.array(claims.map { "\($0.claims)" })]
        )
    }

    package func rest(_ claim: Claim, isUnsent: Bool) throws(QueueError) {
        _ = try write(
            [(claim.id, claim.token)],
            """
            claims = $3::int, begun = CASE WHEN $4::boolean THEN NULL ELSE t.begun END \
            FROM unnest($1::bigint[], $2::bigint[]) AS u (id, token)
            """,
            ["\(claim.claims - 1)", isUnsent ? "t" : "f"]
        )
    }

    package func renew(_ tokens: Set<Int64>) throws(QueueError) -> Set<Int64> {
        guard !tokens.isEmpty else { return [] }
        let rows = try connection.query(
            """
            UPDATE refrain_request t SET due = \(Self.clock) + $1::bigint \
            WHERE token = ANY ($2::bigint[]) AND due IS NOT NULL RETURNING t.id
            """,
            [leaseText, PostgresConnection.array(tokens.map { "\($0)" })]
        )
        return Set(rows.compactMap { $0[0].flatMap { Int64($0) } })
    }

    package func finish(_ results: [ClaimResult]) throws(QueueError) -> [Bool] {
        let array = PostgresConnection.array
        let delays = results.map { result -> String? in
            guard case .later(let delay) = result.outcome else { return nil }
            return "\(max(.zero, delay).inMilliseconds)"
        }
        let states: [String?] = results.map { "\($0.outcome.state.number)" }
        let unsent: [String?] = results.map { $0.isUnsent ? "t" : "f" }
        let attempts: [String?] = results.map { "\($0.attempts)" }
        let statuses: [String?] = results.map { $0.status.map { "\($0)" } }
        // A server's text may have a NUL, which PostgreSQL does not store.
        let errors: [String?] = results.map { $0.error?.replacing("\0", with: "") }
        let records: [String?] = results.map { $0.record }
        // `least` passes over a NULL: without the CASE a request that has ended would stay due, and block its lane.
        return try write(
            results.map { ($0.id, $0.token) },
            """
            state = u.state, due = CASE WHEN u.delay IS NOT NULL THEN \
            least(\(Self.clock)::numeric + u.delay, 9e18)::bigint END, token = NULL, owner = NULL, \
            claims = CASE WHEN u.delay IS NULL THEN t.claims ELSE 0 END, \
            begun = CASE WHEN u.unsent THEN NULL ELSE t.begun END, attempts = t.attempts + u.attempts, \
            status = u.status, error = u.error, changed = \(Self.clock), \
            record = CASE WHEN u.record = '' THEN t.record ELSE right(coalesce(t.record, '') || u.record, 65536) END \
            FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::numeric[], $5::boolean[], $6::int[], $7::int[], \
            $8::text[], $9::text[]) AS u (id, token, state, delay, unsent, attempts, status, error, record)
            """,
            [
                array(states), array(delays), array(unsent), array(attempts), array(statuses), array(errors),
                array(records),
            ]
        )
    }

    package func release(_ claims: [Claim]) throws(QueueError) {
        _ = try write(
            claims.map { ($0.id, $0.token) },
            """
            state = 0, due = \(Self.clock), token = NULL, owner = NULL, claims = t.claims - 1, \
            begun = CASE WHEN u.begun THEN t.begun END \
            FROM unnest($1::bigint[], $2::bigint[], $3::boolean[]) AS u (id, token, begun)
            """,
            [PostgresConnection.array(claims.map { $0.age == nil ? "f" : "t" })]
        )
    }

    /// Writes rows by their tokens; false for each that another worker owns.
    private func write(
        _ rows: [(id: Int64, token: Int64)],
        _ change: String,
        _ further: [String] = []
    ) throws(QueueError) -> [Bool] {
        let array = PostgresConnection.array
        let written = try connection.query(
            """
            UPDATE refrain_request t SET \(change) WHERE t.id = u.id AND t.token = u.token AND t.due IS NOT NULL \
            RETURNING t.id, t.lane IS NOT NULL
            """,
            [array(rows.map { "\($0.id)" }), array(rows.map { "\($0.token)" })] + further
        )
        // What has waited in a lane for one of these was due before what other claims have taken meanwhile.
        if written.contains(where: { $0[1] == "t" }) { lowMark = 0 }
        let ids = Set(written.compactMap { $0[0].flatMap { Int64($0) } })
        return rows.map { ids.contains($0.id) }
    }

    // MARK: Upkeep, reading and settling

    package func tidy(keep: Duration) throws(QueueError) {
        lowMark = 0
        let now = try connection.query("SELECT \(Self.clock)").first?.first?.flatMap { Int64($0) } ?? lastUpkeep
        if now < lastUpkeep {
            // The clock of the server was set back, or may have been before this process: a row that was written in
            // the future waits as long as it was meant to, and its key is as old as it was then.
            _ = try connection.query(
                """
                UPDATE refrain_request SET due = $2::bigint + (due - changed), begun = $2::bigint + (begun - changed), \
                changed = $2::bigint WHERE queue = $1 AND changed > $2::bigint + 60000
                """,
                [queue, "\(now)"]
            )
        }
        lastUpkeep = now
        _ = try connection.query(
            """
            DELETE FROM refrain_request WHERE id IN (SELECT id FROM refrain_request WHERE queue = $1 AND state = 2 \
            AND due IS NULL AND changed < \(Self.now) - $2::bigint LIMIT 10000 FOR UPDATE SKIP LOCKED)
            """,
            [queue, "\(keep.inMilliseconds)"]
        )
    }

    package func rows(_ selection: RowSelection) throws(QueueError) -> [RequestQueue.Item] {
        let (condition, values): (String, [String]) =
            switch selection {
            case .id(let id): ("id = $2::bigint", ["\(id)"])
            case .unfinished: ("due IS NOT NULL AND NOT behind LIMIT 1", [])
            case .outcome(nil, let id, let limit):
                ("id > $2::bigint ORDER BY id LIMIT $3::bigint", ["\(id)", "\(limit)"])
            case .outcome(let outcome?, let id, let limit):
                (
                    "state = $4::int AND id > $2::bigint ORDER BY id LIMIT $3::bigint",
                    ["\(id)", "\(limit)", "\(outcome.number)"]
                )
            }
        return try connection.query(
            """
            SELECT id, state, head, lane, dedupe, key, CASE WHEN state = 0 THEN due END, begun, changed, owner, \
            claims, status, error, record FROM refrain_request WHERE queue = $1 AND \(condition)
            """,
            [queue] + values
        ).map(Self.item)
    }

    private static func item(_ row: [String?]) -> RequestQueue.Item {
        func number(_ column: Int) -> Int64? { row[column].flatMap { Int64($0) } }
        func instant(_ column: Int) -> WallClock.Instant? {
            number(column).map { WallClock.Instant(sinceEpoch: .milliseconds($0)) }
        }
        return RequestQueue.Item(
            id: number(0) ?? 0,
            outcome: RequestQueue.Item.Outcome(number: number(1)),
            request: StoredRequest.title(ofHead: row[2] ?? ""),
            lane: row[3],
            name: row[4],
            key: row[5],
            due: instant(6),
            begun: instant(7),
            changed: instant(8) ?? WallClock.Instant(sinceEpoch: .zero),
            owner: row[9],
            claims: Int(clamping: number(10) ?? 0),
            status: number(11).map { HTTPStatus(rawValue: Int(clamping: $0)) },
            error: row[12],
            attempts: RecordText.decode(row[13] ?? "")
        )
    }

    package func settle(
        _ id: Int64,
        _ settlement: RequestQueue.Settlement,
        newKey: String
    ) throws(QueueError) -> Bool {
        switch settlement.kind {
        case .done:
            let sql = """
                UPDATE refrain_request SET state = 2, changed = \(Self.clock) \
                WHERE queue = $1 AND id = $2::bigint AND state IN (3, 4) RETURNING id
                """
            return try !connection.query(sql, [queue, "\(id)"]).isEmpty
        case .again(let hasNewKey):
            let sql = """
                UPDATE refrain_request SET state = 0, due = \(Self.clock), changed = \(Self.clock), claims = 0, \
                attempts = 0, behind = lane IS NOT NULL, error = NULL, \
                begun = CASE WHEN $3::boolean OR safety <> 1 THEN NULL ELSE begun END, \
                key = CASE WHEN NOT $3::boolean OR key IS NULL THEN key WHEN key LIKE '"%' THEN '"' || $4::text || '"' \
                ELSE $4::text END \
                WHERE queue = $1 AND id = $2::bigint AND state IN (3, 4) RETURNING id
                """
            return try !connection.query(sql, [queue, "\(id)", hasNewKey ? "t" : "f", newKey]).isEmpty
        }
    }

    package func isPaused() throws(QueueError) -> Bool {
        try connection.query("SELECT paused FROM refrain_queue WHERE name = $1", [queue]).first?.first == "t"
    }

    package func setPaused(_ isPaused: Bool) throws(QueueError) {
        _ = try connection.query(
            "UPDATE refrain_queue SET paused = $2::boolean WHERE name = $1",
            [queue, isPaused ? "t" : "f"]
        )
    }
}
#endif
