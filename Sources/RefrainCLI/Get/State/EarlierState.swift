// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// The tables of a state that an earlier version has written; a run takes their rows over.
enum EarlierState {
    /// Whether a file has the table, whose rows are not taken over then.
    static func isThere(in database: Database) throws(DatabaseError) -> Bool { try has("requests", in: database) }

    private static func has(_ table: String, in database: Database) throws(DatabaseError) -> Bool {
        var isThere = false
        try database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").run([.text(table)]) { _ in
            isThere = true
        }
        return isThere
    }

    private static func columns(of database: Database) throws(DatabaseError) -> Set<String> {
        var columns: Set<String> = []
        try database.prepare("SELECT name FROM pragma_table_info('requests')").run { row in
            if let name = row.text(0) { columns.insert(name) }
        }
        return columns
    }

    /// The version of the tables.
    static func version(of database: Database) throws(DatabaseError) -> Int64 {
        var version: Int64 = 0
        try database.prepare("PRAGMA user_version").run { version = $0.integer(0) ?? 0 }
        return version
    }

    /// Refuses a table that is not a state's.
    static func check(_ database: Database, _ path: String) throws(DatabaseError) {
        let needed = ["identity", "url", "method", "name", "folded", "outcome", "key", "ended"]
        guard try columns(of: database).isSuperset(of: needed) else {
            throw DatabaseError("\(path) has a table of requests that is not refrain's")
        }
    }

    /// Makes a view in the place of the table, by which the versions that made that see a state of a later version.
    ///
    /// They would take the file for another program's otherwise, and advise to begin anew, with all orders.
    static func makeView(in database: Database) throws(DatabaseError) {
        try database.run(
            """
            CREATE VIEW requests AS SELECT dedupe AS identity, substr(head, instr(head, ' ') + 1) AS url,
                substr(head, 1, instr(head, ' ') - 1) AS method, coalesce(output, target) AS name, target AS folded,
                CASE state WHEN 2 THEN 'done' WHEN 3 THEN coalesce(record, 'failed') WHEN 4 THEN 'unknown'
                    ELSE 'pending' END AS outcome,
                status, validator, bytes, attempts, key, error, changed / 1000.0 AS ended, list, begun / 1000.0 AS begun
                FROM refrain_request WHERE queue = 'list';
            PRAGMA user_version = \(RequestList.FileStore.version)
            """
        )
    }

    /// A query for whether each request is done.
    static let outcomes = "SELECT outcome = 'done' FROM requests NOT INDEXED"

    /// The name of the row of a request whose identity a version gave it that knew less of a request.
    static func row(ofIdentity identity: String) -> String { "old \(identity)" }

    /// The identity of a request, by the name of its row.
    static func identity(ofRow name: String) -> String {
        name.hasPrefix("old ") ? String(name.dropFirst(4)) : name
    }

    /// Whether all lists were read to their ends; nil: no list is noted.
    static func areListsRead(_ database: Database) throws(DatabaseError) -> Bool? {
        guard try has("lists", in: database) else { return nil }
        var areRead: Bool?
        try database.prepare("SELECT min(isRead) FROM lists").run { areRead = $0.integer(0).map { $0 != 0 } }
        return areRead
    }

    /// A query for the rows, with the ``RequestList/FileStore/columns``.
    ///
    /// - Parameter runner: the process that uses the file for a run; nil: none does.
    static func rows(_ database: Database, runner: Int32?) throws(DatabaseError) -> String {
        let rows = try select(database, foldsNames: true, runner: runner)
        return "SELECT \(RequestList.FileStore.columns) FROM (\(rows))"
    }

    /// A query for the rows as today's table has them.
    private static func select(
        _ database: Database,
        foldsNames: Bool,
        runner: Int32? = nil
    ) throws(DatabaseError) -> String {
        let columns = try columns(of: database)
        func column(_ name: String, else other: String = "NULL") -> String { columns.contains(name) ? name : other }
        let knowsBegun = columns.contains("begun")
        // Versions before that gave each order a key, whether or not the server knew keys.
        let begun = knowsBegun ? "begun" : "CASE WHEN key IS NOT NULL THEN ifnull(ended, unixepoch()) END"
        let isUnknown = "key IS NOT NULL AND outcome = 'failed' AND (status IS NULL OR status >= 500)"
        let outcome = knowsBegun ? "outcome" : "CASE WHEN \(isUnknown) THEN 'unknown' ELSE outcome END"
        let isOld = knowsBegun ? column("isOld", else: "0") : "1"
        let safe = "'GET', 'HEAD', 'OPTIONS', 'PRI', 'PROPFIND', 'QUERY', 'REPORT', 'SEARCH', 'TRACE'"
        let settled = column("settled")
        // A run has not ended in order, or is under way.
        let wasRunning =
            try has("running", in: database) ? "outcome = 'pending' AND EXISTS (SELECT 1 FROM running)" : "0"
        // Version 0 ignored the case of names everywhere.
        let ignoresCase = try version(of: database) > 0 || foldsNames
        let target = ignoresCase ? "folded" : "CASE WHEN folded IS NOT NULL THEN name END"
        return """
            SELECT 0 AS id, method || ' ' || url AS head, key, attempts, \(column("claims", else: "0")) AS claims, status,
            CASE WHEN \(isOld) AND method NOT IN (\(safe)) THEN 'old ' || identity
                ELSE identity END AS dedupe,
            CASE \(outcome) WHEN 'done' THEN 2 WHEN 'failed' THEN 3 WHEN 'partial' THEN 3 WHEN 'unknown' THEN 4
                ELSE 0 END AS state,
            CAST(1000 * \(begun) AS INTEGER) AS begun, error,
            CASE WHEN outcome = 'partial' THEN 'partial' WHEN outcome = 'done' AND \(settled) IS NOT NULL
                THEN 'forgotten' END AS record,
            CAST(1000 * coalesce(\(settled), ended, unixepoch()) AS INTEGER) AS changed,
            CASE WHEN \(wasRunning) THEN 1 END AS token, \(runner.map { "'\($0)'" } ?? "NULL") AS owner,
            nullif(name, \(target)) AS output, bytes, validator, \(column("list")) AS list, \(target) AS target
            FROM requests
            """
    }

    /// Moves the rows into the tables of today, in one transaction.
    static func takeOver(_ database: Database, _ path: String, foldsNames: Bool) throws(DatabaseError) {
        if try !RequestList.FileStore.hasTables(database) {
            try RequestList.FileStore.makeTables(in: database, path)
        }
        try database.run("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            try insertPlanned(database, foldsNames: foldsNames)
            let columns = """
                dedupe, head, state, key, begun, attempts, claims, status, error, record, changed, token, output, \
                bytes, validator, list, target
                """
            let rows = try select(database, foldsNames: foldsNames)
            let lists = try has("lists", in: database)
            try database.run(
                """
                INSERT INTO refrain_request (queue, safety, \(columns)) SELECT 'list', 0, \(columns) FROM (\(rows));
                \(lists ? "INSERT INTO refrain_list SELECT 'list', name, isRead FROM lists;" : "")
                DROP TABLE requests; DROP TABLE IF EXISTS lists; DROP TABLE IF EXISTS running;
                DROP TABLE IF EXISTS planned
                """
            )
            try makeView(in: database)
            try database.run("COMMIT")
        } catch {
            // Fails where the error has ended the transaction already.
            try? database.run("ROLLBACK")
            throw error
        }
    }

    /// Makes the rows of requests that are kept as text, which belong to the first run of a state.
    private static func insertPlanned(_ database: Database, foldsNames: Bool) throws(DatabaseError) {
        let planned = try planned(in: database)
        guard !planned.isEmpty else { return }
        var lists: [String] = []
        try database.prepare("SELECT name FROM lists").run { lists.append($0.text(0) ?? "") }
        let insert = try database.prepare(
            "INSERT OR IGNORE INTO requests (identity, url, method, name, folded, list, outcome, bytes, attempts) "
                + "VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, 0)"
        )
        for entry in planned {
            try insert.run([
                .text(entry.identity), .text(entry.url), .text(entry.method), .optional(entry.name),
                .optional(entry.name.map { foldsNames ? OutputNaming.folded($0) : $0 }),
                .optional(lists.count == 1 ? lists[0] : nil),
            ])
        }
    }

    /// The requests that are kept as text and have no rows.
    static func planned(in database: Database) throws(DatabaseError) -> [ListEntry] {
        guard try has("planned", in: database) else { return [] }
        var known: Set<String> = []
        try database.prepare("SELECT identity FROM requests").run { known.insert($0.text(0) ?? "") }
        var entries: [ListEntry] = []
        try database.prepare("SELECT CAST(requests AS TEXT) FROM planned ORDER BY part").run { row in
            let text = row.text(0) ?? ""
            let fields = text.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
            for start in stride(from: 0, to: fields.count - 4, by: 4) where !known.contains(fields[start]) {
                entries.append(
                    ListEntry(
                        identity: fields[start],
                        url: fields[start + 1],
                        method: fields[start + 2],
                        name: fields[start + 3]
                    )
                )
            }
        }
        return entries
    }
}
