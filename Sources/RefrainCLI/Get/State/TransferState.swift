// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue
internal import RefrainTesting

/// The outcome of each request of a list, kept between runs in a database.
///
/// A row is written before its request is sent, and again when it has ended, in transactions. So after a crash a
/// finished request may be sent again, but no unfinished one counts as done. Results of small files are written some at
/// a time, within a fraction of a second (see ``RunPlan``). An idempotency key is on the disk before the first request
/// that carries it.
final class TransferState: Sendable {

    /// The outcome of a request.
    enum Outcome: String, Sendable, CaseIterable {
        case pending, done, partial, failed
        /// The server may have done it, and it must not be sent again.
        case unknown
        /// It was on its way when the state was last written, so the server may have done it; only for readers of a
        /// state, which has `pending` and the time.
        case begun
        /// It was settled by hand, and is not sent any more; only for readers of a state, which has `done` and the
        /// time.
        case forgotten
    }

    /// A row.
    struct Entry: Sendable {
        var identity: String
        /// The identity that earlier versions gave the request; nil: the same.
        var oldIdentity: String?
        /// The URL, without user and password.
        var url: String
        var method: String
        /// The file, relative to the output folder.
        var name: String?
        var outcome = Outcome.pending
        var status: Int?
        /// The value of `ETag`, or of `Last-Modified`.
        var validator: String?
        var bytes: Int64 = 0
        var attempts: Int = 0
        var key: String?
        var error: String?
        /// When a request that must not be done twice was sent first, in seconds since 1970; nil: it was not sent.
        var begun: Double?
        /// Seconds since 1970.
        var ended: Double?
        /// When it was settled by hand, in seconds since 1970; nil: it was not.
        var settled: Double?
        /// How many runs have sent it and ended, one after the other, before they wrote a result.
        var claims = 0
        /// Its row in a shared state.
        var row: Int64?
        /// Whether a run that had it has ended before it wrote a result; only in a shared state.
        var isLeftBehind = false
        /// The other run that has it, as `HOST/PID`; only in a shared state.
        var owner: String?
        /// Whether another run has done it, or has tried it since this run began; only in a shared state.
        var isElsewhere = false

        /// How an error begins that says that a request has ended its senders.
        static let abandonment = "abandoned: "

        /// Whether no run sends it, since those that did have ended, until it is settled by hand.
        var isAbandoned: Bool { outcome == .failed && error?.hasPrefix(Self.abandonment) == true }
    }

    let database: Locked<DatabaseBox>
    private let lock: StateLock
    private let path: String
    /// The list that the requests of this run are from; nil: they belong to no list that can be read again.
    let list: String?
    /// Whether the file did not exist before.
    private let isNew: Bool
    /// Whether the run before this one was killed.
    private let followsKill: Bool
    /// Whether names that differ only in case are the same: they are in the file system of the output, or that is
    /// unknown.
    private let foldsNames: Bool

    /// The database and its statements, used by one thread at a time.
    struct DatabaseBox: @unchecked Sendable {
        // @unchecked Sendable: used only with the lock held; nothing of it escapes the lock.
        let database: Database
        let update: Database.Statement
        /// Adds attempts to a row.
        let count: Database.Statement
        /// The hashes of the requests of this run; nil: no request is of an earlier one.
        var claimed: Set<Int>?

        /// Whether a request of the state is not of this run, as far as the list was read.
        func isOfEarlierRun(_ identity: String) -> Bool { claimed.map { !$0.contains(identity.hashValue) } ?? false }
    }

