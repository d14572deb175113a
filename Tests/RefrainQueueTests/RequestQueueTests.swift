// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainCore
import RefrainHTTP
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainQueue

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Queues", .timeLimit(.minutes(10)))
struct RequestQueueTests {
    /// The URL of an order.
    private static let url = "https://api.example.com/orders"

    private static func order(_ text: String = "one tea", key: HTTPRequest.IdempotencyKey = .generated) throws
        -> HTTPRequest
    {
        var request = try HTTPRequest(url, method: .post, headers: ["Accept": "text/plain"], body: .text(text))
        request.idempotencyKey = key
        return request
    }

    /// Sends what is in a queue until so many requests have an outcome; returns them.
    @discardableResult
    private static func work(
        _ queue: RequestQueue,
        on loader: some HTTPLoader,
        concurrency: Int = 4,
        until count: Int
    ) async throws -> [RequestQueue.Item] {
        try await run(queue.worker(on: loader, concurrency: concurrency), until: count)
    }

    /// Runs a worker until so many requests have an outcome; returns them.
    private static func run(_ worker: RequestQueue.Worker, until count: Int) async throws -> [RequestQueue.Item] {
        let ended = Journal<RequestQueue.Item>()
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        await ended.entries(atLeast: count)
        run.cancel()
        try await run.value
        return ended.entries
    }

    private static func retrying(_ loader: some HTTPLoader, _ schedule: Backoff = .immediately(maxAttempts: 3))
        -> some HTTPLoader
    {
        Retry(RetryPolicy.recommended.with(schedule: schedule), budgets: nil) --> loader
    }

