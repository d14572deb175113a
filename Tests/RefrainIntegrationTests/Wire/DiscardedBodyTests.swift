// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("On the wire: bodies that are not read", .timeLimit(.minutes(10)))
struct DiscardedBodyTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    private func chain(_ connections: Int = 32, attempts: Int = 3) throws -> some HTTPLoader {
        try Redirect() --> Retry(quick(attempts), budgets: nil) --> Resume() --> transport(connections)
    }

    /// A body of so many bytes, in slices with a pause between them.
    private static func body(_ count: Int, slice: Int = 65_536, pause: Duration = .zero) -> FaultServer.Step {
        var generator = FaultServer.Generator(count: count) { _, count in [UInt8](repeating: 0x61, count: count) }
        generator.slice = slice
        generator.pause = pause
        return .generate(generator)
    }

    /// Answers with this status and such a body, and from the `good`th request on with 200.
    private func serve(_ status: Int, _ count: Int, good: Int, slow: Bool) {
        server.on("/x") { request in
            guard request.occurrence < good else { return [.respond(.init(200))] }
            let length = [("Content-Length", "\(count)")]
            let body = slow ? Self.body(count, slice: 1, pause: .milliseconds(50)) : Self.body(count)
            return [.head(.init(status, headers: length)), body]
        }
    }

    /// A slow body takes 14 hours: what ends within this time has not waited for it, however busy the machine is.
    ///
    /// That nothing of it is read, not even for a second, is tested without sockets.
    private static let limit = Duration.seconds(30)

    private func timed(_ body: () async throws -> HTTPResponse) async throws -> (HTTPResponse, Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        let response = try await body()
        return (response, start.duration(to: clock.now))
    }

    @Test(
        "R28: the next attempt does not wait for a slow body of an error, also over the only connection",
        arguments: [503, 500, 429, 408],
        [1, 32]
    )
    func slowError(status: Int, connections: Int) async throws {
        serve(status, 1_000_000, good: 3, slow: true)
        let chain = try chain(connections)
        let (response, time) = try await timed { try await chain.response(for: HTTPRequest(server.baseURL + "/x")) }
        #expect(response.status == 200 && response.attempts.count == 3)
        #expect(time < Self.limit, "\(time)")
    }

    @Test("R28: a redirect is followed whatever comes behind its head", arguments: [true, false])
    func longRedirect(slow: Bool) async throws {
        server.on("/x") { _ in
            let length = [("Content-Length", "\(1 << 30)"), ("Location", "/ok")]
            return [
                .head(.init(302, headers: length)),
                slow ? Self.body(1 << 30, slice: 1, pause: .milliseconds(50)) : Self.body(1 << 30),
            ]
        }
        let chain = try chain()
        let (response, time) = try await timed { try await chain.response(for: HTTPRequest(server.baseURL + "/x")) }
        #expect(response.status == 200)
        #expect(time < Self.limit, "\(time)")
    }

    /// Bodies that cannot be read to their end, with the fields that announce them.
    private static let brokenBodies = [
        "Content-Length: 100\r\n\r\nshort", "Transfer-Encoding: chunked\r\n\r\nno length\r\n",
        "Content-Length: 5\r\nContent-Encoding: gzip\r\n\r\nplain",
        "Content-Length: 5\r\nContent-Encoding: br\r\n\r\nplain",
    ]

    @Test("R28: a redirect is followed although its body breaks, and a POST is sent once", arguments: brokenBodies)
    func brokenRedirect(body: String) async throws {
        server.on("/x") { _ in [.text("HTTP/1.1 302 Found\r\nLocation: /ok\r\n" + body), .close] }
        let request = try HTTPRequest(server.baseURL + "/x", method: .post, body: .text("a"))
        let response = try await chain().response(for: request)
        #expect(response.status == 200)
        #expect(server.log.map(\.method) == ["POST", "GET"])
    }

    @Test("R7, R15: an error whose body breaks at once is sent again as its head says", arguments: brokenBodies)
    func brokenError(body: String) async throws {
        server.on("/x") { request in
            guard request.occurrence < 2 else { return [.respond(.init(200))] }
            return [.text("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n" + body), .close]
        }
        let request = try HTTPRequest(server.baseURL + "/x", method: .post, body: .text("a"))
        let response = try await chain().response(for: request)
        #expect(response.attempts.map(\.status) == [429, 200])
        #expect(server.firstGap("/x") >= 1)
    }

    @Test("R8, R10: an error whose body breaks at once is a failure in the end", arguments: brokenBodies)
    func brokenLastError(body: String) async throws {
        server.on("/x") { _ in [.text("HTTP/1.1 503 Service Unavailable\r\n" + body), .close] }
        let error = try failure(of: await chain().load(HTTPRequest(server.baseURL + "/x")))
        let codes: [HTTPError.Code] = [.networkConnectionLost, .badServerResponse, .cannotDecodeContentData]
        #expect(codes.contains(error.code), "\(error)")
        #expect(error.attempts.map(\.status) == [503, 503, 503])
    }

    @Test("R28: a large body of an error is read only where no attempt follows")
    func largeError() async throws {
        let size = 30 << 20
        serve(503, size, good: 9, slow: false)
        let response = try await chain().response(for: HTTPRequest(server.baseURL + "/x"))
        #expect(response.status == 503 && response.attempts.count == 3)
        #expect(response.body.length == Int64(size))
        // The first two were not: their connections were closed.
        #expect(server.connectionCount == 3)
    }

    @Test("R8, R28: an error whose body is larger than allowed is sent again, and is too large in the end")
    func tooLargeError() async throws {
        serve(503, 70 << 20, good: 9, slow: false)
        let error = try failure(of: await chain().load(HTTPRequest(server.baseURL + "/x")))
        #expect(error.code == .dataLengthExceedsMaximum)
        #expect(error.attempts.map(\.status) == [503, 503, 503])
    }

    @Test("R11, R28: a download does not wait for the slow body of an error, not even for that of the last one")
    func slowErrorOfDownload() async throws {
        serve(503, 1_000_000, good: 9, slow: true)
        var request = try HTTPRequest(server.baseURL + "/x")
        request.download = Download(to: CountingSink())
        let chain = try chain()
        let (response, time) = try await timed { [request] in try await chain.response(for: request) }
        #expect(response.status == 503 && response.attempts.count == 3)
        #expect(try #require(response.body.length) < 100)
        #expect(time < Self.limit, "\(time)")
    }

    @Test("R28: a small body that comes late is drained, so that its connection lives")
    func drained() async throws {
        // The body comes when the attempt has ended, and an attempt that waited for it would end after it.
        let attemptEnds = DispatchSemaphore(value: 0)
        let bodyWaited = Locked<DispatchTimeoutResult?>(nil)
        server.on("/x") { request in
            guard request.occurrence == 1 else { return [.respond(.init(200))] }
            let late = FaultServer.Generator(count: 1000) { _, count in
                if bodyWaited.withLock({ $0 == nil }) {
                    let result = attemptEnds.wait(timeout: .now() + 50)
                    bodyWaited.withLock { $0 = result }
                }
                return [UInt8](repeating: 0x61, count: count)
            }
            return [.head(.init(503, headers: [("Content-Length", "1000")])), .generate(late)]
        }
        let policy = policy(.constant(delay: .milliseconds(1500), maxAttempts: 2))
        let chain = try Retry(policy, budgets: nil) --> transport()
        var request = try HTTPRequest(server.baseURL + "/x")
        request.attemptObserver = { _ in attemptEnds.signal() }
        let response = try await chain.response(for: request)
        #expect(response.status == 200 && bodyWaited.withLock { $0 } == .success)
        #expect(server.connectionCount == 1)
    }

    @Test("R10: a final error whose body is cut short is a failure, and sent again", arguments: [404, 501])
    func cutFinalError(status: Int) async throws {
        server.on("/x") { request in
            guard request.occurrence == 1 else { return [.respond(.init(status))] }
            return [.head(.init(status, headers: [("Content-Length", "200000")])), Self.body(1000), .close]
        }
        let response = try await chain().response(for: HTTPRequest(server.baseURL + "/x"))
        #expect(response.attempts.map(\.error) == [.networkConnectionLost, nil])
    }

    @Test("R10, R28: the last error of a call is whole, or a failure", arguments: [true, false])
    func lastError(cut: Bool) async throws {
        server.on("/x") { _ in
            let head = FaultServer.Step.head(.init(503, headers: [("Content-Length", "200000")]))
            return [head, Self.body(cut ? 150_000 : 200_000)] + (cut ? [.close] : [])
        }
        let result = try await chain().load(HTTPRequest(server.baseURL + "/x"))
        #expect(result.attempts.count == 3)
        switch result {
        case .success(let response): #expect(!cut && response.data?.count == 200_000)
        case .failure(let error): #expect(cut && error.code == .networkConnectionLost, "\(error)")
        }
    }

    @Test("R28: a strategy of the caller's has the beginning of the body, as far as it comes within a second")
    func ownStrategy() async throws {
        serve(503, 1_000_000, good: 2, slow: true)
        let loader = try Retry(BodyReader(), budgets: nil) --> transport()
        let (response, time) = try await timed { try await loader.response(for: HTTPRequest(server.baseURL + "/x")) }
        #expect(response.status == 200 && response.attempts.count == 2)
        #expect(time < Self.limit, "\(time)")
    }

    @Test("R33: a redirector is asked again where no attempt could reach what it pointed to")
    func redirector() async throws {
        let refusing = try FaultServer(mode: .refuse)
        server.on("/x") { request in
            let target = request.occurrence < 3 ? refusing.baseURL + "/ok" : "/ok"
            return [.respond(.init(302, headers: [("Location", target)]))]
        }
        let response = try await chain().response(for: HTTPRequest(server.baseURL + "/x"))
        #expect(response.status == 200)
        #expect(server.requests(toPath: "/x").count == 3)
        #expect(response.attempts.count { $0.error == .cannotConnectToHost } == 6)
        #expect(response.attempts.filter { $0.reason.rawValue == "originAskedAgain" }.count == 2)
    }

    @Test("R33: it is asked within the same limits, and not with what must not be sent again")
    func redirectorLimits() async throws {
        let refusing = try FaultServer(mode: .refuse)
        server.on("/x") { _ in [.respond(.init(307, headers: [("Location", refusing.baseURL + "/ok")]))] }
        let url = server.baseURL + "/x"
        let error = try failure(of: await chain().load(HTTPRequest(url)))
        #expect(error.code == .cannotConnectToHost && error.attempts.count == 12)
        #expect(server.requests(toPath: "/x").count == 3)
        let post = try HTTPRequest(url, method: .post, body: .text("a"))
        #expect(try failure(of: await chain().load(post)).attempts.count == 4)
        #expect(server.requests(toPath: "/x").count == 4)
        // Without retries there is no limit of attempts that would allow for more.
        #expect(try failure(of: await chain(attempts: 1).load(HTTPRequest(url))).attempts.count == 2)
    }
}

/// Counts the bytes of a download.
private final class CountingSink: Download.Sink {
    private let count = Locked(0)
    func write(_ bytes: [UInt8]) async throws { count.withLock { $0 += bytes.count } }
    func startOver() async throws { count.withLock { $0 = 0 } }
}

/// Retries an error of which it has seen some of the body.
private struct BodyReader: HTTPRetryStrategy {
    func retryDelay(for result: HTTPResult) -> Duration? {
        guard case .success(let response) = result, response.status == 503, let data = response.data, !data.isEmpty
        else { return nil }
        return .zero
    }
}
