// SPDX-License-Identifier: Apache-2.0
import Refrain
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct Busy: Error {}

private struct User: Codable, Equatable { var name: String }

private actor Counter {
    var count = 0
    func next() -> Int {
        count += 1
        return count
    }
}

/// Chains whose type is inferred.
private enum Chains {
    static let loader = Retry() --> PlatformLoader()
    static let stages = Retry(.recommended) --> Throttle(maximumNumberOfRequests: 4)
    static let whole = ResetGuard() --> Redirect() --> stages --> MockLoader { _ in .status(204) }
}

// Only public imports: what compiles here compiles for a user.
@Suite("Names that are guessed", .timeLimit(.minutes(10)))
struct GuessedNamesTests {
    @Test("a chain is a static property without a type annotation")
    func staticChain() async throws {
        let loader: any HTTPLoader = Chains.loader
        _ = loader
        #expect(try await Chains.whole.get("http://a.test/").status == 204)
    }

    @Test("--> stands above ?: and below ??", arguments: [true, false])
    func precedence(_ isFirst: Bool) async throws {
        let first = MockLoader { _ in .status(201) }
        let second = MockLoader { _ in .status(202) }
        let chosen = isFirst ? Retry() --> first : Retry() --> second
        #expect(try await chosen.get("http://a.test/").status == (isFirst ? 201 : 202))
        let custom: MockLoader? = isFirst ? first : nil
        let other = Retry() --> custom ?? second
        #expect(try await other.get("http://a.test/").status == (isFirst ? 201 : 202))
    }

    @Test("a request is made with url:, from text and from a URL")
    func requests() throws {
        let text = try HTTPRequest(url: "https://a.test/users", method: .post, body: .text("tea"))
        #expect(text.method == .post && text.url.absoluteString == "https://a.test/users")
        let url = try #require(URL(string: "https://a.test/users"))
        #expect(HTTPRequest(url: url).url == url)
        #expect(throws: HTTPError.self) { try HTTPRequest(url: "not a url") }
    }