    @Test("R37: a request is sent whole, with the key that was stored with it, and is done")
    func sendsWhole() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        let id = try #require(try await queue.enqueue(try Self.order()))
        let key = try #require(try await queue.item(id)?.key)
        let mock = MockLoader().then(.status(503, headers: ["Retry-After": "0"])).then(.status(201))
        let items = try await Self.work(queue, on: Self.retrying(mock), until: 1)
        #expect(mock.requests.map { $0.headers["Idempotency-Key"] } == [key, key])
        #expect(mock.requests.allSatisfy { $0.method == .post && $0.url.absoluteString == Self.url })
        #expect(mock.requests.first?.body.bytesInMemory == Array("one tea".utf8))
        #expect(mock.requests.first?.body.contentType == "text/plain; charset=utf-8")
        #expect(mock.requests.first?.headers["Accept"] == "text/plain")
        let item = try #require(items.first)
        #expect(item.outcome == .done && item.status == 201 && item.id == id)
        #expect(item.attempts.map(\.status) == [503, 201])
        #expect(item.attempts.map(\.number) == [1, 2])
    }

    @Test("R37: a loader that keeps the requests that it was given does not keep their worker, nor itself")
    func keptRequests() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order())
        weak var kept: MockLoader?
        func work() async throws {
            let mock = MockLoader().otherwise(.status(201))
            kept = mock
            try await Self.work(queue, on: Self.retrying(mock), until: 1)
            #expect(mock.requests.count == 1)
        }
        try await work()
        // The tasks of the run may end a moment after it.
        #expect(await eventually(within: 20) { kept == nil })
    }

    @Test("R2: a request without a key is not sent again after a redirect with a time", arguments: [301, 303])
    func redirectWithTime(status: Int) async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order(key: .none))
        let mock = MockLoader().otherwise(
            .status(HTTPStatus(rawValue: status), headers: ["Location": "/done", "Retry-After": "600"])
        )
        var settings = Session.Settings()
        settings.budgets = nil
        let items = try await Self.run(queue.worker(on: Session(loader: mock, settings: settings)), until: 1)
        #expect(items.map(\.outcome) == [.unknown])
        #expect(mock.requests.count == 1)
    }

    @Test("R34: requests that a pacer holds for long are stored, so that those for other servers go on")
    func heldRequests() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        for host in ["a", "a", "a", "a", "a", "b"] {
            var request = try HTTPRequest("https://\(host).example/hook", method: .post, body: .text("{}"))
            request.idempotencyKey = .generated
            try await queue.enqueue(request)
        }
        let mock = MockLoader { request -> MockLoader.Reply in
            request.url.host() == "a.example" ? .status(429, headers: ["Retry-After": "60"]) : .status(200)
        }
        var settings = Session.Settings()
        settings.budgets = nil
        settings.clocks = TestClock().retryClocks(wall: .now)
        let worker = queue.worker(on: Session(loader: mock, settings: settings), concurrency: 2)
        let run = Task { try await worker.run() }
        let isDone = await eventually(within: 20) { (try? await queue.items(.done).count) == 1 }
        #expect(isDone)
        run.cancel()
        try await run.value
        // One or two were sent and refused; the others are held until then, and were not sent.
        let held = try await queue.items(.ready)
        #expect(held.count == 5 && mock.requests.count <= 3)
        let soon = WallClock.Instant.now.advanced(by: .seconds(30))
        #expect(held.allSatisfy { $0.due.map { $0 > soon } == true })
    }

    @Test("R24: a worker that Task.retrying runs makes the attempts of its requests")
    func workerWithinTaskRetrying() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order())
        let mock = MockLoader().then(.status(503)).then(.status(201))
        var settings = Session.Settings()
        settings.budgets = nil
        settings.clocks = TestClock(.autoAdvancing).retryClocks()
        let worker = queue.worker(on: Session(loader: mock, settings: settings))
        let ended = Journal<RequestQueue.Item>()
        worker.onEnd { ended.append($0) }
        let run = Task.retrying { try await worker.run() }
        await ended.entries(atLeast: 1)
        run.cancel()
        _ = await run.result
        #expect(ended.entries.map(\.outcome) == [.done])
        #expect(mock.requests.count == 2)
    }

    @Test("R37: what was enqueued is there after the queue was opened again, and a key of the caller's stays")
    func survives() async throws {
        let scratch = try ScratchFile()
        let first = try await RequestQueue(.sqlite(scratch.path))
        try await first.enqueue(try Self.order(key: .custom("order-7")))
        let second = try await RequestQueue(.sqlite(scratch.path))
        let mock = MockLoader().then(.status(200))
        try await Self.work(second, on: Self.retrying(mock), until: 1)
        #expect(mock.requests.first?.headers["Idempotency-Key"] == "\"order-7\"")
        #expect(try await first.items(.done).count == 1)
    }

    @Test("no key is added to a request that asked for none")
    func noKey() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order(key: .none))
        let mock = MockLoader().then(.status(200))
        try await Self.work(queue, on: Self.retrying(mock), until: 1)
        #expect(mock.requests.first?.headers.contains("Idempotency-Key") == false)
    }

    @Test("a second request of a name is refused, by enqueue and by the row for a transaction")
    func duplicates() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        #expect(try await queue.enqueue(try Self.order(), dedupe: "event 41") != nil)
        #expect(try await queue.enqueue(try Self.order(), dedupe: "event 41") == nil)
        try Self.insert(try queue.row(for: try Self.order(), dedupe: "event 41"), scratch.path, commits: true)
        #expect(try await queue.items().count == 1)
        let other = try await RequestQueue(.sqlite(scratch.path), name: "other")
        #expect(try await other.enqueue(try Self.order(), dedupe: "event 41") != nil)
    }

    @Test("R37: a row of the application's transaction is there when that commits, and only then")
    func transaction() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try Self.insert(try queue.row(for: try Self.order("kept")), scratch.path, commits: true)
        try Self.insert(try queue.row(for: try Self.order("dropped")), scratch.path, commits: false)
        let mock = MockLoader().otherwise(.status(200))
        try await Self.work(queue, on: Self.retrying(mock), until: 1)
        #expect(mock.requests.map { $0.body.bytesInMemory } == [Array("kept".utf8)])
        #expect(try await queue.items().map(\.outcome) == [.done])
    }

    /// Inserts a row as an application does, by another connection.
    private static func insert(_ row: RequestQueue.Row, _ path: String, commits: Bool) throws {
        let database = try Database(path: path)
        try database.run("BEGIN IMMEDIATE")
        let values = row.values.map { value -> Database.Value in
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .text(let text): .text(text)
            case .bytes(let bytes): .blob(bytes)
            }
        }
        try database.prepare(row.sql).run(values)
        try database.run(commits ? "COMMIT" : "ROLLBACK")
    }

    @Test("requests of a lane are sent one after the other in their order, beside those of other lanes")
    func lanes() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        for number in 0..<12 { try await queue.enqueue(try Self.order("\(number)"), lane: number % 2 == 0 ? "a" : "b") }
        let running = Observed((now: [String: Int](), most: [String: Int]()))
        let mock = MockLoader().otherwise(
            MockLoader.Reply { request in
                let number = Int(String(decoding: request.body.bytesInMemory ?? [], as: UTF8.self)) ?? 0
                let lane = number % 2 == 0 ? "a" : "b"
                running.withLock { running in
                    running.now[lane, default: 0] += 1
                    running.most[lane] = max(running.most[lane] ?? 0, running.now[lane] ?? 0)
                }
                // No event: two requests of one lane would meet here.
                await Task.yield()
                running.withLock { $0.now[lane, default: 0] -= 1 }
                // The first one of a lane fails for good, which does not stop the others.
                return .success(HTTPResponse(request: request, status: number < 2 ? 400 : 200))
            }
        )
        try await Self.work(queue, on: Self.retrying(mock), concurrency: 8, until: 12)
        let sent = mock.requests.compactMap { Int(String(decoding: $0.body.bytesInMemory ?? [], as: UTF8.self)) }
        #expect(sent.filter { $0 % 2 == 0 } == [0, 2, 4, 6, 8, 10])
        #expect(sent.filter { $0 % 2 == 1 } == [1, 3, 5, 7, 9, 11])
        #expect(running.value.most == ["a": 1, "b": 1])
    }

    @Test("a field's value is stored as it is, also where it begins with a combining mark or contains colons")
    func fieldValues() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        let values = ["\u{301}a", "\u{FE0F}", "a: b:c", ": x", "\u{1F469}\u{200D}\u{1F680}", ""]
        var request = try HTTPRequest(Self.url)
        for (index, value) in values.enumerated() { request.headers["X-\(index)"] = value }
        try await queue.enqueue(request)
        let mock = MockLoader().otherwise(.status(200))
        try await Self.work(queue, on: mock, until: 1)
        let sent = try #require(mock.requests.first)
        // By bytes: equal texts may have different ones.
        #expect(values.indices.map { sent.headers["X-\($0)"].map { Array($0.utf8) } } == values.map { Array($0.utf8) })
    }

    @Test("R37: a request whose file is gone has failed, or is unknown where it may have been sent before")
    func fileIsGone() async throws {
        let (scratch, file) = (try ScratchFile(), try ScratchFile())
        let content = Data(repeating: 7, count: StoredRequest.bodyLimit + 1)
        try content.write(to: URL(filePath: file.path))
        let queue = try await RequestQueue(.sqlite(scratch.path))
        for _ in 0..<2 {
            var request = try HTTPRequest(Self.url, method: .post, body: .file(file.path))
            request.idempotencyKey = .generated
            try await queue.enqueue(request)
        }
        // The process that claimed the first one is gone.
        do {
            let store = try SQLiteStore(path: scratch.path, queue: "default", clocks: .system)
            #expect(try store.claim(1, token: 1, wantsBegun: false).count == 1)
        }
        try FileManager.default.removeItem(atPath: file.path)
        try await Self.work(queue, on: MockLoader(), until: 2)
        #expect(try await queue.items().map(\.outcome) == [.unknown, .failed])
    }

    @Test("what was held back before it was sent uses up no attempt of the policy")
    func heldBack() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order())
        let mock = MockLoader()
        for _ in 0..<4 {
            mock.then { request in
                var error = HTTPError(.circuitOpen, request: request, bytesSent: 0)
                error.retryAfterDate = RetryClocks.system.wallNow
                return .failure(error)
            }
        }
        mock.then(times: 2, .status(503)).then(.status(200))
        let items = try await Self.work(queue, on: Self.retrying(mock), until: 1)
        #expect(items.map(\.outcome) == [.done])
        #expect(mock.requests.count == 7)
    }

    @Test("R37: a session that was invalidated sends nothing: what is in the queue stays, without a spin")
    func invalidatedSession() async throws {
        let scratch = try ScratchFile()
        let clock = TestClock()
        let queue = try await RequestQueue(.sqlite(scratch.path), clocks: clock.retryClocks())
        for key in [HTTPRequest.IdempotencyKey.none, .generated] {
            for _ in 0..<3 { try await queue.enqueue(try Self.order(key: key)) }
        }
        let mock = MockLoader().otherwise(.status(200))
        let (refused, times) = (Journal<Bool>(), Journal<Duration>())
        let monitor = ClosureEventMonitor()
        monitor.requestDidFinish = {
            times.append(clock.now.offset)
            refused.append($0.attempts.isEmpty)
        }
        let session = Session(loader: mock, eventMonitors: [monitor])
        session.invalidate()
        let worker = queue.worker(on: session, concurrency: 2)
        let run = Task { try await worker.run() }
        while refused.entries.count < 4 {
            await clock.sleepers(atLeast: 1)
            await clock.advance(by: .milliseconds(100))
        }
        run.cancel()
        try await run.value
        #expect(refused.entries.allSatisfy { $0 } && mock.requests.isEmpty)
        // Two are in flight at a time, and what follows one of them follows its pause.
        let sorted = times.entries.sorted()
        #expect(zip(sorted, sorted.dropFirst(2)).allSatisfy { $1 - $0 >= .seconds(1) }, "\(sorted)")
        let items = try await queue.items()
        #expect(items.map(\.outcome) == Array(repeating: .ready, count: 6))
        #expect(items.allSatisfy { $0.begun == nil && $0.claims == 0 })
    }

    @Test("a session whose requests wait to be resumed sends those of a queue")
    func sessionThatWaits() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order())
        var settings = Session.Settings()
        settings.startsRequestsImmediately = false
        let ended = Journal<RequestQueue.Item>()
        let worker = queue.worker(on: Session(loader: MockLoader().otherwise(.status(200)), settings: settings))
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        await ended.entries(atLeast: 1)
        run.cancel()
        try await run.value
        #expect(ended.entries.map(\.outcome) == [.done])
    }

    @Test("R37: a request without a key of its own is sent once, also where the session gives it one")
    func keyOfTheSession() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order(key: .none))
        let keying = Adapter { request, _ in
            var request = request
            request.idempotencyKey = .generated
            return request
        }
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
        // A refusal is certain to have done nothing; what follows a 503 is not.
        let mock = MockLoader().then(.status(429)).otherwise(.status(503))
        let session = Session(loader: mock, interceptor: Interceptor(interceptors: [keying, policy]))
        let ended = Journal<RequestQueue.Item>()
        let worker = queue.worker(on: session)
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        await ended.entries(atLeast: 1)
        run.cancel()
        try await run.value
        #expect(ended.entries.map(\.outcome) == [.unknown] && ended.entries[0].attempts.map(\.status) == [429, 503])
        #expect(mock.requests.count == 2)
    }

    @Test("a run that begins while an earlier one of its worker ends waits for it, and both end")
    func twoRuns() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        let gate = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: gate, .status(200))).otherwise(.status(200))
        let ended = Journal<RequestQueue.Item>()
        let worker = queue.worker(on: mock, concurrency: 1)
        worker.onEnd { ended.append($0) }
        try await queue.enqueue(try Self.order("a"))
        let runs = Journal<Int>()
        func run(_ number: Int) -> Task<Void, any Error> {
            Task {
                try await worker.run()
                runs.append(number)
            }
        }
        let first = run(1)
        await gate.arrivals(atLeast: 1)
        first.cancel()
        let second = run(2)
        let third = run(3)
        third.cancel()
        await runs.entries(atLeast: 1)
        #expect(runs.entries == [3])
        try await queue.enqueue(try Self.order("b"))
        await gate.release()
        await ended.entries(atLeast: 2)
        await runs.entries(atLeast: 2)
        #expect(runs.entries == [3, 1])
        second.cancel()
        _ = await [first.result, second.result, third.result]
        #expect(mock.requests.map { $0.body.bytesInMemory } == [Array("a".utf8), Array("b".utf8)])
    }

    @Test("secrets are not stored: fields, those that the caller names, and the user of the URL")
    func secrets() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        var request = try HTTPRequest("https://user:hunter2@api.example.com/", method: .put)
        request.headers = [
            "Authorization": "Bearer hunter2", "cookie": "a=hunter2", "X-Mine": "hunter2", "X-Plain": "1",
            "X-Acme-Token": "hunter2",
        ]
        request.secretHeaders = ["x-mine"]
        try await queue.enqueue(request)
        var stored = ""
        try Database(path: scratch.path).prepare("SELECT * FROM refrain_request").run { row in
            for column in 0..<20 { stored += row.text(Int32(column)) ?? "" }
        }
        #expect(!stored.contains("hunter2"))
        #expect(stored.contains("X-Plain: 1"))
        let mock = MockLoader().then(.status(200))
        try await Self.work(queue, on: Self.retrying(mock), until: 1)
        #expect(mock.requests.first?.headers["X-Plain"] == "1")
        // A redirect takes what the worker's session adds.
        #expect(mock.requests.first?.secretHeaders == ["x-mine"])
    }

    @Test("R37: a request without a key whose outcome is not known is unknown, and is not sent again")
    func unknown() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order(key: .none))
        let mock = MockLoader().otherwise(.failure(.networkConnectionLost, bytesSent: 120))
        let items = try await Self.work(queue, on: Self.retrying(mock), until: 1)
        #expect(mock.requests.count == 1)
        #expect(items.map(\.outcome) == [.unknown])
        #expect(try await queue.items(.unknown).first?.error?.contains("may have been processed") == true)
    }

    @Test("one without a key that was refused for certain is sent again, also by the next claim")
    func refused() async throws {
        let scratch = try ScratchFile()
        let clock = TestClock()
        let queue = try await RequestQueue(.sqlite(scratch.path), clocks: clock.retryClocks())
        try await queue.enqueue(try Self.order(key: .none))
        let mock = MockLoader().then(.failure(.cannotConnectToHost, bytesSent: 0)).then(.status(200))
        let schedule = Backoff.constant(delay: .seconds(60), maxAttempts: 3)
        let loader = Retry(.recommended.with(schedule: schedule), budgets: nil, clocks: clock.retryClocks()) --> mock
        let items = try await clock.run { try await Self.work(queue, on: loader, until: 1) }
        #expect(items.map(\.outcome) == [.done])
        #expect(mock.requests.count == 2)
    }

    @Test("R37: waits of hours are the queue's: one claim for each attempt, and the schedule goes on where it was")
    func longWaits() async throws {
        let scratch = try ScratchFile()
        let clock = TestClock()
        let clocks = clock.retryClocks()
        let queue = try await RequestQueue(.sqlite(scratch.path), clocks: clocks)
        let id = try #require(try await queue.enqueue(try HTTPRequest(Self.url, method: .put)))
        let mock = MockLoader().then(times: 4, .status(500)).then(.status(200))
        let policy = RetryPolicy.recommended.with(schedule: Backoff.webhooks.jittered(.none))
        let loader = Retry(policy, budgets: nil, clocks: clocks) --> mock
        let ended = Journal<RequestQueue.Item>()
        let worker = queue.worker(on: loader, concurrency: 1)
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        // 5 s in memory, the others in the queue; a step of the clock is longer than the wait that is left.
        var waits: [Duration] = []
        while ended.entries.isEmpty {
            await clock.sleepers(atLeast: 1)
            guard ended.entries.isEmpty else { break }
            if let item = try await queue.item(id), item.outcome == .ready, let due = item.due {
                let wait = clocks.wallNow.duration(to: due)
                if wait > .zero { waits.append(wait) }
                await clock.advance(by: max(wait, .seconds(1)))
            } else {
                await clock.advanceToNextSleeper()
            }
        }
        run.cancel()
        try await run.value
        let item = try #require(ended.entries.first)
        #expect(item.outcome == .done)
        #expect(item.attempts.map(\.number) == [1, 2, 3, 4, 5])
        #expect(mock.requests.count == 5)
        #expect(waits.first.map { $0 > .seconds(280) && $0 <= .seconds(300) } == true)
        #expect(waits.contains { $0 > .seconds(7000) && $0 <= .seconds(7200) })
    }

    @Test("attempts that are used up leave a dead letter with every attempt, which can be sent again or be settled")
    func deadLetters() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order())
        let failing = MockLoader().otherwise(.status(500))
        try await Self.work(queue, on: Self.retrying(failing), until: 1)
        let dead = try #require(try await queue.items(.failed).first)
        #expect(dead.attempts.count == 3 && dead.status == 500)
        try await queue.settle(dead.id, .again)
        let again = MockLoader().otherwise(.status(500))
        try await Self.work(queue, on: Self.retrying(again), until: 1)
        #expect(again.requests.count == 3)
        #expect(again.requests.first?.headers["Idempotency-Key"] == dead.key)
        #expect(try await queue.item(dead.id)?.attempts.count == 6)
        try await queue.settle(dead.id, .again(newKey: true))
        #expect(try await queue.item(dead.id)?.key != dead.key)
        let last = MockLoader().otherwise(.status(400))
        try await Self.work(queue, on: Self.retrying(last), until: 1)
        try await queue.settle(dead.id, .done)
        #expect(try await queue.items(.done).count == 1)
        let settled = "item \(dead.id) is done; only one that is failed or unknown can be settled"
        await #expect(throws: QueueError(.noSuchItem, settled)) { try await queue.settle(dead.id, .again) }
        await #expect(throws: QueueError(.noSuchItem, "there is no item 999")) { try await queue.settle(999, .done) }
    }

    @Test("a paused queue takes nothing, in every process, until it is resumed")
    func pause() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.pause()
        try await queue.enqueue(try Self.order())
        let mock = MockLoader().otherwise(.status(200))
        let other = try await RequestQueue(.sqlite(scratch.path))
        let ended = Journal<RequestQueue.Item>()
        let worker = other.worker(on: Self.retrying(mock))
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        // The worker has looked at the queue when another call of its store is through.
        for _ in 0..<3 { _ = try await other.items() }
        #expect(mock.requests.isEmpty)
        try await queue.resume()
        await ended.entries(atLeast: 1)
        run.cancel()
        try await run.value
        #expect(mock.requests.count == 1)
    }

    @Test("a cancelled worker finishes what is in flight, and takes nothing more")
    func gracefulEnd() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        for _ in 0..<3 { try await queue.enqueue(try Self.order(key: .none)) }
        let (started, gate) = (Counter(), Signal())
        let mock = MockLoader().otherwise(
            MockLoader.Reply { request in
                started.increment()
                await gate.wait()
                return .success(HTTPResponse(request: request, status: Task.isCancelled ? 500 : 200))
            }
        )
        let worker = queue.worker(on: mock, concurrency: 2)
        let run = Task { try await worker.run() }
        await started.reaches(2)
        run.cancel()
        gate.set()
        try await run.value
        #expect(try await queue.items().map(\.outcome).filter { $0 == .done }.count == 2)
        #expect(try await queue.items(.ready).count == 1)
        #expect(started.value == 2)
    }

    @Test("R18: a worker that ends while a request waits for its next attempt leaves it the rest of that wait")
    func endInWait() async throws {
        let scratch = try ScratchFile()
        let clock = TestClock()
        let clocks = clock.retryClocks()
        let queue = try await RequestQueue(.sqlite(scratch.path), clocks: clocks)
        // Without a key as well: a 429 says that it was not processed.
        for key in [HTTPRequest.IdempotencyKey.none, .generated] { try await queue.enqueue(try Self.order(key: key)) }
        let mock = MockLoader().otherwise(.status(429, headers: ["Retry-After": "8"]))
        let loader = Retry(.recommended, budgets: nil, clocks: clocks) --> mock
        let worker = queue.worker(on: loader, concurrency: 3)
        let run = Task { try await worker.run(grace: .zero) }
        // The two requests and the worker.
        await clock.sleepers(atLeast: 3)
        run.cancel()
        try await run.value
        let items = try await queue.items()
        #expect(items.map(\.outcome) == [.ready, .ready] && items[0].begun == nil && items[1].begun != nil)
        let waits = items.compactMap { item in item.due.map { clocks.wallNow.duration(to: $0) } }
        #expect(waits.count == 2 && waits.allSatisfy { $0 > .seconds(7) && $0 <= .seconds(9) }, "\(waits)")
        #expect(mock.requests.count == 2)
    }

    /// Enqueues two orders, one without a key, and leaves them as a worker that was killed while it had them.
    private static func leftBehind(_ path: String, clocks: RetryClocks) async throws -> RequestQueue {
        let queue = try await RequestQueue(.sqlite(path), clocks: clocks)
        for key in [HTTPRequest.IdempotencyKey.none, .generated] { try await queue.enqueue(try Self.order(key: key)) }
        let killed = try SQLiteStore(path: path, queue: "default", clocks: clocks)
        #expect(try killed.claim(9, token: 1, wantsBegun: false).count == 2)
        return queue
    }

    @Test("R37: a worker that ends while a request waits for its next attempt does not count, and it is not begun")
    func killedInWait() async throws {
        let scratch = try ScratchFile()
        let clock = TestClock()
        let clocks = clock.retryClocks()
        let queue = try await Self.leftBehind(scratch.path, clocks: clocks)
        let atSend = Journal<[RequestQueue.Item]>()
        let mock = MockLoader().otherwise(
            MockLoader.Reply { request in
                if let items = try? await queue.items() { atSend.append(items) }
                return .success(HTTPResponse(request: request, status: 429, headers: ["Retry-After": "8"]))
            }
        )
        let worker = queue.worker(on: Retry(.recommended, budgets: nil, clocks: clocks) --> mock, concurrency: 3)
        let run = Task { try await worker.run(grace: .zero) }
        await clock.sleepers(atLeast: 3)
        #expect(await eventually { (try? await queue.items().map(\.claims)) == [1, 1] })
        #expect(try await queue.items().map { $0.begun == nil } == [true, false])
        // Each of the next attempts is noted again before it.
        await clock.advance(by: .seconds(9))
        await atSend.entries(atLeast: 4)
        await clock.sleepers(atLeast: 3)
        run.cancel()
        try await run.value
        let counts = atSend.entries.flatMap { $0 }.filter { $0.begun != nil }.map(\.claims)
        #expect(counts.contains(2))
    }

    @Test("R37: what has waited beyond its lease is not sent, whatever it has waited for")
    func waitBeyondLease() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try Self.order())
        let claims = try await queue.store.call { store throws(QueueError) in
            try store.claim(1, token: 1, wantsBegun: false)
        }
        let mark = SendMark(try #require(claims.first), in: queue.store)
        let lease = Lease(.seconds(30), from: .now)
        #expect(await mark.begin(lease) { true } && mark.refusal == nil)
        lease.end()
        #expect(await !mark.begin(lease) { true } && mark.refusal != nil)
    }

    @Test("R37: a worker that ends while a request waits for a slot does not count, and it is not begun")
    func killedBeforeSlot() async throws {
        let scratch = try ScratchFile()
        let queue = try await Self.leftBehind(scratch.path, clocks: .system)
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let (isTaken, gate) = (Signal(), Signal())
        let other = Task { [request = try Self.order()] in
            let blocked = AnyLoader { request in
                isTaken.set()
                await gate.wait()
                return .success(HTTPResponse(request: request, status: 200))
            }
            return await (throttle --> blocked).load(request)
        }
        await isTaken.wait()
        var settings = Session.Settings()
        settings.throttle = throttle
        let session = Session(loader: MockLoader().otherwise(.status(200)), settings: settings)
        let worker = queue.worker(on: session)
        let ended = Journal<RequestQueue.Item>()
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        #expect(await eventually { throttle.numberOfWaitingRequests == 2 })
        #expect(await eventually { (try? await queue.items().map(\.claims)) == [1, 1] })
        #expect(try await queue.items().map { $0.begun == nil } == [true, false])
        gate.set()
        await ended.entries(atLeast: 2)
        run.cancel()
        try await run.value
        #expect(try await queue.items().map(\.outcome) == [.done, .done])
        _ = await other.value
    }

    @Test("a large file is referred to, and one that has changed since is not sent")
    func files() async throws {
        let scratch = try ScratchFile()
        let body = try ScratchFile(String(repeating: "x", count: 3 << 20))
        let small = try ScratchFile("small")
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue(try HTTPRequest(Self.url, method: .put, body: .file(body.path)))
        try await queue.enqueue(try HTTPRequest(Self.url, method: .put, body: .file(small.path)))
        let mock = MockLoader().otherwise(.status(200))
        try await Self.work(queue, on: mock, concurrency: 1, until: 2)
        #expect(mock.requests.map { $0.body.bytesInMemory } == [nil, Array("small".utf8)])
        try await queue.enqueue(try HTTPRequest(Self.url, method: .put, body: .file(body.path)))
        try body.cut(to: 0.9)
        let items = try await Self.work(queue, on: mock, until: 1)
        #expect(items.map(\.outcome) == [.failed])
        #expect(items.first?.error?.contains("has changed") == true)
        #expect(mock.requests.count == 2)
    }

    @Test("R37: a large file that changes while its request waits for the next attempt is not sent again")
    func fileChangedBetweenAttempts() async throws {
        for (first, outcome) in [
            (MockLoader.Reply.status(502), RequestQueue.Item.Outcome.unknown),
            (.failure(.cannotConnectToHost, bytesSent: 0), .failed),
        ] {
            let scratch = try ScratchFile()
            let body = try ScratchFile(String(repeating: "x", count: 3 << 20))
            let small = try ScratchFile("small")
            let queue = try await RequestQueue(.sqlite(scratch.path))
            for path in [body.path, small.path] {
                var request = try HTTPRequest(Self.url, method: .post, body: .file(path))
                request.idempotencyKey = .generated
                try await queue.enqueue(request)
            }
            let path = body.path
            let mock = MockLoader().then(first).otherwise(.status(200))
            let loader = AnyLoader { request in
                let result = await mock.load(request)
                // The size stays.
                if let file = fopen(path, "r+") {
                    fputs("changed", file)
                    fclose(file)
                }
                return result
            }
            let items = try await Self.work(queue, on: Self.retrying(loader), concurrency: 1, until: 2)
            #expect(items.map(\.outcome) == [outcome, .done])
            #expect(items.first?.error?.contains("has changed") == true)
            #expect(mock.requests.filter { $0.body.bytesInMemory == nil }.count == 1)
        }
    }

    @Test("large files are read beside the threads of the tasks, so that other tasks of the process go on")
    func threads() async throws {
        let body = try ScratchFile("")
        let path = body.path
        #expect(truncate(path, 128 << 20) == 0)
        // One for each thread of the tasks.
        let count = ProcessInfo.processInfo.activeProcessorCount
        /// The longest time in which another task had no turn, as a part of the time of the calls.
        @Sendable func longestStop(_ calls: @escaping @Sendable () async throws -> Void) async throws -> Double {
            let (clock, hasEnded) = (ContinuousClock(), Signal())
            let other = Task {
                var (last, longest) = (clock.now, Duration.zero)
                while !hasEnded.isSet {
                    // Goes on in a thread of the tasks.
                    await withUnsafeContinuation { next in DispatchQueue(label: "test").async { next.resume() } }
                    let now = clock.now
                    (last, longest) = (now, max(longest, now - last))
                }
                return longest
            }
            let time = try await clock.measure(calls)
            hasEnded.set()
            return await other.value / time
        }
        var parts: [(storing: Double, sending: Double)] = []
        // Where the machine is busy the other task has no turn for a while either; it is 0.95 where all threads read.
        for _ in 0..<10 {
            let scratch = try ScratchFile()
            let queue = try await RequestQueue(.sqlite(scratch.path))
            let storing = try await longestStop {
                await withDiscardingTaskGroup { group in
                    for _ in 0..<count {
                        group.addTask {
                            _ = try? await queue.enqueue(HTTPRequest(Self.url, method: .put, body: .file(path)))
                        }
                    }
                }
            }
            let sending = try await longestStop {
                // It does not read the body, as a mock does.
                let loader = AnyLoader { .success(HTTPResponse(request: $0, status: 200)) }
                try await Self.work(queue, on: loader, concurrency: count, until: count)
            }
            parts.append((storing, sending))
            if parts.contains(where: { $0.storing < 0.7 }), parts.contains(where: { $0.sending < 0.7 }) { return }
        }
        Issue.record("another task had no turn while the files were read: \(parts)")
    }

    @Test("the handler is told of each end, also where what is done is not kept")
    func keptForHandler() async throws {
        let scratch = try ScratchFile()
        var settings = RequestQueue.Settings()
        settings.keep = .zero
        let queue = try await RequestQueue(.sqlite(scratch.path), settings: settings) { TidyingStore($0) }
        let id = try await queue.enqueue(try Self.order())
        let worker = queue.worker(on: MockLoader().otherwise(.status(200)))
        let ended = Journal<RequestQueue.Item>()
        worker.onEnd { ended.append($0) }
        let run = Task { try await worker.run() }
        #expect(await eventually { ended.entries.map(\.id) == [id] })
        run.cancel()
        try await run.value
    }

    @Test("what cannot be stored is refused with its reason")
    func refusals() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        func code(_ request: HTTPRequest, lane: String? = nil) async -> QueueError.Code? {
            do throws(QueueError) {
                try await queue.enqueue(request, lane: lane)
                return nil
            } catch { return error.code }
        }
        let large = HTTPBody.bytes([UInt8](repeating: 0, count: 1 << 20 | 1))
        #expect(await code(try HTTPRequest(Self.url, method: .put, body: large)) == .bodyTooLarge)
        let stream = HTTPBody.stream { AsyncStream<[UInt8]> { $0.finish() } }
        #expect(await code(try HTTPRequest(Self.url, method: .put, body: stream)) == .invalidRequest)
        #expect(await code(try HTTPRequest(Self.url, headers: ["X": "a\r\nb"])) == .invalidRequest)
        #expect(await code(try HTTPRequest(Self.url, body: .file("/nonexistent"))) == .invalidRequest)
        let pipe = scratch.path + "-pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero"] {
            #expect(await code(try HTTPRequest(Self.url, body: .file(path))) == .invalidRequest)
        }
        // Also without a key: it is a line of the head.
        var request = try HTTPRequest(Self.url, method: .post)
        request.idempotencyKeyField = "X\nEvil: 1\n:replay: allowed"
        #expect(await code(request) == .invalidRequest)
        #expect(await code(try HTTPRequest(Self.url), lane: "") == .invalidRequest)
        #expect(await code(try HTTPRequest(Self.url), lane: "a\0b") == .invalidRequest)
        #expect(try await queue.items().isEmpty)
    }

    @Test("R37: a disk that is full when a result is written ends the run: nothing more is sent, and no key changes")
    func fullDisk() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue([try Self.order("a"), try Self.order("b"), try Self.order("c")])
        @Sendable func limit(to count: Int) async throws {
            try await queue.store.call { store throws(QueueError) in
                try? (store as? SQLiteStore)?.limitPages(to: count)
            }
        }
        let mock = MockLoader { request async throws -> HTTPResponse in
            // No page is added from now on, and this result needs some.
            try await limit(to: 1)
            throw HTTPError(.badServerResponse, request: request, message: String(repeating: "x", count: 100_000))
        }
        let worker = queue.worker(on: mock, concurrency: 1)
        await #expect {
            try await worker.run()
        } throws: { ($0 as? QueueError)?.code == .full && "\($0)".contains("make space") }
        #expect(mock.requests.count == 1)
        await #expect(throws: QueueError.self) {
            for _ in 0..<50 { try await queue.enqueue(try Self.order(String(repeating: "x", count: 4000))) }
        }
        // With space again it is sent again, under its key.
        try await limit(to: 1 << 20)
        let again = MockLoader().otherwise(.status(200))
        let items = try await Self.work(queue, on: again, concurrency: 1, until: 3)
        #expect(items.prefix(3).allSatisfy { $0.outcome == .done })
        let (first, keys) = (mock.requests.first, again.requests.map { $0.headers["Idempotency-Key"] })
        #expect(keys.contains(first?.headers["Idempotency-Key"]))
    }

    @Test("R37: a store that fails ends the run with its error, and nothing more is sent")
    func failingStore() async throws {
        for (point, sends) in [(FailingStore.Point.claim, 0), (.begin, 0), (.finish, 1)] {
            let scratch = try ScratchFile()
            let queue = try await RequestQueue(.sqlite(scratch.path)) { FailingStore($0, at: point) }
            try await queue.enqueue([try Self.order(key: .none), try Self.order(key: .none)])
            let mock = MockLoader().otherwise(.status(200))
            let worker = queue.worker(on: mock, concurrency: 1)
            await #expect {
                try await worker.run()
            } throws: { ($0 as? QueueError)?.code == .readOnly }
            #expect(mock.requests.count == sends, "\(point)")
            let after = try await RequestQueue(.sqlite(scratch.path))
            #expect(try await after.items(.done).isEmpty)
        }
    }

    @Test("the handler is told of an end also where the store is away after that was written")
    func endIsTold() async throws {
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path)) { ForgetfulStore($0) }
        let id = try await queue.enqueue(try Self.order())
        let items = try await Self.work(queue, on: MockLoader().otherwise(.status(200)), until: 1)
        #expect(items.map(\.id) == [id] && items.map(\.outcome) == [.done])
    }

    @Test("R37: a claim that was lost and has come back is waited for, and renewed, when the lost one ends")
    func lostClaim() async throws {
        let scratch = try ScratchFile()
        let sent = Counter()
        let queue = try await RequestQueue(.sqlite(scratch.path)) { LosingStore($0, after: sent) }
        try await queue.enqueue(try Self.order())
        let gates = [Signal(), Signal()]
        let loader = AnyLoader { request in
            let number = sent.increment()
            // A task of its own: the cancellation of a lost claim does not reach it.
            await Task { await gates[min(number, 2) - 1].wait() }.value
            return .success(HTTPResponse(request: request, status: 200))
        }
        let worker = queue.worker(on: loader, concurrency: 2)
        let hasEnded = Signal()
        let run = Task {
            defer { hasEnded.set() }
            try await worker.run()
        }
        await sent.reaches(2)
        gates[0].set()
        #expect(await eventually { worker.refusedResults == 1 })
        run.cancel()
        #expect(await !eventually(within: 1) { hasEnded.isSet })
        gates[1].set()
        try await run.value
        #expect(try await queue.items().map(\.outcome) == [.done])
        #expect(sent.value == 2)
    }
}

