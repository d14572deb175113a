// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainCurl

@Suite("CurlLoader: limits of time, and cancellation", .timeLimit(.minutes(10)))
struct TimeoutTests {
    let server: FaultServer
    let loader = CurlLoader()

    init() throws { server = try FaultServer() }

    private func request(_ url: String, _ change: (inout Timeout.Limits) -> Void) throws -> HTTPRequest {
        var request = try HTTPRequest(url)
        request.timeouts = Timeout.Limits(connect: nil, firstByte: nil, idle: nil, total: nil)
        change(&request.timeouts)
        return request
    }

    private func expectTimeout(_ request: HTTPRequest, sent: Bool, _ word: String? = nil) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let error: HTTPError
        switch await loader.load(request) {
        case .failure(let failure): error = failure
        case .success(let response):
            error = try await #require(throws: HTTPError.self) { try await response.body.collect() }
        }
        #expect(error.code == .timedOut, "\(error)")
        #expect((error.bytesSent == 0) == !sent)
        if let word { #expect("\(error)".contains(word), "\(error)") }
        #expect(clock.now - start >= .milliseconds(99))
        // Without the limit it would never end. How late the answer is told depends on how busy the machine is.
        #expect(clock.now - start < .seconds(60))
    }

    @Test("R20: a limit that the caller has set is longer than the default silence, and counts instead of it")
    func namedSilence() {
        var limits = Timeout.Limits.standard
        #expect(limits.silence == .seconds(60))
        limits.firstByte = .seconds(75)
        #expect(limits.silence == .seconds(75) && Limits.of(limits).idle == 75_000_000_000)
        limits.total = .seconds(300)
        #expect(limits.silence == .seconds(300))
        limits.idle = .seconds(5)
        #expect(limits.silence == .seconds(5))
        limits.idle = nil
        #expect(limits.silence == nil)
        var short = Timeout.Limits.standard
        short.total = .seconds(10)
        #expect(short.silence == .seconds(60))
    }

    @Test("R20: the pauses of a rate limit of our own are no silence", arguments: [40_000, 100_000])
    func rateLimit(rate: Int) async throws {
        let server = try FaultServer()
        var configuration = CurlLoader.Configuration()
        configuration.overrides.bytesPerSecond = rate
        configuration.overrides.receiveBuffer = 524_288
        configuration.overrides.minimumSpeed = .init(bytesPerSecond: rate, seconds: 1)
        let loader = try CurlLoader(configuration: configuration)
        var request = try HTTPRequest(server.baseURL + "/bytes/400000")
        request.timeouts.idle = .milliseconds(700)
        let start = ContinuousClock.now
        let response = try await loader.response(for: request)
        #expect(try await response.body.collect().count == 400_000)
        #expect(ContinuousClock.now - start > .milliseconds(1500))
    }

    @Test("transfers that a rate limit of our own has held back go on when it is time")
    func rateLimitOfSeveral() async throws {
        let server = try FaultServer()
        var configuration = CurlLoader.Configuration()
        configuration.overrides.bytesPerSecond = 30_000_000
        configuration.overrides.receiveBuffer = 524_288
        let loader = try CurlLoader(configuration: configuration)
        // A round takes half a second. Where libcurl had forgotten one, as in every second round, it took ten seconds.
        var slowRounds = 0
        for _ in 0..<10 {
            let start = ContinuousClock.now
            try await withThrowingDiscardingTaskGroup { group in
                for size in [14_000_000, 11_000_000, 7_000_000] {
                    group.addTask {
                        var request = try HTTPRequest(server.baseURL + "/bytes/\(size)")
                        request.streamsResponse = true
                        (request.timeouts.idle, request.timeouts.total) = (.seconds(400), .seconds(400))
                        #expect(try await loader.response(for: request).body.collect().count == size)
                    }
                }
            }
            if ContinuousClock.now - start > .seconds(6) { slowRounds += 1 }
        }
        // The machine may stand still as well, but not so often.
        #expect(slowRounds <= 2)
    }

    @Test("the connect limit ends an attempt to connect that gets no answer")
    func connect() async throws {
        let silent = try FaultServer(mode: .neverAccept)
        // The queue of a listening socket takes one connection beyond its length.
        let url = silent.baseURL + "/"
        let fillers = (0..<3).map { _ in Task { await CurlLoader().load(try request(url) { $0.total = .seconds(3) }) } }
        try await Task.sleep(for: .milliseconds(100))
        try await expectTimeout(request(url) { $0.connect = .milliseconds(100) }, sent: false)
        try await expectTimeout(request(url) { $0.total = .milliseconds(100) }, sent: false, "total")
        for filler in fillers { filler.cancel() }
    }

    @Test(
        "R31: limits beyond all measure are no limits, and no trap",
        arguments: [Duration(attoseconds: .max), .longestDelay, .milliseconds(Int64(Int32.max) + 1)]
    )
    func endless(limit: Duration) async throws {
        let request = try request(server.baseURL + "/ok") {
            $0 = Timeout.Limits(connect: limit, firstByte: limit, idle: limit, total: limit)
        }
        #expect(try await loader.response(for: request).status == 200)
    }

