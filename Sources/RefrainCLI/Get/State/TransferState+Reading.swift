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
    ///
    /// - Returns: the rows; of a damaged state those that can be read, with the damage.
    static func read(_ path: String) throws(DatabaseError) -> (entries: [Entry], damage: DatabaseError?) {
        let isRunning = StateLock.isHeld(state: path)
        var (entries, damage) = try reading(path) { database throws(DatabaseError) in try read(database) }
        // What a run was sending when it ended may have been done.
        for index in entries.indices where entries[index].begun != nil && entries[index].key == nil {
            if entries[index].outcome == .pending, !isRunning { entries[index].outcome = .unknown }
        }
        return (entries, damage)
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

    private static func read(_ database: Database) throws(DatabaseError) -> ([Entry], DatabaseError?) {
        try database.readDamaged()
        // First, since a run may be making their rows.
        let planned = try PlannedRequests.read(database)
        let columns = try hasBegun(database) ? columns : columns.replacing("begun", with: "NULL")
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
