// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// The file of a state, which one run at a time uses.
///
/// A file that is empty, damaged or another program's is refused: taken for a new state, all orders would be placed
/// again.
struct StateFile: Sendable {
    /// Whether names that differ only in case are the same: they are in the file system of the output, or that is
    /// unknown.
    let foldsNames: Bool
    private let path: String
    private let lock: StateLock
    /// Whether the file did not exist before.
    private let isNew: Bool

    /// Opens the file for a run, and makes it where it is missing.
    ///
    /// - Parameter list: the list that its requests are from; nil: they belong to no list that can be read again.
    static func open(
        _ path: String,
        option: String,
        list: String?
    ) throws(UsageError) -> (StateFile, RequestList.FileStore) {
        // What others can write into an output folder does not lead out of it.
        if option == "--output-dir" {
            for ending in ["", "-wal", "-shm", "-journal"] where Directory.link(path + ending) != nil {
                throw UsageError("\(option): \(path)\(ending) is a symbolic link, which is not followed; remove it")
            }
        }
        // The lock is beside the file itself: two runs that know it by different names are two users of one state.
        let path = (try? Directory.withoutLinks(path)) ?? path
        let lock = try StateLock(state: path, option: option)
        let isNew = Directory.kind(of: path) == .nothing
        // SQLite would take it for the journal of the new file, with the rows of the old one.
        let journals = ["-wal", "-journal"].map { path + $0 }
        if isNew, let journal = journals.first(where: { Directory.fileSize($0) ?? 0 > 0 }) {
            throw UsageError(
                "\(option): \(journal) belongs to a state that is not there any more, and that lacks what is in "
                    + "it; move it to where that one is. To start over, remove it; then all requests of the list "
                    + "are sent again, orders as well"
            )
        }
        // The lock file exists, so the uppercase name exists only if case is ignored.
        let foldsNames =
            !path.hasSuffix(Directory.stateName) || Directory.kind(of: otherCase(path + "-lock")) == .file
        let file = StateFile(foldsNames: foldsNames, path: path, lock: lock, isNew: isNew)
        do throws(DatabaseError) {
            try file.prepare()
        } catch {
            file.removeIfNew()
            throw UsageError("\(option): \(error)\(error.isUnusable ? advice : "")")
        }
        do throws(QueueError) {
            return (file, try RequestList.FileStore(path: path, list: list))
        } catch {
            file.removeIfNew()
            throw UsageError("\(option): \(error)")
        }
    }

    /// A path whose last component is in capital letters.
    private static func otherCase(_ path: String) -> String {
        let folder = Directory.above(path)
        return folder + path.dropFirst(folder.count).uppercased()
    }

    /// What to do about a file that is not a state, or a damaged one.
    private static let advice =
        "; if it is the state of a run, restore it from a copy. To start over, move it away, with its -wal if there is "
        + "one; then all requests of the list are sent again, orders as well"

    /// Removes the file if it did not exist before.
    func removeIfNew() {
        guard isNew else { return }
        for ending in ["", "-wal", "-shm", "-lock"] { Directory.removeFile(path + ending) }
    }

    // MARK: Making and checking

    private func prepare() throws(DatabaseError) {
        guard !isNew else { return try make() }
        let database = try Database(path: path)
        try check(database)
        if try EarlierState.isThere(in: database) {
            try EarlierState.takeOver(database, path, foldsNames: foldsNames)
        }
    }

    /// Makes a state, which has its name when it is complete, so that an empty one is never a new one.
    private func make() throws(DatabaseError) {
        let new = path + ".new"
        for ending in ["", "-journal", "-wal", "-shm"] { Directory.removeFile(new + ending) }
        do throws(DatabaseError) {
            let database = try Database(path: new)
            Directory.makePrivate(new)
            try database.run("PRAGMA synchronous = FULL")
            try RequestList.FileStore.makeTables(in: database, new)
            try EarlierState.makeView(in: database)
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

    /// Refuses a file that is not the state of a run, or is damaged.
    private func check(_ database: Database) throws(DatabaseError) {
        guard Directory.fileSize(path) != 0 else { throw DatabaseError("\(path) is empty") }
        do throws(DatabaseError) {
            try Self.checkTables(database, path)
        } catch {
            throw error.isDamage ? DatabaseError("\(path) is damaged (\(error)); \(Self.rest(of: database))") : error
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

    /// Refuses a file without the tables of a state, and one of a later version, whose rows may mean more than this one
    /// knows.
    private static func checkTables(_ database: Database, _ path: String) throws(DatabaseError) {
        let known = RequestList.FileStore.version
        let version = max(try EarlierState.version(of: database), try RequestList.FileStore.version(of: database) ?? 0)
        guard version <= known else {
            throw DatabaseError(
                "\(path) is of a later version of refrain (\(version); this one knows \(known)): update refrain",
                isUnusable: false
            )
        }
        if try EarlierState.isThere(in: database) { return try EarlierState.check(database, path) }
        guard try RequestList.FileStore.hasTables(database) else {
            throw DatabaseError("\(path) has no table of requests of lists")
        }
    }

    /// What can be read of a damaged state.
    private static func rest(of database: Database) -> String {
        var (count, done) = (0, 0)
        try? database.readDamaged()
        var isWhole: Void?
        for query in ["SELECT state = 2 FROM refrain_request NOT INDEXED", EarlierState.outcomes] where count == 0 {
            isWhole = try? database.prepare(query).run { row in
                count += 1
                done += Int(row.integer(0) ?? 0)
            }
        }
        let rows = "\(count) requests can be read, of which \(done) are done; refrain status lists them"
        return isWhole == nil ? rows + ". What became of the others is lost" : rows
    }

    // MARK: Reading

    /// What a reader is told of a state.
    struct Contents {
        var entries: [ListEntry] = []
        /// Whether all lists were read to their ends; nil: it is not known.
        var areListsRead: Bool?
        /// Why other rows cannot be read.
        var damage: DatabaseError?
    }

    /// Reads a state, which may be in use, without changing it; of a damaged one what can be read.
    static func read(_ path: String) throws(DatabaseError) -> Contents {
        let runner = StateLock.holder(state: path)
        return try reading(path) { database throws(DatabaseError) in
            try database.readDamaged()
            try checkTables(database, path)
            var contents = Contents()
            // First, since a run may be reading its list.
            let isEarlier = try EarlierState.isThere(in: database)
            contents.areListsRead =
                try? isEarlier ? EarlierState.areListsRead(database) : RequestList.FileStore.areListsRead(database)
            let query = isEarlier ? try EarlierState.rows(database, runner: runner) : nil
            let planned: [ListEntry] = isEarlier ? try EarlierState.planned(in: database) : []
            var entries: [ListEntry] = []
            do throws(DatabaseError) {
                try RequestList.FileStore.read(database, from: query, runner: runner) { row in
                    entries.append(ListEntry(row).shown)
                }
            } catch {
                contents.damage = error
            }
            entries.sort { ($0.ended ?? -1, $0.identity) < ($1.ended ?? -1, $1.identity) }
            contents.entries = planned + entries
            return contents
        }
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
}
