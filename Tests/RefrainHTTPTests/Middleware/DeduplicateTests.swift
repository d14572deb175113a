import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("Deduplicate")
struct DeduplicateTests {
    private let hold = MockHold()
    private let stage = Deduplicate()

    private func start(_ count: Int, on loader: some HTTPLoader, _ request: HTTPRequest) async -> [HTTPTask] {
        let before = stage.numberOfWaitingRequests
        let tasks = (0..<count).map { _ in loader.load(request) { _ in } }
        await wait { stage.numberOfWaitingRequests == before + count }
        return tasks
    }

    private func wait(_ condition: () -> Bool) async { await RefrainHTTPTests.wait(until: condition) }

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
    func leaving() async {
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
        "B: de-duplication: the last one to leave cancels the exchange, and whoever comes next begins another",
        .timeLimit(.minutes(1))
    )
    func lastOneLeaves() async {
        let nobody = MockHold()
        let ended = Journal<Bool>()
        let mock = MockLoader()
            .then { request in
                // Nobody ever comes: this waits for the cancellation.
                await nobody.arrivals(atLeast: 1)
                ended.add(Task.isCancelled)
                return .failure(HTTPError(.cancelled, request: request))
            }
            .otherwise(.status(200))
        let loader = stage --> mock
        let tasks = await start(2, on: loader, sampleRequest())
        await wait { mock.requests.count == 1 }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(stage.numberOfExchanges == 0)
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(mock.requests.count == 2)
        while ended.values.isEmpty, !Task.isCancelled { await Task.yield() }
        #expect(ended.values == [true])
    }

