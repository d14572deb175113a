// SPDX-License-Identifier: Apache-2.0
import Checks
import Refrain
import RefrainCore
import RefrainTesting

// The snippets of Documentation/Migrating/FromTaskRetrying.md, each between "Guide" and "End", run against a server
// with the faults that the guide describes.

struct Busy: Error {}

/// Fetches a path once; throws for a status other than success, because a throwing operation reports failures only by
/// errors.
func load(_ path: String, from server: FaultServer) async throws -> String {
    let response = try await PlatformLoader().response(for: HTTPRequest(server.baseURL + path))
    guard response.status.isSuccess else { throw Busy() }
    return response.text ?? ""
}

func tasks(_ server: FaultServer) async throws {
    // Guide: task
    let task = Task.retrying(
        maxRetryCount: 3,
        retryDelay: .milliseconds(10)
    ) {
        try await load("/status/503?times=3", from: server)
    }
    let text = try await task.value
    // End
    check(text == "ok\n", "three retries are four attempts")
    check(server.count(path: "/status/503") == 4, "and the server saw four")

    // Guide: backoff
    let backoff = Backoff.exponential(
        from: .milliseconds(10),
        maxAttempts: 5
    )
    .jittered(.full)
    .capped(at: .seconds(2))
    let patient = Task.retrying(
        backoff: backoff,
        retryPredicate: { error in error is Busy }
    ) {
        try await load("/status/503?times=2&key=a", from: server)
    }
    _ = try await patient.value
    // End
    check(server.count(path: "/status/503?times=2&key=a") == 3, "a schedule and a predicate")
}

func cancellation(_ server: FaultServer) async {
    // Guide: cancel
    let task = Task.retrying(
        maxRetryCount: 3,
        retryDelay: .seconds(3600)
    ) {
        try await load("/status/503?key=b", from: server)
    }
    while server.count(path: "/status/503?key=b") == 0 {
        await Task.yield()
    }
    task.cancel()
    let result = await task.result
    // End
    guard case .failure(let error) = result else { return check(false, "a cancelled task fails") }
    check(error is CancellationError || (error as? HTTPError)?.code == .cancelled, "cancelling ends the wait at once")
    check(server.count(path: "/status/503?key=b") == 1, "and there is no further attempt")
}

func loops(_ server: FaultServer) async throws {
    // Guide: loop
    let text = try await withRetry(3) {
        try await load("/status/503?times=1&key=c", from: server)
    }
    // End
    check(text == "ok\n", "a loop of three retries")

    // Guide: with retry
    let other = try await withRetry(
        .constant(delay: .milliseconds(10), maxAttempts: 4),
        timeout: .seconds(30),
        while: { $0 is Busy },
        operation: {
            try await load("/status/503?times=2&key=d", from: server)
        }
    )
    // End
    check(other == "ok\n", "a schedule, a deadline and a predicate")
}

/// A sequence that fails after its first element until it was started three times.
struct Ticks: AsyncSequence {
    let server: FaultServer

    struct Iterator: AsyncIteratorProtocol {
        let server: FaultServer
        var count = 0

        mutating func next() async throws -> Int? {
            count += 1
            if count == 2 { _ = try await load("/status/503?times=2&key=e", from: server) }
            return count <= 3 ? count : nil
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(server: server) }
}

func sequences(_ server: FaultServer) async throws {
    let ticks = Ticks(server: server)
    var seen: [Int] = []
    // Guide: sequence
    for try await tick in ticks.retry(3) { seen.append(tick) }
    // End
    check(seen == [1, 1, 1, 2, 3], "a sequence starts from its beginning: elements come again")

    // Guide: sequence backoff
    let schedule = Backoff.constant(delay: .milliseconds(10))
    for try await tick in ticks.retry(
        schedule,
        while: { $0 is Busy }
    ) {
        print(tick)
    }
    // End
}

func clocks() async throws {
    // Guide: clock
    let clock = TestClock(.autoAdvancing)
    let task = Task<Int, any Error>.retrying(
        maxRetryCount: 2,
        retryDelay: .seconds(60),
        clock: clock
    ) {
        throw Busy()
    }
    let result = await task.result
    // End
    check(clock.sleeps == [.seconds(60), .seconds(60)], "two waits of a minute, without waiting")
    if case .success = result { check(false, "it fails in the end") }
}

let server = try FaultServer()
try await tasks(server)
await cancellation(server)
try await loops(server)
try await sequences(server)
try await clocks()
server.stop()
print("everything is as the guide says")
