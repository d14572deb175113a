// SPDX-License-Identifier: Apache-2.0
import RefrainQueue
import Testing

@testable import RefrainCLI

@Suite("Requests of a new state that get their rows when they have ended", .timeLimit(.minutes(10)))
struct PlannedRequestsTests {
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

    private func done(_ entry: Entry) -> Entry {
        var entry = entry
        (entry.outcome, entry.status, entry.bytes, entry.attempts, entry.ended) = (.done, 200, 7, 2, 1_000_000)
        return entry
    }

    private func count(_ table: String) throws -> Int64? {
        var count: Int64?
        try Database(path: path, readOnly: true).prepare("SELECT count(*) FROM \(table)").run { count = $0.integer(0) }
        return count
    }

    @Test("they are in the state from the beginning, each has its row with its end, and none is there twice")
    func rows() throws {
        let state = try opened()
        let planned = try state.register(entries(0..<20), isDurable: false).compactMap(\.self)
        #expect(planned.count == 20 && planned.allSatisfy { $0.part == 1 })
        #expect(try count("requests") == 0 && count("planned") == 1)
        #expect(try TransferState.read(path).entries.map(\.identity) == entries(0..<20).map(\.identity))
        try state.note(planned[..<19].map(done))
        #expect(try count("requests") == 19 && count("planned") == 1)
        let rows = try TransferState.read(path).entries
        #expect(rows.count == 20 && rows.count { $0.outcome == .done && $0.attempts == 2 && $0.bytes == 7 } == 19)
        #expect(rows.filter { $0.outcome == .pending }.map(\.name) == ["h/19"])
        try state.note([done(planned[19])])
        #expect(try count("requests") == 20 && count("planned") == 0)
        try state.note([done(planned[3])])
        #expect(try TransferState.read(path).entries.first { $0.name == "h/3" }?.attempts == 4)
        folder.remove()
    }

    @Test("after a crash they have their rows, and no other request gets their files", arguments: [false, true])
    func crash(endsInOrder: Bool) throws {
        do {
            let state = try opened()
            let planned = try state.register(entries(0..<20), isDurable: false).compactMap(\.self)
            try state.note(planned[..<5].map(done))
            if endsInOrder { try state.finish() }
        }
        #expect(try count("requests") == (endsInOrder ? 20 : 5))
        let state = try opened()
        #expect(try count("requests") == 20 && count("planned") == 0)
        let others = entries(100..<120) { "h/\($0 - 90)" }
        let rows = try state.register(others, isDurable: false)
        #expect(rows.map { $0?.name } == Array(repeating: nil, count: 10) + (20..<30).map { "h/\($0)" })
        let again = try state.register(entries(0..<20), isDurable: false).compactMap(\.self)
        #expect(again.count == 20 && again.count { $0.outcome == .done } == 5 && again.allSatisfy { $0.part == nil })
        folder.remove()
    }

    @Test("a part in which a name stands a second time gets rows, which tell whose file it is")
    func twice() throws {
        let state = try opened()
        let first = try state.register(entries(0..<20), isDurable: false).compactMap(\.self)
        let second = try state.register(entries(20..<40) { "h/\($0 == 30 ? 3 : $0)" }, isDurable: false)
        #expect(second.count { $0 == nil } == 1 && second[10] == nil)
        #expect(try count("requests") == 39 && count("planned") == 0)
        try state.note(first.map(done))
        #expect(try TransferState.read(path).entries.count { $0.outcome == .done && $0.attempts == 2 } == 20)
        folder.remove()
    }

    @Test("few requests, and those with keys, or with fields that a part cannot hold, have their rows at once")
    func others() throws {
        let state = try opened()
        let few = try state.register(entries(0..<3), isDurable: false)
        #expect(few.allSatisfy { $0?.part == nil } && few.count == 3)
        folder.remove()
        try folder.makeFolder()
        let odd = try opened().register(entries(0..<20) { "h/\u{1F}\($0)" }, isDurable: false)
        #expect(odd.allSatisfy { $0 != nil && $0?.part == nil })
        #expect(try count("requests") == 20)
        folder.remove()
        try folder.makeFolder()
        var orders = entries(0..<20)
        for index in orders.indices { orders[index].key = "k\(index)" }
        let keyed = try opened().register(orders, isDurable: true)
        #expect(keyed.allSatisfy { $0?.key != nil } && keyed.count == 20)
        #expect(try count("requests") == 20)
        folder.remove()
    }
}
