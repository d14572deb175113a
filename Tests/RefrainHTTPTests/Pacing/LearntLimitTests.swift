// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("What a pacer learns from answers")
struct LearntLimitTests {
    private let clock = TestClock()

    /// A server with a bucket that refills all the time, and says so as OpenAI does.
    private struct BucketServer {
        let capacity: Double
        let rate: Double
        var level: Double
        var time = Duration.zero
        var refused = 0

        mutating func answer(cost: Double, now: Duration) -> RateLimit {
            level = min(capacity, level + rate * ((now - time) / .seconds(1)))
            time = now
            if level >= cost { level -= cost } else { refused += 1 }
            var limit = RateLimit(remaining: Int64(level), quota: Int64(capacity))
            limit.reset = .milliseconds(Int64((capacity - level) / rate * 1000))
            (limit.kind, limit.refills) = (cost > 1 ? .cost : .requests, true)
            return limit
        }
    }

    private func request(_ change: (inout HTTPRequest) -> Void = { _ in }) throws -> HTTPRequest {
        var request = try HTTPRequest("https://a.example/v1", method: .post)
        change(&request)
        return request
    }

    @Test(
        "R35: a limit that refills is learnt from answers: hardly one is refused, and it is used up",
        arguments: [(1.0, 0), (20, 0), (20, 300), (1, 2000)]
    )
    func refills(cost: Double, milliseconds: Int) {
        var server = BucketServer(capacity: 100 * cost, rate: 10 * cost, level: 50 * cost)
        var state = PaceState(.none)
        var now = Duration.zero
        state.learn([server.answer(cost: cost, now: now)], now: now)
        // Requests that wait for their turn, and answers that are under way.
        var waiting: [(turn: PaceState.Turn?, due: Duration)] = (0..<250).map { _ in (nil, .zero) }
        var answers: [(limit: RateLimit, due: Duration)] = []
        while !waiting.isEmpty || !answers.isEmpty {
            let next = waiting.indices.min { waiting[$0].due < waiting[$1].due }
            let answer = answers.indices.min { answers[$0].due < answers[$1].due }
            if let answer, next.map({ answers[answer].due <= waiting[$0].due }) ?? true {
                let (limit, due) = answers.remove(at: answer)
                now = max(now, due)
                state.end(cost: cost)
                state.learn([limit], now: now)
            } else if let next {
                let (turn, due) = waiting.remove(at: next)
                now = max(now, due)
                let (taken, wait) = state.take(after: turn, cost: cost, now: now)
                if wait > .zero {
                    waiting.append((taken, now + wait))
                } else {
                    answers.append((server.answer(cost: cost, now: now), now + .milliseconds(milliseconds)))
                }
            }
        }
        #expect(state.waiting == 0)
        #expect(server.refused <= 2, "\(server.refused) refused")
        // 49 are there, and 201 come at 10 a second.
        let took = now - .milliseconds(milliseconds)
        #expect(took >= .seconds(19.8) && took <= .seconds(23), "\(took)")
    }

    @Test("R35: what an answer has cost counts for a limit that is learnt, whatever the estimate was")
    func usage() async throws {
        let clocks = clock.retryClocks()
        // 1,000 of 100,000 a minute for each request, which says that it takes 20,000.
        let left = Locked(Int64(100_000))
        let server = LoaderClosure { request in
            let remaining = left.withLock { left in
                left -= 1_000
                return left
            }
            let headers: HTTPHeaders = [
                "x-ratelimit-limit-tokens": "100000", "x-ratelimit-remaining-tokens": "\(remaining)",
                "x-ratelimit-reset-tokens": "\(Double(100_000 - remaining) / 100_000 * 60)s",
            ]
            return .success(HTTPResponse(request: request, status: 200, headers: headers))
        }
        let loader = Pacer(profile: .openAI, usage: { _ in 1_000 }, clocks: clocks) --> server
        for number in 1...50 {
            let request = try request {
                $0.cost = 20_000
                $0.timeout = .milliseconds(1)
            }
            #expect(await loader.load(request).status == 200, "request \(number)")
        }
    }

