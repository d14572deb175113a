// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

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

@Suite("On the wire: stages", .timeLimit(.minutes(10)))
struct StageTests {
    let server: FaultServer
    let clock = TestClock()

    init() throws { server = try FaultServer() }

    private func request(_ path: String) throws -> HTTPRequest { try HTTPRequest(server.baseURL + path) }

    /// The paths in the order in which they arrived.
    private var arrivals: [String] { server.log.map { String($0.path.dropFirst()) } }

    private func retry(_ schedule: Backoff) -> Retry {
        Retry(policy(schedule), budgets: nil, clocks: clock.retryClocks())
    }

    @Test("B: order of throttle and retry: on the wire the one order is A A A B, the other A B A A")
    func bothOrders() async throws {
        let second = Backoff.constant(delay: .seconds(1), maxAttempts: 3)
        func failTwice(_ path: String) {
            server.on(path) { $0.occurrence < 3 ? [.respond(.init(503))] : [.respond(.ok)] }
        }
        failTwice("/A")
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let holding = try throttle --> retry(second) --> transport()
        let a = holding.load(try request("/A")) { _ in }
        await clock.sleepers(atLeast: 1)
        let b = holding.load(try request("/B")) { _ in }
        let waits = await eventually { throttle.numberOfWaitingRequests == 1 }
        #expect(waits)
        await clock.advanceToNextSleeper()
        await clock.advanceToNextSleeper()
        #expect(try await a.result.get().status == 200)
        _ = await b.result
        #expect(arrivals == ["A", "A", "A", "B"])

        server.clearLog()
        failTwice("/C")
        let giving = try retry(second) --> throttle --> transport()
        let c = giving.load(try request("/C")) { _ in }
        await clock.sleepers(atLeast: 1)
        _ = await giving.load(try request("/D"))
        await clock.advanceToNextSleeper()
        await clock.advanceToNextSleeper()
        #expect(try await c.result.get().status == 200)
        #expect(arrivals == ["C", "D", "C", "C"])
    }

    /// How many requests the server has at once; each stays until as many have come as once are wanted.
    private struct Running {
        var now = 0
        var most = 0
        var wanted = 0
    }

    @Test("B: Throttle: the server never has more requests at once than the limit, which can rise while it runs")
    func throttle() async throws {
        let running = Locked(Running())
        for number in 0..<20 {
            server.on("/\(number)") { _ in
                running.withLock { running in
                    running.now += 1
                    running.most = max(running.most, running.now)
                }
                // Ten seconds at most, so that a limit that is too low fails the test instead of holding it.
                for _ in 0..<10_000 where running.withLock({ $0.most < $0.wanted }) { usleep(1000) }
                return [.respond(.ok)]
            }
        }
        let throttle = Throttle(maximumNumberOfRequests: 2)
        let counted = AnyLoader { [loader = try transport()] request in
            let result = await loader.load(request)
            running.withLock { $0.now -= 1 }
            return result
        }
        let chain = throttle --> counted
        func most(_ wanted: Int, of numbers: Range<Int>) async throws -> Int {
            running.withLock { $0.wanted = wanted }
            let requests = try numbers.map { try request("/\($0)") }
            try await concurrently(requests.count, inFlight: requests.count) { _ = await chain.load(requests[$0]) }
            return running.withLock { $0.most }
        }
        #expect(try await most(2, of: 0..<10) == 2)
        throttle.setMaximumNumberOfRequests(4)
        #expect(try await most(4, of: 10..<20) == 4)
        var urgent = try request("/ok")
        urgent.throttle = .never
        #expect(try await chain.response(for: urgent).status == 200)
    }

    @Test("B: Throttle: what is cancelled in the queue never reaches the server, and the others keep their order")
    func cancelledWaiter() async throws {
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let chain = try throttle --> transport()
        let first = chain.load(try request("/hang?times=1")) { _ in }
        _ = await eventually { server.log.count == 1 }
        var tasks: [HTTPTask] = []
        for number in 0..<4 {
            tasks.append(chain.load(try request("/\(number)")) { _ in })
            let isQueued = await eventually { throttle.numberOfWaitingRequests == number + 1 }
            #expect(isQueued)
        }
        tasks[1].cancel()
        #expect(try failure(of: await tasks[1].result).code == .cancelled)
        #expect(throttle.numberOfWaitingRequests == 3)
        first.cancel()
        for task in [tasks[0], tasks[2], tasks[3]] { _ = await task.result }
        #expect(arrivals == ["hang?times=1", "0", "2", "3"])
    }

