// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension RequestList {
    /// Rows of lists in a file of SQLite, which one run at a time uses.
    ///
    /// So a row that another run has claimed was left behind by one that has ended, and is free at once.
    package final class FileStore: Store {
        package let claims = Claims(Lease(nil, from: .now))
        package var nameLimit: Int? { nil }
        package var renewalInterval: Duration? { nil }

        private let database: Database
        private let path: String
        private let list: String?
        private let token = Int64.random(in: 1...Int64.max)
        /// The requests of this run; nil: the file had none before.
        private var seen: Set<Int64>?
        /// The last row that was found; those of a list that is run again follow each other.
        private var last: Int64 = 0
        /// The rows after it, as long as none of them has changed.
        private var following = Following()

        /// The queue that the rows are in.
        private static let queue = "list"

        /// Opens a file that has the tables.
        ///
        /// - Parameter list: the list of this run; nil: its requests belong to no list that can be read again.
        package init(path: String, list: String?) throws(QueueError) {
            (self.path, self.list) = (path, list)
            var isEmpty = true
            do throws(DatabaseError) {
                database = try Database(path: path)
                try database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000")
                try database.prepare("SELECT 1 FROM refrain_request WHERE queue = ? LIMIT 1")
                    .run([.text(Self.queue)]) { _ in isEmpty = false }
            } catch { throw SQLiteStore.error(error, path) }
            seen = isEmpty ? nil : []
        }

        /// What the tables of a queue have besides for lists.
        ///
        /// Nothing tidies a list, so that the index of what has ended would cost more than it brings.
        private static let additions = """
            BEGIN IMMEDIATE;
            ALTER TABLE refrain_request ADD COLUMN list TEXT;
            ALTER TABLE refrain_request ADD COLUMN output TEXT;
            ALTER TABLE refrain_request ADD COLUMN target TEXT;
            ALTER TABLE refrain_request ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE refrain_request ADD COLUMN validator TEXT;
            DROP INDEX refrain_request_ended;
            CREATE UNIQUE INDEX refrain_request_target ON refrain_request (queue, target) WHERE target IS NOT NULL;
            CREATE TABLE refrain_list (queue TEXT NOT NULL, name TEXT NOT NULL, isRead INTEGER NOT NULL,
                PRIMARY KEY (queue, name)) WITHOUT ROWID;
            COMMIT
            """

        /// Makes the tables in a file that has none of them.
        package static func makeTables(in database: Database, _ path: String) throws(DatabaseError) {
            do throws(QueueError) {
                try SQLiteStore.prepare(database, path, queue: queue)
            } catch {
                throw DatabaseError(error.description, isUnusable: false)
            }
            try database.run(additions)
        }

        /// The version of the tables.
        package static let version = SQLiteStore.version

        /// The version of the tables of a file; nil: it has none.
        package static func version(of database: Database) throws(DatabaseError) -> Int64? {
            var isThere = false
            try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'refrain_queue'").run { _ in isThere = true }
            return isThere ? try SQLiteStore.version(of: database) : nil
        }

        /// Whether a file has the tables.
        package static func hasTables(_ database: Database) throws(DatabaseError) -> Bool {
            var names: Set<String> = []
            let text = "SELECT name FROM pragma_table_info('refrain_request') UNION SELECT name FROM sqlite_master"
            try database.prepare(text).run { names.insert($0.text(0) ?? "") }
            return names.isSuperset(of: ["dedupe", "head", "target", "refrain_list"])
        }

        private static var now: Int64 { WallClock.Instant.now.sinceEpoch.inMilliseconds }
        private var now: Int64 { Self.now }

        // MARK: Reading

        /// The columns of a row, in the order of ``row(_:now:runner:)``.
        package static let columns = "head, owner, " + outcomeColumns
        /// Those that a run reads of a request that it knows.
        private static let outcomeColumns = """
            id, dedupe, state, key, begun, attempts, claims, status, error, record, changed, token, \
            coalesce(output, target), bytes, validator
            """

        private static let partial = "partial"
        private static let forgotten = "forgotten"

        private static func row(_ row: Database.Statement, now: Int64, runner: Int32?) -> Row {
            var found = Self.row(row, from: 2, title: row.text(0) ?? "", now: now)
            if let runner, found.isLeftBehind, row.text(1) == "\(runner)" {
                (found.owner, found.isLeftBehind) = ("pid \(runner)", false)
            }
            return found
        }

        /// A row, from the first of the ``outcomeColumns`` on.
        ///
        /// - Parameter mine: the token of this run.
        private static func row(
            _ row: Database.Statement,
            from first: Int32,
            title: String,
            now: Int64,
            mine: Int64? = nil
        ) -> Row {
            let outcome = RequestQueue.Item.Outcome(number: row.integer(first + 2))
            let (note, token) = (row.text(first + 9), row.integer(first + 11))
            return Row(
                revision: .init(
                    id: row.integer(first) ?? 0,
                    outcome: outcome,
                    changed: row.integer(first + 10) ?? 0,
                    token: token
                ),
                name: row.text(first + 1) ?? "",
                title: title,
                outcome: outcome,
                isPartial: outcome == .failed && note == partial,
                isForgotten: outcome == .done && note == forgotten,
                key: row.text(first + 3),
                age: row.integer(first + 4).map { .milliseconds(now.subtractingSaturated($0)) },
                attempts: max(0, Int(clamping: row.integer(first + 5) ?? 0)),
                claims: max(0, Int(clamping: row.integer(first + 6) ?? 0)),
                status: row.integer(first + 7).map { Int(clamping: $0) },
                error: row.text(first + 8),
                file: row.text(first + 12),
                bytes: max(0, row.integer(first + 13) ?? 0),
                validator: row.text(first + 14),
                isLeftBehind: token != nil && token != mine
            )
        }

        /// Reads all rows of a file, or of a query for these ``columns``.
        ///
        /// - Parameters:
        ///   - runner: the process that uses the file for a run; nil: none does.
        ///   - row: is called with each row before an error ends the reading.
        package static func read(
            _ database: Database,
            from query: String? = nil,
            runner: Int32?,
            _ row: (Row) -> Void
        ) throws(DatabaseError) {
            let now = now
            let all = "SELECT \(columns) FROM refrain_request NOT INDEXED WHERE queue = '\(queue)'"
            try database.prepare(query ?? all).run { row(Self.row($0, now: now, runner: runner)) }
        }

        package func all() throws(QueueError) -> [Row] {
            var rows: [Row] = []
            let select = "SELECT \(Self.columns) FROM refrain_request WHERE queue = ?"
            do throws(DatabaseError) {
                try statement(select).run([.text(Self.queue)]) { [now] in
                    rows.append(Self.row($0, now: now, runner: nil))
                }
            } catch { throw SQLiteStore.error(error, path) }
            return rows
        }

        // MARK: Registering

        package func register(
            _ requests: [New],
            isDurable: Bool,
            taking: (Row, Int) -> Taking
        ) throws(QueueError) -> [Row?] {
            try transaction(isDurable: isDurable) { () throws(DatabaseError) in
                try readFollowing(requests.count)
                var rows: [Row?] = []
                rows.reserveCapacity(requests.count)
                for index in requests.indices {
                    var row = following.take(requests[index], in: list)
                    if row == nil { row = try self.row(of: requests[index]) { taking($0, index) } }
                    if let row {
                        last = row.id
                        seen?.insert(row.id)
                    }
                    rows.append(row)
                }
                return rows
            }
        }

        /// A row that was there before, with what only the file knows of it.
        private struct Known {
            var row: Row
            let isListed: Bool
            let hasTarget: Bool

            static let columns = "list IS ?, target IS NOT NULL, " + outcomeColumns

            /// Whether it says of a request what is to be said.
            func isSame(as request: New, in list: String?) -> Bool {
                (list == nil || isListed) && (request.target == nil || hasTarget && row.file == request.file)
            }
        }

        /// Rows that are read ahead, in the order in which they were registered.
        private struct Following {
            private var rows: [Known] = []
            private var next = 0

            mutating func append(_ row: Known) { rows.append(row) }

            /// The next row, if it is that of a request, and says what is to be said of it.
            mutating func take(_ request: New, in list: String?) -> Row? {
                guard next < rows.count, rows[next].row.name == request.name,
                    rows[next].isSame(as: request, in: list)
                else { return nil }
                next += 1
                return rows[next - 1].row
            }

            mutating func drop(through id: Int64) {
                while next < rows.count, rows[next].row.id <= id { next += 1 }
            }
        }

        private func readFollowing(_ count: Int) throws(DatabaseError) {
            following = Following()
            guard seen != nil else { return }
            let select = """
                SELECT \(Known.columns) FROM refrain_request WHERE queue = ? AND id > ? ORDER BY id LIMIT ?
                """
            try statement(select).run([
                .optional(list), .text(Self.queue), .integer(last), .integer(Int64(count)),
            ]) { [now] in following.append(known($0, now)) }
        }

        private func find(_ request: New) throws(DatabaseError) -> Known? {
            guard seen != nil else { return nil }
            if let found = try find(named: request.name) {
                following.drop(through: found.row.id)
                return found
            }
            guard let earlier = request.earlierName else { return nil }
            try statement("UPDATE OR IGNORE refrain_request SET dedupe = ? WHERE queue = ? AND dedupe = ?")
                .run([.text(request.name), .text(Self.queue), .text(earlier)])
            return database.lastChanges > 0 ? try find(named: request.name) : nil
        }

        private func find(named name: String) throws(DatabaseError) -> Known? {
            var found: Known?
            try statement("SELECT \(Known.columns) FROM refrain_request WHERE queue = ? AND dedupe = ?")
                .run([.optional(list), .text(Self.queue), .text(name)]) { [now] in found = known($0, now) }
            return found
        }

        private func known(_ found: Database.Statement, _ now: Int64) -> Known {
            Known(
                row: Self.row(found, from: 2, title: "", now: now, mine: token),
                isListed: found.integer(0) == 1,
                hasTarget: found.integer(1) == 1
            )
        }

        /// The row of a request, made where there was none; nil: its file belongs to another request.
        private func row(of request: New, taking: (Row) -> Taking) throws(DatabaseError) -> Row? {
            var known = try find(request)
            if known == nil {
                if let row = try insert(request) { return row }
                // This run has made it before, or a row of another request has its file.
                known = try find(named: request.name)
            }
            guard var known else { return try take(request.target, taking) ? try insert(request) : nil }
            if known.isSame(as: request, in: list) { return known.row }
            if list != nil, !known.isListed {
                try statement("UPDATE refrain_request SET list = ? WHERE id = ?")
                    .run([.optional(list), .integer(known.row.id)])
            }
            guard request.target != nil, known.row.file != request.file || !known.hasTarget else { return known.row }
            // Its file has another name by the options of this run, or another request had the name meanwhile.
            var isRenamed = try rename(known.row.id, request)
            if !isRenamed, try take(request.target, taking) { isRenamed = try rename(known.row.id, request) }
            known.row.file = request.file
            return isRenamed ? known.row : nil
        }

        private func insert(_ request: New) throws(DatabaseError) -> Row? {
            let now = now
            try statement(
                """
                INSERT INTO refrain_request (queue, dedupe, head, key, safety, changed, list, target, output) \
                VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """
            ).run(
                [
                    .text(Self.queue), .text(request.name), .text(request.title), .optional(request.key),
                    .integer(now), .optional(list),
                ] + Self.names(of: request)
            )
            guard database.lastChanges > 0 else { return nil }
            var row = Row(
                revision: .init(id: database.lastRow, changed: now),
                name: request.name,
                title: "",
                outcome: .ready
            )
            (row.key, row.file) = (request.key, request.file)
            return row
        }

        private func rename(_ id: Int64, _ request: New) throws(DatabaseError) -> Bool {
            try statement("UPDATE OR IGNORE refrain_request SET target = ?, output = ? WHERE id = ?")
                .run(Self.names(of: request) + [.integer(id)])
            return database.lastChanges > 0
        }

        /// The values of `target` and `output`, which is that of `target` unless it is given.
        private static func names(of request: New) -> [Database.Value] {
            [.optional(request.target), request.file == request.target ? .null : .optional(request.file)]
        }

        /// Takes a file from a request that does not belong to this run.
        private func take(_ target: String?, _ taking: (Row) -> Taking) throws(DatabaseError) -> Bool {
            var found: Row?
            try statement("SELECT \(Self.columns) FROM refrain_request WHERE queue = ? AND target = ?")
                .run([.text(Self.queue), .optional(target)]) { [now] in found = Self.row($0, now: now, runner: nil) }
            guard let found, let seen, !seen.contains(found.id) else { return false }
            // What was read ahead may be of that row.
            following = Following()
            switch taking(found) {
            case .nothing: return false
            case .file:
                try statement(
                    "UPDATE refrain_request SET target = NULL, output = coalesce(output, target) WHERE id = ?"
                )
                .run([.integer(found.id)])
            case .row: try statement("DELETE FROM refrain_request WHERE id = ?").run([.integer(found.id)])
            }
            return true
        }

        // MARK: Claims

        package func renew() {}

        package func claim(_ rows: [Row.Revision]) throws(QueueError) -> [Bool] {
            guard !rows.isEmpty else { return [] }
            let taken = try transaction { () throws(DatabaseError) in
                let update = try statement(
                    """
                    UPDATE refrain_request SET token = ?, owner = ? \
                    WHERE id = ? AND state = ? AND (token IS ? OR token = ?1)
                    """
                )
                var taken: [Bool] = []
                for row in rows {
                    try update.run([
                        .integer(token), .text("\(getpid())"), .integer(row.id), .integer(row.outcome.number),
                        .optional(row.token),
                    ])
                    taken.append(database.lastChanges > 0)
                }
                return taken
            }
            claims.ids.withLock { ids in
                for (row, isTaken) in zip(rows, taken) where isTaken { ids.insert(row.id) }
            }
            return taken
        }

        package func begin(_ id: Int64, age: Duration, key: String?) throws(QueueError) -> Bool {
            try transaction(isDurable: true) { () throws(DatabaseError) in
                try statement(
                    """
                    UPDATE refrain_request SET state = 0, begun = ?, key = ?, attempts = attempts + 1, \
                    claims = claims + 1 WHERE \(Self.isOwned)
                    """
                ).run([
                    .integer(now.subtractingSaturated(age.inMilliseconds)), .optional(key), .integer(id),
                    .integer(token),
                ])
                return database.lastChanges > 0
            }
        }

        private static let isOwned = "id = ? AND token = ?"

        package func count(_ sends: [(id: Int64, count: Int, claims: Int)]) throws(QueueError) -> [Bool] {
            try transaction { () throws(DatabaseError) in
                let update = try statement(
                    """
                    UPDATE refrain_request SET attempts = attempts + ?, claims = max(0, claims + ?) \
                    WHERE \(Self.isOwned)
                    """
                )
                var owned: [Bool] = []
                for sends in sends {
                    try update.run([
                        .integer(Int64(sends.count)), .integer(Int64(sends.claims)), .integer(sends.id),
                        .integer(token),
                    ])
                    owned.append(database.lastChanges > 0)
                }
                return owned
            }
        }

        package func finish(_ results: [Result], mayBeWritten: Bool) throws(QueueError) -> [Bool] {
            let written = try transaction { () throws(DatabaseError) in
                let update = try statement(
                    """
                    UPDATE refrain_request SET state = ?, token = NULL, owner = NULL, claims = 0, \
                    attempts = attempts + ?, begun = CASE WHEN ? THEN begun END, status = ?, error = ?, record = ?, \
                    bytes = ?, validator = ?, changed = ? WHERE \(Self.isOwned)
                    """
                )
                let now = now
                var written: [Bool] = []
                for result in results {
                    try update.run([
                        .integer(result.outcome.number), .integer(Int64(result.attempts)),
                        .integer(result.hasBegun ? 1 : 0), .optional(result.status.map(Int64.init)),
                        .optional(result.error), result.isPartial ? .text(Self.partial) : .null,
                        .integer(result.bytes), .optional(result.validator), .integer(now), .integer(result.id),
                        .integer(token),
                    ])
                    let isWritten = database.lastChanges > 0
                    if !isWritten, try !exists(result.id) {
                        throw DatabaseError("\(path) has lost rows of requests that are under way")
                    }
                    written.append(isWritten)
                }
                return written
            }
            claims.ids.withLock { $0.subtract(results.map(\.id)) }
            return written
        }

        private func exists(_ id: Int64) throws(DatabaseError) -> Bool {
            var exists = false
            try statement("SELECT 1 FROM refrain_request WHERE id = ?").run([.integer(id)]) { _ in exists = true }
            return exists
        }

        /// Gives back what this run has claimed and not sent; what it may have sent is free when it ends.
        package func release() throws(QueueError) {
            let ids = claims.ids.withLock { ids in
                defer { ids = [] }
                return ids
            }
            guard !ids.isEmpty else { return }
            try transaction { () throws(DatabaseError) in
                let update = try statement(
                    "UPDATE refrain_request SET token = NULL, owner = NULL WHERE \(Self.isOwned) AND begun IS NULL"
                )
                for id in ids { try update.run([.integer(id), .integer(token)]) }
            }
        }

        // MARK: Lists

        package func note(list name: String, isRead: Bool) throws(QueueError) {
            try transaction { () throws(DatabaseError) in
                try statement("INSERT OR REPLACE INTO refrain_list VALUES (?, ?, ?)")
                    .run([.text(Self.queue), .text(name), .integer(isRead ? 1 : 0)])
            }
        }

        /// Whether the lists of a file were read to their ends; nil: no list is noted.
        package static func areListsRead(_ database: Database) throws(DatabaseError) -> Bool? {
            var areRead: Bool?
            try database.prepare("SELECT min(isRead) FROM refrain_list WHERE queue = ?").run([.text(queue)]) {
                areRead = $0.integer(0).map { $0 != 0 }
            }
            return areRead
        }

        package func forgetLeftovers() throws(QueueError) -> (count: Int, files: [String]) {
            guard let seen, list != nil else { return (0, []) }
            return try transaction { () throws(DatabaseError) in
                var rows: [(id: Int64, file: String?)] = []
                let select = """
                    SELECT id, coalesce(output, target), target FROM refrain_request \
                    WHERE state <> 2 AND queue = ? AND list = ? AND key IS NULL AND begun IS NULL
                    """
                try statement(select).run([.text(Self.queue), .optional(list)]) { row in
                    guard let id = row.integer(0), !seen.contains(id) else { return }
                    // Without the second name another request has the file.
                    rows.append((id, row.text(2) == nil ? nil : row.text(1)))
                }
                let delete = try statement("DELETE FROM refrain_request WHERE id = ?")
                for row in rows { try delete.run([.integer(row.id)]) }
                return (rows.count, rows.compactMap(\.file))
            }
        }

        // MARK: Settling

        package func settle(_ changes: [(row: Row, settlement: Settlement)]) throws(QueueError) {
            try transaction(isDurable: true) { () throws(DatabaseError) in
                for (row, settlement) in changes {
                    let change =
                        switch settlement {
                        case .again: "state = 0, begun = NULL, key = NULL, error = NULL, record = NULL"
                        case .againWithKey: "state = 0, error = NULL, record = NULL"
                        case .forgotten: "state = 2, record = '\(Self.forgotten)'"
                        }
                    let revision = row.revision
                    try statement(
                        """
                        UPDATE refrain_request SET \(change), token = NULL, owner = NULL, claims = 0, changed = ? \
                        WHERE id = ? AND state = ? AND token IS ?
                        """
                    ).run([
                        .integer(now), .integer(revision.id), .integer(revision.outcome.number),
                        .optional(revision.token),
                    ])
                    guard database.lastChanges > 0 else { throw DatabaseError("\(row.title) has changed meanwhile") }
                }
            }
        }

        // MARK: Statements

        private func statement(_ sql: String) throws(DatabaseError) -> Database.Statement {
            try database.statement(sql)
        }

        /// Runs a transaction.
        ///
        /// - Parameter isDurable: whether its changes are on the disk when this returns.
        private func transaction<Value>(
            isDurable: Bool = false,
            _ body: () throws(DatabaseError) -> Value
        ) throws(QueueError) -> Value {
            do throws(DatabaseError) {
                if isDurable { try statement("PRAGMA synchronous = FULL").run() }
                defer { if isDurable { try? statement("PRAGMA synchronous = NORMAL").run() } }
                return try database.transaction(body)
            } catch { throw SQLiteStore.error(error, path) }
        }
    }
}