    @Test("R35: an answer to a request from before the place was known frees nothing of the later ones")
    func earlierRequests() async throws {
        let clocks = clock.retryClocks()
        let answers = (0..<3).map { _ in Promise<HTTPHeaders>() }
        let arrived = Observed(0)
        let server = AnyLoader { request in
            let count = arrived.withLock { count in
                count += 1
                return count
            }
            // One that was not held.
            guard count <= 3 else { return .success(HTTPResponse(request: request, status: 200)) }
            let headers = await answers[count - 1].value
            return .success(HTTPResponse(request: request, status: 200, headers: headers))
        }
        let loader = Pacer(profile: .openAI, clocks: clocks) --> server
        func send(_ count: Int) async throws -> Task<HTTPResult, Never> {
            let task = Task { [request = try request { $0.timeout = .seconds(1) }] in await loader.load(request) }
            await arrived.wait { $0 == count }
            return task
        }
        func answer(_ task: Task<HTTPResult, Never>, _ index: Int, _ limit: String, left: Int) async {
            let headers: HTTPHeaders = [
                "x-ratelimit-limit-\(limit)": "10", "x-ratelimit-remaining-\(limit)": "\(left)",
                "x-ratelimit-reset-\(limit)": "6m0s",
            ]
            answers[index].fulfill(headers)
            #expect(await task.value.status == 200)
        }
        let earlier = [try await send(1), try await send(2)]
        await answer(earlier[0], 0, "tokens", left: 9)
        let later = try await send(3)
        // One is left, and the later one may not be counted in it.
        await answer(earlier[1], 1, "requests", left: 1)
        #expect(await loader.load(try request { $0.timeout = .seconds(1) }).errorCode == .retryAfterTooLong)
        await answer(later, 2, "requests", left: 1)
    }