/// A store that passes every call on.
private class ForwardingStore: QueueStore {
    fileprivate let store: any QueueStore

    init(_ store: any QueueStore) { self.store = store }

    var lease: Duration? { store.lease }
    var pollInterval: Duration { store.pollInterval }

    func claim(_ limit: Int, token: Int64, wantsBegun: Bool) throws(QueueError) -> [Claim] {
        try store.claim(limit, token: token, wantsBegun: wantsBegun)
    }

    func enqueue(_ requests: [NewRequest]) throws(QueueError) -> [Int64?] { try store.enqueue(requests) }
    func begin(_ claims: [Claim]) throws(QueueError) -> [Bool] { try store.begin(claims) }
    func rest(_ claim: Claim, isUnsent: Bool) throws(QueueError) { try store.rest(claim, isUnsent: isUnsent) }
    func renew(_ tokens: Set<Int64>) throws(QueueError) -> Set<Int64> { try store.renew(tokens) }
    func finish(_ results: [ClaimResult]) throws(QueueError) -> [Bool] { try store.finish(results) }
    func release(_ claims: [Claim]) throws(QueueError) { try store.release(claims) }
    func tidy(keep: Duration) throws(QueueError) { try store.tidy(keep: keep) }
    func rows(_ selection: RowSelection) throws(QueueError) -> [RequestQueue.Item] { try store.rows(selection) }
    func isPaused() throws(QueueError) -> Bool { try store.isPaused() }
    func setPaused(_ isPaused: Bool) throws(QueueError) { try store.setPaused(isPaused) }

