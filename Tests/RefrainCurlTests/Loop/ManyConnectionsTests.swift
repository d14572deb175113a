// SPDX-License-Identifier: Apache-2.0
import CurlShim
import RefrainCore
import RefrainHTTP
import Testing

@testable import RefrainCurl

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: many connections to one host", .timeLimit(.minutes(10)))
struct ManyConnectionsTests {
    /// Accepts connections and says nothing.
    private final class SilentServer: Sendable {
        let accepted = Counter()
        private let clients = Locked<Set<UInt16>>([])
        private let listener = LoopbackListener(backlog: 4096)
        var port: UInt16 { listener.port }

        init() {
            startThread { [listener, accepted, clients] in
                var connections: [Int32] = []
                while let connection = listener.accept() {
                    accepted.add(1)
                    connections.append(connection)
                    clients.withLock { _ = $0.insert(RawConnection(connection).port(getpeername)) }
                }
                for connection in connections { close(connection) }
            }
        }

        func stop() { listener.stop() }

        /// Returns when all connections that were made so far have been accepted, which happens in their order.
        func acceptAll() async throws {
            let last = try #require(RawConnection.connect(to: port))
            defer { close(last.descriptor) }
            let client = last.port(getsockname)
            #expect(await eventually { clients.withLock { $0.contains(client) } })
        }
    }

    /// REFRAIN_CONNECTIONS=10000 is what was measured; it takes 20,000 open files.
    private static let count = getenv("REFRAIN_CONNECTIONS").flatMap { Int(String(cString: $0)) } ?? 1000

    @Test("R20: requests end at their deadline, however many connections to their host there are")
    func deadlines() async throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let count = min(Self.count, Int(clamping: limit.rlim_cur / 2) - 200)
        let server = SilentServer()
        defer { server.stop() }
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = count
        let loader = try CurlLoader(configuration: configuration)
        var request = try HTTPRequest("http://127.0.0.1:\(server.port)/")
        request.attemptTimeout = .seconds(count > 2000 ? 8 : 2)
        request.timeouts.connect = .seconds(60)
        let (sent, total) = (request, try #require(request.attemptTimeout))
        let clock = ContinuousClock()
        let late = await withTaskGroup(of: Duration.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let start = clock.now
                    guard case .failure(let error) = await loader.load(sent), error.code == .timedOut else {
                        return .zero
                    }
                    return start.duration(to: clock.now) - total
                }
            }
            return await group.reduce(into: [Duration]()) { $0.append($1) }
        }
        let worst = late.max() ?? .zero
        try await server.acceptAll()
        let accepted = server.accepted.value
        #expect(late.count { $0 > .zero } == count)
        // Beside all other tests the tasks themselves wait for a thread.
        let tolerance = Duration.milliseconds(count > 2000 ? 250 : 2000)
        #expect(worst < tolerance, "the latest of \(count) ended \(worst) after its deadline")
        print("\(count) connections: the latest ended \(worst) after its deadline; \(accepted) were made")
        // None is made after that.
        try await Task.sleep(for: .milliseconds(300))
        #expect(server.accepted.value == accepted)
    }

    @Test("Many open responses deliver, end and are cancelled, and requests beside them go on", .timeLimit(.minutes(3)))
    func openResponses() async throws {
        let (heads, isReleased) = (Counter(), Locked(false))
        let server = RawServer(LoopbackListener(backlog: 4096)) { connection in
            while let head = connection.readHead() {
                guard head.hasPrefix("GET /open") else {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    continue
                }
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
                heads.add(1)
                while !isReleased.withLock({ $0 }) { usleep(100_000) }
                connection.write("2\r\ncd\r\n0\r\n\r\n")
            }
        }
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = 2000
        let loader = try CurlLoader(configuration: configuration)
        let url = "http://127.0.0.1:\(server.port)"
        var open = try HTTPRequest(url + "/open")
        open.streamsResponse = true
        let sent = open
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<700 {
                group.addTask {
                    let response = try await loader.response(for: sent)
                    var text: [UInt8] = []
                    for try await chunk in response.body {
                        text += chunk
                        // Some are dropped unread.
                        if number.isMultiple(of: 7) { return false }
                    }
                    return text == Array("abcd".utf8)
                }
            }
            #expect(await eventually { heads.value == 700 })
            for _ in 1...2 {
                try await concurrently(400, inFlight: 16) { _ in
                    let response = try await loader.response(for: HTTPRequest(url + "/ok"))
                    #expect(try await response.body.collect() == Array("ok".utf8))
                }
                isReleased.withLock { $0 = true }
            }
            #expect(try await group.reduce(0) { $0 + ($1 ? 1 : 0) } == 600)
        }
        #expect(try await loader.response(for: HTTPRequest(url + "/ok")).status == 200)
    }
}
