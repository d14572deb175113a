// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@Suite("On the wire: interceptors", .timeLimit(.minutes(10)))
struct InterceptorWireTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.answer("/down-once", 503, 200)
        server.answer("/down", 503)
    }

    private func load(
        _ path: String,
        _ interceptor: any RequestInterceptor,
        clock: InstantClock = InstantClock()
    ) async -> DataResponse<String, RefrainError> {
        let session = Session.overSockets(interceptor, clock: clock)
        return await session.request(server.baseURL + path).serializingString().response
    }

    /// An adapter's closure with a completion.
    private static func tag(_ name: String) -> Adapter.AsyncAdaptHandler {
        { request, _ in
            var request = request
            request.headers.add("X-Tag", name)
            return request
        }
    }

    private func tags(_ path: String) -> [[String]] { server.requests(toPath: path).map { $0.values("X-Tag") } }

    @Test("A: RequestAdapter: what it writes arrives, and each attempt is adapted from the original request")
    func adapter() async {
        struct Language: RequestAdapter {
            func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
                var request = request
                request.headers.add("X-Tag", "en")
                return request
            }
        }
        let interceptor = Interceptor(adapter: Language(), retrier: Retrier { _, _, _ in .retry })
        #expect(await load("/down-once", interceptor).value == "200")
        #expect(tags("/down-once") == [["en"], ["en"]])
    }

    @Test("A: RequestAdapter: the form with the state is told the request's id, its session and the attempt's number")
    func adapterState() async throws {
        struct Numbering: RequestAdapter {
            func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest { throw TestError() }
            func adapt(_ request: HTTPRequest, using state: RequestAdapterState) async throws -> HTTPRequest {
                var request = request
                request.headers["X-Tag"] = "\(state.requestID) \(ObjectIdentifier(state.session)) \(state.attempt)"
                return request
            }
        }
        let session = Session.overSockets(Interceptor(adapter: Numbering(), retrier: Retrier { _, _, _ in .retry }))
        let request = session.request(server.baseURL + "/down-once")
        #expect(try await request.serializingString().value == "200")
        let known = "\(request.id) \(ObjectIdentifier(session))"
        #expect(tags("/down-once") == [["\(known) 1"], ["\(known) 2"]])
    }

    @Test("A: RequestRetrier: it is told the request, the session and the error, a status without validation included")
    func retrier() async {
        struct Asked: Sendable { var status: Int?; var attempts: Int; var error: String }
        let asked = Journal<Asked>()
        let sessions = Journal<ObjectIdentifier>()
        let retrier = Retrier { request, session, error in
            sessions.append(ObjectIdentifier(session))
            asked.append(
                Asked(
                    status: request.response?.status.rawValue,
                    attempts: request.requests.count,
                    error: "\((error as? RefrainError)?.responseCode ?? 0)"
                )
            )
            return request.retryCount < 2 ? .retry : .doNotRetry
        }
        let session = Session.overSockets(retrier)
        let response = await session.request(server.baseURL + "/down").serializingString().response
        #expect(response.value == "503")
        #expect(asked.entries.map(\.status) == [503, 503, 503])
        #expect(asked.entries.map(\.attempts) == [1, 2, 3])
        #expect(asked.entries.map(\.error) == ["503", "503", "503"])
        #expect(Set(sessions.entries) == [ObjectIdentifier(session)])
    }

    @Test("A: RequestInterceptor: without a line written it sends the request unchanged, once, and a failure names it")
    func bare() async {
        struct Bare: RequestInterceptor {}
        guard case .requestRetryFailed(let error, _, "Bare")? = await load("/down", Bare()).error else {
            Issue.record("not named")
            return
        }
        #expect("\(error)".contains("Bare"))
        let plain = await load("/down", Interceptor()).value
        #expect(plain == "503")
        let heads = server.requests(toPath: "/down").map(\.headers)
        #expect(heads.count == 2 && heads.first == heads.last)
    }

    @Test("A: RetryResult: on the wire each answer does what it says")
    func results() async {
        let clock = InstantClock()
        _ = await load("/down", CountingInterceptor(.retry, .doNotRetry), clock: clock)
        #expect(server.count(path: "/down") == 2)
        #expect(clock.waits.isEmpty)
        _ = await load("/down", CountingInterceptor(.retryWithDelay(.seconds(7)), .doNotRetry), clock: clock)
        #expect(server.count(path: "/down") == 4)
        #expect(clock.waits == [.seconds(7)])
        #expect(await load("/down", CountingInterceptor(.doNotRetry)).value == "503")
        #expect(server.count(path: "/down") == 5)
        let refused = await load("/down", CountingInterceptor(.doNotRetryWithError(TestError()))).error
        #expect(refused?.isRequestRetryError == true)
        #expect(server.count(path: "/down") == 6)
    }

    @Test("A: Adapter: an asynchronous closure and one with a completion both adapt what is sent")
    func adapters() async {
        let completing = Adapter { request, _, completion in
            var request = request
            request.headers.add("X-Tag", "completion")
            completion(.success(request))
            // Only the first call counts.
            request.headers.add("X-Tag", "again")
            completion(.success(request))
            completion(.failure(TestError()))
        }
        let both = Interceptor(adapters: [Adapter(Self.tag("async")), completing])
        _ = await load("/down", both)
        #expect(tags("/down") == [["async", "completion"]])
    }

    @Test("A: Adapter: a completion that is dropped fails the request in clear words, and nothing is sent")
    func droppedAdapter() async {
        let error = await load("/ok", Adapter { _, _, _ in }).error
        guard case .requestAdaptationFailed(let cause, "Adapter", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is Interceptor.CompletionDropped)
        let text = error?.description ?? ""
        #expect(text.contains("its completion was never called"))
        #expect(server.count(path: "/ok") == 0)
    }

    @Test("A: Retrier: an asynchronous closure and one with a completion both decide; a second call does not count")
    func retriers() async {
        let completing = Retrier { _, _, _, completion in
            completion(.retry)
            completion(.doNotRetryWithError(TestError()))
        }
        #expect(
            await load("/down-once", Interceptor(retriers: [Retrier { _, _, _ in .doNotRetry }, completing])).value
                == "200"
        )
        #expect(server.count(path: "/down-once") == 2)
    }

    @Test("A: Retrier: a completion that is dropped fails the request in clear words, after one send")
    func droppedRetrier() async {
        let error = await load("/down", Retrier { _, _, _, _ in }).error
        guard case .requestRetryFailed(let cause, _, "Retrier")? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is Interceptor.CompletionDropped)
        let text = error?.description ?? ""
        #expect(text.contains("its completion was never called"))
        #expect(server.count(path: "/down") == 1)
    }

    @Test("A: Interceptor: closures, a pair, and lists to both of which the interceptors are appended")
    func interceptors() async {
        let counting = CountingInterceptor(.retry, .doNotRetry)
        let pair = Interceptor(adapter: Adapter(Self.tag("pair")), retrier: Retrier { _, _, _ in .doNotRetry })
        let closures = Interceptor(adaptHandler: Self.tag("closures"), retryHandler: { _, _, _ in .doNotRetry })
        let lists = Interceptor(
            adapters: [Adapter(Self.tag("first"))],
            retriers: [Retrier { _, _, _ in .doNotRetry }],
            interceptors: [pair, closures, counting]
        )
        #expect(lists.adapters.count == 4)
        #expect(lists.retriers.count == 4)
        _ = await load("/down", lists)
        #expect(tags("/down") == [["first", "pair", "closures"], ["first", "pair", "closures"]])
        #expect(counting.adapts.value == 2)
        #expect(counting.retries.value == 2)
    }

    @Test("A: Interceptor: adapters run until one throws, retriers until one answers")
    func untilOne() async {
        let (before, failing, after) = (
            CountingInterceptor(.doNotRetry), CountingInterceptor(failAdapts: [1], .doNotRetryWithError(TestError())),
            CountingInterceptor(.retry)
        )
        let error = await load("/ok", Interceptor(interceptors: [before, failing, after])).error
        #expect(error?.isRequestRetryError == true)
        #expect([before, failing, after].map(\.adapts.value) == [1, 1, 0])
        #expect([before, failing, after].map(\.retries.value) == [1, 1, 0])
        #expect(server.count(path: "/ok") == 0)
    }

    @Test("A: static accessors: each makes an interceptor that does on the wire what its name says")
    func accessors() async throws {
        func sends(_ interceptor: any RequestInterceptor, _ path: String = "/down") async -> Int {
            let before = server.count(path: path)
            _ = await load(path, interceptor)
            return server.count(path: path) - before
        }
        server.on("/lost") { _ in [.reset] }
        #expect(await sends(.retryPolicy) == 3)
        #expect(await sends(.retryPolicy(retryLimit: 1)) == 2)
        #expect(await sends(.connectionLostRetryPolicy) == 1)
        #expect(await sends(.connectionLostRetryPolicy, "/lost") == 3)
        #expect(await sends(.connectionLostRetryPolicy(retryLimit: 4), "/lost") == 5)
        #expect(await sends(.recommendedRetryPolicy) == 3)
        let adapted = await sends(.adapter(using: Self.tag("accessor")))
        #expect(adapted == 1)
        #expect(tags("/down").last == ["accessor"])
        let completed = await sends(.adapter(using: { request, _, completion in completion(.success(request)) }))
        #expect(completed == 1)
        let retried = await sends(.retrier(using: { request, _, _ in request.retryCount < 1 ? .retry : .doNotRetry }))
        #expect(retried == 2)
        let declined = await sends(.retrier(using: { _, _, _, completion in completion(.doNotRetry) }))
        #expect(declined == 1)
        let closures = await sends(.interceptor(adapter: Self.tag("closure"), retrier: { _, _, _ in .doNotRetry }))
        #expect(closures == 1)
        #expect(tags("/down").last == ["closure"])
        let tag: [any RequestAdapter] = [.adapter(using: Self.tag("lists"))]
        #expect(await sends(.interceptor(adapters: tag, retriers: [RetryPolicy()])) == 3)
        #expect(tags("/down").last == ["lists"])
    }
}
