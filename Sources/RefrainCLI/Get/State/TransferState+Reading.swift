internal import Refrain
internal import RefrainQueue

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
    static func read(_ path: String) throws(DatabaseError) -> [Entry] {
        try reading(path) { database throws(DatabaseError) in try read(database) }
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

    private static func read(_ database: Database) throws(DatabaseError) -> [Entry] {
        var entries: [Entry] = []
        // First, since a run may be making their rows.
        let planned = try PlannedRequests.read(database)
        try database.prepare("SELECT \(columns) FROM requests ORDER BY ended").run { entries.append(entry($0)) }
        guard !planned.isEmpty else { return entries }
        let known = Set(entries.map(\.identity))
        return planned.filter { !known.contains($0.identity) } + entries
    }
}
