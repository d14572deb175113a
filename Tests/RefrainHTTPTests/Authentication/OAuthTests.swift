// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("OAuth")
struct OAuthTests {
    private static let stale = OAuth.Token(accessToken: "old", refreshToken: "again")
    private let server = TokenServer()
    private let store = OAuth.InMemoryTokenStore(Self.stale)

    private func oauth() -> OAuth {
        OAuth(store: store) { [server] _ in
            server.refresh()
        } logIn: { [server] in
            server.logIn()
        }
    }

    /// Loads many requests at a time.
    private func loadMany(_ count: Int, on loader: some HTTPLoader) async -> [HTTPResult] {
        let tasks = (0..<count).map { number in loader.load(sampleRequest("\(number)")) { _ in } }
        var results: [HTTPResult] = []
        for task in tasks { results.append(await task.result) }
        return results
    }

    @Test("R27: a thousand requests with a token that is refused make one refresh, and each is sent once more")
    func oneRefresh() async {
        let hold = MockLoader.Gate()
        let mock = MockLoader().then(times: 1_000, .held(by: hold, server.reply)).otherwise(server.reply)
        let loader = oauth() --> mock
        async let loading = loadMany(1_000, on: loader)
        await hold.arrivals(atLeast: 1_000)
        await hold.release()
        #expect(await loading.allSatisfy { $0.status == 200 })
        #expect(server.refreshes == 1)
        #expect(server.logIns == 0)
        #expect(mock.requests.count == 2_000)
        #expect(await store.token()?.accessToken == "r1")
    }

    @Test("R27: the send after the refresh stands in the record, as what it is")
    func record() async {
        let mock = MockLoader().otherwise(server.reply)
        let loader = Retry(RetryPolicy.recommended, budgets: nil) --> oauth() --> mock
        let attempts = await loader.load(sampleRequest()).attempts
        #expect(attempts.map(\.status) == [401, 200])
        #expect(attempts.map(\.number) == [1, 2])
        #expect(attempts.map(\.decision) == [.retry, .finish])
        #expect(attempts.map(\.reason) == [.credentialsRefreshed, .succeeded])
        #expect(attempts.first?.rules == Rules(27))
        #expect(mock.requests.count == attempts.count)
    }

    @Test("R3: every send stands in the record, also where attempts follow the one with a new token")
    func recordWithRetries() async throws {
        let mock = MockLoader().then(.status(401)).then(.status(503)).otherwise(.status(200))
        let backoff = Backoff.immediately(maxAttempts: 3)
        let loader = Retry(backoff, budgets: nil) --> oauth() --> mock
        let attempts = await loader.load(sampleRequest()).attempts
        #expect(attempts.map(\.status) == [401, 503, 200])
        #expect(attempts.map(\.decision) == [.retry, .retry, .finish])
        #expect(mock.requests.count == 3)
    }

