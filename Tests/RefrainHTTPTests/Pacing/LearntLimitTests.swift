// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("What a pacer learns from answers")
struct LearntLimitTests {
    private let clock = TestClock()

    /// A server with a bucket of requests that refills all the time, and says so as OpenAI does.
    private final class BucketServer: HTTPLoader {
        private let clocks: RetryClocks
        private let capacity: Double
        private let rate: Double
        private let state: Locked<(level: Double, time: Duration, refused: Int, answered: Int)>

        init(_ clocks: RetryClocks, capacity: Double, rate: Double, level: Double) {
            self.clocks = clocks
            self.capacity = capacity
            self.rate = rate
            state = Locked((level, clocks.now, 0, 0))
        }

        var refused: Int { state.withLock { $0.refused } }
        var answered: Int { state.withLock { $0.answered } }

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let now = clocks.now
            return state.withLock { state in
                state.level = min(capacity, state.level + rate * ((now - state.time) / .seconds(1)))
                state.time = now
                let fits = state.level >= max(1, request.cost)
                if fits { state.level -= max(1, request.cost) }
                state.refused += fits ? 0 : 1
                state.answered += fits ? 1 : 0
                let kind = request.cost > 0 ? "tokens" : "requests"
                let headers: HTTPHeaders = [
                    "x-ratelimit-limit-\(kind)": "\(Int(capacity))",
                    "x-ratelimit-remaining-\(kind)": "\(Int(state.level))",
                    "x-ratelimit-reset-\(kind)": "\(Int((capacity - state.level) / rate * 1000))ms",
                ]
                return .success(HTTPResponse(request: request, status: fits ? 200 : 429, headers: headers))
            }
        }
    }

    private func request(_ change: (inout HTTPRequest) -> Void = { _ in }) throws -> HTTPRequest {
        var request = try HTTPRequest("https://a.example/v1", method: .post)
        change(&request)
        return request
    }

    @Test("R35: a limit that refills is learnt from answers: none is refused, and it is used up", arguments: [0.0, 20])
    func refills(cost: Double) async throws {
        let clocks = clock.retryClocks()
        let unit = max(1, cost)
        let server = BucketServer(clocks, capacity: 100 * unit, rate: 10 * unit, level: 50 * unit)
        let loader =
            Retry(.modelAPI(.openAI), budgets: nil, clocks: clocks) --> Pacer(profile: .openAI, clocks: clocks)
            --> server
        // The first answer tells the limit; after it there is no refusal.
        #expect(await loader.load(try request { $0.cost = cost }).status == 200)
        let began = clocks.now
        let tasks = try (0..<250).map { _ in
            Task { [request = try request { $0.cost = cost }] in await loader.load(request) }
        }
        while server.answered < 251 {
            // Each request sleeps or is answered.
            while clock.sleepers + server.answered < 251 { await Task.yield() }
            await clock.advance(by: .milliseconds(100))
        }
        let took = clocks.now - began
        for task in tasks { #expect(await task.value.status == 200) }
        #expect(server.refused <= 2, "\(server.refused) refused")
        // 49 are there, and 201 come at 10 a second.
        #expect(took >= .seconds(20) && took <= .seconds(21.5), "\(took)")
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
        for task in tasks { #expect(await task.value.status == 200) }
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
        for (index, task) in tasks.enumerated() where index % 3 != 2 {
            #expect(await clock.driven { await task.value.status } == 200)
        }
        #expect(server.refused < 200, "\(server.refused) refused")
        // Every slot is free again.
        for _ in 0..<20 {
            let request = try request { $0.method = .get }
            let status = await clock.driven { await loader.load(request).status }
            #expect(status == 200)
        }
        #expect(server.mostAtOnce > 4)
    }
}

extension TestClock {
    /// Moves time for as long as work takes that sleeps on this clock.
    fileprivate func driven<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let isDone = Locked(false)
        let task = Task {
            let value = await work()
            isDone.withLock { $0 = true }
            return value
        }
        while !isDone.withLock({ $0 }) {
            if sleepers > 0 { await advance(by: .milliseconds(50)) } else { await Task.yield() }
        }
        return await task.value
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
