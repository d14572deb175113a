// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TestSupport
import Testing

@Suite("The retry stage")
struct RetryStageTests {
    private let clock = TestClock(.autoAdvancing)
    private let mock = MockLoader()

    private func chain(
        _ strategy: (any RetryStrategy)? = RetryPolicy.recommended,
        budgets: Retry.Budgets? = nil
    ) -> some HTTPLoader {
        Retry(strategy, budgets: budgets, clocks: clock.retryClocks(), random: RandomSource(seed: 1)) --> mock
    }

    private func request(_ method: HTTPMethod = .get, body: HTTPBody = .empty) throws -> HTTPRequest {
        try HTTPRequest("http://api.example/items", method: method, body: body)
    }

    @Test("R3: each recorded attempt is one send, and the record tells what came of it")
    func sendsAreRecorded() async throws {
        mock.then(.failure(.networkConnectionLost, bytesSent: 80)).then(.status(503, bytesSent: 80)).then(
            .status(200, bytesSent: 80)
        )
        let response = try await chain().response(for: request())
        #expect(mock.requests.count == 3)
        #expect(response.attempts.map(\.number) == [1, 2, 3])
        #expect(response.attempts.map(\.error) == [.networkConnectionLost, nil, nil])
        #expect(response.attempts.map(\.status) == [nil, 503, 200])
        #expect(response.attempts.map(\.decision) == [.retry, .retry, .finish])
        #expect(response.attempts.map(\.reason) == [.transientFailure, .transientStatus, .succeeded])
        #expect(response.attempts.map(\.bytesSent) == [80, 80, 80])
        #expect(response.attempts.map(\.delay) == clock.sleeps + [.zero])
    }

    @Test("R24: a failure in the body of an answer to a POST is not repeated by an outer loop, one to a GET is")
    func failureInTheBody() async throws {
        for (method, isEnd) in [(HTTPMethod.post, true), (.get, false)] {
            mock.then(.status(200))
            let response = try await chain().response(for: request(method))
            let error = HTTPError(.networkConnectionLost, request: response.request, response: response, bytesSent: 80)
            #expect(error.attempts.last?.reason == .succeeded)
            #expect(error.retriesAreExhausted == isEnd)
        }
    }

