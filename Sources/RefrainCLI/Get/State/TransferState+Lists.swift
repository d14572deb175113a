internal import Refrain
internal import RefrainQueue

/// What a state knows about lists: whether they were read to their ends, and which requests have left them.
extension TransferState {
    /// Notes whether all requests of a list are in the state.
    ///
    /// - Parameter name: what the list is called; empty: it is the command line.
    func note(list name: String, isRead: Bool) throws(DatabaseError) {
        let failure: DatabaseError? = database.withLock { box in
            do throws(DatabaseError) {
                let statement = try box.database.prepare("INSERT OR REPLACE INTO lists VALUES (?, ?)")
                try statement.run([.text(name), .integer(isRead ? 1 : 0)])
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Removes the unfinished requests of earlier runs of the list of this run that are not in it any more.
    ///
    /// To be called when all requests of the list are registered. A request with a stored key stays.
    ///
    /// - Returns: the number of removed requests, and the files that they alone would have written, relative to the
    ///   output folder.
    func forgetLeftovers() throws(DatabaseError) -> (count: Int, files: [String]) {
        let result: Result<(count: Int, files: [String]), DatabaseError> = database.withLock { box in
            do throws(DatabaseError) {
                guard !box.leftovers.isEmpty else { return .success((0, [])) }
                var rows: [(identity: String, file: String?)] = []
                let select = "SELECT identity, name, folded FROM requests WHERE \(Self.unfinishedOfList)"
                try box.database.prepare(select).run([.optional(list)]) { row in
                    guard let identity = row.text(0), box.leftovers.contains(identity.hashValue) else { return }
                    // Without the second name another request has the file.
                    rows.append((identity, row.text(2) == nil ? nil : row.text(1)))
                }
                box.leftovers = []
                try box.database.run("BEGIN IMMEDIATE")
                let delete = try box.database.prepare("DELETE FROM requests WHERE identity = ?")
                for row in rows { try delete.run([.text(row.identity)]) }
                try box.database.run("COMMIT")
                return .success((rows.count, rows.compactMap(\.file)))
            } catch {
                try? box.database.run("ROLLBACK")
                return .failure(error)
            }
        }
        return try result.get()
    }
}
