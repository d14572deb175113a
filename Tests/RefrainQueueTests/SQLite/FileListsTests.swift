// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@testable import RefrainQueue

@Suite("Lists in a file", .timeLimit(.minutes(10)))
struct FileListsTests {
    private let file: ScratchFile

    init() throws {
        file = try ScratchFile()
        try RequestList.FileStore.makeTables(in: try Database(path: file.path), file.path)
    }

    private func run(_ list: String? = "list") throws -> RequestList.FileStore {
        try RequestList.FileStore(path: file.path, list: list)
    }

    private func new(_ names: [String], target: (String) -> String? = { _ in nil }) -> [RequestList.New] {
        names.map { name in
            let target = target(name)
            return RequestList.New(name: name, method: "GET", url: "/\(name)", key: nil, file: target, target: target)
        }
    }

    private func register(
        _ store: RequestList.FileStore,
        _ names: [String],
        target: (String) -> String? = { _ in nil }
    ) throws -> [RequestList.Row?] {
        try store.register(new(names, target: target), isDurable: false) { _, _ in .nothing }
    }

    @Test("R37: a run that has lost its rows changes nothing of them, and what it gives back is as it was before")
    func tokens() throws {
        let (a, b) = (try run(), try run())
        let rows = try register(a, ["1", "2", "3"]).compactMap(\.self)
        #expect(try a.claim(rows.map(\.revision)) == [true, true, true])
        #expect(try a.begin(rows[0].id, age: .seconds(3), key: "k"))
        #expect(try b.count([(rows[0].id, 1, 1)]) == [false] && b.begin(rows[1].id, age: .zero, key: nil) == false)
        let left = try b.all()
        #expect(left.allSatisfy(\.isLeftBehind) && left[0].age.map { $0 >= .seconds(3) } == true)
        #expect(left[0].attempts == 1 && left[0].claims == 1 && left[0].key == "k")
        #expect(try b.claim(left[..<2].map(\.revision)) == [true, true])
        // What was read before another run had it is not claimed.
        #expect(try a.claim(rows[..<2].map(\.revision)) == [false, false])
        func result(_ row: RequestList.Row, _ outcome: RequestQueue.Item.Outcome) -> RequestList.Result {
            RequestList.Result(id: row.id, outcome: outcome, attempts: 1, hasBegun: outcome == .unknown)
        }
        #expect(try a.finish(rows.map { result($0, .failed) }, mayBeWritten: false) == [false, false, true])
        #expect(try b.finish([result(rows[0], .unknown)], mayBeWritten: false) == [true])
        try b.release()
        let all = try a.all()
        #expect(all.map(\.outcome) == [.unknown, .ready, .failed] && all.allSatisfy { !$0.isLeftBehind })
        #expect(all[0].age != nil && all.map(\.attempts) == [2, 0, 1])
        // A settlement is one of the row that was read.
        #expect(throws: QueueError.self) { try b.settle([(left[0], .again)]) }
        try b.settle([(all[0], .forgotten), (all[2], .again)])
        #expect(try a.all().map(\.isForgotten) == [true, false, false] && a.all()[2].outcome == .ready)
        try Database(path: file.path).run("DELETE FROM refrain_request")
        #expect(throws: QueueError.self) { try b.finish([result(rows[1], .done)], mayBeWritten: false) }
    }

    @Test("in whatever order lists are registered, each name has one row, and each file one of a run")
    func orders() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let random = RandomSource(seed: seed)
        var rows: [String: Int64] = [:]
        for round in 0..<100 {
            let store = try run()
            let first = Int(random.next() % 200)
            var names = (first..<(first + Int(random.next() % 100) + 1)).map { "\($0)" }
            // As it is, with a few lines less or more, reversed, or shuffled.
            switch random.next() % 5 {
            case 0: names.removeAll { _ in random.next() % 5 == 0 }
            case 3: names = names.flatMap { random.next() % 4 == 0 ? ["\(400 + (Int($0) ?? 0))", $0] : [$0] }
            case 1: names.reverse()
            case 2: names.sort { _, _ in random.next() % 2 == 0 }
            default: break
            }
            // Two requests of a run may want one file.
            let files: UInt64 = [20, 150, 400][Int(random.next() % 3)]
            func target(_ name: String) -> String { "f\((UInt64(name) ?? 0) % files)" }
            var owners: [String: String] = [:]
            while !names.isEmpty {
                let part = Array(names.prefix(Int(random.next() % 40) + 1))
                names.removeFirst(part.count)
                let found = try store.register(new(part, target: target), isDurable: false) { _, _ in .file }
                for (name, row) in zip(part, found) {
                    let owner = owners[target(name)]
                    #expect((row == nil) == (owner != nil && owner != name), "\(name) of round \(round), seed \(seed)")
                    guard let row else { continue }
                    owners[target(name)] = name
                    #expect(row.name == name && row.file == target(name), "round \(round), seed \(seed)")
                    #expect(rows[name] == nil || rows[name] == row.id, "round \(round), seed \(seed)")
                    rows[name] = row.id
                }
            }
        }
        #expect(try run().all().count { rows[$0.name] == $0.id } == rows.count, "seed \(seed)")
    }

    @Test("what is not in the list any more is forgotten, unless it is done, has a key or may have been sent")
    func leftovers() throws {
        let first = try run()
        let rows = try register(first, ["done", "begun", "left", "kept"]) { $0 }.compactMap(\.self)
        #expect(try first.claim(rows[..<2].map(\.revision)) == [true, true])
        #expect(try first.begin(rows[1].id, age: .zero, key: nil))
        let done = RequestList.Result(id: rows[0].id, outcome: .done, attempts: 1, hasBegun: false)
        #expect(try first.finish([done], mayBeWritten: false) == [true])
        _ = try register(try run("other"), ["other"])
        let second = try run()
        _ = try register(second, ["kept", "new"]) { $0 }
        #expect(try run(nil).forgetLeftovers().count == 0)
        let (count, files) = try second.forgetLeftovers()
        #expect(count == 1 && files == ["left"])
        #expect(try Set(second.all().map(\.name)) == ["done", "begun", "kept", "new", "other"])
    }
}