    func settle(
        _ id: Int64,
        _ settlement: RequestQueue.Settlement,
        newKey: String
    ) throws(QueueError) -> Bool { try store.settle(id, settlement, newKey: newKey) }
}

/// A store of which one call fails, always.
private final class FailingStore: ForwardingStore {
    enum Point { case claim, begin, finish }

    private let point: Point

    init(_ store: any QueueStore, at point: Point) {
        self.point = point
        super.init(store)
    }

    private func pass(_ point: Point) throws(QueueError) {
        if point == self.point { throw QueueError(.readOnly, "cannot be written") }
    }

    override func claim(_ limit: Int, token: Int64, wantsBegun: Bool) throws(QueueError) -> [Claim] {
        try pass(.claim)
        return try super.claim(limit, token: token, wantsBegun: wantsBegun)
    }

    override func begin(_ claims: [Claim]) throws(QueueError) -> [Bool] {
        try pass(.begin)
        return try super.begin(claims)
    }

    override func finish(_ results: [ClaimResult]) throws(QueueError) -> [Bool] {
        try pass(.finish)
        return try super.finish(results)
    }
}

/// A store that is away for the first two readings of a row.
private final class ForgetfulStore: ForwardingStore {
    private var readings = 0

    override func rows(_ selection: RowSelection) throws(QueueError) -> [RequestQueue.Item] {
        readings += 1
        guard readings > 2 else { throw QueueError(.disconnected, "away") }
        return try super.rows(selection)
    }
}

