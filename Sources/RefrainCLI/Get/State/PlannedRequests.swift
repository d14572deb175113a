// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainQueue

/// Requests of a new state whose rows are not made yet, in parts: as text, which costs a tenth of their rows.
///
/// Most requests of a list need one row, when they have ended. Until then they are in a part, which is written to the
/// state before any of its requests is sent, and removed in the transaction that writes the last of their rows. The
/// parts that a run has left become rows when the state is opened again.
struct PlannedRequests {
    static let schema = "CREATE TABLE IF NOT EXISTS planned (part INTEGER PRIMARY KEY, requests BLOB NOT NULL);"
    /// Fewer requests than this get their rows at once.
    private static let minimumCount = 16

    /// The hashes of the names of all files: two requests with one name need rows, which record the owner.
    private var names: Set<Int> = []
    /// How many requests of each part have no row yet.
    private var open: [Int64: Int] = [:]
    private var lastPart: Int64 = 0

    /// Whether all requests have rows.
    var isEmpty: Bool { open.isEmpty }

    /// Adds a part if each of its requests certainly has its own file.
    ///
    /// - Parameter fold: returns the same text for names that are the same.
    /// - Returns: the entries with their part; nil if they need rows, and nothing was added.
    mutating func add(
        _ entries: [TransferState.Entry],
        to database: Database,
        fold: (String) -> String
    ) throws(DatabaseError) -> [TransferState.Entry]? {
        guard entries.count >= Self.minimumCount else { return nil }
        var hashes: Set<Int> = []
        hashes.reserveCapacity(entries.count)
        for entry in entries {
            guard entry.key == nil, let name = entry.name else { return nil }
            let hash = fold(name).hashValue
            guard !names.contains(hash), hashes.insert(hash).inserted else { return nil }
        }
        guard let text = Self.text(entries) else { return nil }
        let part = lastPart + 1
        try database.prepare("INSERT INTO planned VALUES (?, ?)").run([.integer(part), .text(text)])
        lastPart = part
        names.formUnion(hashes)
        open[part] = entries.count
        return entries.map { entry in
            var entry = entry
            entry.part = part
            return entry
        }
    }

    /// Records that a request of a part has a row; returns the part if it was the last one.
    mutating func noteRow(in part: Int64) -> Int64? {
        guard let count = open[part] else { return nil }
        open[part] = count > 1 ? count - 1 : nil
        return count > 1 ? nil : part
    }

    /// The separator of the fields of a part.
    private static let separator = UInt8(0x1F)
    private static let fieldsPerRequest = 4

    /// The text of a part; nil if a field contains the separator.
    private static func text(_ entries: [TransferState.Entry]) -> String? {
        var text = ""
        text.reserveCapacity(entries.count * 160)
        for entry in entries {
            let name = entry.name ?? ""
            // A method is a token, which cannot contain it.
            guard !entry.identity.contains(byte: separator), !entry.url.contains(byte: separator),
                !name.contains(byte: separator)
            else { return nil }
            text += entry.identity
            text += "\u{1F}"
            text += entry.url
            text += "\u{1F}"
            text += entry.method
            text += "\u{1F}"
            text += name
            text += "\u{1F}"
        }
        return text
    }

    /// The requests of all parts, some of which may have rows by now.
    static func read(_ database: Database) throws(DatabaseError) -> [TransferState.Entry] {
        var isThere = false
        try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'planned'").run { _ in isThere = true }
        guard isThere else { return [] }
        var entries: [TransferState.Entry] = []
        try database.prepare("SELECT CAST(requests AS TEXT) FROM planned ORDER BY part").run { row in
            let fields = Array((row.text(0) ?? "").utf8).split(separator: separator, omittingEmptySubsequences: false)
            for start in stride(from: 0, to: fields.count - fieldsPerRequest, by: fieldsPerRequest) {
                let words = fields[start..<start + fieldsPerRequest].map { String(decoding: $0, as: UTF8.self) }
                entries.append(.init(identity: words[0], url: words[1], method: words[2], name: words[3]))
            }
        }
        return entries
    }
}