    /// Opens the state of a run, and makes it where it is missing.
    ///
    /// - Parameter list: the list that its requests are from; nil: they belong to no list that can be read again.
    /// - Throws: ``UsageError`` where another run uses it, or it is not a state of this program.
    init(path: String, option: String, list: String? = nil) throws(UsageError) {
        self.list = list
        // What others can write into an output folder does not lead out of it.
        if option == "--output-dir" {
            for ending in ["", "-wal", "-shm", "-journal"] where Directory.link(path + ending) != nil {
                throw UsageError("\(option): \(path)\(ending) is a symbolic link, which is not followed; remove it")
            }
        }
        // The lock is beside the file itself: two runs that know it by different names are two users of one state.
        let path = (try? Directory.withoutLinks(path)) ?? path
        lock = try StateLock(state: path, option: option)
        let isNew = Directory.kind(of: path) == .nothing
        // SQLite would take it for the journal of the new file, with the rows of the old one.
        let journals = ["-wal", "-journal"].map { path + $0 }
        if isNew, let journal = journals.first(where: { Directory.fileSize($0) ?? 0 > 0 }) {
            throw UsageError(
                "\(option): \(journal) belongs to a state that is not there any more, and that lacks what is in it; "
                    + "move it to where that one is. To start over, remove it; then all requests of the list are sent "
                    + "again, orders as well"
            )
        }
        self.isNew = isNew
        self.path = path
        // The lock file exists, so the uppercase name exists only if case is ignored.
        foldsNames = !path.hasSuffix(Directory.stateName) || Directory.kind(of: Self.otherCase(path + "-lock")) == .file
        do throws(DatabaseError) {
            let database = try Self.prepared(path, foldsNames: foldsNames)
            var isMarked = false
            try database.prepare("SELECT 1 FROM running").run { _ in isMarked = true }
            followsKill = isMarked
            var isEmpty = true
            try database.prepare("SELECT 1 FROM requests LIMIT 1").run { _ in isEmpty = false }
            let box = DatabaseBox(
                database: database,
                update: try database.prepare(Self.updateText),
                count: try database.prepare(
                    "UPDATE requests SET attempts = attempts + ?, claims = max(0, claims + ?) WHERE identity = ?"
                ),
                claimed: isEmpty ? nil : []
            )
            self.database = Locked(box)
        } catch {
            if isNew { Self.remove(path) }
            throw UsageError("\(option): \(error)\(error.isUnusable ? Self.advice : "")")
        }
    }

    /// A path whose last component is in capital letters.
    private static func otherCase(_ path: String) -> String {
        let folder = Directory.above(path)
        return folder + path.dropFirst(folder.count).uppercased()
    }

    /// Notes that a run uses the state, until ``finish()``: what the next run finds of it was left by a kill.
    func beginRun() throws(DatabaseError) {
        // The journal of the database tells it less well: any command that closes the state removes it.
        try access { database throws(DatabaseError) in try database.run("INSERT OR IGNORE INTO running VALUES (1)") }
    }

    /// Removes a state that did not exist before; of another one, the mark of this run.
    func withdraw() {
        guard !isNew else { return Self.remove(path) }
        try? access { database throws(DatabaseError) in try database.run("DELETE FROM running") }
    }

    /// Reads or changes the database, which no other thread uses meanwhile.
    private func access(_ body: (Database) throws(DatabaseError) -> Void) throws(DatabaseError) {
        try database.withLock { box throws(DatabaseError) in try body(box.database) }
    }

    /// Changes the database in one transaction.
    ///
    /// - Parameter isDurable: whether the changes are on the disk when this returns.
    func transaction<Value>(
        isDurable: Bool = false,
        _ body: (inout DatabaseBox) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try database.withLock { box throws(DatabaseError) in
            let database = box.database
            if isDurable { try database.run("PRAGMA synchronous = FULL") }
            defer { if isDurable { try? database.run("PRAGMA synchronous = NORMAL") } }
            try database.run("BEGIN IMMEDIATE")
            do throws(DatabaseError) {
                let value = try body(&box)
                try database.run("COMMIT")
                return value
            } catch {
                // Fails where the error has ended the transaction already.
                try? database.run("ROLLBACK")
                throw error
            }
        }
    }