    @Test("withRetry(maxAttempts:) makes that many attempts")
    func maxAttempts() async {
        for count in [1, 2, 5] {
            let calls = Counter()
            await #expect(throws: Busy.self) {
                try await withRetry(maxAttempts: count, backoff: .immediately()) {
                    _ = await calls.next()
                    throw Busy()
                }
            }
            #expect(await calls.count == count)
        }
        let number = try? await withRetry(maxAttempts: 3, clock: TestClock(.autoAdvancing)) { attempt in
            guard attempt.number == 3 else { throw Busy() }
            return attempt.number
        }
        #expect(number == 3)
    }

    @Test("withRetry(when:) retries the errors that the closure returns true for")
    func predicate() async {
        let calls = Counter()
        await #expect(throws: CocoaError.self) {
            try await withRetry(.immediately(maxAttempts: 5), when: { $0 is Busy }) {
                guard await calls.next() < 3 else { throw CocoaError(.fileNoSuchFile) }
                throw Busy()
            }
        }
        #expect(await calls.count == 3)
        await #expect(throws: Busy.self) {
            try await withRetry(maxAttempts: 4, backoff: .immediately(), when: { _ in false }) {
                _ = await calls.next()
                throw Busy()
            }
        }
        #expect(await calls.count == 4)
    }

    @Test("onRetry takes one value, which says what happened")
    func onRetry() async {
        var said: [String] = []
        await #expect(throws: Busy.self) {
            try await withRetry(
                .constant(.milliseconds(200)),
                clock: TestClock(.autoAdvancing),
                onRetry: { said.append("\($0)") }
            ) {
                throw Busy()
            }
        }
        #expect(said.count == 2)
        #expect(said.first == "attempt 1 failed: Busy(); the next one follows in 0.2 s")
    }

    @Test("a schedule takes its first delay without a label")
    func schedules() {
        #expect(Backoff.constant(.seconds(1)) == .constant(delay: .seconds(1)))
        #expect(Backoff.linear(.seconds(1), maxAttempts: 4) == .linear(from: .seconds(1), maxAttempts: 4))
        #expect(Backoff.exponential(.seconds(1)) == .exponential(from: .seconds(1)))
        #expect(Backoff.fibonacci(.seconds(1)) == .fibonacci(from: .seconds(1)))
        #expect(Backoff.constant(.seconds(1)).maxAttempts(7).maxAttempts == 7)
    }

    @Test("Retry takes a number of attempts, and one clock")
    func stage() async throws {
        let mock = MockLoader { _ in .status(503) }
        let clock = TestClock(.autoAdvancing)
        let first = try await (Retry(maxAttempts: 2, clock: clock) --> mock).get("http://a.test/")
        #expect(first.status == 503 && mock.requests.count == 2)
        _ = try await (Retry(.recommended, clock: clock) --> mock).get("http://a.test/")
        #expect(mock.requests.count == 5)
        _ = try await (Retry(maxAttempts: 1) --> mock).get("http://a.test/")
        #expect(mock.requests.count == 6)
    }

    @Test("Timeout takes the limit of an attempt without a label")
    func timeout() async throws {
        let clock = TestClock()
        let gate = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: gate, .status(200)))
        let request = try HTTPRequest(url: "http://a.test/")
        let task = Task { await (Timeout(.seconds(5), clocks: clock.retryClocks()) --> mock).load(request) }
        await gate.arrivals(atLeast: 1)
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(5))
        let error = await #expect(throws: HTTPError.self) { try await task.value.get() }
        #expect(error?.code == .timedOut)
    }

    @Test("MockLoader replies by a closure: with a reply, a response, a result or an error")
    func mock() async throws {
        let reply = MockLoader { request in .status(request.method == .get ? 200 : 405) }
        #expect(try await reply.post("http://a.test/").status == 405)
        let response = MockLoader { request in HTTPResponse(request: request, status: 418) }
        #expect(try await response.get("http://a.test/").status == 418)
        let result = MockLoader { request in .failure(HTTPError(.networkConnectionLost, request: request)) }
        await #expect(throws: HTTPError.self) { try await result.get("http://a.test/") }
        let failing = MockLoader { _ -> HTTPResponse in throw Busy() }
        let error = await #expect(throws: HTTPError.self) { try await failing.get("http://a.test/") }
        #expect(error?.code == .callerFailed)
    }

    @Test("a loader has a function for each method")
    func methods() async throws {
        let mock = MockLoader { _ in .status(200) }
        let url = try #require(URL(string: "http://a.test/"))
        _ = try await mock.get(url)
        _ = try await mock.get("http://a.test/", headers: ["Accept": "text/plain"])
        _ = try await mock.head("http://a.test/")
        _ = try await mock.post("http://a.test/", body: .text("tea"))
        _ = try await mock.put("http://a.test/", body: .text("tea"))
        _ = try await mock.patch("http://a.test/", body: .text("tea"))
        _ = try await mock.delete("http://a.test/")
        #expect(mock.requests.map(\.method) == [.get, .get, .head, .post, .put, .patch, .delete])
        #expect(mock.requests[1].headers.accept == "text/plain")
        await #expect(throws: HTTPError.self) { try await mock.get("not a url") }
    }

    @Test("a response is decoded by json, and its fields are properties of its headers")
    func response() async throws {
        let mock = MockLoader { _ in
            .status(
                200,
                headers: ["Content-Type": "application/json", "ETag": "\"1\""],
                body: .text(#"{"name":"Ada"}"#)
            )
        }
        let response = try await mock.get("http://a.test/")
        #expect(try response.json(User.self) == User(name: "Ada"))
        let user: User = try response.json()
        #expect(user.name == "Ada")
        #expect(response.headers.contentType == "application/json")
        #expect(response.headers.eTag == "\"1\"")
    }

    @Test("a request takes its policy as retryPolicy, and its fields by name")
    func request() async throws {
        var request = try HTTPRequest(url: "http://a.test/")
        request.retryPolicy = .recommended
        request.headers.contentType = "text/plain"
        request.headers.authorization = "Bearer abc"
        #expect(request.retryStrategy != nil && request.headers["Authorization"] == "Bearer abc")
        request.retryPolicy = Backoff.constant(.seconds(1))
        request.retryPolicy = nil
        #expect(request.retryStrategy == nil)
    }

    @Test("a download takes a path, in a chain and in a session")
    func download() async throws {
        let folder = URL.temporaryDirectory.appending(path: "refrain-guessed-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let mock = MockLoader { _ in .status(200, body: .text("tea")) }
        let first = folder.appending(path: "first").path
        try await (Retry(.recommended) --> Resume() --> mock).download("http://a.test/", to: first)
        #expect(try String(contentsOfFile: first, encoding: .utf8) == "tea")
        let second = folder.appending(path: "second").path
        let session = Session(loader: mock)
        _ = try await session.download("http://a.test/", to: second).serializingDownloadedFileURL().value
        #expect(try String(contentsOfFile: second, encoding: .utf8) == "tea")
    }
}