    @Test("each limit ends a request that has been sent")
    func limits() async throws {
        // These two count from the start, and so are long enough for a busy machine to get the request out.
        try await expectTimeout(
            request(server.baseURL + "/hang") { $0.firstByte = .seconds(3) },
            sent: true,
            "first byte"
        )
        try await expectTimeout(
            request(server.baseURL + "/hang") { $0.total = .seconds(3) },
            sent: true,
            "total"
        )
        for path in ["/hang", "/hang-headers", "/hang-body"] {
            for streams in [false, true] {
                var request = try request(server.baseURL + path) { $0.idle = .milliseconds(500) }
                request.streamsResponse = streams
                try await expectTimeout(request, sent: true, "nothing was")
            }
        }
        try await expectTimeout(
            request(server.baseURL + "/trickle?bytes=10000&interval=10") { $0.total = .seconds(3) },
            sent: true,
            "total"
        )
    }

    @Test("bytes that trickle keep the idle limit away")
    func trickle() async throws {
        // Eight seconds of bytes, with an idle limit of half of them: more than a busy machine holds one back.
        let request = try request(server.baseURL + "/trickle?bytes=80&interval=100") { $0.idle = .seconds(4) }
        #expect(try await loader.response(for: request).status == 200)
    }

    @Test("the wait for a connection counts to the total limit")
    func queueWait() async throws {
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let narrow = try CurlLoader(configuration: configuration)
        let hanging = Task { await narrow.load(try request(server.baseURL + "/hang") { _ in }) }
        #expect(await eventually { server.count(path: "/hang") == 1 })
        let error = try failure(
            of: await narrow.load(request(server.baseURL + "/ok") { $0.total = .milliseconds(100) })
        )
        #expect(error.code == .timedOut)
        #expect(error.bytesSent == 0)
        #expect(server.count(path: "/ok") == 0)

        let waiting = Task { await narrow.load(try request(server.baseURL + "/ok") { _ in }) }
        try await Task.sleep(for: .milliseconds(20))
        waiting.cancel()
        #expect(try failure(of: await waiting.value).code == .cancelled)
        hanging.cancel()
        #expect(try failure(of: await hanging.value).code == .cancelled)
        #expect(try await narrow.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
    }

    @Test("requests wait for their turn at one server, however its name is spelled")
    func spellings() async throws {
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let narrow = try CurlLoader(configuration: configuration)
        let url = server.baseURL
        let hanging = Task { await narrow.load(try request(url + "/hang") { _ in }) }
        #expect(await eventually { server.count(path: "/hang") == 1 })
        let spelling = url.replacing("http://", with: "HTTP://")
        let other = try request(spelling + "/ok") { $0.connect = .seconds(3) }
        let waiting = Task { await narrow.load(other) }
        // Past the limit for connecting, which begins with a request's turn.
        try await Task.sleep(for: .seconds(4))
        #expect(server.count(path: "/ok") == 0)
        hanging.cancel()
        #expect(try await waiting.value.get().status == 200)
        #expect(try failure(of: await hanging.value).code == .cancelled)
    }

    @Test("R9: the server sees the connection of a cancelled request close")
    func cancellation() async throws {
        for path in ["/hang", "/hang-body", "/huge"] {
            server.clearLog()
            let task = Task { await loader.load(try HTTPRequest(server.baseURL + path)) }
            #expect(await eventually { server.log.count == 1 })
            task.cancel()
            let error = try failure(of: await task.value)
            #expect([.cancelled, .dataLengthExceedsMaximum].contains(error.code))
            #expect(try #require(error.bytesSent) > 0)
            #expect(await eventually { server.openConnectionCount == 0 })
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await loader.load(try HTTPRequest(server.baseURL + "/never"))
        }
        let error = try failure(of: await task.value)
        #expect(error.code == .cancelled)
        #expect(error.bytesSent == 0)
        #expect(server.count(path: "/never") == 0)
    }

    @Test("reset ends what is under way and what waits, and goes on")
    func reset() async throws {
        let tasks = (0..<100).map { _ in Task { await loader.load(try HTTPRequest(server.baseURL + "/hang")) } }
        #expect(await eventually { server.count(path: "/hang") == 32 })
        await loader.reset()
        for task in tasks { #expect(try failure(of: await task.value).code == .cancelled) }
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
        #expect(server.count(path: "/hang") == 32)
    }

    @Test("shutdown ends what is under way and what waits, and refuses the rest")
    func shutdown() async throws {
        let tasks = (0..<100).map { _ in Task { await loader.load(try HTTPRequest(server.baseURL + "/hang")) } }
        #expect(await eventually { server.count(path: "/hang") == 32 })
        await loader.shutdown()
        for task in tasks { #expect(try failure(of: await task.value).code == .sessionInvalidated) }
        let error = try failure(of: await loader.load(HTTPRequest(server.baseURL + "/ok")))
        #expect(error.code == .sessionInvalidated && error.message == "the loader was shut down")
        await loader.shutdown()
        await loader.reset()
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test("a deallocated loader closes its connections")
    func release() async throws {
        for _ in 0..<20 {
            _ = try await CurlLoader().response(for: HTTPRequest(server.baseURL + "/ok"))
        }
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test("10,000 requests that are cancelled at once all end", .timeLimit(.minutes(10)))
    func massCancellation() async throws {
        let ended = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10_000 {
                group.addTask { [loader, server] in
                    guard let request = try? HTTPRequest(server.baseURL + "/hang") else { return false }
                    if case .failure(let error) = await loader.load(request) { return error.code == .cancelled }
                    return false
                }
            }
            #expect(await eventually { server.count(path: "/hang") == 32 })
            group.cancelAll()
            var ended = 0
            for await wasCancelled in group where wasCancelled { ended += 1 }
            return ended
        }
        #expect(ended == 10_000)
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
    }
}