    @Test("R27: a request that was signed with an older token is sent once more without a refresh")
    func olderToken() async {
        let hold = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: hold, .status(401))).otherwise(server.reply)
        let loader = oauth() --> mock
        let late = loader.load(sampleRequest("late")) { _ in }
        await hold.arrivals(atLeast: 1)
        #expect(await loader.load(sampleRequest()).status == 200)
        await hold.release()
        #expect(await late.result.status == 200)
        #expect(server.refreshes == 1)
    }

    @Test("R27: a second 401 stands, after one refresh")
    func secondRefusal() async {
        let mock = MockLoader().otherwise(.status(401))
        let result = await (oauth() --> mock).load(sampleRequest())
        #expect(result.status == 401)
        #expect(result.attempts.map(\.reason) == [.credentialsRefreshed, .finalStatus])
        #expect(mock.requests.count == 2)
        #expect(server.refreshes == 1)
    }

    @Test("R27: a refresh that fails fails all who wait or were under way, and the next request may try again")
    func failedRefresh() async {
        let hold = MockLoader.Gate()
        let isDown = Locked(true)
        let oauth = OAuth(store: store) { [server] _ in
            guard !isDown.withLock({ $0 }) else {
                server.countRefresh()
                throw ServiceDown()
            }
            return server.refresh()
        } logIn: {
            nil
        }
        let mock = MockLoader().then(times: 1_000, .held(by: hold, .status(401))).otherwise(server.reply)
        let loader = oauth --> mock
        async let loading = loadMany(1_000, on: loader)
        await hold.arrivals(atLeast: 1_000)
        await hold.release()
        let results = await loading
        #expect(results.allSatisfy { $0.errorCode == .userAuthenticationRequired })
        #expect(results.allSatisfy { $0.error?.underlyingError is ServiceDown })
        #expect(results.allSatisfy { $0.error?.response?.status == 401 && $0.attempts.count == 1 })
        #expect(server.refreshes == 1)
        #expect(mock.requests.count == 1_000)
        #expect(oauth.numberOfWaitingRequests == 0)
        isDown.withLock { $0 = false }
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(server.refreshes == 2)
    }

    @Test("R27: a one-shot body that was read is not sent again; the next request has the token refreshed")
    func spentBody() async {
        let mock = MockLoader().otherwise(server.reply)
        let loader = oauth() --> mock
        let chunks = AsyncStream<HTTPBody.Chunk> { stream in
            stream.yield([1, 2, 3])
            stream.finish()
        }
        let result = await loader.load(sampleRequest(method: .post, body: .oneShot(chunks)))
        #expect(result.status == 401)
        #expect(result.attempts.map(\.reason) == [.bodyNotReplayable])
        #expect(mock.requests.count == 1)
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(mock.requests.count == 2)
        #expect(server.refreshes == 1)
    }

    @Test("R27: a POST with bytes is sent once more, since a request that was refused was not processed")
    func post() async {
        let mock = MockLoader().otherwise(server.reply)
        let result = await (oauth() --> mock).load(sampleRequest(method: .post, body: .text("order")))
        #expect(result.status == 200)
        #expect(mock.requests.count == 2)
    }

    @Test("R27: a refresh that goes through the same chain neither waits for itself nor is signed")
    func sameChain() async {
        let mock = MockLoader()
        let chain = Locked<AnyLoader?>(nil)
        let oauth = OAuth(store: store) { [server] _ in
            let loader = chain.withLock { $0 }
            _ = await loader?.load(sampleRequest("token", method: .post))
            return server.refresh()
        } logIn: {
            nil
        }
        mock.otherwise(server.reply)
        let loader = ResetGuard() --> Retry(RetryPolicy.recommended, budgets: nil) --> oauth --> mock
        chain.withLock { $0 = AnyLoader(loader) }
        // The refresh references the chain that it is part of; the test releases it.
        defer { chain.withLock { $0 = nil } }
        #expect(await loader.load(sampleRequest("page")).status == 200)
        #expect(mock.requests.map(\.name) == ["page", "token", "page"])
        #expect(mock.requests[1].headers["Authorization"] == nil)
    }

    @Test("R27: a refresh that goes through the same chain takes no slot of a throttle that its own waiters hold")
    func refreshBehindThrottle() async throws {
        let chain = Locked<AnyLoader?>(nil)
        let oauth = OAuth(store: store) { [server] _ in
            let loader = chain.withLock { $0 }
            _ = await loader?.load(sampleRequest("token", method: .post))
            return server.refresh()
        } logIn: {
            nil
        }
        let throttle = Throttle(maximumNumberOfRequests: 1)
        let mock = MockLoader().otherwise(server.reply)
        let loader = throttle --> oauth --> mock
        chain.withLock { $0 = AnyLoader(loader) }
        defer { chain.withLock { $0 = nil } }
        #expect(await loadMany(3, on: loader).allSatisfy { $0.status == 200 })
        #expect(server.refreshes == 1)
        #expect(mock.requests.count == 5)
        #expect(throttle.numberOfRunningRequests == 0)
    }

    @Test("R27: a refresh takes no slot that its waiters hold, also where the request that began it has left")
    func refreshBehindThrottleOfOthers() async throws {
        let (begun, goesOn) = (Signal(), Signal())
        let chain = Locked<AnyLoader?>(nil)
        let oauth = OAuth(store: store) { [server] _ in
            begun.set()
            await goesOn.wait()
            _ = await chain.withLock { $0 }?.load(sampleRequest("token", method: .post))
            return server.refresh()
        } logIn: {
            nil
        }
        let throttle = Throttle(maximumNumberOfRequests: 2)
        let loader = throttle --> oauth --> MockLoader().otherwise(server.reply)
        chain.withLock { $0 = AnyLoader(loader) }
        defer { chain.withLock { $0 = nil } }
        let calls = TrackedCalls()
        let first = calls.start(sampleRequest("first"), on: loader)
        await begun.wait()
        let others = ["second", "third"].map { calls.start(sampleRequest($0), on: loader) }
        await calls.settle()
        first.cancel()
        #expect(await first.result.errorCode == .cancelled)
        // The slots are those of the two that wait for the refresh.
        await calls.settle()
        #expect(oauth.numberOfWaitingRequests == 2)
        goesOn.set()
        for other in others { #expect(await other.result.status == 200) }
        #expect(server.refreshes == 1)
    }

    @Test("A request that leaves while it waits returns at once, and the refresh goes on for the others")
    func leaving() async {
        let gate = MockLoader.Gate()
        let held = MockLoader().otherwise(.held(by: gate, .status(200)))
        let oauth = OAuth(store: store) { [server] _ in
            _ = await held.load(sampleRequest())
            return server.refresh()
        } logIn: {
            nil
        }
        let mock = MockLoader().otherwise(server.reply)
        let loader = oauth --> mock
        let calls = TrackedCalls()
        let first = calls.start(sampleRequest("first"), on: loader)
        // It waited for the store, was refused, and waits for the refresh.
        await gate.arrivals(atLeast: 1)
        #expect(oauth.numberOfWaitingRequests == 1)
        let second = calls.start(sampleRequest("second"), on: loader)
        await calls.settle()
        #expect(oauth.numberOfWaitingRequests == 2)
        first.cancel()
        #expect(await first.result.errorCode == .cancelled)
        #expect(oauth.numberOfWaitingRequests == 1)
        await gate.release()
        #expect(await second.result.status == 200)
        #expect(server.refreshes == 1)
    }

    @Test(
        "A reset ends the waits and lets the refresh finish, whose token is kept; a log-out ends it, whose token is not",
        .timeLimit(.minutes(2)),
        arguments: [false, true]
    )
    func reset(forgets: Bool) async {
        let gate = MockLoader.Gate()
        let held = MockLoader().otherwise(.held(by: gate, .status(200)))
        let oauth = OAuth(store: store) { [server] _ in
            guard await held.load(sampleRequest()).response != nil else { throw CancellationError() }
            return server.refresh()
        } logIn: {
            nil
        }
        let loader = oauth --> MockLoader().otherwise(server.reply)
        let task = loader.load(sampleRequest()) { _ in }
        await gate.arrivals(atLeast: 1)
        let reset = Task { if forgets { await oauth.forgetToken() } else { await loader.reset() } }
        #expect(await task.result.errorCode == .cancelled)
        if !forgets { await gate.release() }
        await reset.value
        #expect(server.refreshes == (forgets ? 0 : 1))
        guard !forgets else { return #expect(await store.token() == nil) }
        // The next request is signed with the new token: the old refresh token is not used again.
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(server.refreshes == 1)
    }

    @Test(
        "A reset of the whole chain lets the request of a refresh finish that goes through it",
        .timeLimit(.minutes(2))
    )
    func resetAroundRefresh() async throws {
        let gate = MockLoader.Gate()
        let mock = MockLoader().then(.status(401)).then(.held(by: gate, .status(200))).otherwise(server.reply)
        let box = Locked<(any HTTPLoader)?>(nil)
        let oauth = OAuth(store: store) { [server] _ in
            guard let chain = box.withLock({ $0 }), await chain.load(sampleRequest()).status == 200 else { return nil }
            return server.refresh()
        } logIn: {
            nil
        }
        let chain = ResetGuard() --> Retry(.recommended, budgets: nil) --> oauth --> mock
        box.withLock { $0 = chain }
        defer { box.withLock { $0 = nil } }
        let task = chain.load(sampleRequest()) { _ in }
        await gate.arrivals(atLeast: 1)
        let reset = Task { await chain.reset() }
        #expect(await task.result.errorCode == .cancelled)
        await gate.release()
        await reset.value
        #expect(server.refreshes == 1)
        #expect(await chain.load(sampleRequest()).status == 200)
        #expect(server.refreshes == 1)
    }

    /// A store that takes its time to erase its token.
    private final class SlowStore: OAuth.TokenStore {
        let store = OAuth.InMemoryTokenStore(OAuth.Token(accessToken: "ada"))
        let gate: MockLoader.Gate

        init(_ gate: MockLoader.Gate) { self.gate = gate }

        func token() async -> OAuth.Token? { await store.token() }

        func save(_ token: OAuth.Token?) async {
            if token == nil {
                _ = await MockLoader().then(.held(by: gate, .status(200))).load(sampleRequest())
            }
            await store.save(token)
        }
    }

    @Test("A forgotten token does not come back from a store that was slow to erase it")
    func forgottenForGood() async {
        let gate = MockLoader.Gate()
        let oauth = OAuth(store: SlowStore(gate)) { OAuth.Token(accessToken: "ben") }
        let mock = MockLoader().otherwise(.status(200))
        let loader = oauth --> mock
        #expect(await loader.load(sampleRequest()).status == 200)
        let forgetting = Task { await oauth.forgetToken() }
        await gate.arrivals(atLeast: 1)
        #expect(await loader.load(sampleRequest()).status == 200)
        await gate.release()
        await forgetting.value
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(mock.requests.last?.headers["Authorization"] == "Bearer ben")
    }

    @Test("B: OAuth: a token that is out of date is refreshed before the first send; one that is not is used")
    func expiry() async {
        let clock = TestClock()
        let clocks = clock.retryClocks()
        await store.save(
            OAuth.Token(accessToken: "t1", refreshToken: "again", expiresAt: clocks.wallNow.advanced(by: .seconds(90)))
        )
        let oauth = OAuth(store: store, leeway: .seconds(30), clocks: clocks) { [server] _ in
            server.refresh()
        } logIn: {
            nil
        }
        let mock = MockLoader().otherwise(server.reply)
        let loader = oauth --> mock
        #expect(await loader.load(sampleRequest()).status == 200)
        await clock.advance(by: .seconds(60))
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer t1", "Bearer r1"])
    }

    @Test("B: OAuth: a refresh without a new refresh token keeps the old one, and needs no new log-in")
    func keepsRefreshToken() async {
        let oauth = OAuth(store: store) { [server] _ in
            OAuth.Token(accessToken: server.refresh().accessToken)
        } logIn: { [server] in
            server.logIn()
        }
        let loader = oauth --> MockLoader().otherwise(server.reply)
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(await store.token()?.refreshToken == "again")
        // The server accepts another token from here on.
        _ = server.refresh()
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(server.refreshes == 3)
        #expect(server.logIns == 0)
    }

    @Test("B: OAuth: without a stored token the user must log in; otherwise nothing is sent")
    func logIn() async {
        await store.save(nil)
        let mock = MockLoader().otherwise(server.reply)
        #expect(await (oauth() --> mock).load(sampleRequest()).status == 200)
        #expect(server.logIns == 1)
        #expect(server.refreshes == 0)
        await store.save(nil)
        let unwilling = OAuth(store: store) { nil } --> mock
        let result = await unwilling.load(sampleRequest())
        #expect(result.errorCode == .userCancelledAuthentication)
        #expect(result.error?.bytesSent == 0)
        #expect(mock.requests.count == 1)
    }

    @Test("R26: neither another origin that a redirect leads to, nor one that is not named, is sent the token")
    func origins() async throws {
        let mock = MockLoader()
            .then(.status(302, headers: ["Location": "https://other.example.com/"]))
            .otherwise(.status(401))
        let result = await (Redirect() --> oauth() --> mock).load(sampleRequest())
        #expect(result.status == 401)
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer old", nil])
        let elsewhere = try #require(Origin(try HTTPRequest("https://elsewhere.example.com").url))
        let bound = OAuth(store: store, origins: [elsewhere]) { [server] in server.logIn() } --> mock
        _ = await bound.load(sampleRequest())
        #expect(mock.requests.last?.headers["Authorization"] == nil)
        #expect(server.refreshes == 0)
    }

    @Test("R26: a 401 of another origin, to which a redirect further in led, is no refusal of the token")
    func redirectWithin() async {
        let mock = MockLoader()
            .then(.status(302, headers: ["Location": "https://other.example.com/"]))
            .otherwise(.status(401))
        #expect(await (oauth() --> Redirect() --> mock).load(sampleRequest()).status == 401)
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer old", nil])
        #expect(server.refreshes == 0)
    }

    @Test("R20: what waited for a token until its deadline had passed is not sent")
    func deadline() async {
        let clock = TestClock()
        let oauth = OAuth(store: store, clocks: clock.retryClocks()) { [server] _ in
            await clock.advance(by: .seconds(10))
            return server.refresh()
        } logIn: {
            nil
        }
        let mock = MockLoader().otherwise(server.reply)
        var request = sampleRequest()
        request.timeout = .seconds(10)
        let result = await (oauth --> mock).load(request)
        #expect(result.status == 401)
        #expect(result.attempts.map(\.reason) == [.deadlineExceeded])
        #expect(mock.requests.count == 1)
        await oauth.reset()
        await store.save(
            OAuth.Token(accessToken: "old", refreshToken: "again", expiresAt: WallClock.Instant(sinceEpoch: .zero))
        )
        let unsent = await (oauth --> mock).load(request)
        #expect(unsent.errorCode == .deadlineExceeded)
        #expect(unsent.error?.bytesSent == 0)
        #expect(mock.requests.count == 1)
    }

    /// A stage whose refreshes wait until they are released.
    private func heldOAuth(_ hold: MockLoader.Gate, _ clock: TestClock) -> OAuth {
        let held = MockLoader().then(.held(by: hold, .status(200)))
        return OAuth(store: store, clocks: clock.retryClocks()) { [server] _ in
            _ = await held.load(sampleRequest())
            return server.refresh()
        } logIn: {
            nil
        }
    }

    @Test("R20: the deadline ends the wait for a token; the others get theirs")
    func deadlineEndsWait() async {
        let clock = TestClock()
        let hold = MockLoader.Gate()
        let mock = MockLoader().otherwise(server.reply)
        let chain = heldOAuth(hold, clock) --> mock
        let patient = chain.load(sampleRequest()) { _ in }
        await hold.arrivals(atLeast: 1)
        var request = sampleRequest()
        request.timeout = .seconds(10)
        let signing = chain.load(request) { _ in }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(10))
        let unsent = await signing.result
        #expect(unsent.errorCode == .deadlineExceeded)
        #expect(unsent.error?.bytesSent == 0)
        #expect(mock.requests.count == 1)
        await hold.release()
        #expect(await patient.result.status == 200)
        #expect(server.refreshes == 1)
    }

    @Test("R20: the deadline ends the wait for a new token, and the refusal stands")
    func deadlineEndsRefresh() async {
        let clock = TestClock()
        let hold = MockLoader.Gate()
        let mock = MockLoader().otherwise(server.reply)
        var request = sampleRequest()
        request.timeout = .seconds(10)
        let refused = (heldOAuth(hold, clock) --> mock).load(request) { _ in }
        await hold.arrivals(atLeast: 1)
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(10))
        let result = await refused.result
        #expect(result.status == 401)
        #expect(result.attempts.map(\.reason) == [.deadlineExceeded])
        await hold.release()
    }

    @Test("B: OAuth: a storm of refreshes ends with excessiveRefresh, and passes with the window")
    func storm() async throws {
        let clock = TestClock()
        let window = Auth.RefreshWindow(interval: .seconds(30), maximumAttempts: 3)
        let oauth = OAuth(store: store, refreshWindow: window, clocks: clock.retryClocks()) { [server] _ in
            server.refresh()
        } logIn: {
            nil
        }
        let loader = oauth --> MockLoader().otherwise(.status(401))
        for _ in 0..<3 { #expect(await loader.load(sampleRequest()).status == 401) }
        for _ in 0..<2 {
            let error = await loader.load(sampleRequest()).error
            #expect(error?.code == .userAuthenticationRequired)
            #expect(error?.underlyingError as? Auth.Failure == .excessiveRefresh)
        }
        #expect(server.refreshes == 3)
        await clock.advance(by: .seconds(30))
        // One before it is sent, since the token before was refused, and one after it was refused again.
        #expect(await loader.load(sampleRequest()).status == 401)
        #expect(server.refreshes == 5)
        await oauth.reset()
        await store.save(Self.stale)
        for _ in 0..<3 { #expect(await loader.load(sampleRequest()).status == 401) }
        #expect(server.refreshes == 8)
    }

    @Test("B: OAuth: log-ins that brought a token count, those that were declined do not")
    func stormOfLogIns() async throws {
        let window = Auth.RefreshWindow(interval: .seconds(30), maximumAttempts: 2)
        let answers = Journal<Bool>()
        let oauth = OAuth(refreshWindow: window, clocks: TestClock().retryClocks()) {
            answers.append(true)
            return answers.entries.count > 4 ? OAuth.Token(accessToken: "a") : nil
        }
        let loader = oauth --> MockLoader().otherwise(.status(401))
        for _ in 0..<4 { #expect(await loader.load(sampleRequest()).errorCode == .userCancelledAuthentication) }
        // One before the first send, one after it was refused.
        #expect(await loader.load(sampleRequest()).status == 401)
        #expect(answers.entries.count == 6)
        let error = await loader.load(sampleRequest()).error
        #expect(error?.underlyingError as? Auth.Failure == .excessiveRefresh)
        #expect(answers.entries.count == 6)
    }

    @Test(
        "B: OAuth: the plan goes from the store to a refresh to a log-in, and never back",
        arguments: [
            (OAuthTokenRequest.Event.wanted(replacing: nil), OAuthTokenRequest.Step.readStore),
            (.wanted(replacing: stale), .refresh(stale)),
            (.wanted(replacing: OAuth.Token(accessToken: "a")), .logIn),
            (.stored(stale, isCurrent: true), .use(stale)), (.stored(stale, isCurrent: false), .refresh(stale)),
            (.stored(nil, isCurrent: false), .logIn), (.refreshed(nil), .logIn), (.refreshed(stale), .save(stale)),
            (.loggedIn(stale), .save(stale)), (.loggedIn(nil), .decline), (.saved(stale), .use(stale)),
        ]
    )
    func plan(event: OAuthTokenRequest.Event, step: OAuthTokenRequest.Step) {
        #expect(OAuthTokenRequest(refreshes: true).step(after: event) == step)
    }

    @Test("R5: the key is the same before and after a refresh, whatever stands behind the stage")
    func idempotencyKey() async {
        var order = sampleRequest(method: .post, body: .text("order"))
        order.idempotencyKey = .generated
        let retry = Retry(RetryPolicy.recommended, budgets: nil)
        for isRetried in [false, true] {
            let mock = MockLoader().then(.status(401)).otherwise(.status(200))
            let rest = isRetried ? AnyLoader(retry --> mock) : AnyLoader(mock)
            await store.save(Self.stale)
            #expect(await (oauth() --> rest).load(order).status == 200)
            let keys = mock.requests.map { $0.headers["Idempotency-Key"] }
            #expect(keys.count == 2)
            #expect(keys.allSatisfy { $0 != nil })
            #expect(Set(keys).count == 1)
        }
        order.idempotencyKey = .custom("")
        let mock = MockLoader().otherwise(.status(200))
        #expect(await (oauth() --> mock).load(order).errorCode == .invalidRequest)
        #expect(mock.requests.isEmpty)
    }

    @Test("R27: a token that lives no longer than the leeway is used for half of its life, and then refreshed")
    func shortLife() async {
        let clock = TestClock()
        let clocks = clock.retryClocks()
        let oauth = OAuth(store: store, clocks: clocks) { [server] _ in
            var token = server.refresh()
            token.expiresAt = clocks.wallNow.advanced(by: .seconds(25))
            return token
        } logIn: {
            nil
        }
        let mock = MockLoader().otherwise(server.reply)
        let loader = oauth --> mock
        for _ in 0..<8 { #expect(await loader.load(sampleRequest()).status == 200) }
        #expect(server.refreshes == 1)
        await clock.advance(by: .seconds(12))
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(server.refreshes == 1)
        await clock.advance(by: .seconds(1))
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(server.refreshes == 2)
    }

    @Test("R27: where no further token may be obtained, one that is not past its end is used, unless it was refused")
    func exhaustedWindow() async throws {
        let clock = TestClock()
        let clocks = clock.retryClocks()
        let window = Auth.RefreshWindow(interval: .seconds(100), maximumAttempts: 1)
        let oauth = OAuth(store: store, refreshWindow: window, clocks: clocks) { [server] _ in
            var token = server.refresh()
            token.expiresAt = clocks.wallNow.advanced(by: .seconds(40))
            return token
        } logIn: {
            nil
        }
        let mock = MockLoader().otherwise(server.reply)
        let loader = oauth --> mock
        #expect(await loader.load(sampleRequest()).status == 200)
        await clock.advance(by: .seconds(39))
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(server.refreshes == 1)
        mock.then(.status(401))
        let refused = await loader.load(sampleRequest())
        #expect(refused.error?.underlyingError as? Auth.Failure == .excessiveRefresh)
        #expect(await loader.load(sampleRequest()).error?.bytesSent == 0)
        #expect(server.refreshes == 1)
        await clock.advance(by: .seconds(62))
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(server.refreshes == 2)
    }
}
