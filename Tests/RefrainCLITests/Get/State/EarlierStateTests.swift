// SPDX-License-Identifier: Apache-2.0
import RefrainQueue
import Testing

@testable import RefrainCLI

@Suite("Requests that an earlier version has kept as text", .timeLimit(.minutes(10)))
struct EarlierStateTests {
    private typealias Entry = TransferState.Entry
    private let folder: ScratchFile
    private var path: String { folder.path + "/" + Directory.stateName }

    init() async throws {
        folder = try ScratchFile()
        try folder.makeFolder()
    }

    private func opened() throws -> TransferState { try TransferState(path: path, option: "--output-dir") }

    private func entries(_ numbers: Range<Int>, name: (Int) -> String = { "h/\($0)" }) -> [Entry] {
        numbers.map { .init(identity: "GET http://h/\($0)", url: "http://h/\($0)", method: "GET", name: name($0)) }
    }

    private func count(_ table: String) throws -> Int64? {
        var count: Int64?
        try Database(path: path, readOnly: true).prepare("SELECT count(*) FROM \(table)").run { count = $0.integer(0) }
        return count
    }

    @Test("they have their rows, what is done stays so, and no other request gets their files")
    func takeOver() throws {
        do {
            let state = try opened()
            let five = try state.register(entries(0..<5), isDurable: false).compactMap(\.self)
            try state.note(
                five.map { entry in
                    var entry = entry
                    (entry.outcome, entry.status, entry.bytes, entry.attempts, entry.ended) = (.done, 200, 7, 2, 1e6)
                    return entry
                }
            )
            try state.finish()
            let fields = entries(0..<20).flatMap { [$0.identity, $0.url, $0.method, $0.name ?? ""] }
            let database = try Database(path: path)
            try database.run("CREATE TABLE planned (part INTEGER PRIMARY KEY, requests BLOB NOT NULL)")
            let text = fields.map { $0 + "\u{1F}" }.joined()
            try database.prepare("INSERT INTO planned VALUES (1, ?)").run([.text(text)])
        }
        let shown = try TransferState.read(path).entries
        #expect(shown.count == 20 && shown.count { $0.outcome == .done && $0.attempts == 2 } == 5)
        #expect(shown.first { $0.outcome == .pending }?.name == "h/5")
        let state = try opened()
        #expect(try count("requests") == 20 && count("planned") == 0)
        let others = entries(100..<120) { "h/\($0 - 90)" }
        let rows = try state.register(others, isDurable: false)
        #expect(rows.map { $0?.name } == Array(repeating: nil, count: 10) + (20..<30).map { "h/\($0)" })
        let again = try state.register(entries(0..<20), isDurable: false).compactMap(\.self)
        #expect(again.count == 20 && again.count { $0.outcome == .done } == 5)
        folder.remove()
    }
}
