// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

@Suite("On the wire: how often interceptors are asked", .timeLimit(.minutes(10)))
struct InterceptorCountWireTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func load(_ path: String, _ interceptor: any RequestInterceptor) async -> DataResponse<String, RefrainError>
    {
        let session = Session.overSockets(interceptor)
        return await session.request(server.baseURL + path).validate().serializingString().response
    }

    @Test("A: RequestInterceptor: a success is adapted once, sent once, and no retrier is asked")
    func success() async {
        let interceptor = CountingInterceptor(.retry)
        #expect(await load("/ok", interceptor).value == "ok\n")
        #expect(interceptor.adapts.value == 1)
        #expect(interceptor.retries.value == 0)
        #expect(server.requests(toPath: "/ok").map { $0.values("X-Adapted") } == [["1"]])
    }

    @Test("A: RequestInterceptor: an error that no retrier retries is adapted, sent and passed to the retriers once")
    func error() async {
        let interceptor = CountingInterceptor(.doNotRetry)
        server.on("/reset") { _ in [.reset] }
        #expect(await load("/reset", interceptor).error?.transportCode == .networkConnectionLost)
        #expect(interceptor.adapts.value == 1)
        #expect(interceptor.retries.value == 1)
        #expect(server.count(path: "/reset") == 1)
    }

    @Test("A: RequestInterceptor: an error and then a success is adapted and sent twice, and asked about once")
    func errorThenSuccess() async {
        let interceptor = CountingInterceptor(.retry)
        server.on("/twice") { $0.occurrence == 1 ? [.reset] : [.respond(.ok)] }
        let response = await load("/twice", interceptor)
        #expect(response.value == "ok\n")
        #expect(response.attempts.map(\.error) == [.networkConnectionLost, nil])
        #expect(interceptor.adapts.value == 2)
        #expect(interceptor.retries.value == 1)
        #expect(server.requests(toPath: "/twice").map { $0.values("X-Adapted") } == [["1"], ["2"]])
    }

    @Test("A: RequestInterceptor: an adapter's error that is retried is asked about once, and the next attempt is sent")
    func adapterErrorThenRetry() async {
        let interceptor = CountingInterceptor(failAdapts: [1], .retry)
        #expect(await load("/ok", interceptor).value == "ok\n")
        #expect(interceptor.adapts.value == 2)
        #expect(interceptor.retries.value == 1)
        #expect(server.requests(toPath: "/ok").map { $0.values("X-Adapted") } == [["2"]])
    }

    @Test("A: RequestRetrier: its error ends the request after one send, and carries the error before it")
    func retrierError() async {
        let interceptor = CountingInterceptor(.doNotRetryWithError(TestError(name: "retry")))
        server.answer("/down", 503)
        guard case .requestRetryFailed(let cause, let original, let name)? = await load("/down", interceptor).error
        else {
            Issue.record("the retrier's error was lost")
            return
        }
        #expect(cause as? TestError == TestError(name: "retry"))
        #expect((original as? RefrainError)?.responseCode == 503)
        #expect(name == "CountingInterceptor")
        #expect(interceptor.adapts.value == 1)
        #expect(interceptor.retries.value == 1)
        #expect(server.count(path: "/down") == 1)
    }

    @Test("A: order of interceptors: the session's adapt and are asked first, the request's only where those pass")
    func sessionAndRequest() async throws {
        func signing(_ name: String, _ counting: CountingInterceptor) -> Interceptor {
            let sign = Adapter { request, _ in
                var request = request
                request.headers.add("X-Order", name)
                return request
            }
            return Interceptor(adapters: [sign], interceptors: [counting])
        }
        let (ofSession, ofRequest) = (CountingInterceptor(.doNotRetry, .retry), CountingInterceptor(.retry))
        let session = Session.overSockets(signing("session", ofSession))
        server.answer("/both", 503, 500, 200)
        let request = session.request(server.baseURL + "/both", interceptor: signing("request", ofRequest))
        #expect(try await request.validate().serializingString().value == "200")
        #expect([ofSession, ofRequest].map(\.adapts.value) == [3, 3])
        // Both were asked about the first failure; of the second one the session's retrier took care.
        #expect([ofSession, ofRequest].map(\.retries.value) == [2, 1])
        let orders = server.requests(toPath: "/both").map { $0.values("X-Order") }
        #expect(orders == [["session", "request"], ["session", "request"], ["session", "request"]])
    }

    @Test("A: RequestRetrier: a mass cancellation in the middle of retries ends each request once, for good")
    func massCancellation() async {
        let count = 200
        let recorder = EventTests.Recorder()
        let interceptor = CountingInterceptor(.retryWithDelay(.milliseconds(1)))
        // A real clock: the requests are spread over all stages of an attempt when they are cancelled.
        let session = Session.overSockets(interceptor, monitors: [recorder], clock: nil)
        server.answer("/storm", 503)
        let url = server.baseURL + "/storm"
        let tasks = (0..<count).map { _ in session.request(url).validate().serializingData() }
        await interceptor.retries.reaches(3 * count)
        await session.cancelAllRequestsAndWait()
        let adapted = interceptor.adapts.value
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
        session.withAllRequests { #expect($0.isEmpty) }
        #expect(recorder.events.entries.count { $0 == "cancelled" } == count)
        #expect(recorder.events.entries.count { $0 == "finished" } == count)
        #expect(interceptor.retries.value <= adapted)
        #expect(server.count(path: "/storm") <= adapted)
        #expect(interceptor.adapts.value == adapted)
    }
}
