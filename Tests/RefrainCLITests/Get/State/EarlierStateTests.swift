// SPDX-License-Identifier: Apache-2.0
import RefrainQueue
import Testing

@testable import RefrainCLI

@Suite("Requests that an earlier version has kept as text", .timeLimit(.minutes(10)))
struct EarlierStateTests {
    private let folder: ScratchFile
    private var path: String { folder.path + "/" + Directory.stateName }

    init() async throws {
        folder = try ScratchFile()
        try folder.makeFolder()
    }

    private func opened() throws -> ListState { try ListState(path: path, option: "--output-dir") }

    private func entries(_ numbers: Range<Int>, name: (Int) -> String = { "h/\($0)" }) -> [RequestList.New] {
        numbers.map {
            .init(name: "GET http://h/\($0)", method: "GET", url: "http://h/\($0)", file: name($0), target: name($0))
        }
    }

    private func count(_ table: String) throws -> Int64? {
        var count: Int64?
        try Database(path: path, readOnly: true).prepare("SELECT count(*) FROM \(table)").run { count = $0.integer(0) }
        return count
    }

    @Test("they have their rows, what is done stays so, and no other request gets their files")
    func takeOver() async throws {
        do {
            let state = try opened()
            let five = try await state.register(entries(0..<5), isDurable: false).compactMap(\.self)
            #expect(try await state.claim(five).allSatisfy(\.self))
            try await state.note(
                five.map { entry in
                    var entry = entry
                    (entry.outcome, entry.status, entry.bytes, entry.attempts, entry.ended) = (.done, 200, 7, 2, 1e6)
                    return entry
                }
            )
            try await state.finish()
        }
        try EarlierTables.write(path)
        let fields = entries(0..<20).flatMap { [$0.name, $0.url, $0.method, $0.file ?? ""] }
        let database = try Database(path: path)
        try database.run("CREATE TABLE planned (part INTEGER PRIMARY KEY, requests BLOB NOT NULL)")
        let text = fields.map { $0 + "\u{1F}" }.joined()
        try database.prepare("INSERT INTO planned VALUES (1, ?)").run([.text(text)])
        let shown = try StateFile.read(path).entries
        #expect(shown.count == 20 && shown.count { $0.outcome == .done && $0.attempts == 2 } == 5)
        #expect(shown.first { $0.outcome == .pending }?.name == "h/5")
        let state = try opened()
        #expect(try count("refrain_request") == 20 && count("sqlite_master WHERE name = 'planned'") == 0)
        let others = entries(100..<120) { "h/\($0 - 90)" }
        let rows = try await state.register(others, isDurable: false)
        #expect(rows.map { $0?.name } == Array(repeating: nil, count: 10) + (20..<30).map { "h/\($0)" })
        let again = try await state.register(entries(0..<20), isDurable: false).compactMap(\.self)
        #expect(again.count == 20 && again.count { $0.outcome == .done } == 5)
        folder.remove()
    }

    @Test("what a reader is told of a state is the same before and after its rows are taken over, whatever they say")
    func sameRows() async throws {
        do {
            let state = try opened()
            try await state.note(list: "list", isRead: true)
            _ = try await state.register(entries(0..<1), isDurable: false)
            try await state.finish()
        }
        try EarlierTables.write(path)
        try Database(path: path).run("DELETE FROM requests")
        let database = try Database(path: path)
        let insert = try database.prepare(
            "INSERT INTO requests (identity, url, method, name, folded, outcome, status, validator, bytes, attempts, "
                + "key, error, ended, list, begun, settled, claims) VALUES (\(Array(repeating: "?", count: 17).joined(separator: ",")))"
        )
        var number = 0
        for outcome in ["pending", "done", "partial", "failed", "unknown"] {
            for (key, begun) in [(nil, nil), ("k", nil), (nil, 1.5e9), ("k", 1.6e9)] as [(String?, Double?)] {
                for settled in outcome == "done" ? [nil, 1.7e9 + 0.25] : [nil] as [Double?] {
                    number += 1
                    let name = number % 2 == 0 ? "Name\(number)" : nil
                    try insert.run([
                        .text("POST http://h/\(number)"), .text("http://h/\(number) x"), .text("POST"), .optional(name),
                        .optional(name.map { number % 4 == 0 ? $0 : $0.lowercased() }), .text(outcome),
                        number % 3 == 0 ? .null : .integer(200), .optional(key.map { "\"\($0)\"" }),
                        .integer(Int64(number)), .integer(2), .optional(key),
                        .optional(outcome == "failed" ? "abandoned: 5 runs" : nil),
                        outcome == "pending" ? .null : .real(1.65e9 + Double(number) / 4), .text("list"),
                        begun.map { .real($0) } ?? .null, settled.map { .real($0) } ?? .null,
                        .integer(Int64(number % 6)),
                    ])
                }
            }
        }
        func shown() throws -> [String] {
            try StateFile.read(path).entries.map { entry in
                let begun = entry.begun.map { ($0 * 10).rounded() }
                // The time of what was settled is that of its settlement.
                return "\(entry.identity) \(entry.url) \(entry.method) \(entry.name ?? "-") \(entry.outcome) "
                    + "\(entry.status ?? 0) \(entry.validator ?? "-") \(entry.bytes) \(entry.attempts) "
                    + "\(entry.key ?? "-") \(entry.error ?? "-") \(begun ?? 0) \(entry.ended ?? 0) "
                    + "\(entry.settled ?? 0) \(entry.claims) \(entry.isAbandoned)"
            }
        }
        func columns() throws -> [String] {
            var rows: [String] = []
            let select = "SELECT identity, url, method, name, outcome, bytes FROM requests ORDER BY identity"
            try Database(path: path).prepare(select).run { row in
                rows.append((0..<6).map { row.text($0) ?? "-" }.joined(separator: " "))
            }
            return rows
        }
        let (before, table) = (try shown(), try columns())
        #expect(before.count == 24 && Set(before).count == 24)
        _ = try opened()
        #expect(try shown() == before)
        // An earlier version finds its columns, and a version that it does not know.
        #expect(try EarlierState.version(of: Database(path: path)) == 2)
        #expect(try columns() == table)
        #expect(try StateFile.read(path).areListsRead == true)
        folder.remove()
    }
}
