// SPDX-License-Identifier: Apache-2.0
import RefrainAlamofire
import RefrainTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Listings of the articles that people come from, as they are spelled there.
@Suite("The articles' own code", .timeLimit(.minutes(10)))
struct ArticleListingsTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.on("/teapot") { request in [.respond(.init(request.occurrence < 3 ? 418 : 200, body: "ok"))] }
        server.on("/refused") { _ in [.respond(.init(418, body: "no"))] }
    }

    private final class TeapotPolicy: RetryPolicy, @unchecked Sendable {
        // @unchecked Sendable: a subclass repeats it; its own property is behind a lock.
        let asked = Mutex(0)

        override func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
            asked.withLock { $0 += 1 }
            return request.response?.statusCode == 418 || super.shouldRetry(request: request, dueTo: error)
        }
    }

    private final class LoggingPolicy: RetryPolicy, @unchecked Sendable {
        // @unchecked Sendable: a subclass repeats it; its own property is behind a lock.
        let results = Mutex<[Bool]>([])

        override func retry(
            _ request: Request,
            for session: Session,
            dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            super.retry(request, for: session, dueTo: error) { [self] result in
                results.withLock { $0.append(result.retryRequired) }
                completion(result)
            }
        }
    }

    @Test("a policy whose shouldRetry is overridden decides, up to its limit")
    func overriddenDecision() async {
        let policy = TeapotPolicy(retryLimit: 2, exponentialBackoffScale: 0.001)
        let session = Session(interceptor: policy)
        let response = await session.request(server.baseURL + "/teapot").validate().serializingString().response
        #expect(response.value == "ok")
        #expect(server.count(path: "/teapot") == 3 && policy.asked.withLock { $0 } == 2)
        _ = await session.request(server.baseURL + "/refused").validate().serializingString().response
        #expect(server.count(path: "/refused") == 3)
    }

    @Test("a policy whose retry is overridden is asked for each failed attempt, and may call that of its class")
    func overriddenRetry() async {
        server.on("/down") { request in [.respond(.init(request.occurrence < 3 ? 503 : 200, body: "up"))] }
        let policy = LoggingPolicy(retryLimit: 2, exponentialBackoffScale: 0.001)
        let session = Session(interceptor: policy)
        let response = await session.request(server.baseURL + "/down").validate().serializingString().response
        #expect(response.value == "up")
        #expect(policy.results.withLock { $0 } == [true, true])
        #expect(response.attempts.map(\.reason) == [.transientStatus, .transientStatus, .succeeded])
    }

    @Test("R2: a subclass cannot send twice what must not be")
    func rulesHold() async {
        server.on("/broken") { _ in [.respond(.init(500))] }
        final class Always: RetryPolicy, @unchecked Sendable {
            // @unchecked Sendable: a subclass repeats it; it has no property of its own.
            override func shouldRetry(request: Request, dueTo error: any Error) -> Bool { true }
        }
        let session = Session(interceptor: Always(retryLimit: 5, exponentialBackoffScale: 0))
        _ = await session.request(server.baseURL + "/broken", method: .post).validate().serializingString().response
        #expect(server.count(path: "/broken") == 1)
    }

    @Test("the properties and defaults of a policy have Alamofire's names")
    func properties() {
        let policy = RetryPolicy(
            retryLimit: 4,
            exponentialBackoffBase: 3,
            exponentialBackoffScale: 0.25,
            retryableHTTPMethods: [.get],
            retryableHTTPStatusCodes: [503],
            retryableURLErrorCodes: RetryPolicy.defaultRetryableURLErrorCodes.union([.cannotParseResponse])
        )
        #expect(policy.retryLimit == 4 && policy.exponentialBackoffBase == 3 && policy.exponentialBackoffScale == 0.25)
        #expect(policy.retryableURLErrorCodes.contains(.cannotParseResponse))
        #expect(policy.strategy.retryableURLErrorCodes == policy.retryableURLErrorCodes)
        #expect(RetryPolicy.defaultExponentialBackoffBase == 2 && RetryPolicy.defaultExponentialBackoffScale == 0.5)
    }

    private struct Pasted: RequestInterceptor {
        let adapted = Counter()

        func adapt(
            _ urlRequest: URLRequest,
            for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            adapted.increment()
            var urlRequest = urlRequest
            urlRequest.setValue("1", forHTTPHeaderField: "X-Pasted")
            completion(.success(urlRequest))
        }

        func retry(
            _ request: Request,
            for session: Session,
            dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) { completion(.doNotRetry) }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        func increment() { count.withLock { $0 += 1 } }
        var value: Int { count.withLock { $0 } }
    }

    @Test("an interceptor with URLRequest in its signatures is called")
    func pastedInterceptor() async {
        let pasted = Pasted()
        let session = Session(interceptor: pasted)
        _ = await session.request(server.baseURL + "/ok").serializingString().response
        #expect(pasted.adapted.value == 1)
        #expect(server.requests(toPath: "/ok").map { $0.header("X-Pasted") } == ["1"])
    }

    @Test("delays are numbers of seconds where the code around them says so")
    func seconds() {
        let result = RetryResult.retryWithDelay(.milliseconds(1500))
        let delay: TimeInterval? = result.delay
        #expect(delay == 1.5)
        let none: TimeInterval? = RetryResult.retry.delay
        #expect(none == nil)
    }

    private struct EverySecond: HTTPRetryStrategy {
        func retryDelay(for result: HTTPResult) -> TimeInterval? { result.response?.status == 503 ? 0.001 : nil }
    }

    private enum Colour: HTTPRequestOption {
        static var defaultOptionValue: String { "red" }
    }

    @Test("HTTP in Swift: strategies in seconds, options, a throttle's limit, tasks that are started later")
    func httpInSwift() async throws {
        server.on("/twice") { request in [.respond(.init(request.occurrence < 2 ? 503 : 200))] }
        var request = try HTTPRequest(server.baseURL + "/twice")
        #expect(request[option: Colour.self] == "red" && Colour.defaultValue == "red")
        request.retryStrategy = EverySecond()
        let throttle = Throttle(maximumNumberOfRequests: 4)
        throttle.maximumNumberOfRequests = 1
        #expect(throttle.maximumNumberOfRequests == 1)
        let loader = Retry() --> throttle --> CurlLoader()
        let task = HTTPTask(request: request) { _ in }
        #expect(server.count(path: "/twice") == 0)
        loader.load(task: task)
        loader.load(task: task)
        #expect(await task.result.response?.status == 200)
        #expect(server.count(path: "/twice") == 2)
        let cancelled = HTTPTask(request: request)
        cancelled.cancel()
        loader.load(task: cancelled)
        let end = await cancelled.result
        #expect(throws: HTTPError.self) { try end.get() }
        #expect(server.count(path: "/twice") == 2)
    }

    @Test("HTTP in Swift: the makers of schedules take maximumNumberOfAttempts and seconds")
    func schedules() {
        #expect(Backoff.constant(delay: 1, maximumNumberOfAttempts: 5) == .constant(delay: .seconds(1), maxAttempts: 5))
        #expect(Backoff.immediately(maximumNumberOfAttempts: 5) == .immediately(maxAttempts: 5))
        let growing = Backoff.exponential(delay: 0.5, maximumNumberOfAttempts: 4)
        #expect(growing == .exponential(delay: .milliseconds(500), maxAttempts: 4))
        var request = HTTPRequest(url: URL(string: "http://127.0.0.1/") ?? URL(filePath: "/"))
        request.retryStrategy = .constant(delay: 1, maximumNumberOfAttempts: 2)
        #expect(request.retryStrategy as? Backoff == .constant(delay: .seconds(1), maxAttempts: 2))
    }
}
