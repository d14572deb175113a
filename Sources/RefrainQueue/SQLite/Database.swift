// SPDX-License-Identifier: Apache-2.0
internal import CSQLite

/// A database of SQLite, and the statements that were prepared for it.
///
/// Not `Sendable`: one owner at a time uses it.
package final class Database {
    private let handle: OpaquePointer?
    private let path: String
    private var statements: [String: Statement] = [:]

    /// Opens a database, and makes it where it is missing.
    ///
    /// - Parameters:
    ///   - readOnly: whether nothing is made or changed.
    ///   - isImmutable: whether nothing else changes it either, so that no file is made beside it.
    /// - Throws: ``DatabaseError``, which names the file.
    package init(path: String, readOnly: Bool = false, isImmutable: Bool = false) throws(DatabaseError) {
        Self.settings
        var handle: OpaquePointer?
        let flags = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var name = path
        if isImmutable {
            for (byte, code) in [("%", "%25"), ("?", "%3f"), ("#", "%23")] { name = name.replacing(byte, with: code) }
            name = "file:\(name)?immutable=1"
        }
        let options = isImmutable ? SQLITE_OPEN_URI : 0
        let code = sqlite3_open_v2(name, &handle, flags | options | SQLITE_OPEN_NOMUTEX, nil)
        self.handle = handle
        self.path = path
        guard code == SQLITE_OK, handle != nil else {
            throw DatabaseError(handle, code: code, doing: "cannot open \(path)")
        }
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit { sqlite3_close_v2(handle) }

    /// The absolute path of its file; nil: it is in memory, or in a temporary file that nothing else can open.
    package var file: String? {
        sqlite3_db_filename(handle, "main").flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
    }

    /// Whether its path leads to another file by now, or to none.
    var hasMoved: Bool {
        var hasMoved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
    }

    /// Settings for all databases of the process.
    private static let settings: Void = refrain_sqlite_keep_no_account()

    /// Runs statements that return nothing.
    package func run(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(handle, code: code, doing: "cannot use \(path)") }
    }

    /// Prepares a statement that is run more than once.
    package func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else {
            throw DatabaseError(handle, code: code, doing: "cannot use \(path)")
        }
        return Statement(statement, of: handle, path)
    }

    /// A statement that is run again and again, prepared once.
    func statement(_ sql: String) throws(DatabaseError) -> Statement {
        if let known = statements[sql] { return known }
        let statement = try prepare(sql)
        statements[sql] = statement
        return statement
    }

    /// Runs a transaction; IMMEDIATE, since one that begins with reading cannot always go on to write.
    func transaction<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        try statement("BEGIN IMMEDIATE").run()
        do throws(DatabaseError) {
            let value = try body()
            try statement("COMMIT").run()
            return value
        } catch {
            // Fails where the error has ended the transaction already.
            try? statement("ROLLBACK").run()
            throw error
        }
    }

    /// Reads what is there of a file that is shorter than it was, which is refused otherwise.
    package func readDamaged() throws(DatabaseError) { try run("PRAGMA writable_schema = ON") }

    /// How many rows the last statement has written.
    package var lastChanges: Int32 { sqlite3_changes(handle) }

    /// The identifier of the row that was inserted last.
    package var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// A value of a statement.
    package enum Value {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob([UInt8])

        package static func optional(_ text: String?) -> Value { text.map(Value.text) ?? .null }
        package static func optional(_ number: Int64?) -> Value { number.map(Value.integer) ?? .null }
    }

    /// A prepared statement.
    package final class Statement {
        private let statement: OpaquePointer
        private let handle: OpaquePointer?
        private let path: String
        private var bytes: [UInt8] = []

        fileprivate init(_ statement: OpaquePointer, of handle: OpaquePointer?, _ path: String) {
            self.statement = statement
            self.handle = handle
            self.path = path
        }

        deinit { sqlite3_finalize(statement) }

        /// Runs the statement with values for its question marks, and passes each row to a closure.
        package func run(_ values: [Value] = [], _ row: (Statement) -> Void = { _ in }) throws(DatabaseError) {
            // All texts and blobs in one buffer, which is valid while the statement runs; otherwise SQLite would copy
            // each of them into memory of its own.
            bytes.removeAll(keepingCapacity: true)
            // Also an empty text needs an address.
            bytes.append(0)
            for value in values {
                switch value {
                case .text(let text): bytes.append(contentsOf: text.utf8)
                case .blob(let blob): bytes.append(contentsOf: blob)
                default: break
                }
            }
            let code = bytes.withUnsafeBytes { bytes in
                bind(values, bytes)
                defer {
                    sqlite3_reset(statement)
                    sqlite3_clear_bindings(statement)
                }
                while true {
                    let code = sqlite3_step(statement)
                    guard code == SQLITE_ROW else { return code }
                    row(self)
                }
            }
            guard code == SQLITE_DONE else { throw DatabaseError(handle, code: code, doing: "cannot use \(path)") }
        }

        private func bind(_ values: [Value], _ buffer: UnsafeRawBufferPointer) {
            var start = 1
            for (offset, value) in values.enumerated() {
                let index = Int32(offset + 1)
                switch value {
                case .null: sqlite3_bind_null(statement, index)
                case .integer(let number): sqlite3_bind_int64(statement, index, number)
                case .real(let number): sqlite3_bind_double(statement, index, number)
                case .text(let text):
                    let count = text.utf8.count
                    let bytes = buffer.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
                    // Without a destructor it is not copied (SQLITE_STATIC).
                    sqlite3_bind_text64(statement, index, bytes, UInt64(count), nil, UInt8(SQLITE_UTF8))
                    start += count
                case .blob(let blob):
                    let bytes = buffer.baseAddress?.advanced(by: start)
                    sqlite3_bind_blob64(statement, index, bytes, UInt64(blob.count), nil)
                    start += blob.count
                }
            }
        }

        /// A column of the row at hand, as text; nil for NULL.
        package func text(_ column: Int32) -> String? {
            sqlite3_column_text(statement, column).map { String(cString: $0) }
        }

        /// A column of the row at hand, as bytes; empty for NULL.
        package func blob(_ column: Int32) -> [UInt8] {
            let count = Int(sqlite3_column_bytes(statement, column))
            guard count > 0, let bytes = sqlite3_column_blob(statement, column) else { return [] }
            return Array(UnsafeRawBufferPointer(start: bytes, count: count))
        }

        /// A column of the row at hand, as a whole number; nil for NULL.
        package func integer(_ column: Int32) -> Int64? {
            sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : sqlite3_column_int64(statement, column)
        }

        /// A column of the row at hand, as a number; nil for NULL.
        package func real(_ column: Int32) -> Double? {
            sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : sqlite3_column_double(statement, column)
        }
    }
}

