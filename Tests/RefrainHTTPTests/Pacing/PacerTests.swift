// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("The pacer")
struct PacerTests {
    private let clock = TestClock()

    /// A server that refuses what comes before a moment, and notes when it was asked.
    private struct Server: HTTPLoader {
        let clocks: RetryClocks
        var opens = Duration.zero
        var headers: HTTPHeaders = ["Retry-After": "2"]
        var status: HTTPStatus = 429
        let arrivals = Observed<[Duration]>([])

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let now = clocks.now
            arrivals.withLock { $0.append(now) }
            guard now < opens else { return .success(HTTPResponse(request: request, status: 200)) }
            return .success(HTTPResponse(request: request, status: status, headers: headers))
        }

        var times: [Duration] { arrivals.withLock { $0 } }
    }

    private func request(_ host: String = "a", _ change: (inout HTTPRequest) -> Void = { _ in }) throws -> HTTPRequest {
        var request = try HTTPRequest("https://\(host).example/v1", method: .post)
        change(&request)
        return request
    }

    @Test("R34: a refusal whose body names its time holds the place, whether or not the body has been read")
    func holdByBody() async throws {
        let info = #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"53s"}"#
        let parts = [#"{"error":{"code":429,"details":["#, info + "]}}"]
        for streams in [false, true] {
            let clock = TestClock(.autoAdvancing)
            let mock = MockLoader().then { request in
                let chunks = AsyncStream<[UInt8]> { chunks in
                    for part in parts { chunks.yield(Array(part.utf8)) }
                    chunks.finish()
                }
                return .success(HTTPResponse(request: request, status: 429, body: .oneShot(chunks)))
            }
            mock.otherwise(.status(200))
            let loader = Pacer(profile: .gemini, clocks: clock.retryClocks()) --> mock
            let refused = try await loader.response(for: request { $0.streamsResponse = streams })
            #expect(try await refused.body.collect().count == parts.joined().utf8.count)
            #expect(await loader.load(try request()).status == 200)
            #expect(clock.sleeps == [.seconds(53)])
        }
    }

    @Test("R34: a 429 that names its time holds all requests to the place, and lets them go one after the other")
    func hold() async throws {
        let clocks = clock.retryClocks()
        let began = clocks.now
        let server = Server(clocks: clocks, opens: began + .seconds(2))
        let pacer = Pacer(clocks: clocks)
        let loader = Retry(.recommended, budgets: nil, clocks: clocks) --> pacer --> server
        let first = Task { [request = try request()] in await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        let others = try (0..<63).map { _ in Task { [request = try request()] in await loader.load(request) } }
        await clock.sleepers(atLeast: 64)
        #expect(server.times.count == 1)
        // Another origin, another credential and another key are not held.
        for other in [
            try request("b"), try request { $0.headers["Authorization"] = "Bearer x" },
            try request { $0.paceKey = "m" },
        ] {
            let count = server.times.count
            let task = Task { await (pacer --> server).load(other) }
            _ = await task.value
            #expect(server.times.count == count + 1)
        }
        // The first of them goes, and each of the others has its turn.
        await clock.advanceToNextSleeper()
        await server.arrivals.wait { $0.count == 5 }
        await clock.sleepers(atLeast: 63)
        // Time moves on when the request that was woken has arrived, or waits again, so that no slow thread reads a
        // later one.
        while server.times.count < 68 {
            let (arrived, sleeping) = (server.times.count, clock.sleepers)
            await clock.advanceToNextSleeper()
            await withTaskGroup { group in
                group.addTask { await server.arrivals.wait { $0.count > arrived } }
                group.addTask { await clock.sleepers(atLeast: sleeping) }
                await group.next()
                group.cancelAll()
            }
        }
        for task in [first] + others { #expect(await task.value.status == 200) }
        let times = server.times.dropFirst(4).map { $0 - began }.sorted()
        #expect(times.count == 64 && times[0] >= .seconds(2) && times[63] <= .seconds(4.3), "\(times)")
        // Not in one burst: no tenth of a second has more than a tenth of them.
        for time in times { #expect(times.count { $0 >= time && $0 < time + .milliseconds(100) } <= 7) }
    }

    @Test(
        "R34: requests that one client signs are paced together, and those of another client are not",
        arguments: [
            (
                "OAuth oauth_consumer_key=\"a\", oauth_nonce=\"#\", oauth_signature=\"x#%3D\", oauth_timestamp=\"#\"",
                "OAuth oauth_consumer_key=\"b\", oauth_nonce=\"#\", oauth_signature=\"x#%3D\", oauth_timestamp=\"#\""
            ),
            (
                "AWS4-HMAC-SHA256 Credential=a/2026/s3/aws4_request, SignedHeaders=host;x, Signature=#",
                "AWS4-HMAC-SHA256 Credential=b/2026/s3/aws4_request, SignedHeaders=host;x, Signature=#"
            ),
            (
                "Digest username=\"a\", realm=\"r\", nonce=\"#\", uri=\"/#\", response=\"#\", cnonce=\"#\", nc=0000000#",
                "Digest username=\"b\", realm=\"r\", nonce=\"#\", uri=\"/#\", response=\"#\", cnonce=\"#\", nc=0000000#"
            ),
        ]
    )
    func signatures(ofOne: String, ofAnother: String) async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks)
        let loader = Pacer(.per(.seconds(60), requests: 60), clocks: clocks) --> server
        let began = clock.now
        for (number, pattern) in [ofOne, ofAnother, ofOne, ofAnother].enumerated() {
            let field = pattern.replacing("#", with: "\(number)")
            let request = try request { $0.headers["Authorization"] = field }
            await clock.run { _ = await loader.load(request) }
            #expect(clock.now.offset - began.offset == (number < 2 ? .zero : .seconds(1)), "\(field)")
        }
    }

    @Test("R34: the record says until when a request was held, and how long it waited behind that")
    func recordOfHold() async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks, opens: clocks.now + .seconds(2))
        let end = clocks.wallNow.advanced(by: .seconds(2))
        let loader = Retry(.recommended, budgets: nil, clocks: clocks) --> Pacer(clocks: clocks) --> server
        let first = Task { [request = try request()] in await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        let second = Task { [request = try request()] in await loader.load(request) }
        await clock.sleepers(atLeast: 2)
        let attempts = await clock.run { (await first.value.attempts, await second.value.attempts) }
        // The refused request has waited between its attempts, the other one in its only attempt.
        #expect(attempts.0.map(\.status) == [429, 200] && attempts.0[0].pacing == nil)
        let pacing = try #require(attempts.1.first?.pacing)
        #expect(attempts.1.count == 1 && pacing.heldUntil == end && pacing.heldFor >= .seconds(2))
        #expect(pacing.total == pacing.heldFor && attempts.1[0].duration >= pacing.total)
    }

    @Test("R35: the record tells a wait for the rate, the cost, the concurrency and the throttle apart")
    func recordOfLimits() async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks)
        typealias Path = KeyPath<AttemptRecord.Pacing, Duration>
        let stages: [(Path, () -> any HTTPMiddleware)] = [
            (\.waitedForRate, { Pacer(.per(.seconds(1), requests: 1), clocks: clocks) }),
            (\.waitedForCost, { Pacer(.per(.seconds(1), cost: 10), clocks: clocks) }),
            (\.waitedForConcurrency, { Pacer(maximumConcurrency: 1, clocks: clocks) }),
            (\.waitedForThrottle, { Throttle(maximumNumberOfRequests: 1, clocks: clocks) }),
        ]
        for (path, stage) in stages {
            var waits: [AttemptRecord.Pacing] = []
            // On a busy machine time can move on before the second request has begun, which then waits for less.
            for _ in 0..<100 where (waits.first?.total ?? .zero) < .milliseconds(400) {
                let slow = ModifyRequest { request in
                    try? await clocks.timer.sleep(for: .milliseconds(500))
                    return request
                }
                let loader = Retry(.recommended, budgets: nil, clocks: clocks) --> stage() --> slow --> server
                let tasks = try (0..<2).map { _ in
                    Task { [request = try request { $0.cost = 10 }] in await loader.load(request) }
                }
                let results = await clock.run { [await tasks[0].value, await tasks[1].value] }
                #expect(results.allSatisfy { $0.status == 200 }, "\(path)")
                waits = results.compactMap { $0.attempts.first?.pacing }
            }
            let wait = try #require(waits.first)
            let expected = wait[keyPath: path]
            #expect(waits.count == 1 && wait.heldUntil == nil, "\(wait)")
            #expect(expected >= .milliseconds(400) && wait.total == expected, "\(wait)")
        }
    }

    @Test("R34: 4,096 places are remembered; a further one is not paced until one of them is idle")
    func capacity() async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks, opens: clocks.now + .seconds(1))
        let loader = Pacer(clocks: clocks) --> server
        func send(_ key: Int) async throws -> HTTPResult {
            await loader.load(try request { $0.paceKey = "\(key)" })
        }
        for key in 0..<4097 { #expect(try await send(key).status == 429) }
        // The last one is sent again at once; the first one waits for the two seconds that its refusal named.
        #expect(try await send(4096).status == 429)
        let held = Task { try await send(0) }
        await clock.sleepers(atLeast: 1)
        #expect(server.times.count == 4098)
        await clock.advance(by: .seconds(10))
        #expect(try await held.value.status == 200)
        #expect(try await send(5000).status == 200)
    }

    @Test("R34: where the first request after the hold is refused again, the others wait on: one refusal a window")
    func refusedAgain() async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks, opens: clocks.now + .seconds(7))
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: nil))
        let loader = Retry(policy, budgets: nil, clocks: clocks) --> Pacer(clocks: clocks) --> server
        let first = Task { [request = try request()] in await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        let others = try (0..<63).map { _ in Task { [request = try request()] in await loader.load(request) } }
        await clock.sleepers(atLeast: 64)
        for _ in 0..<300 { await clock.advance(by: .milliseconds(100)) }
        for task in [first] + others { #expect(await clock.run { await task.value.status } == 200) }
        // Refused in the windows from 0, 2, 4 and 6 s: two in each at most.
        #expect(server.times.count - 64 <= 8, "\(server.times.count - 64) refusals")
    }

    @Test("R34: what names no time holds nothing, and 503 only with a profile", arguments: [false, true])
    func noTime(hasProfile: Bool) async throws {
        let clocks = clock.retryClocks()
        let pacer = Pacer(profile: hasProfile ? .openAI : nil, clocks: clocks)
        for (status, headers) in [(429, [:]), (429, ["Retry-After": "soon"]), (429, ["Retry-After": "0"]), (500, [:])]
            as [(HTTPStatus, HTTPHeaders)]
        {
            let server = Server(clocks: clocks, opens: .seconds(1_000_000), headers: headers, status: status)
            for _ in 0..<3 { _ = await (pacer --> server).load(try request()) }
            #expect(server.times.count == 3)
        }
        let server = Server(clocks: clocks, opens: .seconds(1_000_000), status: 503)
        _ = await (pacer --> server).load(try request())
        let refused = await (pacer --> server).load(try request { $0.timeout = .seconds(1) })
        #expect((refused.errorCode == .retryAfterTooLong) == hasProfile)
    }

    @Test("R35: requests and cost keep to their limits, with no more than a second's share at once")
    func limits() async throws {
        let clocks = clock.retryClocks()
        for (limits, cost) in [(Pacer.Limits.perMinute(requests: 600), 0.0), (.perMinute(cost: 60_000), 100)] {
            let server = Server(clocks: clocks)
            let loader = Pacer(limits, clocks: clocks) --> server
            let tasks = try (0..<100).map { _ in
                Task { [request = try request { $0.cost = cost }] in await loader.load(request) }
            }
            await clock.sleepers(atLeast: 90)
            for _ in 0..<100 { await clock.advance(by: .milliseconds(100)) }
            for task in tasks { #expect(await clock.run { await task.value.status } == 200) }
            let times = server.times.sorted()
            #expect(times.count == 100)
            for time in times { #expect(times.count { $0 >= time && $0 < time + .seconds(1) } <= 21) }
            let took = times[99] - times[0]
            #expect(took >= .seconds(8.9) && took <= .seconds(10), "\(took)")
        }
    }

    @Test("R35: what an answer has cost beyond its estimate is waited for by the next ones")
    func correction() async throws {
        let clock = TestClock(.autoAdvancing)
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks)
        let loader = Pacer(.perMinute(cost: 60), usage: { _ in 10 }, clocks: clocks) --> server
        for _ in 0..<4 { _ = await loader.load(try request { $0.cost = 1 }) }
        let times = server.times
        #expect(zip(times.dropFirst(), times).dropFirst().allSatisfy { $0 - $1 >= .seconds(9) }, "\(times)")
    }

    @Test("R35: a cost that can never be sent is said at once", arguments: [-1, .nan, .infinity, 61] as [Double])
    func badCosts(cost: Double) async throws {
        let server = Server(clocks: clock.retryClocks())
        let loader = Pacer(.perMinute(cost: 60), clocks: clock.retryClocks()) --> server
        let result = await loader.load(try request { $0.cost = cost })
        #expect(result.errorCode == .invalidRequest && server.times.isEmpty)
    }

    @Test("R35: limits that are none are none", arguments: [0, -1, .nan, .infinity] as [Double])
    func badLimits(limit: Double) async throws {
        #expect(Pacer.Limits.perMinute(requests: limit, cost: limit) == .none)
        #expect(Pacer.Limits.per(.seconds(-5)).interval > .zero)
    }

    @Test("R18: a wait past the deadline, or past the longest delay, ends at once with the date")
    func tooLong() async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks, opens: .seconds(1_000_000), headers: ["Retry-After": "60"])
        let loader = Pacer(clocks: clocks) --> server
        _ = await loader.load(try request())
        for request in [
            try request { $0.timeout = .seconds(30) },
            try request { $0.retryAfterPolicy = .honoured(upTo: .seconds(59)) },
        ] {
            guard case .failure(let error) = await loader.load(request) else {
                Issue.record("an answer")
                continue
            }
            #expect(error.code == .retryAfterTooLong && error.retriesAreExhausted)
            #expect(error.retryAfterDate == clocks.wallNow.advanced(by: .seconds(60)))
        }
        #expect(server.times.count == 1)
    }

    @Test("R20: a turn that is waited for before the call takes nothing of its timeout, and a refusal's time does")
    func reservedTurns() async throws {
        let clock = TestClock(.autoAdvancing)
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks)
        let pacer = Pacer(.per(.seconds(10), requests: 10), clocks: clocks)
        let loader = Retry(.recommended, budgets: nil, clocks: clocks) --> pacer --> server
        for _ in 0..<4 {
            var request = try request { $0.timeout = .milliseconds(500) }
            await pacer.reservePermit(for: &request)
            #expect(request.timeout == .milliseconds(500))
            #expect(await loader.load(request).status == 200)
        }
        let times = server.times
        #expect(zip(times.dropFirst(), times).dropFirst().allSatisfy { $0 - $1 >= .milliseconds(900) }, "\(times)")
        let refusing = Server(clocks: clocks, opens: .seconds(1_000_000))
        _ = await (pacer --> refusing).load(try request())
        var (short, long) = (try request { $0.timeout = .seconds(1) }, try request { $0.timeout = .seconds(5) })
        await pacer.reservePermit(for: &short)
        #expect(await (pacer --> refusing).load(short).errorCode == .retryAfterTooLong)
        #expect(refusing.times.count == 1)
        await pacer.reservePermit(for: &long)
        #expect(try #require(long.timeout) <= .seconds(3.1))
    }

    @Test("R35: a reserved permit that no attempt has used is handed back, and a hold makes its request wait")
    func returnedPermits() async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks)
        let pacer = Pacer(.per(.seconds(60), requests: 60), maximumConcurrency: 1, clocks: clocks)
        var first = try request()
        await pacer.reservePermit(for: &first)
        pacer.returnPermit(of: first)
        pacer.returnPermit(of: first)
        // Its slot and its turn are there again, so that the next one goes at once.
        _ = await (pacer --> server).load(try request())
        #expect(server.times.count == 1)
        await clock.advance(by: .seconds(10))
        let holds = Pacer(clocks: clocks)
        var held = try request()
        await holds.reservePermit(for: &held)
        _ = await (holds --> Server(clocks: clocks, opens: .seconds(1_000_000))).load(try request())
        let late = Task { [held] in await (holds --> server).load(held) }
        await clock.sleepers(atLeast: 1)
        #expect(server.times.count == 1)
        #expect(await clock.run { await late.value.status } == 200)
    }

    @Test("R34: a request that is sent again waits behind one new request at most, and new ones wait in their order")
    func newcomers() async throws {
        let slots = AdaptiveSlots(maximum: 1)
        let executor = TrackedExecutor()
        let order = Locked<[String]>([])
        #expect(await slots.take(isNew: true))
        var tasks: [Task<Void, Never>] = []
        for name in ["a", "b", "c", "retry"] {
            let task = Task(executorPreference: executor) {
                guard await slots.take(isNew: name != "retry") else { return }
                order.withLock { $0.append(name) }
            }
            tasks.append(task)
            await executor.idle()
        }
        tasks[1].cancel()
        for _ in 0..<4 {
            #expect(!slots.isIdle)
            slots.refund()
            await executor.idle()
        }
        #expect(order.withLock { $0 } == ["a", "retry", "c"])
        #expect(slots.isIdle)
    }

    @Test("R34: a request of a queue is not held for longer than it may wait, but what its redirect leads to is")
    func durable() async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks, opens: clocks.now + .seconds(60), headers: ["Retry-After": "60"])
        let loader = Pacer(clocks: clocks) --> server
        #expect(await loader.load(try request()).status == 429)
        let call = DurableCall(
            earlierAttempts: 0,
            longestWait: .seconds(10),
            isOwned: { true },
            willWait: nil,
            refusal: { _ in nil }
        )
        let own = try request { $0.durableCall = call }
        #expect(await loader.load(own).errorCode == .retryAfterTooLong)
        let next = try request { $0.durableCall = call.answered }
        let task = Task { await loader.load(next) }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(60))
        #expect(await task.value.status == 200)
        #expect(server.times.count == 2)
    }

    @Test("R9: a request that is cancelled while it is held, or by a reset, hands its turn on")
    func cancellation() async throws {
        let clocks = clock.retryClocks()
        let server = Server(clocks: clocks)
        let pacer = Pacer(.perMinute(requests: 60), clocks: clocks)
        let loader = pacer --> server
        for cancels in [true, false] {
            _ = await loader.load(try request())
            let tasks = try (0..<50).map { _ in Task { [request = try request()] in await loader.load(request) } }
            await clock.sleepers(atLeast: 50)
            if cancels { for task in tasks { task.cancel() } } else { await pacer.reset() }
            for task in tasks { #expect(await task.value.errorCode == .cancelled) }
            await clock.advance(by: .seconds(2))
        }
        let count = server.times.count
        _ = await loader.load(try request())
        #expect(server.times.count == count + 1)
    }

    @Test("R35: a request that ends behind the pacer before it was sent hands its turn back", arguments: [true, false])
    func unsent(isSent: Bool) async throws {
        let clocks = clock.retryClocks()
        let server = MockLoader().otherwise(.failure(.cancelled, bytesSent: isSent ? 9 : 0))
        let loader = Pacer(.perMinute(requests: 60, cost: 60), clocks: clocks) --> server
        let request = try request { $0.cost = 1 }
        let began = clock.now
        await clock.run {
            for _ in 0..<5 { #expect(await loader.load(request).errorCode == .cancelled) }
        }
        #expect(server.requests.count == 5)
        #expect(began.duration(to: clock.now) == (isSent ? .seconds(4) : .zero))
    }

    @Test("R35: of 1,000,000 turns, of which a third is handed back, no permit is lost", .computing)
    func noPermitIsLost() {
        let random = RandomSource(seed: 20_261_126)
        var state = PaceState(.perMinute(requests: 60_000, cost: 600_000))
        var (now, sent) = (Duration.zero, 0)
        var held: [PaceState.Turn] = []
        for _ in 0..<1_000_000 {
            let (turn, wait) = state.take(after: nil, cost: 10, now: now)
            if random.unit() < 1.0 / 3 {
                state.handBack(turn)
            } else {
                sent += 1
                if wait > .zero { held.append(turn) }
            }
            if random.unit() < 0.5 { now += .milliseconds(1) }
        }
        for turn in held {
            let (_, wait) = state.take(after: turn, cost: 10, now: now + .seconds(3600))
            #expect(wait == .zero)
        }
        #expect(state.waiting == 0)
        // A thousand a second: what was sent is due by now, and nothing else.
        let (_, wait) = state.take(after: nil, cost: 10, now: now)
        let due = Double(sent) / 1000 - now / .seconds(1) - 1
        #expect(abs(wait / .seconds(1) - max(0, due)) < 1.5, "\(wait) \(due)")
    }
}