    private static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm", "-lock"] { Directory.removeFile(path + ending) }
    }

    /// What to do about a file that is not a state, or a damaged one.
    private static let advice =
        "; if it is the state of a run, restore it from a copy. To start over, move it away, with its -wal if there is "
        + "one; then all requests of the list are sent again, orders as well"

    /// Makes a state, which has its name when it is complete, so that an empty one is never a new one.
    private static func make(_ path: String) throws(DatabaseError) {
        let new = path + ".new"
        for ending in ["", "-journal", "-wal", "-shm"] { Directory.removeFile(new + ending) }
        do throws(DatabaseError) {
            let database = try Database(path: new)
            Directory.makePrivate(new)
            try database.run("PRAGMA synchronous = FULL; BEGIN; \(schema) PRAGMA user_version = \(version); COMMIT")
        } catch {
            Directory.removeFile(new)
            throw error
        }
        do throws(SystemError) {
            try Directory.rename(new, path)
        } catch {
            Directory.removeFile(new)
            throw DatabaseError("\(error)")
        }
    }

    /// Refuses a file that is not the state of a run, or is damaged: taken for a new one, all orders would be placed
    /// again.
    private static func check(_ database: Database, _ path: String) throws(DatabaseError) {
        guard Directory.fileSize(path) != 0 else { throw DatabaseError("\(path) is empty") }
        var columns: Set<String> = []
        do throws(DatabaseError) {
            try database.prepare("SELECT name FROM pragma_table_info('requests')").run { row in
                if let name = row.text(0) { columns.insert(name) }
            }
        } catch {
            throw error.isDamage ? DatabaseError("\(path) is damaged (\(error)); \(Self.rest(of: database))") : error
        }
        guard !columns.isEmpty else { throw DatabaseError("\(path) has no table of requests") }
        try checkVersion(database, path)
        guard columns.isSuperset(of: ["identity", "url", "method", "name", "folded", "outcome", "key", "ended"]) else {
            throw DatabaseError("\(path) has a table of requests that is not refrain's")
        }
        var damage: String?
        do throws(DatabaseError) {
            try database.prepare("PRAGMA quick_check(1)").run { damage = $0.text(0) }
            guard damage != "ok" else { return }
        } catch {
            damage = error.description
        }
        throw DatabaseError("\(path) is damaged (\(damage ?? "no answer")); \(Self.rest(of: database))")
    }

    /// The version of the tables.
    private static let version: Int64 = 1

    /// Refuses a state of a later version, whose rows may mean more than this one knows.
    private static func checkVersion(_ database: Database, _ path: String) throws(DatabaseError) {
        let version = try version(of: database)
        guard version > Self.version else { return }
        throw DatabaseError(
            "\(path) is of a later version of refrain (\(version); this one knows \(Self.version)): update refrain",
            isUnusable: false
        )
    }

    private static func version(of database: Database) throws(DatabaseError) -> Int64 {
        var version: Int64 = 0
        try database.prepare("PRAGMA user_version").run { version = $0.integer(0) ?? 0 }
        return version
    }

    /// What can be read of a damaged state.
    private static func rest(of database: Database) -> String {
        var (count, done) = (0, 0)
        try? database.readDamaged()
        let isWhole: Void? = try? database.prepare("SELECT outcome FROM requests NOT INDEXED").run { row in
            count += 1
            if row.text(0) == Outcome.done.rawValue { done += 1 }
        }
        let rows = "\(count) requests can be read, of which \(done) are done; refrain status lists them"
        return isWhole == nil ? rows + ". What became of the others is lost" : rows
    }

    private static func prepared(_ path: String, foldsNames: Bool) throws(DatabaseError) -> Database {
        let isNew = Directory.kind(of: path) == .nothing
        if isNew { try make(path) }
        let database = try Database(path: path)
        try check(database, path)
        try database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000")
        // The tables that a state of an earlier version lacks.
        try database.run(schema)
        if try version(of: database) < version {
            // Earlier versions ignored the case of names everywhere.
            if !foldsNames, !isNew { try database.run("UPDATE requests SET folded = name WHERE folded IS NOT NULL") }
            try database.run("PRAGMA user_version = \(version)")
        }
        if try !hasColumn("list", database) { try database.run("ALTER TABLE requests ADD COLUMN list TEXT") }
        if try !hasColumn("begun", database) { try database.run(addBegun) }
        if try !hasColumn("settled", database) { try database.run("ALTER TABLE requests ADD COLUMN settled REAL") }
        if try !hasColumn("claims", database) {
            try database.run("ALTER TABLE requests ADD COLUMN claims INTEGER NOT NULL DEFAULT 0")
        }
        try takeOverPlanned(database, foldsNames: foldsNames)
        return database
    }

    /// Makes the rows of requests that an earlier version has kept as text, which belong to the first run of a state.
    private static func takeOverPlanned(_ database: Database, foldsNames: Bool) throws(DatabaseError) {
        let planned = try planned(in: database)
        guard !planned.isEmpty else { return }
        var lists: [String] = []
        try database.prepare("SELECT name FROM lists").run { lists.append($0.text(0) ?? "") }
        let list = lists.count == 1 ? lists.first : nil
        try database.run("BEGIN IMMEDIATE")
        let insert = try database.prepare(insertText)
        for entry in planned { try insert.run(names(of: entry, list, foldsNames) + [.null]) }
        try database.run("DELETE FROM planned; COMMIT")
    }

    /// The requests that an earlier version has kept as text, some of which may have rows by now.
    private static func planned(in database: Database) throws(DatabaseError) -> [Entry] {
        var isThere = false
        try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'planned'").run { _ in isThere = true }
        guard isThere else { return [] }
        var entries: [Entry] = []
        try database.prepare("SELECT CAST(requests AS TEXT) FROM planned ORDER BY part").run { row in
            let text = row.text(0) ?? ""
            let fields = text.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
            for start in stride(from: 0, to: fields.count - 4, by: 4) {
                let name = fields[start + 3]
                entries.append(
                    Entry(identity: fields[start], url: fields[start + 1], method: fields[start + 2], name: name)
                )
            }
        }
        return entries
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS requests (
            identity TEXT PRIMARY KEY NOT NULL, url TEXT NOT NULL, method TEXT NOT NULL, name TEXT, folded TEXT,
            outcome TEXT NOT NULL, status INTEGER, validator TEXT, bytes INTEGER NOT NULL, attempts INTEGER NOT NULL,
            key TEXT, error TEXT, ended REAL, list TEXT, begun REAL, isOld INTEGER NOT NULL DEFAULT 0, settled REAL,
            claims INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX IF NOT EXISTS names ON requests (folded) WHERE folded IS NOT NULL;
        CREATE TABLE IF NOT EXISTS lists (name TEXT PRIMARY KEY NOT NULL, isRead INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS running (id INTEGER PRIMARY KEY);
        """
    static let columns = "identity, url, method, " + outcomeColumns
    private static let outcomeColumns =
        "name, outcome, status, validator, bytes, attempts, key, error, ended, begun, settled, claims"
    /// Earlier versions gave each order a key, whether or not the server knew keys, and did not note when it was sent.
    private static let addBegun = """
        BEGIN IMMEDIATE;
        ALTER TABLE requests ADD COLUMN begun REAL;
        ALTER TABLE requests ADD COLUMN isOld INTEGER NOT NULL DEFAULT 0;
        UPDATE requests SET isOld = 1;
        UPDATE requests SET begun = ifnull(ended, unixepoch()) WHERE key IS NOT NULL;
        UPDATE requests SET outcome = 'unknown'
            WHERE key IS NOT NULL AND outcome = 'failed' AND (status IS NULL OR status >= 500);
        COMMIT
        """

    /// Whether the rows have a column, which those of earlier versions may lack.
    private static func hasColumn(_ name: String, _ database: Database) throws(DatabaseError) -> Bool {
        var isThere = false
        try database.prepare("SELECT 1 FROM pragma_table_info('requests') WHERE name = ?").run([.text(name)]) { _ in
            isThere = true
        }
        return isThere
    }

    private static let updateText =
        "UPDATE requests SET outcome = ?, status = ?, validator = ?, bytes = ?, attempts = attempts + ?, error = ?, "
        + "ended = ?, begun = ?, claims = 0 WHERE identity = ?"
    private static let insertText =
        "INSERT OR IGNORE INTO requests (identity, url, method, name, folded, list, outcome, bytes, attempts, key) "
        + "VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?)"
    /// The requests of a list that have not succeeded; a key may have been sent, so it is kept.
    private static let unfinishedOfList = "list = ? AND outcome <> 'done' AND key IS NULL AND begun IS NULL"

    /// Writes the rows that are missing, and returns those that were there before.
    ///
    /// A file belongs to the request that has brought it or a part of it, and to a request of this run. The name of one
    /// that has failed in an earlier run is free.
    ///
    /// - Parameters:
    ///   - isDurable: whether the rows are on the disk when this returns; keys must be.
    ///   - isAbsent: whether there is no file of the entry at an index, so that it may have the name of a failed one.
    /// - Returns: for each entry the row, or nil where its file belongs to another request.
    func register(
        _ entries: [Entry],
        isDurable: Bool,
        isAbsent: (Int) -> Bool = { _ in false }
    ) throws(DatabaseError) -> [Entry?] {
        try transaction(isDurable: isDurable) { box throws(DatabaseError) in
            try register(entries, &box, isAbsent)
        }
    }

    private func register(
        _ entries: [Entry],
        _ box: inout DatabaseBox,
        _ isAbsent: (Int) -> Bool
    ) throws(DatabaseError) -> [Entry?] {
        let database = box.database
        let select = try database.prepare(
            "SELECT \(Self.outcomeColumns), folded, list FROM requests WHERE identity = ?"
        )
        let rename = try database.prepare("UPDATE OR IGNORE requests SET name = ?, folded = ? WHERE identity = ?")
        let enlist = try database.prepare("UPDATE requests SET list = ? WHERE identity = ?")
        let insert = try database.prepare(Self.insertText)
        let adopt = try database.prepare(
            "UPDATE OR IGNORE requests SET identity = ?, isOld = 0 WHERE identity = ? AND isOld = 1"
        )
        var rows: [Entry?] = []
        rows.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            box.claimed?.insert(entry.identity.hashValue)
            if let old = entry.oldIdentity { try adopt.run([.text(entry.identity), .text(old)]) }
            var (known, hasFile, isListed): (Entry?, Bool, Bool) = (nil, false, true)
            // First, since most requests of a list that is run again were there before.
            try select.run([.text(entry.identity)]) { row in
                known = Self.entry(row, of: entry)
                hasFile = row.text(12) != nil
                isListed = list == nil || row.text(13) == list
            }
            lazy var names = Self.names(of: entry, list, foldsNames)
            lazy var key = Database.Value.optional(entry.key)
            if known == nil {
                try insert.run(names + [key])
                if database.lastChanges > 0 {
                    rows.append(entry)
                    continue
                }
            }
            // It was there before, or a row of another request has its file.
            if !isListed { try enlist.run([.optional(list), names[0]]) }
            if known == nil {
                if try release(names[4], for: entry, isAbsent: isAbsent(index), box) {
                    try insert.run(names + [key])
                    known = database.lastChanges > 0 ? entry : nil
                }
            } else if entry.name != nil, entry.name != known?.name || !hasFile {
                // Its file has another name by the options of this run, or another request had the name meanwhile.
                try rename.run([names[3], names[4], names[0]])
                var isRenamed = database.lastChanges > 0
                if !isRenamed, try release(names[4], for: entry, isAbsent: isAbsent(index), box) {
                    try rename.run([names[3], names[4], names[0]])
                    isRenamed = database.lastChanges > 0
                }
                known?.name = entry.name
                if !isRenamed { known = nil }
            }
            rows.append(known)
        }
        return rows
    }

    /// Takes the name of a file from a request that does not belong to this run: from one that has brought no body,
    /// and from one of the same URL by other fields or another user, whose content is replaced.
    private func release(
        _ name: Database.Value,
        for entry: Entry,
        isAbsent: Bool,
        _ box: DatabaseBox
    ) throws(DatabaseError) -> Bool {
        var found: Entry?
        try box.database.prepare("SELECT \(Self.columns) FROM requests WHERE folded = ?").run([name]) {
            found = Self.entry($0)
        }
        guard let owner = found, box.isOfEarlierRun(owner.identity) else { return false }
        if isAbsent, [.pending, .failed].contains(owner.outcome) {
            try box.database.prepare("UPDATE requests SET folded = NULL WHERE identity = ?").run([.text(owner.identity)]
            )
            return true
        }
        let isSame =
            owner.method == entry.method && HTTPMethod(rawValue: owner.method).isSafe
            && SignedURL.areOfOneObject(SanitizedURL.canonical(owner.url), SanitizedURL.canonical(entry.url))
        guard isSame else { return false }
        try box.database.prepare("DELETE FROM requests WHERE identity = ?").run([.text(owner.identity)])
        return true
    }

    /// The first columns of a row.
    private static func names(of entry: Entry, _ list: String?, _ foldsNames: Bool) -> [Database.Value] {
        let folded = entry.name.map { foldsNames ? OutputNaming.folded($0) : $0 }
        return [
            .text(entry.identity), .text(entry.url), .text(entry.method), .optional(entry.name), .optional(folded),
            .optional(list),
        ]
    }

    /// The columns of the outcome.
    private static func result(of entry: Entry) -> [Database.Value] {
        [
            .text(entry.outcome.rawValue), .optional(entry.status.map(Int64.init)), .optional(entry.validator),
            .integer(entry.bytes), .integer(Int64(entry.attempts)), .optional(entry.error),
            entry.ended.map(Database.Value.real) ?? .null, entry.begun.map(Database.Value.real) ?? .null,
        ]
    }

    /// Notes the end of the run.
    func finish() throws(DatabaseError) {
        try access { database throws(DatabaseError) in try database.run("DELETE FROM running") }
    }

    /// Notes that a request is about to be sent, with its key, and counts the send; all are on the disk when this
    /// returns.
    ///
    /// Until its outcome is noted it is unknown whether the server has done it.
    func begin(_ entry: Entry, at begun: Double) throws(DatabaseError) {
        try transaction(isDurable: true) { box throws(DatabaseError) in
            let statement = try box.database.prepare(
                "UPDATE requests SET begun = ?, key = ?, outcome = 'pending', attempts = attempts + 1, "
                    + "claims = claims + 1 WHERE identity = ?"
            )
            try statement.run([.real(begun), .optional(entry.key), .text(entry.identity)])
            guard box.database.lastChanges > 0 else { throw DatabaseError("the state has lost \(entry.identity)") }
        }
    }

    /// Writes outcomes in one transaction; the attempts are added to those of earlier runs.
    @discardableResult
    func note(_ entries: [Entry]) throws(DatabaseError) -> [Entry] {
        try transaction { box throws(DatabaseError) in
            for entry in entries { try box.update.run(Self.result(of: entry) + [.text(entry.identity)]) }
        }
        return []
    }

    func followsKill(_ entry: Entry) -> Bool { followsKill }

    /// Adds sends of requests that are under way to the attempts of their rows.
    @discardableResult
    func add(_ sends: [SendCounter.Sends]) throws(DatabaseError) -> Bool {
        try transaction { box throws(DatabaseError) in
            for sends in sends {
                let counts: [Database.Value] = [.integer(Int64(sends.count)), .integer(Int64(sends.claims))]
                try box.count.run(counts + [.text(sends.entry.identity)])
            }
        }
        return true
    }

    static func entry(_ row: Database.Statement) -> Entry {
        let request = Entry(identity: row.text(0) ?? "", url: row.text(1) ?? "", method: row.text(2) ?? "")
        return entry(row, of: request, from: 3)
    }

    /// The row of a request, from the first of the ``outcomeColumns`` on.
    private static func entry(_ row: Database.Statement, of request: Entry, from first: Int32 = 0) -> Entry {
        Entry(
            identity: request.identity,
            url: request.url,
            method: request.method,
            name: row.text(first),
            outcome: row.text(first + 1).flatMap(Outcome.init(rawValue:)) ?? .pending,
            status: row.integer(first + 2).map { Int(clamping: $0) },
            validator: row.text(first + 3),
            bytes: max(0, row.integer(first + 4) ?? 0),
            attempts: max(0, Int(clamping: row.integer(first + 5) ?? 0)),
            key: row.text(first + 6),
            error: row.text(first + 7),
            begun: date(row, first + 9),
            ended: date(row, first + 8),
            settled: date(row, first + 10),
            claims: max(0, Int(clamping: row.integer(first + 11) ?? 0))
        )
    }

    // A damaged row may hold any number; years have four digits.
    private static func date(_ row: Database.Statement, _ column: Int32) -> Double? {
        row.real(column).flatMap { (0..<253_402_300_800).contains($0) ? $0 : nil }
    }

    /// The identity of a request in a list: method, URL and, with a body, a digest of what is sent.
    ///
    /// - Parameter occurrence: the number of the request among equal ones, from 1.
    static func identity(method: String, url: String, content: [UInt8] = [], occurrence: Int = 1) -> String {
        var text = "\(method) \(url)"
        if !content.isEmpty { text += " \(ContentDigest.sha256(of: content).prefix(32))" }
        return occurrence > 1 ? "\(text) #\(occurrence)" : text
    }
}

/// What a state knows about lists: whether they were read to their ends, and which requests have left them.
extension TransferState {
    /// Notes whether all requests of a list are in the state.
    ///
    /// - Parameter name: what the list is called; empty: it is the command line.
    func note(list name: String, isRead: Bool) throws(DatabaseError) {
        try access { database throws(DatabaseError) in
            let statement = try database.prepare("INSERT OR REPLACE INTO lists VALUES (?, ?)")
            try statement.run([.text(name), .integer(isRead ? 1 : 0)])
        }
    }

    /// Removes the unfinished requests of earlier runs of the list of this run that are not in it any more.
    ///
    /// To be called when all requests of the list are registered. A request with a stored key stays.
    ///
    /// - Returns: the number of removed requests, and the files that they alone would have written, relative to the
    ///   output folder.
    func forgetLeftovers() throws(DatabaseError) -> (count: Int, files: [String]) {
        try transaction { box throws(DatabaseError) in
            guard box.claimed != nil else { return (0, []) }
            var rows: [(identity: String, file: String?)] = []
            let select = "SELECT identity, name, folded FROM requests WHERE \(Self.unfinishedOfList)"
            try box.database.prepare(select).run([.optional(list)]) { row in
                guard let identity = row.text(0), box.isOfEarlierRun(identity) else { return }
                // Without the second name another request has the file.
                rows.append((identity, row.text(2) == nil ? nil : row.text(1)))
            }
            let delete = try box.database.prepare("DELETE FROM requests WHERE identity = ?")
            for row in rows { try delete.run([.text(row.identity)]) }
            return (rows.count, rows.compactMap(\.file))
        }
    }
}

/// Reads a state without changing it.
extension TransferState {
    /// Whether the lists of a state, which may be in use, were read to their ends; nil: no list is noted.
    static func areListsRead(_ path: String) throws(DatabaseError) -> Bool? {
        try reading(path) { database throws(DatabaseError) in
            var isThere = false
            try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'lists'").run { _ in isThere = true }
            guard isThere else { return nil }
            var areRead: Bool?
            try database.prepare("SELECT min(isRead) FROM lists").run { areRead = $0.integer(0).map { $0 != 0 } }
            return areRead
        }
    }

    /// Reads all rows of a state that may be in use.
    ///
    /// - Returns: the rows; of a damaged state those that can be read, with the damage.
    static func read(_ path: String) throws(DatabaseError) -> (entries: [Entry], damage: DatabaseError?) {
        let isRunning = StateLock.isHeld(state: path)
        var (entries, damage) = try reading(path) { database throws(DatabaseError) in try read(database, path) }
        for index in entries.indices { entries[index].outcome = shown(entries[index], isRunning: isRunning) }
        return (entries, damage)
    }

    /// What a reader is told of a request.
    ///
    /// What a run was sending when it ended may have been done: with a key it is sent again, without one it is not.
    private static func shown(_ entry: Entry, isRunning: Bool) -> Outcome {
        if entry.settled != nil, entry.outcome == .done { return .forgotten }
        guard entry.outcome == .pending, entry.begun != nil else { return entry.outcome }
        return entry.key == nil && !isRunning ? .unknown : .begun
    }

    /// Reads a state, also in a folder in which nothing can be made.
    ///
    /// SQLite makes a file beside a database that it reads. It is not needed where there is no journal, since then
    /// nothing writes to the state.
    private static func reading<Result>(
        _ path: String,
        _ body: (Database) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        do throws(DatabaseError) {
            return try body(try Database(path: path, readOnly: true))
        } catch {
            guard error.isOpening else { throw error }
            guard Directory.fileSize(path + "-wal") ?? 0 == 0 else {
                throw error.adding("a run was killed, and to read its journal the folder must be writable")
            }
            return try body(try Database(path: path, readOnly: true, isImmutable: true))
        }
    }

    private static func read(
        _ database: Database,
        _ path: String
    ) throws(DatabaseError) -> ([Entry], DatabaseError?) {
        try database.readDamaged()
        try checkVersion(database, path)
        // First, since a run may be making their rows.
        let planned = try planned(in: database)
        var columns = columns
        for column in ["begun", "settled", "claims"] where try !hasColumn(column, database) {
            columns = columns.replacing(column, with: "NULL")
        }
        let select = try database.prepare("SELECT \(columns) FROM requests NOT INDEXED")
        var entries: [Entry] = []
        var damage: DatabaseError?
        do throws(DatabaseError) {
            try select.run { entries.append(entry($0)) }
        } catch {
            damage = error
        }
        entries.sort { ($0.ended ?? -1, $0.identity) < ($1.ended ?? -1, $1.identity) }
        guard !planned.isEmpty else { return (entries, damage) }
        let known = Set(entries.map(\.identity))
        return (planned.filter { !known.contains($0.identity) } + entries, damage)
    }
}
