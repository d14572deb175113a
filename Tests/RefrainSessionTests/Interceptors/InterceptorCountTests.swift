// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport
import Testing

@Suite("How often interceptors are asked", .timeLimit(.minutes(10)))
struct InterceptorCountTests {
    @Test("A: RequestInterceptor: a success is adapted once, and no retrier is asked")
    func success() async throws {
        let loader = ScriptedLoader(.status(200, body: "ok"))
        let interceptor = CountingInterceptor(.retry)
        let session = Session.testing(loader, interceptor: interceptor)
        #expect(try await session.request(HTTPRequest.sample).validate().serializingString().value == "ok")
        #expect(interceptor.adapts.value == 1)
        #expect(interceptor.retries.value == 0)
    }

    @Test("A: RequestInterceptor: a failure that no retrier wants again is adapted once and asked about once")
    func failure() async {
        let loader = ScriptedLoader(.failure(.networkConnectionLost))
        let interceptor = CountingInterceptor(.doNotRetry)
        let session = Session.testing(loader, interceptor: interceptor)
        let error = await session.request(HTTPRequest.sample).serializingData().response.error
        #expect(error?.transportCode == .networkConnectionLost)
        #expect(interceptor.adapts.value == 1)
        #expect(interceptor.retries.value == 1)
        #expect(loader.requests.count == 1)
    }

    @Test("R6: a failure and then a success is adapted twice, each time from the original request")
    func failureThenSuccess() async throws {
        let loader = ScriptedLoader(.failure(.networkConnectionLost), .status(200, body: "ok"))
        let interceptor = CountingInterceptor(.retry)
        let session = Session.testing(loader, interceptor: interceptor)
        let request = session.request(HTTPRequest.sample)
        #expect(try await request.validate().serializingString().value == "ok")
        #expect(interceptor.adapts.value == 2)
        #expect(interceptor.retries.value == 1)
        #expect(request.retryCount == 1)
        #expect(loader.requests.map { $0.headers[values: "X-Adapted"] } == [["1"], ["2"]])
        #expect(request.requests.count == 2)
        #expect(request.attempts.map(\.decision) == [.retry, .finish])
    }

    @Test("A: RequestRetrier: a status that fails validation is asked about once for each attempt")
    func statuses() async {
        let loader = ScriptedLoader(.status(503), .status(503), .status(200, body: "ok"))
        let interceptor = CountingInterceptor(.retry)
        let session = Session.testing(loader, interceptor: interceptor)
        let response = await session.request(HTTPRequest.sample).validate().serializingString().response
        #expect(response.value == "ok")
        #expect(interceptor.retries.value == 2)
        #expect(response.attempts.map(\.status) == [503, 503, 200])
    }

    @Test(
        "A: RequestRetrier: a retrier hears of a 503 without validation; what it does not want again stands"
    )
    func unvalidatedStatus() async {
        let loader = ScriptedLoader(.status(503, body: "later"))
        let interceptor = CountingInterceptor(.retry, .doNotRetry)
        let session = Session.testing(loader, interceptor: interceptor)
        let response = await session.request(HTTPRequest.sample).serializingString().response
        #expect(response.value == "later")
        #expect(response.response?.status == 503)
        #expect(interceptor.retries.value == 2)
    }

    @Test("A: RequestAdapter: an adapter's error is asked about, and the next attempt is adapted anew")
    func adapterErrorThenRetry() async throws {
        let loader = ScriptedLoader(.status(200, body: "ok"))
        let interceptor = CountingInterceptor(failAdapts: [1], .retry)
        let session = Session.testing(loader, interceptor: interceptor)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
        #expect(interceptor.adapts.value == 2)
        #expect(interceptor.retries.value == 1)
        #expect(loader.requests.count == 1)
    }

    @Test("A: RequestAdapter: an adapter's error that is not retried names the adapter, and nothing is sent")
    func adapterError() async {
        let loader = ScriptedLoader(.status(200))
        let interceptor = CountingInterceptor(failAdapts: [1], .doNotRetry)
        let session = Session.testing(loader, interceptor: interceptor)
        let error = await session.request(HTTPRequest.sample).serializingData().response.error
        guard case .requestAdaptationFailed(let cause, let name, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause as? TestError == TestError(name: "adapt"))
        #expect(name == "CountingInterceptor")
        #expect(loader.requests.isEmpty)
    }

