// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("Deduplicate")
struct DeduplicateTests {
    private let hold = MockLoader.Gate()
    private let stage = Deduplicate()
    private let calls = TrackedCalls()
    private let executor = TrackedExecutor()

    private func start(_ count: Int, on loader: some HTTPLoader, _ request: HTTPRequest) async -> [HTTPTask] {
        let before = stage.numberOfWaitingRequests
        let tasks = (0..<count).map { _ in calls.start(request, on: loader) }
        await calls.settle()
        #expect(stage.numberOfWaitingRequests == before + count)
        return tasks
    }

    /// The key of a request, among those that go on to the same loader.
    private func key(_ request: HTTPRequest) -> ExchangeKey? {
        ExchangeKey(request, before: unused, isOnlyNext: false)
    }

    private let unused = MockLoader()

    @Test("B: de-duplication: a thousand identical requests share one exchange, and each gets its answer")
    func sharing() async {
        let mock = MockLoader().otherwise(.held(by: hold, .status(200, body: .text("one"))))
        let tasks = await start(1_000, on: stage --> mock, sampleRequest())
        #expect(stage.numberOfExchanges == 1)
        await hold.release()
        for task in tasks { #expect(await (try? task.result.get())?.text == "one") }
        #expect(mock.requests.count == 1)
        #expect(stage.numberOfExchanges == 0)
        #expect(stage.numberOfWaitingRequests == 0)
    }

    @Test("A request that comes after the answer makes an exchange of its own")
    func nothingIsKept() async {
        let mock = MockLoader().then(.status(200)).then(.status(204))
        let loader = stage --> mock
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(await loader.load(sampleRequest()).status == 204)
    }

    @Test("R30: each caller can leave alone, at once, and the others notice nothing")
    func removedWaiter() async {
        let mock = MockLoader().otherwise(.held(by: hold, .status(200)))
        let tasks = await start(3, on: stage --> mock, sampleRequest())
        tasks[0].cancel()
        #expect(await tasks[0].result.errorCode == .cancelled)
        #expect(stage.numberOfWaitingRequests == 2)
        await hold.release()
        for task in tasks.dropFirst() { #expect(await task.result.status == 200) }
        #expect(mock.requests.count == 1)
    }

    @Test(
        "B: de-duplication: the cancellation of the last request cancels the exchange, and the next request begins another",
        .timeLimit(.minutes(10))
    )
    func lastOneLeaves() async {
        let unused = MockLoader.Gate()
        let arrived = Signal()
        let ended = Journal<Bool>()
        let mock = MockLoader()
            .then { request in
                arrived.set()
                // No further request arrives: this waits for the cancellation.
                await unused.arrivals(atLeast: 1)
                ended.append(Task.isCancelled)
                return .failure(HTTPError(.cancelled, request: request))
            }
            .otherwise(.status(200))
        let loader = stage --> mock
        let tasks = await start(2, on: loader, sampleRequest())
        await arrived.wait()
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(stage.numberOfExchanges == 0)
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(mock.requests.count == 2)
        await ended.entries(atLeast: 1)
        #expect(ended.entries == [true])
    }

    @Test("A request whose task is cancelled beforehand begins nothing")
    func cancelledBeforehand() async {
        let mock = MockLoader().otherwise(.status(200))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await (stage --> mock).load(sampleRequest())
        }
        #expect(await task.value.errorCode == .cancelled)
        #expect(stage.exchanges.taskCount == 0)
        #expect(mock.requests.isEmpty)
    }

    @Test(
        "B: de-duplication: requests that differ in URL, method, credentials or options are not shared",
        .timeLimit(.minutes(10))
    )
    func differences() async {
        var signed = sampleRequest()
        signed.headers["Authorization"] = "Bearer a"
        var other = sampleRequest()
        other.headers["Authorization"] = "Bearer b"
        var limited = sampleRequest()
        limited.maximumBodySize = 10
        let requests = [
            sampleRequest(), sampleRequest("other"), sampleRequest(method: .head), signed, other, limited,
        ]
        let mock = MockLoader().otherwise(.held(by: hold, .status(200)))
        let loader = stage --> mock
        let tasks = requests.map { request in loader.load(request) { _ in } }
        await hold.arrivals(atLeast: requests.count)
        #expect(stage.numberOfExchanges == requests.count)
        await hold.release()
        for task in tasks { _ = await task.result }
    }

    /// A custom stage, which forwards to another one.
    private struct Wrapping: HTTPMiddleware {
        let inner: any HTTPMiddleware

        func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
            await inner.load(request, next: next)
        }
    }