    @Test("A request whose task is cancelled beforehand begins nothing")
    func cancelledBeforehand() async {
        let mock = MockLoader().otherwise(.status(200))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await (stage --> mock).load(sampleRequest())
        }
        #expect(await task.value.errorCode == .cancelled)
        await wait { stage.exchanges.taskCount == 0 }
        #expect(mock.requests.isEmpty)
    }

    @Test(
        "B: de-duplication: requests that differ in URL, method, credentials or options are not shared",
        .timeLimit(.minutes(1))
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
        let (stubborn, free) = (Journal<Int>(), Journal<Int>())
        let mock = MockLoader()
            .then { request in
                stubborn.add(1)
                // Whoever cancels has to wait.
                await RefrainHTTPTests.wait { !free.values.isEmpty }
                return .success(HTTPResponse(request: request, status: 200))
            }
            .otherwise(.status(204))
        let loader = stage --> mock
        let tasks = await start(2, on: loader, sampleRequest())
        await wait { stubborn.values == [1] }
        let reset = Task {
            await loader.reset()
            return free.values.isEmpty
        }
        for task in tasks { #expect(await task.result.errorCode == .cancelled) }
        #expect(await loader.load(sampleRequest()).status == 204)
        free.add(1)
        let wasEarly = await reset.value
        #expect(!wasEarly)
        #expect(stage.exchanges.taskCount == 0)
    }

    @Test("An exchange that a reset has overtaken before it began is cancelled when it begins", .timeLimit(.minutes(1)))
    func overtaken() async {
        let mayBegin = Journal<Bool>()
        let table = ExchangeTable { exchange in
            Task {
                await RefrainHTTPTests.wait { !mayBegin.values.isEmpty }
                await exchange()
            }
        }
        let arrived = Journal<Bool>()
        let mock = MockLoader().otherwise(
            MockReply { request in
                arrived.add(Task.isCancelled)
                return .success(HTTPResponse(request: request, status: 200))
            }
        )
        let request = sampleRequest()
        guard let key = ExchangeKey(request) else { return }
        let caller = Task { await table.load(request, key: key, next: mock) == nil }
        await wait { table.callerCount == 1 }
        await table.reset(next: nil)
        #expect(await caller.value)
        mayBegin.add(true)
        await wait { table.taskCount == 0 }
        #expect(arrived.values == [true])
    }

    @Test(
        "Who starts an exchange lives to its end, also where it goes before the exchange has begun",
        .timeLimit(.minutes(1))
    )
    func starterIsKept() async {
        let mayBegin = Journal<Bool>()
        let table = ExchangeTable { exchange in
            Task {
                await RefrainHTTPTests.wait { !mayBegin.values.isEmpty }
                await exchange()
            }
        }
        var request = sampleRequest()
        let found = Journal<Bool>()
        let next = AnyLoader { request in
            found.add(request.owner?.caller != nil)
            return .success(HTTPResponse(request: request, status: 200))
        }
        weak var left: Starter?
        do {
            var starter: Starter? = Starter()
            left = starter
            request.owner = starter.map { CallOwner($0) }
            guard let key = ExchangeKey(request) else { return }
            let first = Task { [request] in await table.load(request, key: key, next: next) == nil }
            await wait { table.callerCount == 1 }
            let second = Task { await table.load(sampleRequest(), key: key, next: next)?.status == 200 }
            await wait { table.callerCount == 2 }
            first.cancel()
            #expect(await first.value)
            starter = nil
            mayBegin.add(true)
            #expect(await second.value)
        }
        #expect(found.values == [true])
        await wait { left == nil }
    }

    @Test("Nothing is kept of an exchange that has ended, whether it was answered or abandoned")
    func nothingLeft() async {
        let mock = MockLoader().then(.status(200)).otherwise(.held(by: hold, .status(200)))
        let loader = stage --> mock
        #expect(await loader.load(sampleRequest()).status == 200)
        await wait { stage.exchanges.taskCount == 0 }
        let tasks = await start(1, on: loader, sampleRequest())
        #expect(stage.exchanges.taskCount == 1)
        tasks[0].cancel()
        await wait { stage.exchanges.taskCount == 0 }
    }

    @Test("Requests that a stage further in treats differently are not shared: within a retry, or within a refresh")
    func surroundings() async {
        let mock = MockLoader().otherwise(.held(by: hold, .status(200)))
        let loader = stage --> mock
        let desk = CredentialDesk<Int> { _ in .success(1) }
        async let plain = loader.load(sampleRequest())
        async let nested = RetryNesting.within { await loader.load(sampleRequest()) }
        async let within = AuthenticationScope.$desks.withValue([WorkScope(of: desk)]) {
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
        request.download = Download(to: try FileSink(path: file.path))
        #expect(ExchangeKey(request) == nil)
    }

    @Test("An option that is set to nothing can be compared, whatever it could have been")
    func unsetOptions() async {
        var unset = sampleRequest()
        unset.attemptObserver = nil
        #expect(ExchangeKey(unset) == ExchangeKey(unset))
        #expect(ExchangeKey(unset) != nil)
        var recorded = unset
        let owner = Starter()
        recorded.owner = CallOwner(owner)
        #expect(ExchangeKey(recorded) == ExchangeKey(unset))
        recorded.attemptObserver = { _ in }
        #expect(ExchangeKey(recorded) == nil)
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

    @Test("R30: in every order of events each caller is answered exactly once, with the answer of its own key")
    func model() {
        forEachSeed { random in
            var machine = SharedExchanges<Int, Int>()
            /// Who waits, by ticket: the key and the exchange.
            var waiting: [UInt64: (key: Int, exchange: UInt64)] = [:]
            var allTickets: [UInt64] = []
            var ownTicket: [Int: UInt64] = [:]
            for caller in 0..<Int.random(in: 1...50, using: &random) {
                let live = Set(waiting.values.map(\.exchange)).sorted()
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<5:
                    let key = Int.random(in: 0..<3, using: &random)
                    let shared = waiting.values.first { $0.key == key }?.exchange
                    let place = machine.arrive(caller, for: key)
                    guard place.isFirst == (shared == nil), shared ?? place.exchange == place.exchange,
                        place.isFirst == !live.contains(place.exchange)
                    else { return false }
                    waiting[place.ticket] = (key, place.exchange)
                    allTickets.append(place.ticket)
                    ownTicket[caller] = place.ticket
                case 5, 6, 7:
                    // Anybody who ever came, also one who has left or been answered.
                    guard let ticket = allTickets.randomElement(using: &random) else { continue }
                    let place = waiting.removeValue(forKey: ticket)
                    let departure = machine.leave(ticket: ticket)
                    guard (departure == nil) == (place == nil) else { return false }
                    guard let departure, let place else { continue }
                    let isLast = !waiting.values.contains { $0.exchange == place.exchange }
                    guard departure.abandoned == (isLast ? place.exchange : nil), ownTicket[departure.caller] == ticket
                    else { return false }
                case 8:
                    // Also an exchange that was abandoned, or never was.
                    let number = live.randomElement(using: &random) ?? UInt64.random(in: 0...99, using: &random)
                    let expected = waiting.filter { $0.value.exchange == number }.keys
                    let answered = machine.finish(exchange: number).compactMap { ownTicket[$0] }
                    guard answered.sorted() == expected.sorted() else { return false }
                    for ticket in answered { waiting[ticket] = nil }
                default:
                    guard Int.random(in: 0..<5, using: &random) == 0 else { continue }
                    let sentAway = machine.endAll().compactMap { ownTicket[$0] }
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

/// Somebody for whom requests are made.
private final class Starter: Caller {
    func note(_ attempts: [AttemptRecord]) {}
    func cancelTask() {}
    func sharesExchange() {}
}
