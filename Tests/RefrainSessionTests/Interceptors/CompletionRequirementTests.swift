// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

/// An interceptor as it stands in code that was written for Alamofire, with its types renamed.
private final class PastedInterceptor: RequestInterceptor {
    let adapts = Counter()
    let retries = Counter()

    func adapt(
        _ urlRequest: HTTPRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        adapts.increment()
        var urlRequest = urlRequest
        urlRequest.headers.add(.authorization(bearerToken: "token"))
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        retries.increment()
        completion(request.retryCount < 2 ? .retryWithDelay(0.001) : .doNotRetry)
    }
}

/// As above, from before closures were `Sendable`, and asked on another queue.
private final class OldInterceptor: RequestInterceptor {
    func adapt(
        _ urlRequest: HTTPRequest,
        for session: Session,
        completion: @escaping (Result<HTTPRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(name: "X-Old", value: "yes")
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping (RetryResult) -> Void
    ) { completion(request.retryCount == 0 ? .retry : .doNotRetry) }
}

/// Wraps another interceptor by its completion forms, as pasted code does.
private struct Wrapper: RequestInterceptor {
    let inner: any RequestInterceptor

    func adapt(
        _ request: HTTPRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) { inner.adapt(request, for: session, completion: completion) }

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) { inner.retry(request, for: session, dueTo: error, completion: completion) }
}

