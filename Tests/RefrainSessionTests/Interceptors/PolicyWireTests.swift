// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import Testing

@Suite("On the wire: retry policies", .timeLimit(.minutes(10)))
struct PolicyWireTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.answer("/down", 503)
    }

    /// How often a request that always meets the same end is sent, and what is waited in between.
    private func load(
        _ path: String = "/down",
        _ policy: any RequestInterceptor = RetryPolicy(),
        method: HTTPMethod = .get,
        on other: FaultServer? = nil,
        timeout: Duration? = nil
    ) async -> (attempts: [AttemptRecord], waits: [Duration]) {
        let clock = InstantClock()
        let session = Session.overSockets(policy, clock: clock)
        let request = session.request((other ?? server).baseURL + path, method: method) { $0.timeouts.total = timeout }
        let response = await request.serializingResponse().response
        return (response.attempts, clock.waits)
    }

    @Test("A: RetryPolicy: two retries, after 0.5 s and 1 s, are the defaults")
    func schedule() async {
        #expect(RetryPolicy.defaultRetryLimit == 2)
        #expect(RetryPolicy.defaultExponentialBackoffBase == 2)
        #expect(RetryPolicy.defaultExponentialBackoffScale == 0.5)
        let (attempts, waits) = await load()
        #expect(server.count(path: "/down") == 3)
        #expect(waits == [.milliseconds(500), .seconds(1)])
        #expect(attempts.last?.reason == .attemptsUsedUp)
    }

    @Test("A: RetryPolicy: each of its six settings counts, and the delay is base to the power of retries, times scale")
    func settings() async throws {
        let longer = RetryPolicy(retryLimit: 4)
        #expect(await load("/down", longer).waits == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        let steeper = RetryPolicy(retryLimit: 3, exponentialBackoffBase: 3, exponentialBackoffScale: 2)
        #expect(await load("/down", steeper).waits == [.seconds(2), .seconds(6), .seconds(18)])
        let never = RetryPolicy(retryLimit: 0)
        #expect(await load("/down", never).attempts.count == 1)
        let posting = RetryPolicy(retryableHTTPMethods: [.post])
        #expect(await load("/down", posting, method: .post).attempts.count == 3)
        #expect(await load("/down", posting).attempts.count == 1)
        server.answer("/teapot", 418)
        let brewing = RetryPolicy(retryableHTTPStatusCodes: [418])
        #expect(await load("/teapot", brewing).attempts.count == 3)
        #expect(await load("/down", brewing).attempts.count == 1)
        server.on("/lost") { _ in [.reset] }
        let deaf = RetryPolicy(retryableErrorCodes: [.timedOut])
        #expect(await load("/lost", deaf).attempts.count == 1)
        #expect(await load("/lost").attempts.count == 3)
    }

    @Test(
        "A: RetryPolicy: a base under 2 counts as 2, and is refused by name where it comes from outside",
        arguments: [1, 0, -1, .min]
    )
    func base(_ base: Int) {
        #expect(RetryPolicy(exponentialBackoffBase: base) == RetryPolicy())
        #expect(throws: InvalidArgument("exponentialBackoffBase", is: base, expected: "at least 2")) {
            try RetryPolicy.validated(exponentialBackoffBase: base)
        }
    }

    @Test("A: RetryPolicy: a closure in front of it, and a type round it, change its decision")
    func composition() async {
        let policy = RetryPolicy()
        let closure = Retrier { request, session, error in
            guard request.request?.headers["X-Patient"] != nil else { return .doNotRetryWithError(error) }
            return await policy.retry(request, for: session, dueTo: error)
        }
        #expect(await load("/down", closure).attempts.count == 1)
        let patient = Adapter { request, _ in
            var request = request
            request.headers["X-Patient"] = "1"
            return request
        }
        let (attempts, waits) = await load("/down", Interceptor(adapters: [patient], retriers: [closure]))
        #expect(attempts.count == 3)
        #expect(waits == [.milliseconds(500), .seconds(1)])
    }

    @Test(
        "A: default methods: DELETE, GET, HEAD, OPTIONS, PUT and TRACE are sent again, others are not",
        arguments: [
            (HTTPMethod.delete, 3), (.get, 3), (.head, 3), (.options, 3), (.put, 3), (.trace, 3), (.post, 1),
            (.patch, 1), ("REPORT", 1),
        ]
    )
    func methods(method: HTTPMethod, sends: Int) async {
        #expect(await load(method: method).attempts.count == sends)
        #expect(server.requests(toPath: "/down").map(\.method) == Array(repeating: method.rawValue, count: sends))
        #expect(RetryPolicy.defaultRetryableHTTPMethods == [.delete, .get, .head, .options, .put, .trace])
    }

    @Test("A: default statuses: 408, 500, 502, 503 and 504 are tried again, and no other status")
    func statuses() async {
        #expect(RetryPolicy.defaultRetryableHTTPStatusCodes == [408, 500, 502, 503, 504])
        for status in [
            200, 204, 304, 400, 401, 403, 404, 408, 409, 410, 421, 425, 429, 451, 500, 501, 502, 503, 504, 505, 507,
            511,
        ] {
            server.answer("/\(status)", status)
            let attempts = await load("/\(status)").attempts
            #expect(attempts.count == ([408, 500, 502, 503, 504].contains(status) ? 3 : 1), "\(status)")
            #expect(server.count(path: "/\(status)") == attempts.count)
        }
    }

    @Test("A: default error codes: what a socket can do is tried again as the list says")
    func errorCodes() async throws {
        server.on("/lost") { _ in [.reset] }
        server.on("/garbage-always") { _ in [.text("no HTTP at all\r\n\r\n"), .close] }
        server.on("/coded") { _ in
            [.respond(.init(200, headers: [("Content-Encoding", "gzip")], body: "this is no gzip"))]
        }
        let refusing = try FaultServer(mode: .refuse)
        func codes(_ path: String, on other: FaultServer? = nil, timeout: Duration? = nil) async -> [HTTPError.Code?] {
            await load(path, on: other, timeout: timeout).attempts.map(\.error)
        }
        #expect(await codes("/lost") == [.networkConnectionLost, .networkConnectionLost, .networkConnectionLost])
        #expect(await codes("/", on: refusing) == [.cannotConnectToHost, .cannotConnectToHost, .cannotConnectToHost])
        #expect(await codes("/hang", timeout: .milliseconds(50)) == [.timedOut, .timedOut, .timedOut])
        let garbage = await codes("/garbage-always")
        #expect(garbage.first == .some(.badServerResponse))
        #expect(garbage.count == 3)
        // Not in the list: each is met once.
        let coded = await codes("/coded")
        #expect(coded.count == 1 && coded.first != .some(nil))
        #expect(await codes("/redirect-no-location").count == 1)
    }

    @Test(
        "A: ConnectionLostRetryPolicy: a lost connection is tried again, a status, a refusal and a timeout are not"
    )
    func connectionLost() async throws {
        server.on("/lost") { _ in [.reset] }
        let refusing = try FaultServer(mode: .refuse)
        let policy = ConnectionLostRetryPolicy()
        let (attempts, waits) = await load("/lost", policy)
        #expect(attempts.map(\.error) == Array(repeating: .networkConnectionLost, count: 3))
        #expect(waits == [.milliseconds(500), .seconds(1)])
        #expect(server.count(path: "/lost") == 3)
        #expect(await load("/down", policy).attempts.count == 1)
        #expect(await load("/", policy, on: refusing).attempts.map(\.error) == [.cannotConnectToHost])
        #expect(await load("/hang", policy, timeout: .milliseconds(50)).attempts.map(\.error) == [.timedOut])
        #expect(await load("/lost", policy, method: .post).attempts.count == 1)
        let longer = ConnectionLostRetryPolicy(retryLimit: 3, exponentialBackoffBase: 4, exponentialBackoffScale: 1)
        #expect(await load("/lost", longer).waits == [.seconds(1), .seconds(4), .seconds(16)])
    }
}
