// SPDX-License-Identifier: Apache-2.0
internal import CSQLite
package import RefrainCore
internal import RefrainHTTP

/// The rows of a queue in a file of SQLite, which may be the application's own database.
///
/// Several processes may use one file. A claim lasts as long as its process: see ``OwnerSlot``. Times are milliseconds
/// of the wall clock.
package final class SQLiteStore: QueueStore {
    package var lease: Duration? { nil }
    package let pollInterval = Duration.milliseconds(200)

    /// The version of the tables.
    package static let version: Int64 = 2
    /// The `due` of rows that a worker has.
    private static let never: Int64 = .max

    private let database: Database
    private let path: String
    private let queue: String
    private let clocks: RetryClocks
    private var slot: OwnerSlot?
    /// When rows of dead processes are looked for, on the monotonic clock.
    private var nextTakeUp = Duration.zero
    /// The wall clock at the last upkeep.
    private var lastUpkeep = Int64.max

    /// Opens the file, and makes it or its tables where they are missing.
    package init(path: String, queue: String, clocks: RetryClocks) throws(QueueError) {
        (self.path, self.queue, self.clocks) = (path, queue, clocks)
        do throws(DatabaseError) {
            // A NUL would end the path.
            database = try Database(path: path.utf8.contains(0) ? "" : path)
            // The commit of a transaction is on the disk when it returns.
            try database.run("PRAGMA synchronous = FULL")
            // 16 MiB: with SQLite's 2 MB a queue of 100,000 requests reads most pages anew for each claim.
            try database.run("PRAGMA cache_size = -16384")
        } catch { throw Self.error(error, path) }
        guard database.file != nil else {
            let shown = PrintableText.line(path)
            throw QueueError(.cannotOpen, "a queue needs a file, which outlives the process; \"\(shown)\" names none")
        }
        try Self.prepare(database, path, queue: queue)
    }

    private var now: Int64 { clocks.wallNow.sinceEpoch.inMilliseconds }

    // MARK: Tables

    /// Makes the tables where they are missing, brings those of earlier versions up to date, and notes a queue.
    static func prepare(_ database: Database, _ path: String, queue: String) throws(QueueError) {
        var version: Int64?
        do throws(DatabaseError) {
            var names: Set<String> = []
            try database.prepare("SELECT name FROM sqlite_master").run { names.insert($0.text(0) ?? "") }
            // A database of the application's own keeps its journal.
            if names.isEmpty { try database.run("PRAGMA journal_mode = WAL") }
            if !names.contains("refrain_queue") { try database.run("BEGIN IMMEDIATE; \(Self.schema); COMMIT") }
            version = try Self.version(of: database)
            if version == 1 {
                try database.run("BEGIN IMMEDIATE")
                // Another process may have done it meanwhile.
                if try Self.version(of: database) == 1 { try database.run(Self.migration) }
                try database.run("COMMIT")
                version = try Self.version(of: database)
            }
            if version ?? Self.version == Self.version {
                try database.prepare("SELECT \(Self.columns), dedupe FROM refrain_request LIMIT 0").run()
                try database.prepare("INSERT OR IGNORE INTO refrain_queue (name, version, paused) VALUES (?, ?, 0)")
                    .run([.text(queue), .integer(Self.version)])
            }
        } catch {
            guard error.code != SQLITE_ERROR else {
                throw QueueError(
                    .foreign,
                    "\(path) has tables of these names that are not those of a queue, so use another file: \(error)"
                )
            }
            throw Self.error(error, path)
        }
        guard let version, version != Self.version else { return }
        throw QueueError(
            .newerVersion,
            "the tables of \(path) have version \(version), and this version of Refrain knows \(Self.version): update it"
        )
    }

    /// The version of the tables; nil: no queue is noted.
    package static func version(of database: Database) throws(DatabaseError) -> Int64? {
        var version: Int64?
        try database.prepare("SELECT max(version) FROM refrain_queue").run { version = $0.integer(0) }
        return version
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS refrain_queue (
            name TEXT PRIMARY KEY, version INTEGER NOT NULL, paused INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS refrain_request (
            id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, dedupe TEXT, lane TEXT,
            head TEXT NOT NULL, body BLOB, file TEXT, key TEXT, safety INTEGER NOT NULL,
            state INTEGER NOT NULL DEFAULT 0, due INTEGER, token INTEGER, owner TEXT,
            claims INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, begun INTEGER,
            changed INTEGER NOT NULL, status INTEGER, error TEXT, record TEXT, behind INTEGER NOT NULL DEFAULT 0);
        CREATE UNIQUE INDEX IF NOT EXISTS refrain_request_dedupe ON refrain_request (queue, dedupe)
            WHERE dedupe IS NOT NULL;
        CREATE INDEX IF NOT EXISTS refrain_request_begun ON refrain_request (queue, due, id)
            WHERE state = 0 AND begun IS NOT NULL;
        CREATE INDEX IF NOT EXISTS refrain_request_lane ON refrain_request (queue, lane, id)
            WHERE due IS NOT NULL AND lane IS NOT NULL;
        CREATE INDEX IF NOT EXISTS refrain_request_ended ON refrain_request (queue, state, changed) WHERE due IS NULL;
        \(lanes)
        """

    /// Keeps what is behind an older request of its lane out of the index in which claims look.
    ///
    /// Such a row has `behind` = 1 until the rows before it have outcomes or are gone. The oldest row of a lane without
    /// an outcome, and a claimed one, have 0.
    private static let lanes = """
        CREATE INDEX IF NOT EXISTS refrain_request_due ON refrain_request (queue, due, id)
            WHERE due IS NOT NULL AND behind = 0;
        \(trigger("end", after: "UPDATE OF due", if: "NEW.due IS NULL"))
        \(trigger("gone", after: "DELETE", if: "1"))
        """

    private static func trigger(_ name: String, after event: String, if condition: String) -> String {
        """
        CREATE TRIGGER IF NOT EXISTS refrain_request_\(name) AFTER \(event) ON refrain_request
            WHEN \(condition) AND OLD.due IS NOT NULL AND OLD.lane IS NOT NULL BEGIN
            UPDATE refrain_request SET behind = 0 WHERE id = (SELECT id FROM refrain_request
                WHERE queue = OLD.queue AND lane = OLD.lane AND due IS NOT NULL ORDER BY id LIMIT 1);
            END;
        """
    }

    /// Changes the tables of version 1.
    private static let migration = """
        ALTER TABLE refrain_request ADD COLUMN behind INTEGER NOT NULL DEFAULT 0;
        UPDATE refrain_request SET behind = 1 WHERE due IS NOT NULL AND state = 0 AND \(hasOlder("refrain_request"));
        DROP INDEX IF EXISTS refrain_request_due;
        \(lanes)
        UPDATE refrain_queue SET version = \(version)
        """

    /// Whether an older row of the lane of a row has no outcome yet.
    private static func hasOlder(_ row: String) -> String {
        """
        EXISTS (SELECT 1 FROM refrain_request o WHERE o.queue = \(row).queue AND o.lane = \(row).lane \
        AND o.due IS NOT NULL AND o.id < \(row).id)
        """
    }

    /// The columns that a claim reads, in the order of ``claim(_:_:)``.
    private static let columns = "id, head, body, file, key, safety, claims, attempts, begun"

    /// The INSERT of a request, also for the application's own transaction.
    static let insert = """
        INSERT INTO refrain_request (queue, dedupe, lane, head, body, file, key, safety, due, changed, behind) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
        EXISTS (SELECT 1 FROM refrain_request WHERE queue = ?1 AND lane = ?3 AND due IS NOT NULL)) \
        ON CONFLICT DO NOTHING
        """

    /// The values of ``insert``.
    static func values(_ new: NewRequest, queue: String, now: Int64) -> [Database.Value] {
        let request = new.request
        return [
            .text(queue), .optional(new.name), .optional(new.lane), .text(request.head),
            request.body.isEmpty ? .null : .blob(request.body), .optional(request.file?.text), .optional(request.key),
            .integer(request.safety.rawValue), .integer(now.addingSaturated(max(.zero, new.delay).inMilliseconds)),
            .integer(now),
        ]
    }

    // MARK: Enqueuing

    package func enqueue(_ requests: [NewRequest]) throws(QueueError) -> [Int64?] {
        try checkPlace()
        return try transaction { () throws(DatabaseError) in
            let insert = try statement(Self.insert)
            let now = now
            var ids: [Int64?] = []
            for request in requests {
                try insert.run(Self.values(request, queue: queue, now: now))
                ids.append(database.lastChanges > 0 ? database.lastRow : nil)
            }
            return ids
        }
    }

    // MARK: Claims

    /// No older row of the lane waits, and no row of it is with a worker; that may be a later one, where this one was
    /// settled to be sent again.
    private static let laneIsFree = """
        (r.lane IS NULL OR NOT \(hasOlder("r")) AND NOT EXISTS (SELECT 1 FROM refrain_request o \
        INDEXED BY refrain_request_due WHERE o.queue = r.queue AND o.due = \(never) AND o.behind = 0 \
        AND o.state = 1 AND o.lane = r.lane))
        """

    package func claim(_ limit: Int, token: Int64, wantsBegun: Bool) throws(QueueError) -> [Claim] {
        try checkPlace()
        let owner = try ownerSlot().owner
        try takeUpNow()
        let begun = wantsBegun ? "AND state = 0 AND begun IS NOT NULL" : ""
        let isFree = "queue = ? AND due <= ? AND behind = 0 \(begun) AND \(Self.laneIsFree)"
        // Without the lock for writing, which other processes may have while nothing is to be claimed.
        var ids: [Int64] = []
        do throws(DatabaseError) {
            try statement("SELECT id FROM refrain_request r WHERE \(isFree) ORDER BY due, id LIMIT ?")
                .run([.text(queue), .integer(now), .integer(Int64(limit))]) { row in ids.append(row.integer(0) ?? 0) }
        } catch { throw Self.error(error, path) }
        guard !ids.isEmpty else { return [] }
        return try transaction { () throws(DatabaseError) in
            let now = now
            var claims: [Claim] = []
            let select = try statement("SELECT \(Self.columns) FROM refrain_request r WHERE \(isFree) AND id = ?")
            for id in ids {
                try select.run([.text(queue), .integer(now), .integer(id)]) { row in
                    claims.append(Self.claim(row, token, now))
                }
            }
            // What may be repeated is begun here; the rest is by `begin`, in a commit of its own.
            let update = try statement(
                """
                UPDATE refrain_request SET state = 1, due = ?, token = ?, owner = ?, claims = claims + 1, changed = ?, \
                begun = CASE WHEN safety > 0 THEN coalesce(begun, ?) ELSE begun END WHERE id = ?
                """
            )
            for claim in claims {
                try update.run([
                    .integer(Self.never), .integer(token), .text(owner), .integer(now), .integer(now),
                    .integer(claim.id),
                ])
            }
            return claims
        }
    }

    private static func claim(_ row: Database.Statement, _ token: Int64, _ now: Int64) -> Claim {
        Claim(
            id: row.integer(0) ?? 0,
            token: token,
            request: StoredRequest(
                head: row.text(1) ?? "",
                body: row.blob(2),
                file: row.text(3).flatMap(FileReference.init),
                key: row.text(4),
                safety: row.integer(5).flatMap(StoredRequest.Safety.init) ?? .once
            ),
            claims: Int(clamping: row.integer(6) ?? 0).addingSaturated(1),
            attempts: Int(clamping: row.integer(7) ?? 0),
            age: row.integer(8).map { .milliseconds(max(0, now.subtractingSaturated($0))) }
        )
    }

    /// What a worker owns, whatever it writes.
    private static let isOwned = "id = ? AND token = ? AND due IS NOT NULL"

    package func begin(_ claims: [Claim]) throws(QueueError) -> [Bool] {
        try transaction { () throws(DatabaseError) in
            let update = try statement(
                "UPDATE refrain_request SET begun = coalesce(begun, ?), claims = ? WHERE \(Self.isOwned)"
            )
            let now = now
            var owned: [Bool] = []
            for claim in claims {
                try update.run([
                    .integer(now), .integer(Int64(claim.claims)), .integer(claim.id), .integer(claim.token),
                ])
                owned.append(database.lastChanges > 0)
            }
            return owned
        }
    }

    package func rest(_ claim: Claim, isUnsent: Bool) throws(QueueError) {
        try transaction { () throws(DatabaseError) in
            try statement(
                "UPDATE refrain_request SET claims = ?, begun = CASE WHEN ? THEN NULL ELSE begun END WHERE \(Self.isOwned)"
            ).run([
                .integer(Int64(claim.claims) - 1), .integer(isUnsent ? 1 : 0), .integer(claim.id),
                .integer(claim.token),
            ])
        }
    }

    /// Claims end with their process, so there is nothing to extend; but what this process has claimed and does not
    /// work on any more, since a write has failed, is due again.
    package func renew(_ tokens: Set<Int64>) throws(QueueError) -> Set<Int64> {
        guard let owner = slot?.owner else { return [] }
        let all = tokens.map { "\($0)" }.joined(separator: ",")
        var hasLeftovers = false
        do throws(DatabaseError) {
            let query = """
                SELECT 1 FROM refrain_request WHERE queue = ? AND due = \(Self.never) AND behind = 0 AND owner = ? \
                AND token NOT IN (\(all)) LIMIT 1
                """
            try database.prepare(query).run([.text(queue), .text(owner)]) { _ in hasLeftovers = true }
        } catch { throw Self.error(error, path) }
        guard hasLeftovers else { return [] }
        try transaction { () throws(DatabaseError) in
            let update = """
                UPDATE refrain_request SET state = 0, due = ?, token = NULL, owner = NULL \
                WHERE queue = ? AND due = \(Self.never) AND behind = 0 AND owner = ? AND token NOT IN (\(all))
                """
            try database.prepare(update).run([.integer(now), .text(queue), .text(owner)])
        }
        return []
    }

    package func finish(_ results: [ClaimResult]) throws(QueueError) -> [Bool] {
        try transaction { () throws(DatabaseError) in
            let update = try statement(
                """
                UPDATE refrain_request SET state = ?, due = ?, token = NULL, owner = NULL, \
                claims = CASE WHEN ? THEN 0 ELSE claims END, begun = CASE WHEN ? THEN NULL ELSE begun END, \
                attempts = attempts + ?, status = ?, error = ?, \
                record = CASE WHEN ?8 = '' THEN record ELSE substr(coalesce(record, '') || ?8, -65536) END, \
                changed = ? WHERE id = ? AND token = ? AND due IS NOT NULL
                """
            )
            let now = now
            var written: [Bool] = []
            for result in results {
                var due: Int64?
                if case .later(let delay) = result.outcome {
                    due = now.addingSaturated(max(.zero, delay).inMilliseconds).clampedDue
                }
                try update.run([
                    .integer(result.outcome.state.number), .optional(due), .integer(due == nil ? 0 : 1),
                    .integer(result.isUnsent ? 1 : 0), .integer(Int64(result.attempts)),
                    .optional(result.status.map(Int64.init)), .optional(result.error), .text(result.record),
                    .integer(now), .integer(result.id), .integer(result.token),
                ])
                written.append(database.lastChanges > 0)
            }
            return written
        }
    }

    package func release(_ claims: [Claim]) throws(QueueError) {
        try transaction { () throws(DatabaseError) in
            let update = try statement(
                """
                UPDATE refrain_request SET state = 0, due = ?, token = NULL, owner = NULL, claims = claims - 1, \
                begun = CASE WHEN ? THEN begun END WHERE \(Self.isOwned)
                """
            )
            for claim in claims {
                try update.run([
                    .integer(now), .integer(claim.age == nil ? 0 : 1), .integer(claim.id), .integer(claim.token),
                ])
            }
        }
    }

    // MARK: Upkeep

    package func tidy(keep: Duration) throws(QueueError) {
        try transaction { () throws(DatabaseError) in
            let now = now
            try statement(
                """
                DELETE FROM refrain_request WHERE id IN (SELECT id FROM refrain_request WHERE queue = ? AND state = 2 \
                AND due IS NULL AND changed < ? LIMIT 10000)
                """
            ).run([.text(queue), .integer(now.subtractingSaturated(keep.inMilliseconds))])
            defer { lastUpkeep = now }
            guard now < lastUpkeep else { return }
            // The clock was set back, or may have been before this process: a row that was written in the future waits
            // as long as it was meant to, and its key is as old as it was then.
            try statement(
                """
                UPDATE refrain_request SET due = CASE WHEN state = 0 THEN ?2 + (due - changed) ELSE due END, \
                begun = ?2 + (begun - changed), changed = ?2 WHERE queue = ?1 AND changed > ?2 + 60000
                """
            ).run([.text(queue), .integer(now)])
        }
    }

    /// Makes the rows of processes that have ended due, within one and a half intervals at which a worker looks.
    private func takeUpNow() throws(QueueError) {
        guard let slot, clocks.now >= nextTakeUp else { return }
        nextTakeUp = clocks.now + pollInterval / 2
        try takeUp(of: [queue]) { slot.isDead($0) }
    }

    /// Makes the rows of dead owners due.
    private func takeUp(of queues: [String], where isDead: (String) -> Bool) throws(QueueError) {
        var rows: [(queue: String, owner: String)] = []
        do throws(DatabaseError) {
            for queue in queues {
                try statement(
                    "SELECT DISTINCT owner FROM refrain_request WHERE queue = ? AND due = \(Self.never) AND behind = 0"
                ).run([.text(queue)]) { row in row.text(0).map { rows.append((queue, $0)) } }
            }
        } catch { throw Self.error(error, path) }
        let dead = rows.filter { isDead($0.owner) }
        guard !dead.isEmpty else { return }
        try transaction { () throws(DatabaseError) in
            for (queue, owner) in dead {
                try statement(
                    """
                    UPDATE refrain_request SET state = 0, due = ?, token = NULL, owner = NULL \
                    WHERE queue = ? AND due = \(Self.never) AND behind = 0 AND owner = ?
                    """
                ).run([.integer(now), .text(queue), .text(owner)])
            }
        }
    }

    private func ownerSlot() throws(QueueError) -> OwnerSlot {
        if let slot { return slot }
        // One lock file for all paths to the file: a process may have another folder by now, and a path may be a link.
        let slot = try OwnerSlot(besides: database.file.flatMap(FileReference.real) ?? path)
        // What an earlier process of this slot has left is free, also where it had the same number, and in all queues
        // of the file: to the stores of the others that process seems to live as long as the slot is taken.
        try takeUp(of: try queues()) { $0.hasPrefix("\(slot.number)/") || slot.isDead($0) }
        self.slot = slot
        return slot
    }

    private func queues() throws(QueueError) -> [String] {
        var names: [String] = []
        do throws(DatabaseError) {
            try statement("SELECT name FROM refrain_queue").run { row in row.text(0).map { names.append($0) } }
        } catch { throw Self.error(error, path) }
        return names
    }

    // MARK: Reading and settling

    package func rows(_ selection: RowSelection) throws(QueueError) -> [RequestQueue.Item] {
        let columns = """
            id, state, head, lane, dedupe, key, CASE WHEN state = 0 THEN due END, begun, changed, owner, claims, \
            status, error, record
            """
        let (condition, values): (String, [Database.Value]) =
            switch selection {
            case .id(let id): ("id = ?", [.integer(id)])
            case .unfinished: ("due IS NOT NULL AND behind = 0 LIMIT 1", [])
            case .outcome(let outcome, let id, let limit):
                (
                    "\(Self.condition(of: outcome)) LIMIT ?",
                    (outcome.map { [.integer($0.number)] } ?? []) + [.integer(id), .integer(Int64(limit))]
                )
            }
        do throws(DatabaseError) {
            var items: [RequestQueue.Item] = []
            try statement("SELECT \(columns) FROM refrain_request WHERE queue = ? AND \(condition)")
                .run([.text(queue)] + values) { items.append(Self.item($0)) }
            return items
        } catch { throw Self.error(error, path) }
    }

    /// The condition and order of the rows of an outcome.
    ///
    /// The few with such a state are looked up and sorted (the `+` keeps SQLite from reading all rows in the order
    /// of their identifiers); the others are read in that order.
    private static func condition(of outcome: RequestQueue.Item.Outcome?) -> String {
        switch outcome {
        case nil: "id > ? ORDER BY id"
        case .ready, .done: "state = ? AND id > ? ORDER BY id"
        case .claimed: "due = \(never) AND behind = 0 AND state = ? AND id > ? ORDER BY +id"
        case .failed, .unknown: "due IS NULL AND state = ? AND id > ? ORDER BY +id"
        }
    }

    private static func item(_ row: Database.Statement) -> RequestQueue.Item {
        RequestQueue.Item(
            id: row.integer(0) ?? 0,
            outcome: RequestQueue.Item.Outcome(number: row.integer(1)),
            request: StoredRequest.title(ofHead: row.text(2) ?? ""),
            lane: row.text(3),
            name: row.text(4),
            key: row.text(5),
            due: row.integer(6).map { WallClock.Instant(sinceEpoch: .milliseconds($0)) },
            begun: row.integer(7).map { WallClock.Instant(sinceEpoch: .milliseconds($0)) },
            changed: WallClock.Instant(sinceEpoch: .milliseconds(row.integer(8) ?? 0)),
            owner: row.text(9),
            claims: Int(clamping: row.integer(10) ?? 0),
            status: row.integer(11).map { HTTPStatus(rawValue: Int(clamping: $0)) },
            error: row.text(12),
            attempts: RecordText.decode(row.text(13) ?? "")
        )
    }

    package func settle(
        _ id: Int64,
        _ settlement: RequestQueue.Settlement,
        newKey: String
    ) throws(QueueError) -> Bool {
        try transaction { () throws(DatabaseError) in
            let now = now
            switch settlement.kind {
            case .done:
                try statement(
                    """
                    UPDATE refrain_request SET state = 2, changed = ? WHERE queue = ? AND id = ? AND state IN (3, 4)
                    """
                ).run([.integer(now), .text(queue), .integer(id)])
            case .again(let hasNewKey):
                try statement(
                    """
                    UPDATE refrain_request SET state = 0, due = ?1, changed = ?1, claims = 0, attempts = 0, \
                    behind = \(Self.hasOlder("refrain_request")), error = NULL, begun = CASE WHEN ?2 OR safety <> 1 THEN NULL ELSE begun END, \
                    key = CASE WHEN NOT ?2 OR key IS NULL THEN key WHEN key LIKE '"%' THEN '"' || ?3 || '"' ELSE ?3 END \
                    WHERE queue = ?4 AND id = ?5 AND state IN (3, 4)
                    """
                ).run([
                    .integer(now), .integer(hasNewKey ? 1 : 0), .text(newKey), .text(queue), .integer(id),
                ])
            }
            return database.lastChanges > 0
        }
    }

    package func isPaused() throws(QueueError) -> Bool {
        var isPaused = false
        do throws(DatabaseError) {
            try statement("SELECT paused FROM refrain_queue WHERE name = ?").run([.text(queue)]) {
                isPaused = $0.integer(0) != 0
            }
        } catch { throw Self.error(error, path) }
        return isPaused
    }

    package func setPaused(_ isPaused: Bool) throws(QueueError) {
        try transaction { () throws(DatabaseError) in
            try statement("UPDATE refrain_queue SET paused = ? WHERE name = ?")
                .run([.integer(isPaused ? 1 : 0), .text(queue)])
        }
    }

    /// Limits the size of the file, as a full disk does.
    func limitPages(to count: Int) throws(DatabaseError) { try database.run("PRAGMA max_page_count = \(count)") }

    /// Refuses to go on with a file that was moved, replaced or removed: with its journal SQLite does not notice, and
    /// what is written then is lost when the last process closes it, or is another one's as well.
    private func checkPlace() throws(QueueError) {
        guard database.hasMoved else { return }
        throw QueueError(.storeFailed, "\(path) was moved or removed while it was in use: open the queue anew")
    }

    // MARK: Statements

    private func statement(_ sql: String) throws(DatabaseError) -> Database.Statement { try database.statement(sql) }

    private func transaction<Value>(_ body: () throws(DatabaseError) -> Value) throws(QueueError) -> Value {
        do throws(DatabaseError) { return try database.transaction(body) } catch { throw Self.error(error, path) }
    }

    /// The error of a queue for one of its file.
    static func error(_ error: DatabaseError, _ path: String) -> QueueError {
        let (kind, advice): (QueueError.Code, String?) =
            switch error.code {
            case SQLITE_FULL: (.full, "make space for it")
            case SQLITE_READONLY: (.readOnly, "this user must be allowed to write the file and its folder")
            case SQLITE_CANTOPEN, SQLITE_PERM:
                (.cannotOpen, "its folder must be there, and this user must be allowed to write it")
            case SQLITE_CORRUPT: (.damaged, "put it aside; `sqlite3 FILE .recover` reads what is left of it")
            case SQLITE_NOTADB: (.damaged, "use another file")
            case SQLITE_BUSY, SQLITE_LOCKED: (.busy, nil)
            default: (.storeFailed, nil)
            }
        return QueueError(kind, "\(advice.map(error.adding) ?? error)")
    }
}

extension Int64 {
    /// A due time that is not taken for that of a claimed row.
    fileprivate var clampedDue: Int64 { Swift.min(self, .max - 1) }
}
