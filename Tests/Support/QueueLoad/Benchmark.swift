import Refrain
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainQueue

/// The numbers of a store: 100,000 requests, enqueued, claimed and finished.
enum Benchmark {
    static func run(_ location: String) async throws {
        let count = 100_000
        let request = try HTTPRequest(
            "https://api.example.com/orders/7",
            method: .put,
            headers: ["Accept": "application/json"],
            body: .text(String(repeating: "x", count: 200))
        )
        let queue = try await RequestQueue(.named(location)) { $0 }
        let batch = [HTTPRequest](repeating: request, count: 100)
        try await measure("enqueue in hundreds", count) {
            for _ in 0..<(count / 100) { try await queue.enqueue(batch) }
        }
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
        let store = try RequestQueue.Location.named(location).open()
        for size in [100, 20, 1] {
            let total = size == 1 ? 5000 : 40_000
            try measureNow("claim and finish, \(size) at a time", total) {
                for _ in 0..<(total / size) {
                    let claims = try store.claim(size, token: .random(in: 1...(.max)), wantsBegun: false)
                    let results = claims.map { claim in
                        var result = ClaimResult(claim, .done)
                        result.attempts = 1
                        result.status = 200
                        result.record = record
                        return result
                    }
                    _ = try store.finish(results)
                }
            }
        }
        let left = 100_000 + 12_000 - 85_000
        let worker = queue.worker(on: Answering(), concurrency: 100)
        try await measure("a worker, 100 in flight, answers at once", left) {
            let run = Task { try await worker.run() }
            while try await queue.hasWork() {
                // No event: the outcomes are in the store.
                try await Task.sleep(for: .milliseconds(5))
            }
            run.cancel()
            try await run.value
        }
    }

    /// The record of an attempt as a worker writes it.
    private static let record = #"""
        {"number":1,"start":[0,0],"duration":[0,1000000000],"status":200,"decision":"finish","reason":"succeeded"}

        """#

    private static func measure(_ name: String, _ count: Int, _ body: () async throws -> Void) async throws {
        let start = ContinuousClock.now
        try await body()
        report(name, count, ContinuousClock.now - start)
    }

    private static func measureNow(_ name: String, _ count: Int, _ body: () throws -> Void) throws {
        let start = ContinuousClock.now
        try body()
        report(name, count, ContinuousClock.now - start)
    }

    private static func report(_ name: String, _ count: Int, _ time: Duration) {
        let seconds = time / .seconds(1)
        print("\(name): \(Int(Double(count) / seconds)) a second (\(count) in \(time))")
    }
}

/// A loader that answers at once.
private struct Answering: HTTPLoader {
    func load(_ request: HTTPRequest) async -> HTTPResult {
        .success(HTTPResponse(request: request, status: .ok, headers: [:], body: .empty))
    }
}
