// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("A limit that several processes keep together")
struct SharedQuotaTests {
    private let clock = TestClock()

    /// Answers at once, and notes when.
    private struct Server: HTTPLoader {
        let clocks: RetryClocks
        let arrivals = Locked<[Duration]>([])

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let now = clocks.now
            arrivals.withLock { $0.append(now) }
            return .success(HTTPResponse(request: request, status: 200))
        }
    }

    /// A store that can be lost.
    private struct Fragile: QuotaStore {
        struct Lost: Error {}
        let inner: InMemoryQuotaStore
        let clocks: RetryClocks
        /// When it cannot be reached.
        var lost: Range<Duration>?
        let asks = Locked(0)

        func book(_ key: String, rate: Double, wanted: Double, hold: Duration) async throws -> QuotaGrant {
            asks.withLock { $0 += 1 }
            if let lost, lost.contains(clocks.now) { throw Lost() }
            return await inner.book(key, rate: rate, wanted: wanted, hold: hold)
        }
    }

    private static let members = 8
    private static let rate = 50.0

    private func store(lost: Range<Duration>? = nil) -> Fragile {
        let clocks = clock.retryClocks()
        let inner = InMemoryQuotaStore(members: Self.members, clocks: clocks)
        let (now, lost) = (clocks.now, lost)
        let times = lost.map { now + $0.lowerBound..<now + $0.upperBound }
        return Fragile(inner: inner, clocks: clocks, lost: times)
    }

    /// Sends requests for twenty seconds through eight pacers, and returns when each was sent.
    private func run(_ store: Fragile) async throws -> [Duration] {
        let clocks = clock.retryClocks()
        let began = clocks.now
        let server = Server(clocks: clocks)
        let url = "https://a.example/v1"
        let tasks = try (0..<Self.members).map { _ in
            let pacer = Pacer(.per(.seconds(1), requests: Self.rate), quota: store, clocks: clocks)
            let loader = pacer --> server
            let request = try HTTPRequest(url)
            return Task {
                await withDiscardingTaskGroup { group in
                    for _ in 0..<125 { group.addTask { _ = await loader.load(request) } }
                }
            }
        }
        await clock.run { for task in tasks { await task.value } }
        return server.arrivals.withLock { $0.sorted() }.map { $0 - began }
    }

    private static func fullest(_ times: [Duration], _ span: Duration) -> Int {
        var (first, most) = (0, 0)
        for (index, time) in times.enumerated() {
            while time - times[first] >= span { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    @Test("R38: eight processes keep one limit together, and use it up")
    func together() async throws {
        // Time moves on while a busy machine has yet to begin a sleep, so that a turn passes and is lost.
        var last = Duration.seconds(100)
        for _ in 0..<5 where last > .seconds(22) {
            let store = store()
            let times = try await run(store)
            #expect(Self.fullest(times, .seconds(10)) <= 550 && Self.fullest(times, .seconds(1)) <= 60)
            #expect(times.count == 1000)
            #expect(store.asks.withLock { $0 } < 3 * times.count, "\(store.asks.withLock { $0 }) bookings")
            last = times.last ?? last
        }
        #expect(last <= .seconds(22), "\(last)")
    }

    @Test("R38: without the store each goes on with an even share, and with it again together")
    func lost() async throws {
        let times = try await run(store(lost: .seconds(5)..<(.seconds(12))))
        #expect(Self.fullest(times, .seconds(10)) <= 550, "\(Self.fullest(times, .seconds(10)))")
        let during = times.count { $0 >= .seconds(6) && $0 < .seconds(11) }
        #expect((200...275).contains(during), "\(during) of 250")
    }

    @Test("R38: a store that was never within reach is an error, and a held place holds the other processes")
    func edges() async throws {
        let clocks = clock.retryClocks()
        let lost = store(lost: .zero..<(.seconds(60)))
        let server = Server(clocks: clocks)
        let loader = Pacer(.perMinute(requests: 60), quota: lost, clocks: clocks) --> server
        let refused = await loader.load(try HTTPRequest("https://a.example/"))
        #expect(refused.errorCode == .callerFailed && server.arrivals.withLock { $0.isEmpty })
        let store = InMemoryQuotaStore(clocks: clocks)
        _ = await store.book("k", rate: 10, wanted: 0, hold: .seconds(3))
        let early = await store.book("k", rate: 10, wanted: 2, hold: .zero)
        #expect(early.permits == 0 && early.start >= .seconds(2.5))
        await clock.advance(by: .seconds(3))
        let later = await store.book("k", rate: 10, wanted: 2, hold: .zero)
        #expect(later.permits == 2 && later.start == .zero)
        #expect(await store.book("k", rate: 10, wanted: 1, hold: .zero).permits == 0)
    }

    @Test(
        "R18: a time that another process was told ends a call at once where it is too long",
        .timeLimit(.minutes(1)),
        arguments: [nil, Duration.seconds(30)]
    )
    func holdsThatAreTooLong(timeout: Duration?) async throws {
        let clocks = clock.retryClocks()
        let store = InMemoryQuotaStore(members: 2, clocks: clocks)
        let server = Server(clocks: clocks)
        _ = await store.book("k requests", rate: 1, wanted: 0, hold: .seconds(timeout == nil ? 3600 : 60))
        var request = try HTTPRequest("https://a.example/")
        (request.paceKey, request.timeout) = ("k", timeout)
        // Nothing moves the clock: a call that waits does not end.
        let result = await (Pacer(.perMinute(requests: 60), quota: store, clocks: clocks) --> server).load(request)
        guard case .failure(let error) = result else {
            Issue.record("it was sent")
            return
        }
        #expect(error.code == .retryAfterTooLong && error.retryAfterDate != nil)
        #expect(server.arrivals.withLock { $0.isEmpty })
    }

    @Test("R35: a request that gets no permit of the shared limit hands back its turn of this process's")
    func unusedTurns() async throws {
        let clocks = clock.retryClocks()
        let lost = store(lost: .zero..<(.seconds(60)))
        let loader = Pacer(.perMinute(requests: 60), quota: lost, clocks: clocks) --> Server(clocks: clocks)
        let request = try HTTPRequest("https://a.example/")
        let began = clock.now
        await clock.run {
            for _ in 0..<5 { #expect(await loader.load(request).errorCode == .callerFailed) }
        }
        #expect(clock.now == began)
    }

    @Test("R35: a request whose cost has to wait for too long hands back its permit of the shared limit")
    func unusedPermits() async throws {
        let clocks = clock.retryClocks()
        let shared = store()
        let limits = Pacer.Limits.per(.seconds(1), requests: 50, cost: 50)
        let loader = Pacer(limits, quota: shared, clocks: clocks) --> Server(clocks: clocks)
        var costly = try HTTPRequest("https://a.example/")
        costly.paceKey = "a"
        costly.cost = 50
        costly.retryAfterPolicy = .honoured(upTo: .zero)
        #expect(await loader.load(costly).status == 200)
        #expect(shared.asks.withLock { $0 } == 2)
        // Another process has booked the cost of the next ten seconds.
        _ = await shared.inner.book("a cost", rate: 50, wanted: 500, hold: .zero)
        await clock.advance(by: .seconds(2))
        for _ in 0..<20 { #expect(await loader.load(costly).errorCode == .retryAfterTooLong) }
        // One for their permits as requests, which each of them leaves to the next one, and one for each cost.
        #expect(shared.asks.withLock { $0 } == 2 + 1 + 20)
    }

    @Test("R35: a request that was not sent leaves its shared permits to the next one", arguments: [true, false])
    func unsent(isSent: Bool) async throws {
        let clocks = clock.retryClocks()
        let server = MockLoader().otherwise(.failure(.cancelled, bytesSent: isSent ? 9 : 0))
        let limits = Pacer.Limits.perMinute(requests: 60, cost: 60)
        let pacer = Pacer(limits, quota: InMemoryQuotaStore(clocks: clocks), clocks: clocks)
        var request = try HTTPRequest("https://a.example/")
        request.cost = 1
        let began = clock.now
        await clock.run { [request] in
            for _ in 0..<5 { #expect(await (pacer --> server).load(request).errorCode == .cancelled) }
            guard !isSent else { return }
            for _ in 0..<5 {
                var reserved = request
                await pacer.reservePermit(for: &reserved)
                pacer.returnPermit(of: reserved)
            }
        }
        #expect(server.requests.count == 5)
        #expect(began.duration(to: clock.now) == (isSent ? .seconds(4) : .zero))
    }

    /// A store that answers once, and then not before it is told to.
    private struct Silent: QuotaStore {
        let inner: InMemoryQuotaStore
        let calls = Locked((count: 0, waiting: [CheckedContinuation<Void, Never>]()))

        func book(_ key: String, rate: Double, wanted: Double, hold: Duration) async throws -> QuotaGrant {
            await withCheckedContinuation { continuation in
                calls.withLock { calls in
                    calls.count += 1
                    if calls.count > 1 { calls.waiting.append(continuation) } else { continuation.resume() }
                }
            }
            return await inner.book(key, rate: rate, wanted: wanted, hold: hold)
        }

        func answer() {
            let waiting = calls.withLock { calls in
                defer { calls.waiting = [] }
                return calls.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    @Test("R38: a store that does not answer holds requests for half a second, and a cancelled one not at all")
    func silentStore() async throws {
        let clocks = clock.retryClocks()
        let store = Silent(inner: InMemoryQuotaStore(members: 4, clocks: clocks))
        let quota = SharedQuota("k", rate: 10, in: store)
        guard case .due = await quota.take(1, clocks) else {
            Issue.record("the first has no permit")
            return
        }
        await clock.advance(by: .seconds(5))
        let cancelled = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await quota.take(1, clocks)
        }.value
        guard case .cancelled = cancelled else {
            Issue.record("\(cancelled)")
            return
        }
        // An even share of four: one every 400 ms.
        let began = clocks.now
        let waits = clocks.timer.cancelled(by: CancellationTokenSource().current)
        var times: [Duration] = []
        await clock.run {
            for _ in 0..<3 {
                let answer = await quota.book(1, clocks, clock: waits)
                if case .due(let time) = answer { times.append(time) }
            }
        }
        #expect(times.count == 3 && times[0] - began >= .milliseconds(500), "\(times.map { $0 - began })")
        #expect(times[1] - times[0] == .milliseconds(400) && times[2] - times[1] == .milliseconds(400))
        store.answer()
    }

    @Test("R38: what requests have cost beyond what they said is taken from the next ones")
    func debt() async throws {
        let clocks = clock.retryClocks()
        let quota = SharedQuota("k", rate: 10, in: InMemoryQuotaStore(clocks: clocks))
        let began = clocks.now
        var count = 0
        // Each costs two where it said one: five a second.
        while count < 40 {
            switch await quota.take(1, clocks) {
            case .later(let wait): await clock.advance(by: wait)
            case .due(let time):
                await clock.advance(by: max(.zero, time - clocks.now))
                quota.correct(by: 1)
                count += 1
            case .cancelled, .unreachable:
                Issue.record("there is no permit")
                return
            }
        }
        let took = clocks.now - began
        #expect((.seconds(7.3) ... .seconds(8.2)).contains(took), "\(took)")
    }
}
