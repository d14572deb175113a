// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
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

/// Workers that are killed at each point of their work, counted where the requests arrive.
@Suite("Killed workers", .serialized, .timeLimit(.minutes(10)))
struct CrashTableTests {
    /// What is enqueued in a case.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case keyed = "POST with a key"
        case once = "POST without a key"
        case repeatable = "PUT"

        var testDescription: String { rawValue }

        func request(_ url: String) throws -> HTTPRequest {
            var request = try HTTPRequest(url, method: self == .repeatable ? .put : .post, body: .text("one tea"))
            if self == .keyed { request.idempotencyKey = .generated }
            return request
        }
    }

    /// The points at which a worker kills itself, and one at which the server kills it.
    static let points = [
        "claimed", "before-begin", "begun", "before-send", "in-send", "answered", "before-result", "written",
    ]

    /// How often each case is run; more with `REFRAIN_CRASHES=1000`.
    static let rounds = getenv("REFRAIN_CRASHES").flatMap { Int(String(cString: $0)) } ?? 1

    @Test(
        "R37: killed at any point: with a key placed once, without one at most once and else unknown, nothing lost",
        arguments: points,
        Kind.allCases
    )
    func killed(point: String, kind: Kind) async throws {
        for round in 0..<Self.rounds {
            let scratch = try ScratchFile()
            let queue = try await RequestQueue(.sqlite(scratch.path))
            try await Self.check(queue, scratch.path, point, kind, count: 6, reachedAt: 1 + round % 2)
        }
    }

    /// Runs workers until everything has an outcome; the first one is killed.
    static func check(
        _ queue: RequestQueue,
        _ location: String,
        _ point: String,
        _ kind: Kind,
        count: Int,
        reachedAt number: Int
    ) async throws {
        let server = try FaultServer()
        defer { server.stop() }
        let victim = Locked<pid_t?>(nil)
        let arrivals = Locked([String: Int]())
        let placed = Locked([String: Int]())
        for id in 0..<count {
            server.on("/orders/\(id)") { request in
                let name = request.header("Idempotency-Key") ?? "\(id)"
                placed.withLock { $0[name, default: 0] += 1 }
                let total = arrivals.withLock { arrivals in
                    arrivals["\(id)", default: 0] += 1
                    return arrivals.values.reduce(0, +)
                }
                if point == "in-send", total == number, let pid = victim.withLock({ $0.take() }) { kill(pid, SIGKILL) }
                return [.respond(.init(200, body: "ok"))]
            }
            try await queue.enqueue(try kind.request(server.baseURL + "/orders/\(id)"))
        }
        let first = try HelperProcess(["work", location, point, "\(number)"])
        victim.withLock { $0 = first.pid }
        let isReached = kind == .once || !["before-begin", "begun"].contains(point)
        let status = await first.end()
        #expect(status == (isReached ? -SIGKILL : 0))
        if isReached { #expect(try await HelperProcess(["work", location]).end() == 0) }

        let items = try await queue.items()
        let counts = arrivals.withLock { $0 }
        #expect(items.count == count)
        let unknown = items.filter { $0.outcome == .unknown }.count
        #expect(items.filter { $0.outcome == .done }.count == count - unknown)
        switch kind {
        case .keyed:
            // Every order has one key, however often it arrived: the server places each once.
            #expect(unknown == 0)
            #expect(placed.withLock { $0.count } == count)
            #expect(counts.count == count)
        case .once:
            #expect(counts.values.allSatisfy { $0 == 1 })
            #expect(counts.count + unknown >= count)
            let isBegun = ["begun", "before-send", "in-send", "answered", "before-result"].contains(point)
            if isBegun { #expect(unknown >= 1) }
            // At the first claim, and before the first is begun, nothing can have been sent.
            if number == 1, ["claimed", "before-begin"].contains(point) {
                #expect(unknown == 0 && counts.count == count)
            }
        case .repeatable:
            #expect(unknown == 0)
            #expect(counts.count == count)
        }
        // Only what was in flight is sent again.
        #expect(counts.values.reduce(0, +) <= count + 4)
    }

    @Test("R37: killed before the commit of an enqueue: what was answered is there, the rest is not")
    func killedWhileEnqueuing() async throws {
        let server = try FaultServer()
        defer { server.stop() }
        server.on("/orders") { _ in [.respond(.init(200, body: "ok"))] }
        let scratch = try ScratchFile()
        let output = try ScratchFile()
        let process = try HelperProcess(["order", scratch.path, server.baseURL + "/orders", "5"], output: output.path)
        #expect(await process.end() == -SIGKILL)
        #expect(try await HelperProcess(["work", scratch.path]).end() == 0)
        let queue = try await RequestQueue(.sqlite(scratch.path))
        #expect(try await queue.items().map(\.outcome) == [.done, .done, .done, .done, .done])
        #expect(server.count(path: "/orders") == 5)
    }

    @Test("a request that kills its sender is abandoned after five claims, and the others are sent")
    func poison() async throws {
        let server = try FaultServer()
        defer { server.stop() }
        let victim = Locked<pid_t?>(nil)
        server.on("/poison") { _ in
            if let pid = victim.withLock({ $0 }) { kill(pid, SIGKILL) }
            return [.respond(.init(200, body: "ok"))]
        }
        server.on("/fine") { _ in [.respond(.init(200, body: "ok"))] }
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        let poison = try #require(try await queue.enqueue(try HTTPRequest(server.baseURL + "/poison", method: .put)))
        var runs = 0
        while try await queue.item(poison)?.outcome != .failed, runs < 10 {
            let process = try HelperProcess(["work", scratch.path])
            victim.withLock { $0 = process.pid }
            await process.end()
            runs += 1
        }
        #expect(runs == 6)
        #expect(server.count(path: "/poison") == 5)
        #expect(try await queue.item(poison)?.error?.hasPrefix("abandoned") == true)
        try await queue.enqueue(try HTTPRequest(server.baseURL + "/fine", method: .put))
        #expect(try await HelperProcess(["work", scratch.path]).end() == 0)
        #expect(server.count(path: "/fine") == 1)
    }

    @Test("R37: workers that are killed while a request waits for its next attempt do not count against it")
    func killedInWait() async throws {
        let server = try FaultServer()
        defer { server.stop() }
        let isOpen = Locked(false)
        server.on("/orders") { _ in
            [.respond(isOpen.withLock { $0 } ? .init(200) : .init(503, headers: [("Retry-After", "9")]))]
        }
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        let id = try #require(try await queue.enqueue(try HTTPRequest(server.baseURL + "/orders", method: .put)))
        for run in 1...RequestQueue.maxClaims + 1 {
            let process = try HelperProcess(["work", scratch.path])
            #expect(await eventually { server.count(path: "/orders") == run })
            #expect(await eventually { (try? await queue.item(id))??.claims == 1 })
            process.signal(SIGKILL)
            await process.end()
        }
        isOpen.withLock { $0 = true }
        #expect(try await HelperProcess(["work", scratch.path]).end() == 0)
        #expect(try await queue.item(id)?.outcome == .done)
    }

    @Test("two processes share a file, each request is sent once, and one takes over at once what the other had")
    func sharing() async throws {
        let server = try FaultServer()
        defer { server.stop() }
        let arrived = Locked(0)
        let held = Locked<pid_t?>(nil)
        for id in 0..<200 {
            server.on("/\(id)") { _ in
                // The first worker is killed in the middle of its work.
                let total = arrived.withLock { count in
                    count += 1
                    return count
                }
                if total == 100, let pid = held.withLock({ $0.take() }) { kill(pid, SIGKILL) }
                return [.respond(.init(200, body: "ok"))]
            }
        }
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        try await queue.enqueue((0..<200).map { try HTTPRequest(server.baseURL + "/\($0)", method: .put) })
        let first = try HelperProcess(["work", scratch.path])
        held.withLock { $0 = first.pid }
        let second = try HelperProcess(["work", scratch.path])
        await first.end()
        #expect(await second.end() == 0)
        #expect(try await queue.items(.done).count == 200)
        // Once more than there are requests only for those that the killed worker had.
        #expect(arrived.withLock { $0 } <= 204)
    }

    @Test("a stopped worker keeps its claims, and after its end they are taken up")
    func stopped() async throws {
        let server = try FaultServer()
        defer { server.stop() }
        let victim = Locked<pid_t?>(nil)
        let isStopped = Signal()
        server.on("/order") { request in
            if request.occurrence == 1, let pid = victim.withLock({ $0 }) {
                var status: Int32 = 0
                kill(pid, SIGSTOP)
                // All of its threads have stopped when this returns.
                waitpid(pid, &status, WUNTRACED)
                isStopped.set()
            }
            return [.respond(.init(200, body: "ok"))]
        }
        server.on("/other") { _ in [.respond(.init(200, body: "ok"))] }
        let scratch = try ScratchFile()
        let queue = try await RequestQueue(.sqlite(scratch.path))
        let order = try #require(try await queue.enqueue(try Kind.once.request(server.baseURL + "/order")))
        let first = try HelperProcess(["work", scratch.path])
        victim.withLock { $0 = first.pid }
        await isStopped.wait()
        try await queue.enqueue(try Kind.once.request(server.baseURL + "/other"))
        let second = try HelperProcess(["work", scratch.path])
        await server.requests(atLeast: 1, toPath: "/other")
        // The stopped one still owns its order, which no other worker sends.
        #expect(try await queue.item(order)?.outcome == .claimed)
        first.signal(SIGCONT)
        #expect(await first.end() == 0)
        #expect(await second.end() == 0)
        #expect(try await queue.items(.done).count == 2)
        #expect(server.count(path: "/order") == 1)
    }
}
