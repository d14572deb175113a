// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Refrain
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainQueue

/// The numbers of a store: 100,000 requests, enqueued, claimed and finished.
///
/// A file of SQLite has one claimer in each process, so one is measured; in PostgreSQL eight connections work at once.
struct Benchmark {
    private let location: String
    private let workers: Int
    private let request: HTTPRequest

    init(_ location: String) throws {
        self.location = location
        workers = RequestQueue.Location.named(location).isShared ? 8 : 1
        request = try HTTPRequest(
            "https://api.example.com/orders/7",
            method: .put,
            headers: ["Accept": "application/json"],
            body: .text(String(repeating: "x", count: 200))
        )
    }

    func run() async throws {
        let queue = try await RequestQueue(.named(location)) { $0 }
        try await enqueue("enqueue in hundreds", 100_000, by: 100)
        try await measure("enqueue singly, 16 tasks", 10_000) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask { for _ in 0..<625 { try await queue.enqueue(request) } }
                }
                try await group.waitForAll()
            }
        }
        try await measure("enqueue singly, 1 task", 2000) {
            for _ in 0..<2000 { try await queue.enqueue(request) }
        }
        try claimAndFinish(40_000, by: 100)
        try claimAndFinish(40_000, by: 20)
        try claimAndFinish(8000, by: 1)
        let left = 100_000 + 12_000 - 88_000
        let worker = queue.worker(on: Answering(), concurrency: 100)
        try await measure("a worker, 100 in flight, answers at once", left) {
            let run = Task { try await worker.run() }
            while try await queue.hasWork() {
                // No event: the outcomes are in the store.
                try await Task.sleep(for: .milliseconds(20))
            }
            run.cancel()
            try await run.value
        }
    }

    /// Claims beside a transaction that was begun before 50,000 rows were finished: their versions cannot be removed.
    func runBesideOldTransaction() async throws {
        try await enqueue("enqueue in hundreds", 100_000, by: 100)
        let old = try RequestQueue.Location.named(location).transaction()
        try claimAndFinish(50_000, by: 20)
        try claimAndFinish(40_000, by: 20)
        withExtendedLifetime(old) {}
    }

    /// Claims where 50,000 requests wait: in no lane, in one, and in a thousand.
    func runInLanes() async throws {
        for lanes in [0, 1, 1000] {
            let name = "\(lanes) lanes"
            let queue = try await RequestQueue(.named(location), name: name) { $0 }
            try await measure("\(name): enqueue in hundreds", 50_000) {
                for index in 0..<500 {
                    let batch = [HTTPRequest](repeating: request, count: 100)
                    try await queue.enqueue(batch, lane: lanes > 0 ? "\(index % lanes)" : nil)
                }
            }
            let store = try RequestQueue.Location.named(location).open(name)
            // The first claims of the store find out which requests are behind others.
            for _ in 0..<3 { try store.release(try store.claim(16, token: 1, wantsBegun: false)) }
            let held = try store.claim(16, token: 1, wantsBegun: false)
            var time = Duration.zero
            var count = 0
            for token in 2..<202 {
                let start = ContinuousClock.now
                let claims = try store.claim(1, token: Int64(token), wantsBegun: false)
                time += ContinuousClock.now - start
                count += claims.count
                _ = try store.finish(claims.map(Self.done))
            }
            report("\(name): a claim of 1 beside \(held.count) at work, \(count) taken", 200, time)
            _ = try store.finish(held.map(Self.done))
            let start = ContinuousClock.now
            for token in 2..<202 {
                let claims = try store.claim(16, token: Int64(token), wantsBegun: false)
                _ = try store.finish(claims.map(Self.done))
            }
            report("\(name): claim and finish, 16 at a time", 200, ContinuousClock.now - start)
        }
    }

    private func enqueue(_ name: String, _ count: Int, by size: Int) async throws {
        let batch = [HTTPRequest](repeating: request, count: size)
        let queues = try await (0..<workers).asyncMap { _ in try await RequestQueue(.named(location)) { $0 } }
        try await measure(name, count) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for queue in queues {
                    group.addTask { for _ in 0..<(count / size / workers) { try await queue.enqueue(batch) } }
                }
                try await group.waitForAll()
            }
        }
    }

    private func claimAndFinish(_ count: Int, by size: Int) throws {
        let start = ContinuousClock.now
        let failure = Locked<(any Error)?>(nil)
        let group = DispatchGroup()
        for index in 0..<workers {
            // A queue each, and so a thread: `concurrentPerform` has no more threads than there are processors.
            DispatchQueue(label: "worker \(index)").async(group: group) {
                do {
                    let store = try RequestQueue.Location.named(location).open()
                    for _ in 0..<(count / size / workers) {
                        let claims = try store.claim(size, token: .random(in: 1...(.max)), wantsBegun: false)
                        _ = try store.finish(claims.map(Self.done))
                    }
                } catch { failure.withLock { $0 = error } }
            }
        }
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
        report("claim and finish, \(size) at a time", count, ContinuousClock.now - start)
    }

    private static func done(_ claim: Claim) -> ClaimResult {
        var result = ClaimResult(claim, .done)
        result.attempts = 1
        result.status = 200
        result.record = record
        return result
    }

    /// The record of an attempt as a worker writes it.
    private static let record = #"""
        {"number":1,"start":[0,0],"duration":[0,1000000000],"status":200,"decision":"finish","reason":"succeeded"}

        """#

    private func measure(_ name: String, _ count: Int, _ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await body()
        report(name, count, ContinuousClock.now - start)
    }

    private func report(_ name: String, _ count: Int, _ time: Duration) {
        let seconds = time / .seconds(1)
        print("\(name): \(Int(Double(count) / seconds)) a second (\(count) in \(time), \(workers) workers)")
    }
}

extension Range<Int> {
    fileprivate func asyncMap<Value>(_ body: (Int) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}

/// A loader that answers at once.
private struct Answering: HTTPLoader {
    func load(_ request: HTTPRequest) async -> HTTPResult {
        .success(HTTPResponse(request: request, status: .ok, headers: [:], body: .empty))
    }
}