    @Test("R29: the record is on the error as well, and starts count from the beginning of the call")
    func recordOnError() async throws {
        mock.then(times: 3, .failure(.timedOut, bytesSent: 10))
        let loader = chain(Backoff.constant(delay: .seconds(2)))
        guard case .failure(let error) = await loader.load(try request()) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .timedOut)
        #expect(error.attempts.map(\.start) == [.zero, .seconds(2), .seconds(4)])
        #expect(error.attempts.last?.reason == .attemptsUsedUp)
        #expect(error.retriesAreExhausted)
        #expect("\(error)".contains("3. timedOut"))
    }

    @Test("B: RetryOption: a bare stage sends a request once, and says that it had no strategy")
    func noStrategy() async throws {
        mock.then(.status(503))
        let response = try await chain(nil).response(for: request())
        #expect(response.status == 503)
        #expect(response.attempts.map(\.reason) == [.noStrategy])
    }

    @Test("B: RetryOption: the request's own strategy goes before the stage's")
    func ownStrategy() async throws {
        var own = try request()
        own.retryStrategy = Backoff.immediately(maxAttempts: 2)
        mock.then(times: 2, .status(503))
        let response = try await chain().response(for: own)
        #expect(response.attempts.count == 2)
        #expect(clock.sleeps.isEmpty)
    }

    @Test("a request in back-off keeps nothing of the last attempt, unless a deadline may ask for it again")
    func waitsKeepNothing() async throws {
        for deadline: Duration? in [nil, .seconds(60)] {
            let clock = TestClock()
            let cause = Locked(Weakly())
            let stage = Retry(Backoff.constant(delay: .seconds(5)), budgets: nil, clocks: clock.retryClocks())
            let loader = stage --> FailsOnce(cause: cause)
            var request = try request()
            request.timeout = deadline
            let call = Task { [request] in await loader.load(request) }
            await clock.sleepers(atLeast: 1)
            #expect(cause.withLock { $0.error == nil } == (deadline == nil))
            await clock.advanceToNextSleeper()
            #expect(await call.value.attempts.map(\.error) == [.networkConnectionLost, nil])
            // A decision that needs no wait has no limit to ring for.
            #expect(clock.sleeps == [.seconds(5)])
        }
    }

    private final class Cause: Error {}

    private struct Weakly {
        weak var error: Cause?
        var attempts = 0
    }

    private struct FailsOnce: HTTPLoader {
        let cause: Locked<Weakly>

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let error = Cause()
            let isFirst = cause.withLock { cause in
                cause.attempts += 1
                if cause.attempts == 1 { cause.error = error }
                return cause.attempts == 1
            }
            guard isFirst else { return .success(HTTPResponse(request: request, status: 200)) }
            return .failure(HTTPError(.networkConnectionLost, request: request, underlyingError: error, bytesSent: 0))
        }
    }

    @Test("R2: a POST that a server answered with 503 is not sent again, unless the caller allows it")
    func unsafeRequest() async throws {
        mock.then(.status(503))
        let refused = try await chain().response(for: request(.post, body: .text("x")))
        #expect(refused.attempts.map(\.reason) == [.notReplayable])
        #expect(mock.requests.count == 1)
        mock.then(.status(503)).then(.status(201))
        var allowed = try request(.post, body: .text("x"))
        allowed.replay = .allowed
        #expect(try await chain().response(for: allowed).status == 201)
    }

    @Test("R2: the rules hold for a strategy of the caller's as well")
    func unsafeRequestUnderOwnStrategy() async throws {
        struct Always: HTTPRetryStrategy {
            func retryDelay(for result: HTTPResult) -> Duration? { .zero }
        }
        mock.then(.status(503))
        let response = try await chain(Always()).response(for: request(.post))
        #expect(response.attempts.map(\.reason) == [.notReplayable])
    }

    @Test("a strategy is called for a success, unless it says that it decides on none", arguments: [true, false])
    func strategyAndSuccess(decides: Bool) async throws {
        struct UntilReady: RetryStrategy {
            let decidesOnSuccess: Bool

            func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
                guard context.outcome == .status(202) else { return .finish() }
                var decision = RetryDecision.retry(after: .seconds(1))
                decision.drawsOnBudget = false
                return decision
            }
        }
        mock.then(.status(202)).then(.status(200))
        let response = try await chain(UntilReady(decidesOnSuccess: decides)).response(for: request())
        #expect(response.status == (decides ? 200 : 202))
        #expect(mock.requests.count == (decides ? 2 : 1))
    }

    @Test("progress of a download begins the time of failing anew")
    func failingTime() async throws {
        struct Recording: RetryStrategy {
            let times: Journal<Duration>

            func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
                times.append(context.failingFor)
                return times.entries.count < 5 ? .retry(after: .seconds(10)) : .finish()
            }
        }
        struct Failing: HTTPLoader {
            let count = Locked(0)

            func load(_ request: HTTPRequest) async -> HTTPResult {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                var error = HTTPError(.networkConnectionLost, request: request)
                // The third attempt brings bytes.
                error.progress = number == 3 ? 100 : 0
                return .failure(error)
            }
        }
        let times = Journal<Duration>()
        let clock = TestClock(.autoAdvancing)
        let retry = Retry(Recording(times: times), budgets: nil, clocks: clock.retryClocks())
        _ = await (retry --> Failing()).load(try request())
        #expect(times.entries == [0, 10, 0, 10, 20].map { .seconds($0) })
    }

    @Test("R4: a one-shot body is sent once, but may go out after an attempt that read none of it")
    func oneShotBodies() async throws {
        func stream() -> HTTPBody {
            .oneShot(
                AsyncStream {
                    $0.yield([1, 2, 3]); $0.finish()
                }
            )
        }
        mock.then(.status(503))
        let spent = try await chain().response(for: request(.put, body: stream()))
        #expect(spent.attempts.map(\.reason) == [.bodyNotReplayable])
        mock.then(.failure(.cannotConnectToHost, bytesSent: 0)).then(.status(200))
        #expect(try await chain().response(for: request(.put, body: stream())).status == 200)
    }

    @Test("R4: a one-shot body is used up once a chunk was requested, even if it arrived after its reader ended")
    func lateChunks() async throws {
        let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
        let body = HTTPBody.oneShot(chunks)
        let reader = Task { for try await _ in body {} }
        // The first attempt's reader is gone before the first chunk is there.
        reader.cancel()
        _ = await reader.result
        feed.yield(Array("important".utf8))
        feed.finish()
        #expect(body.replayability == .onceAndRead)
        // No reader gets a truncated body without an error.
        await #expect(throws: HTTPBody.ReadTwice.self) { for try await _ in body {} }
    }

    @Test("R18: jitter never takes a wait that the server asked for past the deadline, however late the clock is read")
    func jitterBeforeTheDeadline() async throws {
        for deadline: Duration in [.milliseconds(1050), .microseconds(1_000_030)] {
            for seed in UInt64(0)..<50 {
                mock.then(.status(429, headers: ["Retry-After": "1"])).then(.status(200))
                var limited = try request()
                limited.timeout = deadline
                let clocks = TickingClock.pair()
                let random = RandomSource(seed: seed)
                let loader = Retry(RetryPolicy.recommended, budgets: nil, clocks: clocks, random: random) --> mock
                let response = try await loader.response(for: limited)
                #expect(response.status == 200, "\(deadline), seed \(seed)")
            }
        }
    }

    /// A clock that is a microsecond later whenever it is read, and on which every wait is over at once.
    private struct TickingClock: CancellableClock {
        private let present = Locked(Duration.zero)

        static func pair() -> RetryClocks { RetryClocks(monotonic: AnyClock(TickingClock())) { WallClock.Instant.now } }

        var now: TestClock.Instant {
            TestClock().now.advanced(
                by: present.withLock {
                    $0 += .microseconds(1); return $0
                }
            )
        }
        var minimumResolution: Duration { .microseconds(1) }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
            try await sleep(until: deadline, for: .delay, cancelledBy: nil)
        }

        func sleep(
            until deadline: TestClock.Instant,
            for purpose: SleepPurpose,
            cancelledBy token: CancellationToken?
        ) async throws {
            let left = now.duration(to: deadline)
            if left > .zero { present.withLock { $0 += left } }
        }
    }

    @Test("R5: a generated key is the same on every attempt, another for each call, and a structured string")
    func generatedKeys() async throws {
        var keyed = try request(.post, body: .text("x"))
        keyed.idempotencyKey = .generated
        mock.then(.status(503)).then(.status(409, headers: ["Retry-After": "2"])).then(.status(201))
        #expect(try await chain().response(for: keyed).status == 201)
        mock.then(.status(201))
        _ = try await chain().response(for: keyed)
        let keys = mock.requests.map { $0.headers[values: "Idempotency-Key"] }
        #expect(keys.allSatisfy { $0.count == 1 && ($0.first?.hasPrefix("\"") ?? false) && $0.first?.count == 38 })
        #expect(Set(keys.prefix(3)).count == 1)
        #expect(keys[3] != keys[0])
        #expect((clock.sleeps.last ?? .zero) >= .seconds(2))
    }

    @Test("R5: a key that a stage further in makes for each attempt is that of the first one, in this call alone")
    func keysOfStages() async throws {
        let keys = Locked(0)
        let stage = ModifyRequest { request in
            var request = request
            request.headers["Idempotency-Key"] = keys.withLock { keys in
                keys += 1
                return "\"\(keys)\""
            }
            return request
        }
        let loader = Retry(.recommended, budgets: nil, clocks: clock.retryClocks()) --> stage --> mock
        mock.then(times: 2, .status(503, headers: ["Retry-After": "0"])).then(.status(201))
        let first = try await loader.response(for: try request(.post))
        #expect(mock.requests.map { $0.headers["Idempotency-Key"] } == ["\"1\"", "\"1\"", "\"1\""])
        mock.then(.status(201))
        _ = try await loader.response(for: first.request)
        #expect(mock.requests.last?.headers["Idempotency-Key"] == "\"4\"")
    }

    @Test("R5: a key set by hand counts, an empty one does not, and one that cannot be written is refused")
    func handmadeKeys() async throws {
        var byHand = try request(.post)
        byHand.headers["Idempotency-Key"] = "\"k\""
        mock.then(.status(503)).then(.status(200))
        #expect(try await chain().response(for: byHand).attempts.count == 2)
        for empty in ["", "\"\""] {
            byHand.headers["Idempotency-Key"] = empty
            mock.then(.status(503))
            #expect(try await chain().response(for: byHand).attempts.count == 1)
        }
        var bad = try request(.post)
        bad.idempotencyKey = .custom("schlüssel")
        await #expect(throws: HTTPError.self) { try await chain().response(for: bad) }
        #expect(mock.remainingReplies == 0)
    }

    @Test("R6: each attempt is built from the original request, and headers never pile up")
    func originals() async throws {
        let adapting =
            Retry(
                Backoff.immediately(),
                budgets: nil,
                clocks: clock.retryClocks()
            ) --> AddHeader(name: "X-Signed") --> mock
        mock.then(times: 2, .status(503)).then(.status(200))
        _ = try await adapting.response(for: request())
        #expect(mock.requests.map { $0.headers[values: "X-Signed"].count } == [1, 1, 1])
    }

    @Test("R7: after a 421 the next attempts ask for another connection")
    func freshConnection() async throws {
        mock.then(.status(421)).then(.status(200))
        _ = try await chain().response(for: request())
        #expect(mock.requests.map(\.needsFreshConnection) == [false, true])
    }

    @Test("R9: a cancelled wait ends the call, and the record says so")
    func cancelledWait() async throws {
        let clock = TestClock()
        let loader = Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks()) --> mock
        mock.then(.status(503, headers: ["Retry-After": "60"]))
        let request = try request()
        let task = Task { await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        guard case .failure(let error) = await task.value else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .cancelled)
        #expect(error.attempts.map(\.reason) == [.cancelled])
        #expect(mock.requests.count == 1)
    }

    @Test(
        "R9: a call that is cancelled while its strategy is asked ends as cancelled, whatever the answer was",
        arguments: [202, 503] as [HTTPStatus]
    )
    func cancelledWhileAsked(status: HTTPStatus) async throws {
        let (isAsked, held) = (Signal(), TestClock())
        mock.then(.status(status))
        var polled = try request()
        polled.retryStrategy = .delay { _, _ in
            isAsked.set()
            try? await held.sleep(until: held.now.advanced(by: .seconds(1)))
            return nil
        }
        let (loader, sent) = (chain(), polled)
        let task = Task { await loader.load(sent) }
        await isAsked.wait()
        task.cancel()
        guard case .failure(let error) = await task.value else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .cancelled)
        #expect(error.attempts.map(\.reason) == [.cancelled])
        #expect(mock.requests.count == 1)
    }

    @Test("R9: a reset ends every wait of the stage, and nothing is tried again")
    func resetDuringWaits() async throws {
        let clock = TestClock()
        let loader = Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks()) --> mock
        mock.then(times: 50, .status(503, headers: ["Retry-After": "60"]))
        let request = try request()
        let tasks = (0..<50).map { _ in Task { await loader.load(request) } }
        await clock.sleepers(atLeast: 50)
        await loader.reset()
        for task in tasks {
            guard case .failure(let error) = await task.value else {
                Issue.record("a success")
                continue
            }
            #expect(error.code == .cancelled)
        }
        #expect(mock.requests.count == 50)
    }

    @Test("R18: a wait over the cap becomes an error with the response and the date")
    func retryAfterTooLong() async throws {
        mock.then(.status(503, headers: ["Retry-After": "301"]))
        guard case .failure(let error) = await chain().load(try request()) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .retryAfterTooLong)
        #expect(error.response?.status == 503)
        #expect(error.retryAfterDate == clock.retryClocks().wallNow.advanced(by: .seconds(301)))
        #expect("\(error)".contains("come back at Mon, 03 Jun 2019 11:05:01 GMT"))
        #expect(clock.sleeps.isEmpty)
    }

    @Test("R20: the deadline bounds waits and cuts the last attempt, each attempt's own timeout stays")
    func deadline() async throws {
        var limited = try request()
        limited.timeout = .seconds(5)
        limited.attemptTimeout = .seconds(4)
        limited.retryStrategy = Backoff.constant(delay: .seconds(2), maxAttempts: 9)
        mock.then(times: 3, .status(503))
        let response = try await chain().response(for: limited)
        #expect(response.attempts.count == 3)
        #expect(response.attempts.last?.reason == .deadlineExceeded)
        #expect(mock.requests.map(\.attemptTimeout) == [.seconds(4), .seconds(3), .seconds(1)])
        #expect(clock.sleeps == [.seconds(2), .seconds(2)])
    }

    @Test("R20: an attempt that the deadline cut ends with an error of its own")
    func cutByDeadline() async throws {
        var limited = try request()
        limited.timeout = .seconds(1)
        let clock = clock
        mock.then { request in
            try? await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
            return .failure(HTTPError(.timedOut, request: request, bytesSent: 5))
        }
        guard case .failure(let error) = await chain().load(limited) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .deadlineExceeded)
        #expect(error.lastFailure == .timedOut)
    }

    @Test(
        "R31: no limit that a caller sets ends the process, however far from zero",
        arguments: [Duration(attoseconds: .max), Duration(attoseconds: .min), .longestDelay, .zero - .longestDelay]
    )
    func extremeLimits(limit: Duration) async throws {
        var extreme = try request()
        extreme.timeout = limit
        extreme.timeouts = Timeout.Limits(connect: limit, firstByte: limit, idle: limit, total: limit)
        extreme.attemptTimeout = limit
        extreme.retryStrategy = Backoff.constant(delay: .seconds(2), maxAttempts: 2)
        let clock = clock
        let slow = MockLoader.Reply { request in
            try? await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
            return .failure(HTTPError(.timedOut, request: request, bytesSent: 0))
        }
        mock.then(times: 2, slow)
        guard case .failure(let error) = await chain().load(extreme) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == (limit > .zero ? .timedOut : .deadlineExceeded))
        // The first attempt is made whatever the deadline (rule R20 speaks of the next ones).
        #expect(error.attempts.count == (limit > .zero ? 2 : 1))
        #expect(mock.requests.count == error.attempts.count)
    }

    @Test("R22: without budget the last answer stands, status and all, and its record says why")
    func emptyBudget() async throws {
        let clock = clock
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 1, clock: AnyClock(clock))
        let loader = chain(Backoff.immediately(), budgets: Retry.Budgets { _ in budget })
        mock.then(times: 2, .status(503))
        let response = try await loader.response(for: request())
        #expect(response.status == 503)
        #expect(response.attempts.map(\.reason) == [.transientStatus, .budgetExhausted])
        #expect(response.retriesAreExhausted)
        #expect(mock.requests.count == 2)
        mock.then(.failure(.networkConnectionLost))
        guard case .failure(let error) = await loader.load(try request()) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .networkConnectionLost)
        #expect(error.attempts.map(\.reason) == [.budgetExhausted])
        #expect("\(error)".contains("local"))
    }

    @Test("R22, R29, R32: the record says which credit paid for a retry, and why none did")
    func credits() async throws {
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        let loader = chain(Backoff.immediately(), budgets: Retry.Budgets(all: budget))
        mock.then(times: 3, .status(503))
        let first = try await loader.response(for: request())
        #expect(first.attempts.map(\.credit) == [.floor, .floor, nil])
        mock.then(.failure(.timedOut, bytesSent: 1))
        let second = await loader.load(try request())
        #expect(second.attempts.map(\.credit) == [.closed])
        #expect(second.attempts.last?.reason == .budgetExhausted)
        #expect(second.attempts.last?.rules.isSuperset(of: Rules(22, 32)) == true)
        // A success ends the row, and deposits pay before the minimum does.
        budget.depositSuccess()
        for _ in 0..<5 { budget.deposit() }
        mock.then(.status(503)).then(.status(200))
        #expect(try await loader.response(for: request()).attempts.map(\.credit) == [.deposit, nil])
    }

    @Test("R22: a budget that waits gives the retry its turn, within the deadline")
    func waitingBudget() async throws {
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 1, whenEmpty: .wait, clock: AnyClock(clock))
        let loader = chain(Backoff.immediately(), budgets: Retry.Budgets { _ in budget })
        mock.then(times: 2, .status(503)).then(.status(200))
        #expect(try await loader.response(for: request()).status == 200)
        #expect(clock.sleeps.count == 1)
        var hurried = try request()
        hurried.timeout = .milliseconds(10)
        mock.then(.status(503))
        #expect(try await loader.response(for: hurried).attempts.map(\.reason) == [.budgetExhausted])
    }

    @Test("R22: a budget of tokens takes a price for each kind of failure, and success gives it back")
    func tokenBudget() async throws {
        let costs = RetryBudget.Costs(transient: 5, timeout: 10, throttled: 7)
        let budget = RetryBudget.tokens(capacity: 100, costs: costs)
        let loader = chain(Backoff.immediately(), budgets: Retry.Budgets { _ in budget })
        let failures: [(MockLoader.Reply, Double)] = [
            (.status(503), 5), (.failure(.timedOut, bytesSent: 1), 10), (.status(429), 7),
            (.status(503, headers: ["Retry-After": "0"]), 7),
        ]
        for (failure, price) in failures {
            let before = budget.balance
            mock.then(times: 3, failure)
            _ = await loader.load(try request())
            // The balance is in retries, each at the price of a transient failure.
            #expect(abs(before - budget.balance - 2 * price / 5) < 0.001)
        }
        let before = budget.balance
        mock.then(.status(503)).then(.status(200))
        _ = await loader.load(try request())
        #expect(budget.balance == before)
    }

    @Test("R24: a stage round another one adds no attempts to those that it has spent")
    func nestedStages() async throws {
        let outer = Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks())
        let inner = Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks())
        mock.otherwise(.status(503))
        let response = try await (outer --> inner --> mock).response(for: request())
        #expect(mock.requests.count == 3)
        #expect(response.attempts.count == 3)
    }

    @Test("R24: within a further attempt of an outer stage, an inner one makes a single attempt")
    func nestedSecondTry() async throws {
        let outer = Retry(Backoff.immediately(), budgets: nil, clocks: clock.retryClocks())
        let inner = Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks())
        // A stage between the two fails the first attempt by itself, after the inner one has succeeded.
        let loader = outer --> FailFirst() --> inner --> mock
        mock.then(.status(200)).then(.status(503)).then(.status(503)).then(.status(200))
        let response = try await loader.response(for: request())
        #expect(mock.requests.count == 3)
        #expect(response.status == 503)
    }

    @Test("R24: withRetry round a chain does not try again what the chain has given up")
    func engineRoundChain() async throws {
        mock.otherwise(.failure(.timedOut, bytesSent: 9))
        let loader = chain()
        let request = try request()
        await #expect(throws: HTTPError.self) {
            try await withRetry(.immediately(maxAttempts: 5)) { try await loader.response(for: request) }
        }
        #expect(mock.requests.count == 3)
    }

    @Test("R30: ten thousand random outcomes each complete once, with as many records as sends", .computing)
    func properties() async throws {
        let seed = UInt64(0x5EED)
        let random = RandomSource(seed: seed)
        let statuses: [HTTPStatus] = [200, 404, 408, 429, 500, 501, 503]
        let methods: [HTTPMethod] = [.get, .put, .post, .delete]
        for _ in 0..<10_000 {
            let mock = MockLoader()
            mock.otherwise(
                MockLoader.Reply { request in
                    let draw = random.next()
                    if draw % 3 == 0 {
                        return .failure(HTTPError(.networkConnectionLost, request: request, bytesSent: Int64(draw % 2)))
                    }
                    let status = statuses[Int(draw % UInt64(statuses.count))]
                    return .success(
                        HTTPResponse(request: request, status: status, exchange: HTTPResponse.Exchange(bytesSent: 10))
                    )
                }
            )
            let loader =
                Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks(), random: random) --> mock
            let result = await loader.load(try request(methods[Int(random.next() % 4)]))
            #expect(result.attempts.count == mock.requests.count, "seed \(seed)")
            #expect(result.attempts.count <= 3, "seed \(seed)")
            #expect(result.attempts.dropLast().allSatisfy { $0.decision == .retry }, "seed \(seed)")
            #expect(result.attempts.last?.decision == .finish, "seed \(seed)")
        }
    }
}

private struct AddHeader: HTTPMiddleware {
    let name: String

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        var request = request
        request.headers.add(name, "1")
        return await next.load(request)
    }
}

/// Turns the first success into a 503 of its own, without a record.
private struct FailFirst: HTTPMiddleware {
    private let calls = Locked(0)

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let result = await next.load(request)
        let call = calls.withLock { count in
            count += 1
            return count
        }
        guard call == 1 else { return result }
        return .success(HTTPResponse(request: request, status: 503))
    }
}