    @Test("R35: what ends with a window is waited for, and then goes one after the other")
    func window() async throws {
        let clocks = clock.retryClocks()
        let left = Locked(1)
        let arrivals = Locked<[Duration]>([])
        let server = LoaderClosure { request in
            let remaining = left.withLock { left in
                left = max(0, left - 1)
                return left
            }
            arrivals.withLock { $0.append(clocks.now) }
            let headers: HTTPHeaders = [
                "RateLimit": "\"default\";r=\(remaining);t=10", "RateLimit-Policy": "\"default\";q=50;w=60",
            ]
            return .success(HTTPResponse(request: request, status: 200, headers: headers))
        }
        let loader = Pacer(profile: .huggingFace, clocks: clocks) --> server
        let began = clocks.now
        _ = await loader.load(try request())
        let tasks = try (0..<20).map { _ in Task { [request = try request()] in await loader.load(request) } }
        await clock.sleepers(atLeast: 20)
        left.withLock { $0 = 50 }
        for _ in 0..<300 { await clock.advance(by: .milliseconds(50)) }
        for task in tasks { #expect(await clock.run { await task.value.status } == 200) }
        let times = arrivals.withLock { $0 }.dropFirst().map { $0 - began }.sorted()
        #expect(times.count == 20 && times[0] >= .seconds(10) && times[19] <= .seconds(15), "\(times)")
        for time in times { #expect(times.count { $0 >= time && $0 < time + .milliseconds(500) } <= 6) }
    }

    @Test("R35: without a profile no limit is learnt, and garbage never is")
    func garbage() async throws {
        let clocks = clock.retryClocks()
        let fields: [[(String, String)]] = [
            [("x-ratelimit-remaining-requests", "0")], [("x-ratelimit-reset-requests", "6m0s")],
            [("x-ratelimit-remaining-requests", "-1"), ("x-ratelimit-reset-requests", "6m0s")],
            [("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "0s")],
            [("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "soon")],
            [("x-ratelimit-remaining-requests", "many"), ("x-ratelimit-reset-requests", "1s")],
            [("RateLimit", "\"a\";r=x;t=5")],
        ]
        let full = [
            ("x-ratelimit-limit-requests", "10"), ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "6m0s"),
        ]
        for (profile, fields) in fields.map({ (ServerProfile.openAI, $0) }) + [(nil, full)] as [(ServerProfile?, _)] {
            let server = LoaderClosure { request in
                let headers = HTTPHeaders(fields.map { ($0.0, $0.1) })
                return .success(HTTPResponse(request: request, status: 200, headers: headers))
            }
            let loader = Pacer(profile: profile, clocks: clocks) --> server
            for _ in 0..<3 { #expect(await loader.load(try request { $0.timeout = .seconds(1) }).status == 200) }
        }
    }

    @Test("R35: whatever an answer says, a turn has a time, and a promise is taken back in full", .computing)
    func anyLimit() {
        let random = RandomSource(seed: 20_261_127)
        func number(_ values: [Int64?]) -> Int64? { values[Int(random.unit() * Double(values.count))] }
        for round in 0..<10_000 {
            var limit = RateLimit(
                remaining: number([nil, 0, 1, 100, .max, -5]),
                reset: number([nil, 0, 1, 60, 31_536_000]).map { .seconds($0) },
                quota: number([nil, 0, 1, 100, .max])
            )
            limit.refills = random.unit() < 0.5
            limit.kind = random.unit() < 0.5 ? .cost : .requests
            var state = PaceState(.none)
            var now = Duration.seconds(round)
            state.learn([limit, limit], now: now)
            for _ in 0..<5 {
                let (turn, wait) = state.take(after: nil, cost: random.unit() * 1000, now: now)
                #expect(wait >= .zero && wait.inSeconds.isFinite, "seed 20261127, round \(round)")
                state.handBack(turn)
                now += .milliseconds(Int(random.unit() * 1000))
            }
            #expect(state.waiting == 0)
            now += .seconds(31_536_001)
            #expect(state.isIdle(at: now), "seed 20261127, round \(round): \(limit)")
        }
    }

    @Test("R34: refusals without a time halve what is under way, successes raise it, and no slot is lost")
    func concurrency() async throws {
        let clocks = clock.retryClocks()
        let server = NarrowServer(room: 4, time: .milliseconds(100), clock: clock)
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .milliseconds(200), maxAttempts: nil))
        let pacer = Pacer(maximumConcurrency: 64, clocks: clocks)
        let loader = Retry(policy, budgets: nil, clocks: clocks) --> pacer --> server
        let tasks = try (0..<600).map { index in
            let task = Task { [request = try request { $0.method = .get }] in await loader.load(request) }
            if index % 3 == 2 { task.cancel() }
            return task
        }
        await clock.run {
            for (index, task) in tasks.enumerated() where index % 3 != 2 { #expect(await task.value.status == 200) }
        }
        #expect(server.refused < 200, "\(server.refused) refused")
        // Every slot is free again.
        for _ in 0..<20 {
            let request = try request { $0.method = .get }
            #expect(await clock.run { await loader.load(request).status } == 200)
        }
        #expect(server.mostAtOnce > 4)
    }

    @Test("R20: the wait for a permit that is reserved takes nothing of the timeout")
    func reservedTurn() async throws {
        let clocks = clock.retryClocks()
        let server = NarrowServer(room: 1, time: .zero, clock: clock)
        let pacer = Pacer(.per(.seconds(60), requests: 20), clocks: clocks)
        let loader = Retry(.recommended, budgets: nil, clocks: clocks) --> pacer --> server
        let request = try request {
            $0.method = .get
            $0.timeout = .seconds(2)
        }
        #expect(await loader.load(request).status == 200)
        // Its turn comes after 3 s.
        #expect(await loader.load(request).status == nil && server.answered == 1)
        let reserved = await clock.run {
            var reserved = request
            await pacer.reservePermit(for: &reserved)
            return reserved
        }
        #expect(await loader.load(reserved).status == 200)
    }

    @Test("R34: no permit that is reserved is lost, used or not, with a third cancelled")
    func reservedPermits() async throws {
        let clocks = clock.retryClocks()
        let server = NarrowServer(room: 4, time: .milliseconds(400), clock: clock)
        let pacer = Pacer(.per(.seconds(1), requests: 20), maximumConcurrency: 16, clocks: clocks)
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .milliseconds(200), maxAttempts: nil))
        let loader = Retry(policy, budgets: nil, clocks: clocks) --> pacer --> server
        let tasks = try (0..<120).map { index in
            let task = Task { [request = try request { $0.method = .get }] in
                var request = request
                await pacer.reservePermit(for: &request)
                // Some have no attempt.
                if index % 7 == 5 { return pacer.returnPermit(of: request) }
                let status = await loader.load(request).status
                #expect(status == 200 || Task.isCancelled)
                pacer.returnPermit(of: request)
            }
            if index % 3 == 2 { task.cancel() }
            return task
        }
        await clock.run { for task in tasks { await task.value } }
        for _ in 0..<20 {
            let request = try request { $0.method = .get }
            #expect(await clock.run { await loader.load(request).status } == 200)
        }
    }
}

/// A loader that is a closure.
private struct LoaderClosure: HTTPLoader {
    let answer: @Sendable (HTTPRequest) -> HTTPResult

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResult) { self.answer = answer }

    func load(_ request: HTTPRequest) async -> HTTPResult { answer(request) }
}

/// A server that answers so many at once, and refuses the others without a time.
private final class NarrowServer: HTTPLoader {
    private let room: Int
    private let time: Duration
    private let clock: TestClock
    private let state = Locked((running: 0, most: 0, refused: 0, answered: 0))

    init(room: Int, time: Duration, clock: TestClock) {
        self.room = room
        self.time = time
        self.clock = clock
    }

    var refused: Int { state.withLock { $0.refused } }
    var answered: Int { state.withLock { $0.answered } }
    var mostAtOnce: Int { state.withLock { $0.most } }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        let fits = state.withLock { state in
            state.running += 1
            state.most = max(state.most, state.running)
            return state.running <= room
        }
        if fits { try? await clock.sleep(until: clock.now.advanced(by: time)) }
        state.withLock { state in
            state.running -= 1
            if fits { state.answered += 1 } else { state.refused += 1 }
        }
        return .success(HTTPResponse(request: request, status: fits ? 200 : 503))
    }
}