    @Test("A: RequestRetrier: a retrier's error ends the request, and carries the error before it")
    func retrierError() async {
        let loader = ScriptedLoader(.failure(.timedOut))
        let interceptor = CountingInterceptor(.retry, .doNotRetryWithError(TestError(name: "retry")))
        let session = Session.testing(loader, interceptor: interceptor)
        let error = await session.request(HTTPRequest.sample).serializingData().response.error
        guard case .requestRetryFailed(let retryError, let original, let name)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(retryError as? TestError == TestError(name: "retry"))
        #expect((original as? RefrainError)?.transportCode == .timedOut)
        #expect(name == "CountingInterceptor")
        #expect(loader.requests.count == 2)
        #expect(interceptor.retries.value == 2)
    }

    @Test(
        "A: order of interceptors: the session's goes first, and the request's is asked where it has no opinion"
    )
    func sessionAndRequest() async throws {
        let loader = ScriptedLoader(.status(500), .status(200, body: "ok"))
        let order = Journal<String>()
        let first = Interceptor(
            adaptHandler: { request, _ in
                order.append("adapt session")
                return request
            },
            retryHandler: { _, _, _ in
                order.append("retry session")
                return .doNotRetry
            }
        )
        let second = Interceptor(
            adaptHandler: { request, _ in
                order.append("adapt request")
                return request
            },
            retryHandler: { _, _, _ in
                order.append("retry request")
                return .retry
            }
        )
        let session = Session.testing(loader, interceptor: first)
        let value = try await session.request(HTTPRequest.sample, interceptor: second).serializingString().value
        #expect(value == "ok")
        #expect(
            order.entries == [
                "adapt session", "adapt request", "retry session", "retry request", "adapt session", "adapt request",
            ]
        )
    }

    @Test("A: Interceptor: the first retrier that wants a retry is the last one asked")
    func firstAnswerCounts() async throws {
        let loader = ScriptedLoader(.status(500), .status(200, body: "ok"))
        let (first, second, third) = (
            CountingInterceptor(.doNotRetry), CountingInterceptor(.retry), CountingInterceptor(.retry)
        )
        let session = Session.testing(loader, interceptor: Interceptor(interceptors: [first, second, third]))
        _ = await session.request(HTTPRequest.sample).serializingData().response
        #expect([first, second, third].map(\.retries.value) == [1, 1, 0])
        #expect([first, second, third].map(\.adapts.value) == [2, 2, 2])
    }

    @Test("R9: cancelling a hundred requests in their back-off ends each of them once, at once")
    func massCancellation() async {
        let loader = ScriptedLoader(.status(503))
        let waiting = Counter()
        let all = Signal()
        let retrier = Retrier { _, _, _ in
            if waiting.increment() == 100 { all.set() }
            return .retryWithDelay(.seconds(3600))
        }
        let session = Session.testing(loader, interceptor: retrier, clock: nil)
        let tasks = (0..<100).map { _ in session.request(HTTPRequest.sample).serializingData() }
        await all.wait()
        session.cancelAllRequests()
        for task in tasks {
            let response = await task.response
            #expect(response.error?.isExplicitlyCancelledError == true)
        }
        #expect(loader.requests.count == 100)
        #expect(waiting.value == 100)
        session.withAllRequests { #expect($0.isEmpty) }
    }

    @Test("R30: cancelling while a retrier thinks ends the request once")
    func cancelInRetrier() async {
        let asked = Signal()
        let retrier = Retrier { _, _, _ in
            asked.set()
            await untilCancelled()
            return .retry
        }
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: retrier, clock: nil)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        await asked.wait()
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(loader.requests.count == 1)
    }

    @Test("R30: cancelling while an adapter hangs ends the request, and nothing is sent")
    func cancelInAdapter() async {
        let asked = Signal()
        let adapter = Adapter { request, _ in
            asked.set()
            await untilCancelled()
            throw TestError()
        }
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader, interceptor: adapter, clock: nil)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        await asked.wait()
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(loader.requests.isEmpty)
    }
}