    /// A transport that answers with the credential of each request, when it may.
    private struct Server: HTTPLoader {
        let hold: MockLoader.Gate

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let text = request.headers["Authorization"] ?? "none"
            return await MockLoader().then(.held(by: hold, .status(200, body: .text(text)))).load(request)
        }
    }

    private func oauth(_ token: String) -> OAuth {
        OAuth(store: OAuth.InMemoryTokenStore(OAuth.Token(accessToken: token))) { nil }
    }

    enum Joining: CaseIterable { case plain, foreign, part, joined, wrapping, wrappingPart }

    private func chain(_ joining: Joining, _ user: String, _ server: Server) -> any HTTPLoader {
        switch joining {
        case .plain: stage --> oauth(user) --> server
        case .foreign: stage --> Wrapping(inner: oauth(user)) --> server
        case .part: (stage --> ModifyRequest { $0 }) --> oauth(user) --> server
        case .joined: (stage --> oauth(user)) --> server
        case .wrapping: Wrapping(inner: stage) --> oauth(user) --> server
        case .wrappingPart: Wrapping(inner: stage --> ModifyRequest { $0 }) --> oauth(user) --> server
        }
    }

    @Test(
        "One stage in two chains shares nothing between them: what follows it may speak for another user",
        arguments: Joining.allCases
    )
    func twoChains(joining: Joining) async {
        let server = Server(hold: hold)
        let (one, two) = (chain(joining, "ada", server), chain(joining, "ben", server))
        let ada = calls.start(sampleRequest(), on: one)
        await hold.arrivals(atLeast: 1)
        let ben = calls.start(sampleRequest(), on: two)
        let alsoBen = calls.start(sampleRequest(), on: two)
        await calls.settle()
        #expect(stage.numberOfWaitingRequests == 3)
        #expect(stage.numberOfExchanges == 2)
        await hold.release()
        #expect(await (try? ada.result.get())?.text == "Bearer ada")
        #expect(await (try? ben.result.get())?.text == "Bearer ben")
        #expect(await (try? alsoBen.result.get())?.text == "Bearer ben")
    }

    @Test("One stage that others hold shares nothing between the chains that these stand in")
    func twoChainsOfOnePart() async {
        let server = Server(hold: hold)
        let part = stage --> ModifyRequest { $0 }
        let wrapping = Wrapping(inner: part)
        let chains: [any HTTPLoader] = [
            part --> oauth("0") --> server, part --> oauth("1") --> server,
            wrapping --> oauth("2") --> server, wrapping --> oauth("3") --> server,
            Wrapping(inner: wrapping) --> oauth("4") --> server,
        ]
        let tasks = chains.map { calls.start(sampleRequest(), on: $0) }
        await calls.settle()
        #expect(stage.numberOfWaitingRequests == chains.count)
        await hold.release()
        for (number, task) in tasks.enumerated() {
            #expect(await (try? task.result.get())?.text == "Bearer \(number)")
        }
    }

    @Test("One stage in two chains before transports that are values: each has its own exchanges")
    func twoTransports() async {
        struct Fixed: HTTPLoader {
            let hold: MockLoader.Gate
            let text: String

            func load(_ request: HTTPRequest) async -> HTTPResult {
                await MockLoader().then(.held(by: hold, .status(200, body: .text(text)))).load(request)
            }
        }
        let one = stage --> Fixed(hold: hold, text: "one")
        let two = stage --> Fixed(hold: hold, text: "two")
        let first = calls.start(sampleRequest(), on: one)
        let second = calls.start(sampleRequest(), on: two)
        await calls.settle()
        #expect(stage.numberOfWaitingRequests == 2)
        await hold.release()
        #expect(await (try? first.result.get())?.text == "one")
        #expect(await (try? second.result.get())?.text == "two")
    }

    @Test("A reset of one chain does not affect the waiters of another one with the same stage")
    func resetOfOneChain() async {
        let one = stage --> MockLoader().otherwise(.held(by: hold, .status(200)))
        let two = stage --> MockLoader().otherwise(.held(by: hold, .status(200)))
        let task = calls.start(sampleRequest(), on: two)
        await calls.settle()
        await one.reset()
        #expect(stage.numberOfWaitingRequests == 1)
        await hold.arrivals(atLeast: 1)
        await hold.release()
        #expect(await task.result.status == 200)
    }

    @Test("A reset of the stage itself ends what waits in all chains that it stands in")
    func resetOfAllChains() async {
        let mock = MockLoader().otherwise(.held(by: hold, .status(200)))
        let chains = [AnyLoader(stage --> mock), AnyLoader(stage --> mock)]
        let tasks = chains.map { calls.start(sampleRequest(), on: $0) }
        await calls.settle()
        #expect(stage.numberOfWaitingRequests == 2)
        await stage.reset()
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(stage.numberOfWaitingRequests == 0)
        #expect(mock.resets == 0)
    }

    enum Signing: CaseIterable { case plain, auth, hidden, wrapping }

    @Test(
        "After a log-out no request joins what was begun for the user before, however far in it is signed",
        arguments: Signing.allCases
    )
    func nextUser(signing: Signing) async {
        let server = Server(hold: hold)
        let oauth = OAuth(store: OAuth.InMemoryTokenStore(OAuth.Token(accessToken: "ada"))) {
            OAuth.Token(accessToken: "ben")
        }
        let loader: any HTTPLoader =
            switch signing {
            case .plain: stage --> oauth --> server
            case .auth:
                stage --> Retry(RetryPolicy.recommended, budgets: nil) --> Auth([.oauth: oauth], default: .oauth)
                    --> server
            case .hidden: stage --> AnyLoader(Redirect() --> (oauth --> server))
            case .wrapping: Wrapping(inner: stage) --> oauth --> server
            }
        let first = calls.start(sampleRequest(), on: loader)
        await hold.arrivals(atLeast: 1)
        await oauth.forgetToken()
        let second = calls.start(sampleRequest(), on: loader)
        let third = calls.start(sampleRequest(), on: loader)
        await calls.settle()
        #expect(stage.numberOfWaitingRequests == 3)
        #expect(stage.numberOfExchanges == 2)
        await hold.release()
        #expect(await (try? first.result.get())?.text == "Bearer ada")
        #expect(await (try? second.result.get())?.text == "Bearer ben")
        #expect(await (try? third.result.get())?.text == "Bearer ben")
    }

    @Test("Unsafe methods, bodies, streams and options that cannot be compared pass by themselves")
    func passing() async {
        var streamed = sampleRequest()
        streamed.streamsResponse = true
        var observed = sampleRequest()
        observed.attemptObserver = { _ in }
        let requests = [
            sampleRequest(method: .post), sampleRequest(body: .text("query")), sampleRequest(method: .delete), streamed,
            observed,
        ]
        let mock = MockLoader().otherwise(.held(by: hold, .status(200)))
        let loader = stage --> mock
        let tasks = (requests + requests).map { request in loader.load(request) { _ in } }
        await hold.arrivals(atLeast: 2 * requests.count)
        #expect(stage.numberOfExchanges == 0)
        await hold.release()
        for task in tasks { #expect(await task.result.status == 200) }
    }

    @Test("A reset ends all exchanges and all who wait, and the stage works on")
    func reset() async {
        let mock = MockLoader().then(.held(by: hold, .status(200))).otherwise(.status(204))
        let loader = stage --> mock
        let tasks = await start(5, on: loader, sampleRequest())
        await hold.arrivals(atLeast: 1)
        await loader.reset()
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(stage.numberOfExchanges == 0)
        #expect(mock.resets == 1)
        #expect(hold.count == 0)
        #expect(await loader.load(sampleRequest()).status == 204)
    }

    @Test("The stage by itself can be reset, too")
    func resetAlone() async {
        let mock = MockLoader().otherwise(.held(by: hold, .status(200)))
        let tasks = await start(2, on: stage --> mock, sampleRequest())
        await hold.arrivals(atLeast: 1)
        await stage.reset()
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(stage.numberOfExchanges == 0)
        #expect(mock.resets == 0)
    }

    @Test("A reset answers callers before the exchange has ended; who comes meanwhile begins another one")
    func stubbornExchange() async {
        let (stubborn, free) = (Signal(), Signal())
        let mock = MockLoader()
            .then { request in
                stubborn.set()
                // The cancelling task has to wait.
                await free.wait()
                return .success(HTTPResponse(request: request, status: 200))
            }
            .otherwise(.status(204))
        let loader = stage --> mock
        let tasks = await start(2, on: loader, sampleRequest())
        await stubborn.wait()
        let reset = Task {
            await loader.reset()
            return !free.isSet
        }
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(await loader.load(sampleRequest()).status == 204)
        free.set()
        let wasEarly = await reset.value
        #expect(!wasEarly)
        #expect(stage.exchanges.taskCount == 0)
    }

    @Test(
        "An exchange that a reset has overtaken before it began is cancelled when it begins",
        .timeLimit(.minutes(10))
    )
    func overtaken() async throws {
        let (mayBegin, ended) = (Signal(), Signal())
        let table = CoalescingTable { exchange in
            Task {
                await mayBegin.wait()
                await exchange()
                ended.set()
            }
        }
        let arrived = Journal<Bool>()
        let mock = MockLoader().otherwise(
            MockLoader.Reply { request in
                arrived.append(Task.isCancelled)
                return .success(HTTPResponse(request: request, status: 200))
            }
        )
        let request = sampleRequest()
        let key = try #require(self.key(request))
        let caller = Task(executorPreference: executor) {
            await table.load(request, key: key, next: mock, onJoin: nil) == nil
        }
        await executor.idle()
        #expect(table.callerCount == 1)
        await table.reset()
        #expect(await caller.value)
        mayBegin.set()
        await ended.wait()
        #expect(table.taskCount == 0)
        #expect(arrived.entries == [true])
    }

    @Test(
        "Who starts an exchange lives to its end, also where it goes before the exchange has begun",
        .timeLimit(.minutes(10))
    )
    func starterIsKept() async throws {
        let (mayBegin, gone) = (Signal(), Signal())
        let table = CoalescingTable { exchange in
            Task {
                await mayBegin.wait()
                await exchange()
            }
        }
        let request = sampleRequest()
        let joined = Journal<Bool>()
        weak var left: Lifetime?
        do {
            let key = try #require(self.key(request))
            func begin() -> Task<Bool, Never> {
                let starter = Lifetime(gone)
                left = starter
                let next = AnyLoader { request in
                    withExtendedLifetime(starter) { .success(HTTPResponse(request: request, status: 200)) }
                }
                return Task(executorPreference: executor) {
                    await table.load(request, key: key, next: next) { joined.append(true) } == nil
                }
            }
            let first = begin()
            await executor.idle()
            #expect(table.callerCount == 1)
            let second = Task(executorPreference: executor) {
                await table.load(sampleRequest(), key: key, next: MockLoader(), onJoin: nil)?.status == 200
            }
            await executor.idle()
            #expect(table.callerCount == 2)
            first.cancel()
            #expect(await first.value)
            #expect(left != nil)
            mayBegin.set()
            #expect(await second.value)
        }
        #expect(joined.entries == [true])
        await gone.wait()
        #expect(left == nil)
    }

    @Test("Nothing is kept of an exchange that has ended, whether it was answered or abandoned")
    func nothingLeft() async throws {
        let mock = MockLoader().then(.status(200)).otherwise(.held(by: hold, .status(200)))
        let ended = Counter()
        let table = CoalescingTable { exchange in
            Task {
                await exchange()
                ended.increment()
            }
        }
        let request = sampleRequest()
        let key = try #require(self.key(request))
        #expect(await table.load(request, key: key, next: mock, onJoin: nil)?.status == 200)
        #expect(table.taskCount == 0)
        let caller = Task(executorPreference: executor) {
            await table.load(request, key: key, next: mock, onJoin: nil) == nil
        }
        await executor.idle()
        #expect(table.taskCount == 1)
        caller.cancel()
        #expect(await caller.value)
        await ended.reaches(2)
        #expect(table.taskCount == 0)
    }

    @Test("Requests that a stage further in treats differently are not shared: within a retry, or within a refresh")
    func surroundings() async {
        let mock = MockLoader().otherwise(.held(by: hold, .status(200)))
        let loader = stage --> mock
        let refresher = CredentialRefresher<Int>()
        async let plain = loader.load(sampleRequest())
        async let nested = NestedRetry.within { await loader.load(sampleRequest()) }
        async let within = AuthenticationScope.$operations.withValue([ActiveOperation(of: refresher)]) {
            await loader.load(sampleRequest())
        }
        await hold.arrivals(atLeast: 3)
        #expect(stage.numberOfExchanges == 3)
        await hold.release()
        for result in await [plain, nested, within] { #expect(result.status == 200) }
    }

    @Test("Downloads are not shared: each has a sink of its own")
    func downloads() async throws {
        let file = try TemporaryFile([])
        var request = sampleRequest()
        request.download = Download(to: try Download.FileSink(path: file.path))
        #expect(key(request) == nil)
    }

    @Test("An option that is set to nothing can be compared, whatever it could have been")
    func unsetOptions() async {
        var unset = sampleRequest()
        unset.attemptObserver = nil
        #expect(key(unset) == key(unset))
        #expect(key(unset) != nil)
        var recorded = unset
        recorded.attemptObserver = { _ in }
        #expect(key(recorded) == nil)
    }

    @Test("R30: a thousand callers, cancelled at random moments, complete once each and leave nothing behind")
    func massCancellation() async {
        let loader = stage --> MockLoader().otherwise(.status(200))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let task = loader.load(sampleRequest("\(number % 7)")) { _ in }
                    if !number.isMultiple(of: 3) { task.cancel() }
                    _ = await task.result
                }
            }
        }
        #expect(stage.numberOfWaitingRequests == 0)
        #expect(stage.numberOfExchanges == 0)
    }

    @Test(
        "R30: in every order of events each caller is answered exactly once, with the answer of its own key",
        .computing
    )
    func model() {
        forEachSeed { random in
            var machine = CoalescingStateMachine<Int, Int>()
            /// The key and the exchange of each waiting request, by its number.
            var waiting: [UInt64: (key: Int, exchange: UInt64)] = [:]
            var allNumbers: [UInt64] = []
            var ownNumber: [Int: UInt64] = [:]
            for caller in 0..<Int.random(in: 1...50, using: &random) {
                let live = Set(waiting.values.map(\.exchange)).sorted()
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<5:
                    let key = Int.random(in: 0..<3, using: &random)
                    let shared = waiting.values.first { $0.key == key }?.exchange
                    let registration = machine.arrive(caller, for: key)
                    guard registration.isFirst == (shared == nil),
                        shared ?? registration.exchange == registration.exchange,
                        registration.isFirst == !live.contains(registration.exchange)
                    else { return false }
                    waiting[registration.number] = (key, registration.exchange)
                    allNumbers.append(registration.number)
                    ownNumber[caller] = registration.number
                case 5, 6, 7:
                    // Any earlier caller, also one that has left or has a result.
                    guard let number = allNumbers.randomElement(using: &random) else { continue }
                    let registered = waiting.removeValue(forKey: number)
                    let departure = machine.leave(number)
                    guard (departure == nil) == (registered == nil) else { return false }
                    guard let departure, let registered else { continue }
                    let isLast = !waiting.values.contains { $0.exchange == registered.exchange }
                    guard departure.abandoned == (isLast ? registered.exchange : nil),
                        ownNumber[departure.caller] == number
                    else { return false }
                case 8:
                    // Also an exchange that was abandoned, or never was.
                    let number = live.randomElement(using: &random) ?? UInt64.random(in: 0...99, using: &random)
                    let expected = waiting.filter { $0.value.exchange == number }.keys
                    let answered = machine.finish(exchange: number).compactMap { ownNumber[$0] }
                    guard answered.sorted() == expected.sorted() else { return false }
                    for caller in answered { waiting[caller] = nil }
                default:
                    guard Int.random(in: 0..<5, using: &random) == 0 else { continue }
                    let sentAway = machine.endAll().compactMap { ownNumber[$0] }
                    guard sentAway.sorted() == waiting.keys.sorted() else { return false }
                    waiting = [:]
                }
                guard machine.callerCount == waiting.count,
                    machine.exchangeCount == Set(waiting.values.map(\.exchange)).count
                else { return false }
            }
            return true
        }
    }
}