/// A store that removes what its workers do not keep as soon as a result was written.
private final class TidyingStore: ForwardingStore {
    private var keep = Duration.seconds(86_400)

    override func tidy(keep: Duration) throws(QueueError) {
        self.keep = keep
        try super.tidy(keep: keep)
    }

    override func finish(_ results: [ClaimResult]) throws(QueueError) -> [Bool] {
        let written = try super.finish(results)
        // Another millisecond.
        poll(nil, 0, 5)
        try store.tidy(keep: keep)
        return written
    }
}

/// A store with leases, of which the first is over when its request was sent: the row is due again.
private final class LosingStore: ForwardingStore {
    private let sent: Counter
    private var claims: [Claim] = []
    private var hasLost = false

    init(_ store: any QueueStore, after sent: Counter) {
        self.sent = sent
        super.init(store)
    }

    override var lease: Duration? { .seconds(3) }

    override func claim(_ limit: Int, token: Int64, wantsBegun: Bool) throws(QueueError) -> [Claim] {
        let new = try super.claim(limit, token: token, wantsBegun: wantsBegun)
        claims += new
        return new
    }

    override func renew(_ tokens: Set<Int64>) throws(QueueError) -> Set<Int64> {
        guard let first = claims.first else { return [] }
        guard hasLost || sent.value == 0 else {
            hasLost = true
            try store.release([first])
            return []
        }
        return Set(claims.filter { tokens.contains($0.token) }.map(\.id))
    }
}
