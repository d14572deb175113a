// SPDX-License-Identifier: Apache-2.0
import CurlShim
import RefrainHTTP
import RefrainTesting
import TLSFixture
import Testing

@testable import RefrainCurl

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: requests that their callers drive themselves", .timeLimit(.minutes(10)))
struct LeadingTests {
    let server: FaultServer
    let loader = CurlLoader()
    /// A loader whose leaders wait long enough for a test to act meanwhile.
    let longWait = CurlLoader(leaderWait: 300_000_000)

    init() throws { server = try FaultServer() }

    private func leaders(of loader: CurlLoader) -> UInt64 { loader.loop.commands.withLock { $0.leaders } }

    /// Makes a connection, and waits until the loop is idle.
    ///
    /// - Returns: whether a leader can wait for the connection. It cannot for a file beyond FD_SETSIZE, and other tests
    ///   of the process have that many open for a while.
    @discardableResult
    private func warm(_ loader: CurlLoader) async throws -> Bool {
        _ = await eventually { nextFile() < 900 }
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
        #expect(await eventually { loader.loop.commands.withLock { $0.owner == .none } })
        // Not the next file that would be opened: it has been a different one when the connection was made.
        let sockets = socketsToServer
        return !sockets.isEmpty && sockets.allSatisfy { $0 < 1024 }
    }

