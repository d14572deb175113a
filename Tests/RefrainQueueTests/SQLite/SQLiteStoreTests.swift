// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import SyncCounter
import Testing

@testable import RefrainQueue

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Queues in a file of SQLite", .timeLimit(.minutes(10)))
struct SQLiteStoreTests {
    private static func store(_ path: String) throws -> SQLiteStore {
        try SQLiteStore(path: path, queue: "default", clocks: .system)
    }

    private static func new(_ method: HTTPMethod = .get, lane: String? = nil) throws -> NewRequest {
        let request = try StoredRequest(try HTTPRequest("https://example.com/", method: method))
        return NewRequest(request: request, lane: lane, name: nil, delay: .zero)
    }

    private static func code(_ body: () throws(QueueError) -> Void) -> QueueError.Code? { error(body)?.code }

    private static func error(_ body: () throws(QueueError) -> Void) -> QueueError? {
        do throws(QueueError) {
            try body()
            return nil
        } catch { return error }
    }

    /// The error of opening a file.
    private static func error(ofOpening path: String) -> QueueError? {
        error { () throws(QueueError) in _ = try SQLiteStore(path: path, queue: "q", clocks: .system) }
    }

    @Test("R37: a result without the row's present token changes nothing")
    func fence() throws {
        let scratch = try ScratchFile()
        let store = try Self.store(scratch.path)
        _ = try store.enqueue([try Self.new()])
        let late = try #require(try store.claim(1, token: 7, wantsBegun: false).first)
        // The claim is lost, as by a worker that was taken for dead, and the row is claimed anew.
        _ = try store.renew([])
        let present = try #require(try store.claim(1, token: 8, wantsBegun: false).first)
        #expect(present.claims == 2)
        #expect(try store.finish([ClaimResult(late, .failed)]) == [false])
        #expect(try store.begin([late]) == [false])
        try store.release([late])
        #expect(try store.rows(.id(late.id)).first?.outcome == .claimed)
        #expect(try store.finish([ClaimResult(present, .done)]) == [true])
        #expect(try store.finish([ClaimResult(present, .failed)]) == [false])
        #expect(try store.rows(.id(late.id)).first?.outcome == .done)
    }

    #if os(Linux)
    @Test("R37: an enqueue, a claim, a begin and a result are on the disk when they return")
    func durable() throws {
        let scratch = try ScratchFile()
        let store = try Self.store(scratch.path)
        let counter = sync_counter_watch(scratch.path)
        var last: Int32 = 0
        func isSynced() -> Bool {
            defer { last = sync_counter_syncs(counter) }
            return sync_counter_syncs(counter) > last
        }
        _ = try store.enqueue([try Self.new(.post)])
        #expect(isSynced())
        let claim = try #require(try store.claim(1, token: 7, wantsBegun: false).first)
        #expect(isSynced())
        #expect(try store.begin([claim]) == [true] && isSynced())
        #expect(try store.finish([ClaimResult(claim, .done)]) == [true] && isSynced())
    }
    #endif

    @Test("two stores of one file have two slots, and neither takes what the other has")
    func slots() throws {
        let scratch = try ScratchFile()
        let (first, second) = (try Self.store(scratch.path), try Self.store(scratch.path))
        _ = try first.enqueue([try Self.new(), try Self.new(), try Self.new()])
        #expect(try first.claim(2, token: 1, wantsBegun: false).count == 2)
        try second.tidy(keep: .seconds(1))
        #expect(try second.claim(5, token: 2, wantsBegun: false).count == 1)
        #expect(Set(try first.rows(.outcome(.claimed, after: 0, limit: 9)).map(\.owner)).count == 2)
    }

    @Test("R37: a file that two processes know by different paths has the slots of both")
    func links() throws {
        let scratch = try ScratchFile()
        let link = scratch.path + "-link"
        #expect(symlink(scratch.path, link) == 0)
        let (first, second) = (try Self.store(scratch.path), try Self.store(link))
        _ = try first.enqueue([try Self.new(.post)])
        #expect(try first.claim(1, token: 1, wantsBegun: false).count == 1)
        #expect(try second.claim(1, token: 2, wantsBegun: false).isEmpty)
    }

