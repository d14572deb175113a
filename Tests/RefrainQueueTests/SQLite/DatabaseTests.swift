// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainQueue

@Suite("Values of a statement", .timeLimit(.minutes(10)))
struct DatabaseTests {
    @Test("texts come back as they were, empty ones and those beyond ASCII too, and so do the values between them")
    func texts() throws {
        let scratch = try ScratchFile()
        let database = try Database(path: scratch.path)
        try database.run("CREATE TABLE t (a TEXT, b TEXT, c INTEGER, d TEXT, e TEXT, f REAL)")
        let insert = try database.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)")
        let rows: [(String, String, Int64, String?, String, Double)] = [
            ("", "a", 1, nil, "Straße 12 🦅", 0.5), ("x", "", -7, "", "", 2), ("first", "second", 0, "third", "f", 3),
        ]
        for row in rows {
            let values: [Database.Value] = [
                .text(row.0), .text(row.1), .integer(row.2), .optional(row.3), .text(row.4), .real(row.5),
            ]
            try insert.run(values)
        }
        var found: [[String?]] = []
        try database.prepare("SELECT a, b, c, d, e, f FROM t ORDER BY rowid").run { row in
            found.append([
                row.text(0), row.text(1), row.integer(2).map(String.init), row.text(3), row.text(4),
                row.real(5).map { "\($0)" },
            ])
        }
        #expect(found == rows.map { [$0.0, $0.1, "\($0.2)", $0.3, $0.4, "\($0.5)"] })
    }
}
