// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("The retry stage and its budget")
struct RetryBudgetStageTests {
    private let clock = TestClock()
    private let mock = MockLoader().otherwise(.status(503))

    private func stage(_ budget: RetryBudget, attempts: Int = 2) throws -> Retry {
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: attempts))
        return Retry(policy, budgets: Retry.Budgets { _ in budget }, clocks: clock.retryClocks())
    }

    private func request() throws -> HTTPRequest { try HTTPRequest("http://api.example/items") }

    @Test("R22: retries that are cancelled while they wait for the budget leave it to others")
    func cancelledTurns() async throws {
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 1, whenEmpty: .wait, clock: AnyClock(clock))
        #expect(budget.withdraw() == .granted)
        let loader = try stage(budget) --> mock
        let request = try request()
        let tasks = (0..<30).map { _ in Task { await loader.load(request) } }
        await clock.sleepers(atLeast: 30)
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value.errorCode == .cancelled) }
        #expect(budget.withdraw() == .grantedAfter(.seconds(2)))
    }

    @Test("R22: requests whose waits a reset ends leave their turns to others")
    func resetTurns() async throws {
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 1, whenEmpty: .wait, clock: AnyClock(clock))
        #expect(budget.withdraw() == .granted)
        let loader = try stage(budget) --> mock
        let request = try request()
        let tasks = (0..<30).map { _ in Task { await loader.load(request) } }
        await clock.sleepers(atLeast: 30)
        await loader.reset()
        for task in tasks { #expect(await task.value.errorCode == .cancelled) }
        #expect(budget.withdraw() == .grantedAfter(.seconds(2)))
    }

    @Test("R22: a retry that was made is not given back when it is cancelled")
    func cancelledTries() async throws {
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 2, clock: AnyClock(clock))
        let hold = MockLoader.Gate()
        mock.then(.status(503)).then(.held(by: hold, .status(200)))
        let loader = try stage(budget) --> mock
        let request = try request()
        let task = Task { await loader.load(request) }
        await hold.arrivals(atLeast: 1)
        task.cancel()
        #expect(await task.value.errorCode == .cancelled)
        #expect(budget.balance == 1)
    }

    @Test("R22, R25: stages round each other credit a first attempt once", arguments: [1, 2, 3])
    func nestedStages(depth: Int) async throws {
        let budget = RetryBudget(ratio: 0.2, minimumRetriesPerSecond: 0, clock: AnyClock(clock))
        var loader = AnyLoader(mock)
        for _ in 0..<depth { loader = AnyLoader(try stage(budget, attempts: 3) --> loader) }
        let request = try request()
        for _ in 0..<200 { _ = await loader.load(request) }
        #expect(mock.requests.count == 240)
        #expect(budget.balance == 0)
    }

    @Test("R22: a stage round another one with a budget of its own credits that")
    func nestedBudgets() async throws {
        let outer = RetryBudget(ratio: 0.2, minimumRetriesPerSecond: 0, clock: AnyClock(clock))
        let inner = RetryBudget(ratio: 0.2, minimumRetriesPerSecond: 0, clock: AnyClock(clock))
        let loader = try stage(outer) --> stage(inner) --> mock
        mock.then(times: 5, .status(200))
        let request = try request()
        for _ in 0..<5 { _ = await loader.load(request) }
        #expect(outer.balance == 1)
        #expect(inner.balance == 1)
    }

    @Test("R22: stages round each other give the tokens of a success back once")
    func nestedTokens() async throws {
        let budget = RetryBudget.tokens(capacity: 100, refund: 5)
        for _ in 0..<4 { #expect(budget.withdraw() == .granted) }
        let loader = try stage(budget) --> stage(budget) --> mock
        mock.then(.status(200)).then(.status(503)).then(.status(200))
        _ = await loader.load(try request())
        #expect(budget.balance == 17)
        _ = await loader.load(try request())
        #expect(budget.balance == 17)
    }

    @Test("R22, R25: a request whose URL a stage further in completes draws on the budget of where it was sent")
    func completedURL() async throws {
        let budget = RetryBudget(ratio: 0.2, minimumRetriesPerSecond: 0, clock: AnyClock(clock))
        let origins = Locked<[Origin]>([])
        let budgets = Retry.Budgets { origin in
            origins.withLock { $0.append(origin) }
            return budget
        }
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 2))
        let loader =
            Retry(policy, budgets: budgets, clocks: clock.retryClocks())
            --> ApplyEnvironment(ServerEnvironment(host: "api.example")) --> mock
        let request = try HTTPRequest(path: "people")
        for _ in 0..<200 { _ = await loader.load(request) }
        #expect(mock.requests.count == 240)
        #expect(budget.balance == 0)
        #expect(origins.withLock { $0 }.map(\.description) == ["https://api.example:443"])
    }

    @Test("R22: the first attempt of such a request is credited, also where it succeeds at once")
    func creditOfCompletedURL() async throws {
        let budget = RetryBudget(ratio: 0.2, minimumRetriesPerSecond: 0, clock: AnyClock(clock))
        let loader =
            try stage(budget) --> ApplyEnvironment(ServerEnvironment(host: "api.example")) --> stage(budget) --> mock
        mock.then(times: 5, .status(200))
        let request = try HTTPRequest(path: "people")
        for _ in 0..<5 { _ = await loader.load(request) }
        #expect(budget.balance == 1)
        let alone = try stage(budget) --> ApplyEnvironment(ServerEnvironment(host: "api.example")) --> mock
        mock.then(times: 5, .status(200))
        for _ in 0..<5 { _ = await alone.load(request) }
        #expect(budget.balance == 2)
    }

    @Test("R22: 50 POSTs that are told by 429 when to come back all come back, spread by the default budget")
    func refusalsThatNameTheirTime() async throws {
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        let loader = try stage(budget, attempts: 3) --> mock
        mock.then(times: 50, .status(429, headers: ["Retry-After": "2"])).otherwise(.status(200))
        let request = try HTTPRequest("http://api.example/items", method: .post)
        let tasks = (0..<50).map { _ in Task { await loader.load(request) } }
        await clock.sleepers(atLeast: 50)
        await clock.advance(by: .milliseconds(1_999))
        #expect(mock.requests.count == 50)
        await clock.advance(by: .seconds(8))
        for task in tasks {
            guard case .success(let response) = await task.value else {
                Issue.record("no answer")
                continue
            }
            #expect(response.status == 200 && response.attempts.map(\.reason) == [.transientStatus, .succeeded])
        }
        #expect(mock.requests.count == 100)
    }

    @Test("R22: a named limit is kept within one call, and the next call has its turn when that one has ended")
    func namedLimits() async throws {
        let budget = RetryBudget.standard(clock: AnyClock(clock), random: RandomSource(seed: 1))
        let policy = RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0)
        let loader = Retry(policy, budgets: Retry.Budgets(all: budget), clocks: clock.retryClocks()) --> mock
        mock.otherwise(.failure(.timedOut, bytesSent: 1))
        for _ in 0..<3 { #expect(await loader.load(try request()).attempts.count == 3) }
        let unnamed =
            Retry(RetryPolicy(exponentialBackoffScale: 0), budgets: Retry.Budgets(all: budget)) --> mock
        #expect(await unnamed.load(try request()).attempts.map(\.credit) == [.closed])
    }
}