    @Test("R37: a file that was removed or replaced takes no request, and gives none", arguments: [false, true])
    func moved(isReplaced: Bool) throws {
        let scratch = try ScratchFile()
        let store = try Self.store(scratch.path)
        _ = try store.enqueue([try Self.new(.post)])
        #expect(rename(scratch.path, scratch.path + "-old") == 0)
        let other = isReplaced ? try Self.store(scratch.path + "-new") : nil
        if isReplaced { #expect(rename(scratch.path + "-new", scratch.path) == 0) }
        let new = try Self.new(.post)
        let error = try #require(Self.error { () throws(QueueError) in _ = try store.enqueue([new]) })
        #expect(error.code == .storeFailed && "\(error)".contains("open the queue anew"), "\(error)")
        let code = Self.code { () throws(QueueError) in _ = try store.claim(1, token: 1, wantsBegun: false) }
        #expect(code == .storeFailed)
        withExtendedLifetime(other) {}
    }

    @Test("what a store has claimed is free when it is gone")
    func gone() throws {
        let scratch = try ScratchFile()
        let second = try Self.store(scratch.path)
        do {
            let first = try Self.store(scratch.path)
            _ = try first.enqueue([try Self.new(.post)])
            #expect(try first.claim(1, token: 1, wantsBegun: false).count == 1)
        }
        // The slot is the same one, and also another slot would find the first one free.
        #expect(try second.claim(1, token: 2, wantsBegun: false).first?.claims == 2)
    }

    @Test("R37: a path that names no file is refused: what is in memory is lost with the process")
    func noFile() throws {
        for path in ["", ":memory:", "a\0b"] {
            let error = try #require(Self.error(ofOpening: path))
            #expect(error.code == .cannotOpen && "\(error)".contains("needs a file"))
        }
    }

    @Test("what a store has claimed is free when it is gone, also where its slot is taken by a store of another queue")
    func slotOfAnotherQueue() throws {
        let scratch = try ScratchFile()
        func store(_ queue: String) throws -> SQLiteStore {
            try SQLiteStore(path: scratch.path, queue: queue, clocks: .system)
        }
        do {
            let first = try store("orders")
            _ = try first.enqueue([try Self.new(.post)])
            #expect(try first.claim(1, token: 1, wantsBegun: false).count == 1)
        }
        let other = try store("mail")
        _ = try other.claim(1, token: 2, wantsBegun: false)
        #expect(try store("orders").claim(1, token: 3, wantsBegun: false).first?.claims == 2)
        withExtendedLifetime(other) {}
    }

    @Test("a worker looks for what it may take while another process writes, however many requests wait in a lane")
    func looksWithoutLock() throws {
        let scratch = try ScratchFile()
        let store = try Self.store(scratch.path)
        _ = try store.enqueue([try Self.new(lane: "a"), try Self.new(lane: "a")])
        #expect(try store.claim(2, token: 1, wantsBegun: false).count == 1)
        let other = try Database(path: scratch.path)
        try other.run("BEGIN IMMEDIATE")
        #expect(try store.claim(2, token: 2, wantsBegun: false).isEmpty)
        try other.run("ROLLBACK")
    }

    @Test("a request that is settled to be sent again waits for the later one of its lane that is with a worker")
    func laneOfSettled() throws {
        let scratch = try ScratchFile()
        let (first, second) = (try Self.store(scratch.path), try Self.store(scratch.path))
        let ids = try first.enqueue([
            try Self.new(lane: "a"), try Self.new(lane: "a"), try Self.new(lane: "a"), try Self.new(lane: "b"),
        ])
        let failed = try #require(try first.claim(1, token: 1, wantsBegun: false).first)
        #expect(try first.finish([ClaimResult(failed, .failed)]) == [true])
        let later = try #require(try first.claim(1, token: 2, wantsBegun: false).first)
        #expect(later.id == ids[1])
        #expect(try second.settle(failed.id, .again, newKey: ""))
        #expect(try second.claim(9, token: 3, wantsBegun: false).map(\.id) == [ids[3]])
        #expect(try first.finish([ClaimResult(later, .done)]) == [true])
        #expect(try second.claim(9, token: 4, wantsBegun: false).map(\.id) == [failed.id])
    }

    @Test("a claim takes the oldest of each lane, and does not look at the others, whatever becomes of them")
    func lanes() throws {
        let scratch = try ScratchFile()
        let own = try Database(path: scratch.path)
        let store = try Self.store(scratch.path)
        try LaneModel.check(store, { try Self.new(lane: $0) }) { sql in
            if sql.hasPrefix("DELETE") { try own.run(sql) }
            var ids: [Int64] = []
            if sql.hasPrefix("SELECT") { try own.prepare(sql).run { ids.append($0.integer(0) ?? 0) } }
            return ids
        }
    }

    @Test("a file of the first version is changed to the present one, and its lanes keep their order")
    func firstVersion() throws {
        let scratch = try ScratchFile()
        let ids = try Self.store(scratch.path).enqueue([
            try Self.new(lane: "a"), try Self.new(lane: "a"), try Self.new(), try Self.new(lane: "a"),
        ])
        try Database(path: scratch.path).run(
            """
            DROP TRIGGER refrain_request_end; DROP TRIGGER refrain_request_gone; DROP INDEX refrain_request_due;
            ALTER TABLE refrain_request DROP COLUMN behind;
            CREATE INDEX refrain_request_due ON refrain_request (queue, due, id) WHERE due IS NOT NULL;
            UPDATE refrain_queue SET version = 1
            """
        )
        let store = try Self.store(scratch.path)
        #expect(try LaneModel.drain(store) == [ids[0], ids[2], ids[1], ids[3]])
    }

    @Test("a released claim is due at once, uncounted, and not begun")
    func release() throws {
        let scratch = try ScratchFile()
        let store = try Self.store(scratch.path)
        _ = try store.enqueue([try Self.new()])
        let claim = try #require(try store.claim(1, token: 1, wantsBegun: false).first)
        try store.release([claim])
        let item = try #require(try store.rows(.id(claim.id)).first)
        #expect(item.outcome == .ready && item.begun == nil && item.claims == 0)
        #expect(try store.claim(1, token: 2, wantsBegun: true).isEmpty)
    }

    @Test("what is done is removed after its time, what has failed is not")
    func tidying() throws {
        let scratch = try ScratchFile()
        let store = try Self.store(scratch.path)
        _ = try store.enqueue([try Self.new(), try Self.new()])
        let claims = try store.claim(2, token: 1, wantsBegun: false)
        _ = try store.finish([ClaimResult(claims[0], .done), ClaimResult(claims[1], .failed)])
        try store.tidy(keep: .seconds(3600))
        #expect(try store.rows(.outcome(nil, after: 0, limit: 9)).count == 2)
        try store.tidy(keep: .seconds(-3600))
        #expect(try store.rows(.outcome(nil, after: 0, limit: 9)).map(\.outcome) == [.failed])
    }

    @Test("a clock that was set back by an hour does not make a request wait an hour longer")
    func clockSetBack() throws {
        let scratch = try ScratchFile()
        let time = Locked(WallClock.Instant(sinceEpoch: .seconds(1_000_000)))
        let clocks = RetryClocks(monotonic: ContinuousClock()) { time.withLock { $0 } }
        let store = try SQLiteStore(path: scratch.path, queue: "default", clocks: clocks)
        var new = try Self.new()
        new.delay = .seconds(5)
        _ = try store.enqueue([new])
        time.withLock { $0 = $0.advanced(by: .seconds(-3600)) }
        try store.tidy(keep: .seconds(3600))
        #expect(try store.claim(1, token: 1, wantsBegun: false).isEmpty)
        time.withLock { $0 = $0.advanced(by: .seconds(6)) }
        #expect(try store.claim(1, token: 1, wantsBegun: false).count == 1)
    }

    @Test("R37: a clock that was set back makes no key young", arguments: [3600, 86_400])
    func keyAfterClockSetBack(step: Int) throws {
        let scratch = try ScratchFile()
        let time = Locked(WallClock.Instant(sinceEpoch: .seconds(1_000_000)))
        let clocks = RetryClocks(monotonic: ContinuousClock()) { time.withLock { $0 } }
        func open() throws -> SQLiteStore { try SQLiteStore(path: scratch.path, queue: "default", clocks: clocks) }
        var request = try HTTPRequest("https://example.com/", method: .post)
        request.idempotencyKey = .custom("k")
        let new = NewRequest(request: try StoredRequest(request), lane: nil, name: nil, delay: .zero)
        // Two hours after their first sends one waits, one is unknown, and one is with a worker that is killed.
        let ids = try {
            let killed = try open()
            _ = try killed.enqueue([new, new, new])
            _ = try killed.claim(3, token: 1, wantsBegun: false)
            time.withLock { $0 = $0.advanced(by: .seconds(7200)) }
            _ = try killed.renew([])
            let claims = try killed.claim(3, token: 2, wantsBegun: false)
            _ = try killed.finish([ClaimResult(claims[0], .later(.zero)), ClaimResult(claims[1], .unknown)])
            return claims.map(\.id)
        }()
        time.withLock { $0 = $0.advanced(by: .seconds(-step)) }
        let store = try open()
        try store.tidy(keep: .seconds(3600))
        #expect(try store.settle(ids[1], .again, newKey: "new"))
        let claims = try store.claim(3, token: 3, wantsBegun: false)
        #expect(claims.map(\.age) == [Duration?](repeating: .seconds(7200), count: 3))
    }

    @Test("files that are not a queue are refused with their kind and a remedy, and left as they are")
    func badFiles() throws {
        func check(_ path: String, _ code: QueueError.Code, _ remedy: String) {
            let error = Self.error(ofOpening: path)
            #expect(error?.code == code && error?.description.contains(remedy) == true, "\(error as Any)")
            #expect(error?.description.contains(path) == true)
        }
        let text = try ScratchFile(String(repeating: "not a database\n", count: 400))
        check(text.path, .damaged, "use another file")
        #expect(text.text.hasPrefix("not a database\n"))

        let foreign = try ScratchFile()
        try Database(path: foreign.path).run("CREATE TABLE refrain_request (id INTEGER); CREATE TABLE mine (a)")
        check(foreign.path, .foreign, "use another file")
        var tables = 0
        try Database(path: foreign.path).prepare("SELECT * FROM sqlite_master").run { _ in tables += 1 }
        #expect(tables == 2)

        let newer = try ScratchFile()
        _ = try Self.store(newer.path)
        try Database(path: newer.path).run("UPDATE refrain_queue SET version = 3")
        check(newer.path, .newerVersion, "update it")

        check("/nonexistent/outbox.sqlite", .cannotOpen, "its folder must be there")
        // An empty file is one that was made and not filled so far.
        let empty = try ScratchFile("")
        #expect(Self.error(ofOpening: empty.path) == nil)
    }

    @Test("a file that this user may not write is refused with a remedy", arguments: [false, true])
    func readOnly(isFolder: Bool) throws {
        let scratch = try ScratchFile()
        _ = try Self.store(scratch.path).enqueue([try Self.new(.post)])
        let folder = String(scratch.path.dropLast("/outbox.sqlite".count))
        chmod(scratch.path, 0o444)
        if isFolder { chmod(folder, 0o555) }
        defer { chmod(folder, 0o755) }
        let error = try AnotherUser.run { Self.error(ofOpening: scratch.path) }
        #expect(error.map { [.readOnly, .cannotOpen].contains($0.code) } == true, "\(error as Any)")
        #expect(error?.description.contains("this user must be allowed to write") == true, "\(error as Any)")
        chmod(scratch.path, 0o644)
        chmod(folder, 0o755)
        #expect(try Self.store(scratch.path).rows(.outcome(.ready, after: 0, limit: 9)).count == 1)
    }

    @Test("a database of the application's own keeps its tables and its journal")
    func sharedDatabase() throws {
        let scratch = try ScratchFile()
        let own = try Database(path: scratch.path)
        try own.run("CREATE TABLE orders (id INTEGER)")
        _ = try Self.store(scratch.path).enqueue([try Self.new()])
        var journal: String?
        try own.prepare("PRAGMA journal_mode").run { journal = $0.text(0) }
        #expect(journal == "delete")
    }

    @Test("a file that was cut off is told of")
    func torn() throws {
        let scratch = try ScratchFile()
        do {
            // No journal beside the file, so that all of it is in there.
            try Database(path: scratch.path).run("CREATE TABLE a (b)")
            let store = try Self.store(scratch.path)
            for _ in 0..<20 { _ = try store.enqueue([NewRequest](repeating: try Self.new(), count: 500)) }
        }
        try scratch.cut(to: 0.5)
        let error = Self.error { () throws(QueueError) in
            let store = try SQLiteStore(path: scratch.path, queue: "default", clocks: .system)
            for _ in 0..<200 { _ = try store.claim(100, token: 1, wantsBegun: false) }
        }
        #expect(error?.code == .damaged && error?.description.contains("put it aside") == true)
    }

    @Test("a disk that is full is told of, and nothing is half stored")
    func full() throws {
        let scratch = try ScratchFile()
        let store = try Self.store(scratch.path)
        try store.limitPages(to: 40)
        var stored = 0
        let error = Self.error { () throws(QueueError) in
            for _ in 0..<1000 {
                let new = NewRequest(
                    request: StoredRequest(
                        head: "GET https://example.com/\n",
                        body: [UInt8](repeating: 7, count: 2000),
                        file: nil,
                        key: nil,
                        safety: .repeatable
                    ),
                    lane: nil,
                    name: nil,
                    delay: .zero
                )
                _ = try store.enqueue([new, new])
                stored += 2
            }
        }
        #expect(error?.code == .full && error?.description.contains("make space") == true)
        #expect(try store.rows(.outcome(nil, after: 0, limit: 9999)).count == stored)
    }
}