@Suite("Interceptors whose methods have completions", .timeLimit(.minutes(10)))
struct CompletionRequirementTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.answer("/down", 503)
        server.answer("/down-once", 503, 200)
    }

    private func load(_ path: String, _ interceptor: any RequestInterceptor) async -> DataResponse<String, RefrainError>
    {
        let session = Session.overSockets(interceptor, clock: InstantClock())
        return await session.request(server.baseURL + path).serializingString().response
    }

    @Test("a pasted Alamofire interceptor adapts each attempt and is asked about each failure")
    func pasted() async {
        let interceptor = PastedInterceptor()
        let response = await load("/down", interceptor)
        #expect(response.response?.statusCode == 503)
        let sent = server.requests(toPath: "/down")
        #expect(sent.map { $0.values("Authorization") } == Array(repeating: ["Bearer token"], count: 3))
        #expect(interceptor.adapts.value == 3)
        #expect(interceptor.retries.value == 3)
    }

    @Test("a pasted interceptor with closures that are not Sendable is called, too")
    func old() async {
        #expect(await load("/down-once", OldInterceptor()).value == "200")
        #expect(server.requests(toPath: "/down-once").map { $0.values("X-Old") } == [["yes"], ["yes"]])
    }

    @Test("an interceptor that wraps another one by its completion forms is that one, whichever forms it has")
    func wrapped() async {
        #expect(await load("/down-once", Wrapper(inner: Wrapper(inner: OldInterceptor()))).value == "200")
        #expect(server.requests(toPath: "/down-once").map { $0.values("X-Old") } == [["yes"], ["yes"]])
        let counting = CountingInterceptor(.retry, .retry, .doNotRetry)
        #expect(await load("/down", Wrapper(inner: counting)).response?.statusCode == 503)
        #expect(server.requests(toPath: "/down").count == 3)
        #expect(counting.adapts.value == 3)
        #expect(counting.retries.value == 3)
    }

    @Test("an adapter that is asked for the state by its completion form is told it")
    func state() async {
        struct Numbering: RequestAdapter {
            func adapt(
                _ request: HTTPRequest,
                using state: RequestAdapterState,
                completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
            ) {
                var request = request
                request.headers["X-Attempt"] = "\(state.attempt)"
                completion(.success(request))
            }
        }
        let interceptor = Interceptor(adapter: Numbering(), retrier: Retrier { _, _, _ in .retry })
        #expect(await load("/down-once", interceptor).value == "200")
        #expect(server.requests(toPath: "/down-once").map { $0.values("X-Attempt") } == [["1"], ["2"]])
    }

    @Test("R30: a method that drops its completion fails the request, and one that calls it twice counts once")
    func dropped() async {
        struct Dropping: RequestInterceptor {
            func adapt(
                _ request: HTTPRequest,
                for session: Session,
                completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
            ) {}
        }
        struct Twice: RequestInterceptor {
            func adapt(
                _ request: HTTPRequest,
                for session: Session,
                completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
            ) {
                completion(.success(request))
                completion(.failure(TestError()))
            }

            func retry(
                _ request: Request,
                for session: Session,
                dueTo error: any Error,
                completion: @escaping @Sendable (RetryResult) -> Void
            ) {
                completion(.retry)
                completion(.doNotRetry)
            }
        }
        let error = await load("/down-once", Dropping()).error
        #expect(error?.underlyingError is Interceptor.CompletionDropped)
        #expect(server.requests(toPath: "/down-once").isEmpty)
        #expect(await load("/down-once", Twice()).value == "200")
        #expect(server.requests(toPath: "/down-once").count == 2)
    }

    @Test("an adapter whose method has other types than the protocol's fails the first request with its name")
    func mistypedAdapter() async {
        struct Mistyped: RequestAdapter {
            func adapt(_ request: String, for session: Session) async throws -> String { request }
        }
        let interceptor = Interceptor(adapters: [Mistyped()])
        let error = await load("/down-once", interceptor).error
        #expect(error?.underlyingError is InvalidArgument)
        #expect(error?.description.contains("Mistyped") == true)
        #expect(server.requests(toPath: "/down-once").isEmpty)
    }

    @Test("a retrier whose method is misspelt ends the first failed request with its name")
    func misspeltRetrier() async {
        struct Misspelt: RequestRetrier {
            func retry(_ request: Request, with session: Session, dueTo error: any Error) async -> RetryResult {
                .retry
            }
        }
        let error = await load("/down", Interceptor(retriers: [Misspelt()])).error
        #expect(error?.isRequestRetryError == true)
        #expect(error?.description.contains("Misspelt") == true)
        #expect(server.requests(toPath: "/down").count == 1)
    }

    @Test("a pasted monitor's requestIsRetrying is called before each retry")
    func retrying() async {
        struct Pasted: EventMonitor {
            let count = Counter()
            func requestIsRetrying(_ request: Request) { count.increment() }
        }
        let monitor = Pasted()
        let session = Session.overSockets(PastedInterceptor(), monitors: [monitor], clock: InstantClock())
        _ = await session.request(server.baseURL + "/down").serializingData().response
        #expect(monitor.count.value == 2)
        #expect(server.requests(toPath: "/down").count == 3)
    }

    @Test("seconds as a number are clamped: no number and a negative one mean at once", arguments: [Double.nan, -1, 0])
    func seconds(_ seconds: Double) { #expect(RetryResult.retryWithDelay(seconds).delay == .zero) }

    @Test("seconds as a number may be fractions, and saturate")
    func fractions() {
        #expect(RetryResult.retryWithDelay(0.5).delay == .milliseconds(500))
        #expect(RetryResult.retryWithDelay(.infinity).delay == .longestDelay)
    }

    @Test("an interceptor of which both halves are mistyped is named by its first failed request")
    func mistyped() async {
        // Without parameter labels that match, neither method is a requirement's.
        struct Mistyped: RequestInterceptor {
            func adapt(_ request: HTTPRequest, with session: Session, completion: (HTTPRequest) -> Void) {}
            func retry(_ request: Request, in session: Session, completion: (Bool) -> Void) {}
        }
        let response = await load("/down", Interceptor(interceptors: [Mistyped()]))
        guard case .requestRetryFailed(let error, _, "Mistyped")? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect("\(error)".contains("Mistyped"))
        #expect(server.requests(toPath: "/down").count == 1)
    }

    @Test("an interceptor with one half is no mistake")
    func oneHalf() async {
        struct AdaptingHalf: RequestInterceptor {
            func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
                var request = request
                request.headers["X-Half"] = "yes"
                return request
            }
        }
        struct RetryingHalf: RequestInterceptor {
            func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
                request.retryCount == 0 ? .retry : .doNotRetry
            }
        }
        #expect(await load("/down", AdaptingHalf()).response?.statusCode == 503)
        let both = Interceptor(interceptors: [AdaptingHalf(), RetryingHalf()])
        #expect(await load("/down-once", both).value == "200")
        #expect(server.requests(toPath: "/down-once").map { $0.values("X-Half") } == [["yes"], ["yes"]])
    }
}
