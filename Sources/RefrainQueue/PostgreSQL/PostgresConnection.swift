// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
internal import CLibpq
internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A connection to PostgreSQL by its own library, and the statements that were prepared on it.
///
/// A lost connection is made again by the next call. Not `Sendable`: one thread at a time uses it.
package final class PostgresConnection {
    private let handle: OpaquePointer?
    private var prepared: [String: String] = [:]
    private var isReady = false
    private var isInTransaction = false
    private let lockTimeout: Duration
    /// Since when the plans of the statements are kept.
    private var plansBegan = ContinuousClock.now

    /// What every session sets, whatever the database's defaults are.
    ///
    /// A claim must not fail for another one's sake, a result that was answered must be on the disk, and a text must
    /// pass as its bytes, without a conversion that fails or that another session does not make. A plan is made for all
    /// values, since to make one takes longer than most of these statements do.
    private static let settings = """
        SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED; SET synchronous_commit = on; \
        SET client_min_messages = warning; SET bytea_output = hex; SET client_encoding = SQL_ASCII; \
        SET array_nulls = on; SET plan_cache_mode = force_generic_plan
        """

    /// Connects.
    ///
    /// - Parameters:
    ///   - text: a URL or the words of libpq, such as `postgres://host/database` or `service=orders`.
    ///   - lockTimeout: how long a statement waits for what the transaction of another session holds.
    package init(_ text: String, lockTimeout: Duration = .seconds(5)) throws(QueueError) {
        self.lockTimeout = lockTimeout
        handle = Self.connect(text)
        // What the server says besides, as at the end of a session, is not for the standard error of the process.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        guard PQstatus(handle) == CONNECTION_OK else {
            // The handle is freed by `deinit`, which runs here, too.
            throw QueueError(.cannotOpen, "cannot connect to PostgreSQL: \(Self.message(handle))")
        }
        try prepareSession()
    }

    deinit { PQfinish(handle) }

    /// Connects; a server that does not answer is noticed in less than the time that a claim lasts, unless `text` says
    /// otherwise.
    private static func connect(_ text: String) -> OpaquePointer? {
        let defaults = [
            ("connect_timeout", "10"), ("tcp_user_timeout", "15000"), ("keepalives_idle", "5"),
            ("keepalives_interval", "5"), ("keepalives_count", "2"),
        ]
        // The last value of a word counts, and `text` is expanded in its place.
        let words = defaults + [("dbname", withKnownScheme(text))]
        let names = words.map { strdup($0.0) }
        let values = words.map { strdup($0.1) }
        defer { for word in names + values { free(word) } }
        let ended = [UnsafePointer<CChar>?.none]
        return PQconnectdbParams(
            names.map { UnsafePointer($0) } + ended,
            values.map { UnsafePointer($0) } + ended,
            1
        )
    }

    /// The text with the scheme of its URL in small letters.
    ///
    /// libpq knows no others, and takes the URL, password and all, for a word that it shows in its error.
    private static func withKnownScheme(_ text: String) -> String {
        for scheme in ["postgres://", "postgresql://"] where text.lowercased().hasPrefix(scheme) {
            return scheme + text.dropFirst(scheme.count)
        }
        return text
    }

    private static func message(_ handle: OpaquePointer?) -> String {
        let text = PQerrorMessage(handle).map { String(cString: $0) } ?? "out of memory"
        return text.split(whereSeparator: \.isNewline).map { $0.trimmingPrefix(while: \.isWhitespace) }
            .joined(separator: "; ")
    }

    /// What the server has said of a statement, without the place in it: the user has not written the statement.
    private static func message(of result: OpaquePointer?, _ handle: OpaquePointer?) -> String {
        func field(_ name: Character) -> String? {
            PQresultErrorField(result, Int32(name.asciiValue ?? 0)).map { String(cString: $0) }
        }
        guard let text = field("M") else { return message(handle) }
        let parts = [("\(field("S") ?? "ERROR"):  ", text), ("DETAIL:  ", field("D")), ("HINT:  ", field("H"))]
        return parts.compactMap { title, text in text.map { title + $0 } }.joined(separator: "; ")
    }

    /// For how long plans are kept: one that was made while a table was empty reads all of it when it is full.
    private static let planLife = Duration.seconds(1)

    private func prepareSession() throws(QueueError) {
        prepared = [:]
        try check(PQexec(handle, "\(Self.settings); SET lock_timeout = \(lockTimeout.inMilliseconds)"))
        isReady = true
    }

    private func reconnect() throws(QueueError) {
        // What the server has ended while nothing was asked of it must not cost the next statement: what the server
        // said last, and the end itself, are read.
        let isEnded = PQconsumeInput(handle) == 0 || PQconsumeInput(handle) == 0
        guard isEnded || !isReady || PQstatus(handle) != CONNECTION_OK else { return }
        // The rest of a transaction does nothing without what came before it.
        guard !isInTransaction else { throw QueueError(.disconnected, "PostgreSQL: \(Self.message(handle))") }
        isReady = false
        PQreset(handle)
        guard PQstatus(handle) == CONNECTION_OK else { throw QueueError(.disconnected, Self.message(handle)) }
        try prepareSession()
    }

    /// Runs statements without parameters.
    package func run(_ sql: String) throws(QueueError) {
        try reconnect()
        try check(PQexec(handle, sql))
    }

    /// Runs a transaction.
    func transaction<Value>(_ body: () throws(QueueError) -> Value) throws(QueueError) -> Value {
        try run("BEGIN")
        isInTransaction = true
        defer { isInTransaction = false }
        do throws(QueueError) {
            let value = try body()
            try run("COMMIT")
            return value
        } catch {
            PQclear(PQexec(handle, "ROLLBACK"))
            throw error
        }
    }

    /// Runs a statement with parameters in their textual form, and returns its rows; nil is NULL.
    func query(_ sql: String, _ parameters: [String?] = []) throws(QueueError) -> [[String?]] {
        try reconnect()
        if ContinuousClock.now - plansBegan > Self.planLife {
            try check(PQexec(handle, "DISCARD PLANS"))
            plansBegan = .now
        }
        let name: String
        if let known = prepared[sql] {
            name = known
        } else {
            name = "s\(prepared.count)"
            try check(PQprepare(handle, name, sql, 0, nil))
            prepared[sql] = name
        }
        // Each text in one buffer, ended by NUL; libpq copies them before it returns.
        var bytes: [CChar] = []
        let offsets = parameters.map { parameter -> Int? in
            guard let parameter else { return nil }
            defer {
                bytes.append(contentsOf: parameter.utf8.lazy.map { CChar(bitPattern: $0) })
                bytes.append(0)
            }
            return bytes.count
        }
        let result = bytes.withUnsafeBufferPointer { bytes in
            let pointers = offsets.map { offset in offset.flatMap { bytes.baseAddress?.advanced(by: $0) } }
            return PQexecPrepared(handle, name, Int32(pointers.count), pointers, nil, nil, 0)
        }
        defer { PQclear(result) }
        try check(result, clears: false)
        let columns = PQnfields(result)
        return (0..<PQntuples(result)).map { row in
            (0..<columns).map { column in
                guard PQgetisnull(result, row, column) == 0 else { return nil }
                return PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }

    private func check(_ result: OpaquePointer?, clears: Bool = true) throws(QueueError) {
        defer { if clears { PQclear(result) } }
        let status = PQresultStatus(result)
        guard status != PGRES_COMMAND_OK, status != PGRES_TUPLES_OK else { return }
        let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
        let isLost = PQstatus(handle) != CONNECTION_OK || state.hasPrefix("08") || state.hasPrefix("57P")
        if isLost { isReady = false }
        let (code, advice): (QueueError.Code, String) =
            switch state {
            case _ where isLost: (.disconnected, "")
            case "53100", "53200", "53400": (.full, "; make space on the server")
            case "25006": (.readOnly, "; connect to the primary server, as a user that may write")
            case "42501":
                (
                    .readOnly,
                    "; the role needs CREATE on the schema to make the tables, and SELECT, INSERT, UPDATE and DELETE on "
                        + "them to use them"
                )
            // 57014: a limit of time, or the administrator, has ended the statement.
            case "40001", "40P01", "55P03", "57014": (.busy, "")
            case "42P01", "42P07", "42703", "42804":
                (.foreign, "; its tables are not those of a queue, so use another database, or another search_path")
            // A pool has changed to another session, without the statements and the settings of this one.
            case "26000", "42P05":
                (.cannotOpen, "; a pool of connections must be one of sessions, so connect to the server without it")
            case "XX001", "XX002": (.damaged, "; restore it from a copy")
            default: (.storeFailed, "")
            }
        throw QueueError(code, "PostgreSQL: \(Self.message(of: result, handle))\(advice)")
    }

    // MARK: Forms of values

    /// An array as a parameter.
    static func array(_ elements: [String?]) -> String {
        var text: [UInt8] = []
        for element in elements {
            text.append(UInt8(ascii: text.isEmpty ? "{" : ","))
            guard let element else {
                text += "NULL".utf8
                continue
            }
            text.append(UInt8(ascii: "\""))
            for byte in element.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
            }
            text.append(UInt8(ascii: "\""))
        }
        return elements.isEmpty ? "{}" : String(decoding: text, as: UTF8.self) + "}"
    }

    /// Bytes as a parameter.
    static func text(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text = Array("\\x".utf8)
        text.reserveCapacity(2 + bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Bytes of a result.
    static func bytes(of text: String?) -> [UInt8] {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in (text ?? "").utf8.dropFirst(2) {
            let value = digit <= UInt8(ascii: "9") ? digit & 15 : (digit & 15) + 9
            if let first = high.take() { bytes.append(first << 4 | value) } else { high = value }
        }
        return bytes
    }
}
#endif