/// An error of SQLite, with its message.
package struct DatabaseError: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// The primary result code, such as `SQLITE_FULL`.
    let code: Int32
    /// Whether the file is damaged or not a state of this program, so that another attempt would fail, too.
    package let isUnusable: Bool
    /// Whether the file, or one beside it, cannot be opened.
    package let isOpening: Bool
    /// Whether a part of the file is lost.
    package var isDamage: Bool { code == SQLITE_CORRUPT }

    fileprivate init(_ handle: OpaquePointer?, code: Int32, doing what: String) {
        let text = handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        description = "\(what): \(text.map { String(cString: $0) } ?? "error \(code)")"
        self.code = code & 0xFF
        isUnusable = [SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xFF)
        isOpening = [SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM].contains(code & 0xFF)
    }

    /// A file that is not a state of this program, or is damaged, unless `isUnusable` is false.
    package init(_ description: String, isUnusable: Bool = true) {
        (self.description, code) = (description, SQLITE_ERROR)
        (self.isUnusable, isOpening) = (isUnusable, false)
    }

    private init(_ description: String, _ error: DatabaseError) {
        (self.description, code) = (description, error.code)
        (isUnusable, isOpening) = (error.isUnusable, error.isOpening)
    }

    /// The error, with what is to be done.
    package func adding(_ advice: String) -> DatabaseError {
        DatabaseError("\(description); \(advice)", self)
    }
}