    @Test("B: Retry: a thousand requests wait for their next attempt on one timer, and each keeps its own request")
    func oneTimer() async throws {
        server.on("/later") { $0.header("X-Again") == nil ? [.respond(.init(503))] : [.respond(.ok)] }
        let schedule = Backoff.constant(delay: .seconds(1), maxAttempts: 2)
        let attempts = Locked<[String: Int]>([:])
        // What the first attempt of a request is given must not be on its second, nor that of another.
        let mark = ModifyRequest { request in
            let name = request.headers["X-Name"] ?? ""
            let number = attempts.withLock { attempts in
                attempts[name, default: 0] += 1
                return attempts[name] ?? 0
            }
            var request = request
            if number == 2 { request.headers.add("X-Again", name) }
            return request
        }
        let chain = try Retry(policy(schedule), budgets: nil) --> mark --> transport()
        let began = ContinuousClock.now
        let tasks = try (0..<1000).map { number in
            var request = try request("/later")
            request.headers["X-Name"] = "\(number)"
            return chain.load(request) { _ in }
        }
        for task in tasks { #expect(try await task.result.get().status == 200) }
        // One after the other they would have waited for 1000 s.
        #expect(ContinuousClock.now - began < .seconds(300))
        let again = server.log.filter { $0.header("X-Again") != nil }
        #expect(again.count == 1000 && server.log.count == 2000)
        #expect(again.allSatisfy { $0.values("X-Again") == $0.values("X-Name") })
    }

    @Test("B: Retry: a request in its back-off is found by a cancellation and by a reset, and is not sent again")
    func foundInBackOff() async throws {
        server.on("/down") { _ in [.respond(.init(503))] }
        let chain = try retry(.constant(delay: .seconds(60), maxAttempts: 9)) --> transport()
        let tasks = try (0..<20).map { _ in chain.load(try request("/down")) { _ in } }
        await clock.sleepers(atLeast: 20)
        tasks[0].cancel()
        #expect(try failure(of: await tasks[0].result).code == .cancelled)
        await chain.reset()
        for task in tasks { #expect(try failure(of: await task.result).code == .cancelled) }
        await clock.advance(by: .seconds(600))
        #expect(try failure(of: await tasks[1].result).attempts.count == 1)
        #expect(server.log.count == 20)
    }

    @Test("B: ModifyRequest: what it changes arrives, on each attempt once")
    func modifyRequest() async throws {
        server.on("/twice") { $0.occurrence == 1 ? [.respond(.init(503))] : [.respond(.ok)] }
        let stamp = ModifyRequest { request in
            var request = request
            request.headers.add("X-Stamp", request.method.rawValue)
            return request
        }
        let chain = try Retry(quick(), budgets: nil) --> stamp --> transport()
        _ = try await chain.response(for: request("/twice"))
        #expect(server.log.map { $0.values("X-Stamp") } == [["GET"], ["GET"]])
    }

    @Test("B: ApplyEnvironment: a relative request arrives where its environment says, with its fields and its query")
    func environment() async throws {
        let environment = ServerEnvironment(
            scheme: "http",
            host: "127.0.0.1",
            port: Int(server.port),
            pathPrefix: "/v1",
            headers: ["X-Key": "k"],
            query: [.init(name: "lang", value: "en")]
        )
        let chain = try ApplyEnvironment(environment) --> transport()
        _ = try await chain.response(for: HTTPRequest(path: "people", query: [.init(name: "page", value: "2")]))
        let entry = try #require(server.log.last)
        #expect(entry.path == "/v1/people?page=2&lang=en")
        #expect(entry.header("X-Key") == "k")
        var own = try HTTPRequest(path: "people")
        own.serverEnvironment = ServerEnvironment(scheme: "http", host: "127.0.0.1", port: Int(server.port))
        _ = try await chain.response(for: own)
        #expect(server.log.last?.path == "/people")
        #expect(server.log.last?.header("X-Key") == nil)
    }

    @Test("B: ServerEnvironment: it says scheme, host, port and prefix, and a request can bring its own")
    func environments() async throws {
        let (here, there) = (try FaultServer(), server)
        func environment(_ server: FaultServer) -> ServerEnvironment {
            ServerEnvironment(scheme: "http", host: "127.0.0.1", port: Int(server.port))
        }
        let chain = try ApplyEnvironment(environment(here)) --> transport()
        _ = try await chain.response(for: HTTPRequest(path: "ok"))
        var elsewhere = try HTTPRequest(path: "ok")
        elsewhere.serverEnvironment = environment(there)
        _ = try await chain.response(for: elsewhere)
        #expect(here.count(path: "/ok") == 1 && there.count(path: "/ok") == 1)
    }

    @Test("B: PrintLoader: each exchange is told as two, and no secret with them")
    func printLoader() async throws {
        let lines = Locked<[String]>([])
        let printer = PrintLoader(secretFields: ["X-Key"]) { line in lines.withLock { $0.append(line) } }
        let chain = try printer --> transport()
        var request = try request("/ok")
        request.headers["Authorization"] = "Bearer s3cret"
        request.headers["X-Key"] = "s3cret"
        request.headers["X-Plain"] = "plain"
        _ = try await chain.response(for: request)
        let text = lines.withLock { $0 }.joined(separator: "\n")
        #expect(lines.withLock { $0.count } == 2)
        #expect(!text.contains("s3cret") && text.contains("plain") && text.contains("200"))
        #expect(server.log.first?.header("X-Key") == "s3cret")
    }

    @Test("B: AnyLoader: a chain behind it loads and is reset as if it stood there")
    func anyLoader() async throws {
        let guardStage = ResetGuard()
        let loader = AnyLoader(try guardStage --> transport())
        let task = loader.load(try request("/hang")) { _ in }
        _ = await eventually { server.log.count == 1 }
        #expect(guardStage.numberOfRequests == 1)
        await loader.reset()
        #expect(try failure(of: await task.result).code == .cancelled)
        #expect(try await loader.response(for: request("/ok")).status == 200)
    }

    @Test("B: ResetGuard: a reset ends what is on the wire, refuses what comes meanwhile, and opens again")
    func resetGuard() async throws {
        let chain = try ResetGuard() --> transport()
        let tasks = try (0..<10).map { _ in chain.load(try request("/hang")) { _ in } }
        _ = await eventually { server.log.count == 10 }
        await withCheckedContinuation { continuation in chain.reset { continuation.resume() } }
        for task in tasks { #expect(try failure(of: await task.result).code == .cancelled) }
        let left = await eventually { server.log.allSatisfy { $0.ended == .clientLeft } }
        #expect(left)
        #expect(try await chain.response(for: request("/ok")).status == 200)
    }

    @Test("B: Autocancel: a reset cancels all that has passed it, on the wire too")
    func autocancel() async throws {
        let chain = try Autocancel() --> transport()
        let tasks = try (0..<10).map { _ in chain.load(try request("/hang")) { _ in } }
        _ = await eventually { server.log.count == 10 }
        await chain.reset()
        for task in tasks { #expect(try failure(of: await task.result).code == .cancelled) }
        let left = await eventually { server.log.allSatisfy { $0.ended == .clientLeft } }
        #expect(left)
        #expect(try await chain.response(for: request("/ok")).status == 200)
    }

    @Test("B: HTTPTask: a cancellation reaches the server, runs its handlers in reverse, and completes once")
    func httpTask() async throws {
        let events = Locked<[String]>([])
        let task = try transport().load(request("/hang")) { _ in events.withLock { $0.append("completed") } }
        task.addCancelHandler { events.withLock { $0.append("first") } }
        task.addCancelHandler { events.withLock { $0.append("second") } }
        _ = await eventually { server.log.count == 1 }
        task.cancel()
        task.cancel()
        #expect(try failure(of: await task.result).code == .cancelled)
        // Handlers that were there before run on the thread that ended the task, maybe still.
        let isComplete = await eventually { events.withLock { $0.count == 3 } }
        #expect(isComplete)
        #expect(events.withLock { $0 } == ["second", "first", "completed"])
        task.addCompletionHandler { _ in events.withLock { $0.append("late") } }
        task.addCancelHandler { events.withLock { $0.append("late too") } }
        #expect(events.withLock { $0.suffix(2) } == ["late", "late too"])
        let left = await eventually { server.log.first?.ended == .clientLeft }
        #expect(left)
    }

    @Test("B: de-duplication: identical requests are one exchange on the wire; other credentials are another")
    func deduplicate() async throws {
        let isOpen = Locked(false)
        server.on("/one") { _ in
            while !isOpen.withLock({ $0 }) { usleep(1000) }
            return [.respond(.init(200, body: "shared"))]
        }
        let stage = Deduplicate()
        let chain = try stage --> transport()
        let plain = try request("/one")
        var signed = plain
        signed.headers["Authorization"] = "Bearer x"
        let tasks = (0..<50).map { _ in chain.load(plain) { _ in } } + [chain.load(signed) { _ in }]
        _ = await eventually { stage.numberOfWaitingRequests == 51 && server.log.count == 2 }
        isOpen.withLock { $0 = true }
        for task in tasks { #expect(try await task.result.get().text == "shared") }
        #expect(server.log.count == 2)
    }
}