    /// The clients' ends of the connections to the test's own server.
    private var socketsToServer: [Int32] {
        (0..<65_536).filter { file in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(file, $0, &length) }
            }
            return result == 0 && address.sin_family == sa_family_t(AF_INET)
                && UInt16(bigEndian: address.sin_port) == server.port
        }
    }

    /// Sends a request that is not answered, and waits until it has arrived.
    private func startHanging(_ loader: CurlLoader) async throws -> Task<HTTPResult, any Error> {
        let isLed = try await warm(loader)
        server.clearLog()
        let before = leaders(of: loader)
        let task = Task { await loader.load(try HTTPRequest(server.baseURL + "/hang")) }
        #expect(await eventually { server.count(path: "/hang") == 1 })
        if isLed { #expect(leaders(of: loader) == before + 1) }
        return task
    }

    /// The number that the next file of the process gets.
    private func nextFile() -> Int32 {
        let file = dup(0)
        if file >= 0 { close(file) }
        return file < 0 ? .max : file
    }

    @Test("a request on a connection that stands is led, and answered by its leader; the first one is not")
    func led() async throws {
        // However busy the machine is, the answer comes while the leader waits.
        let longWait = CurlLoader(leaderWait: 60_000_000_000)
        guard try await warm(longWait) else { return }
        let before = leaders(of: longWait)
        for number in 1...5 {
            let request = try HTTPRequest(server.baseURL + "/ok", method: .post, body: .text("abc"))
            let response = try await longWait.response(for: request)
            #expect(response.status == 200)
            #expect(response.exchange.reusedConnection)
            // Nothing was left to the thread.
            #expect(longWait.loop.commands.withLock { $0.owner } == .none)
            #expect(leaders(of: longWait) == before + UInt64(number), "sockets \(socketsToServer)")
        }
    }

    @Test("streams, large bodies, and requests for a connection of their own are not led")
    func notLed() async throws {
        try await warm(loader)
        let before = leaders(of: loader)
        var streamed = try HTTPRequest(server.baseURL + "/ok")
        streamed.streamsResponse = true
        #expect(try await loader.response(for: streamed).body.collect().count > 0)
        var fresh = try HTTPRequest(server.baseURL + "/ok")
        fresh.needsFreshConnection = true
        #expect(try await loader.response(for: fresh).exchange.reusedConnection == false)
        for body: HTTPBody in [
            .bytes([UInt8](repeating: 1, count: 300_000)),
            .stream {
                AsyncStream {
                    $0.yield([1, 2, 3])
                    $0.finish()
                }
            },
        ] {
            let request = try HTTPRequest(server.baseURL + "/ok", method: .put, body: body)
            #expect(try await loader.response(for: request).status == 200)
        }
        #expect(leaders(of: loader) == before)
    }

    @Test("R30: an answer that comes later than the leader waits arrives by the loop's thread")
    func lateAnswers() async throws {
        try await warm(loader)
        for delay in [0, 1, 0, 3, 10, 0, 0, 2, 40] {
            let response = try await loader.response(for: HTTPRequest(server.baseURL + "/delay?ms=\(delay)"))
            #expect(response.status == 200)
            #expect(response.exchange.reusedConnection)
        }
        #expect(server.count(path: "/delay") == 9)
        #expect(leaders(of: loader) > 0)
    }

    @Test("R9: a request is cancelled while its leader waits")
    func cancel() async throws {
        let task = try await startHanging(longWait)
        task.cancel()
        let error = try failure(of: await task.value)
        #expect(error.code == .cancelled)
        #expect(try #require(error.bytesSent) > 0)
        #expect(await eventually { server.openConnectionCount == 0 })
        try await warm(longWait)
    }

    @Test("reset ends a request whose leader waits, and goes on")
    func reset() async throws {
        let task = try await startHanging(longWait)
        await longWait.reset()
        #expect(try failure(of: await task.value).code == .cancelled)
        try await warm(longWait)
    }

    @Test("shutdown ends a request whose leader waits, and refuses the rest")
    func shutdown() async throws {
        let task = try await startHanging(longWait)
        await longWait.shutdown()
        #expect(try failure(of: await task.value).code == .sessionInvalidated)
        let error = try failure(of: await longWait.load(HTTPRequest(server.baseURL + "/ok")))
        #expect(error.code == .sessionInvalidated)
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test("a request that comes while a leader waits for another one is sent and answered")
    func company() async throws {
        let task = try await startHanging(longWait)
        #expect(try await longWait.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
        task.cancel()
        #expect(try failure(of: await task.value).code == .cancelled)
    }

    @Test("R30: many tasks that come at once, again and again from rest, are all answered, each once")
    func bursts() async throws {
        try await warm(loader)
        server.clearLog()
        let rounds = 60
        for round in 0..<rounds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<(1 + round % 12) {
                    group.addTask {
                        let request = try HTTPRequest(server.baseURL + "/delay?ms=\(number % 3 == 2 ? 1 : 0)")
                        #expect(try await loader.response(for: request).status == 200)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(server.count(path: "/delay") == (0..<rounds).reduce(0) { $0 + 1 + $1 % 12 })
    }

    @Test("R30: cancelled, reset and shut down at any moment of a lead, every request ends once")
    func races() async throws {
        for round in 0..<150 {
            let loader = CurlLoader()
            _ = try await loader.response(for: HTTPRequest(server.baseURL + "/ok"))
            let tasks = (0...round % 3).map { _ in
                Task { await loader.load(try HTTPRequest(server.baseURL + "/ok")) }
            }
            // Waits for a moment of another length each time, so that another moment of the requests is met.
            let end = MonotonicTime.now &+ Int64(round &* 1_500)
            while MonotonicTime.now < end { await Task.yield() }
            switch round % 3 {
            case 0: for task in tasks { task.cancel() }
            case 1: await loader.reset()
            default: await loader.shutdown()
            }
            for task in tasks {
                switch try await task.value {
                case .success(let response): #expect(response.status == 200)
                case .failure(let error): #expect(error.code == (round % 3 == 2 ? .sessionInvalidated : .cancelled))
                }
            }
            let last = await loader.load(try HTTPRequest(server.baseURL + "/ok"))
            if round % 3 == 2 {
                #expect(try failure(of: last).code == .sessionInvalidated)
            } else {
                #expect(try last.get().status == 200)
            }
        }
        #expect(await eventually { server.openConnectionCount == 0 })
    }

    @Test("a peer that has hung up, in plain or over TLS, costs a leader's thread no signal", arguments: [false, true])
    func hungUp(overTLS: Bool) async throws {
        let fixture = overTLS ? try TLSFixture(upstreamPort: server.port) : nil
        defer { fixture?.stop() }
        var configuration = CurlLoader.Configuration()
        if let fixture { configuration.trust = .certificateFile(fixture.caPath) }
        let loader = try CurlLoader(configuration: configuration)
        for _ in 0..<20 {
            // The process would end with the signal, because it is not ignored here.
            let request = try HTTPRequest((fixture?.baseURL ?? server.baseURL) + "/drop-idle")
            switch await loader.load(request) {
            case .success(let response): #expect(response.status == 200)
            // The relay may not have passed on as yet that the server has hung up.
            case .failure(let error): #expect(error.code == .networkConnectionLost)
            }
            #expect(await eventually { server.openConnectionCount == 0 })
        }
    }

    @Test("SIGPIPE is kept from a leader's thread and forgotten, but not one that came before")
    func signals() {
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        var before = sigset_t()
        func isPending() -> Bool {
            var pending = sigset_t()
            sigpending(&pending)
            return sigismember(&pending, SIGPIPE) == 1
        }
        func isHeld() -> Bool {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return sigismember(&mask, SIGPIPE) == 1
        }
        pthread_sigmask(SIG_UNBLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        var held = refrain_held_signal()
        refrain_hold_pipe_signal(&held)
        #expect(isHeld())
        pthread_kill(pthread_self(), SIGPIPE)
        #expect(isPending())
        refrain_release_pipe_signal(&held)
        #expect(!isPending())
        #expect(!isHeld())

        pthread_sigmask(SIG_BLOCK, &pipe, nil)
        refrain_hold_pipe_signal(&held)
        pthread_kill(pthread_self(), SIGPIPE)
        refrain_release_pipe_signal(&held)
        #expect(!isPending())
        #expect(isHeld())

        pthread_kill(pthread_self(), SIGPIPE)
        refrain_hold_pipe_signal(&held)
        refrain_release_pipe_signal(&held)
        #expect(isPending())
        var number: Int32 = 0
        sigwait(&pipe, &number)
        #expect(number == SIGPIPE)
    }
}
