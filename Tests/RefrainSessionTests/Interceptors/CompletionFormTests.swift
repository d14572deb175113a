// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport
import Testing

@Suite("Interceptors with completions", .timeLimit(.minutes(10)))
struct CompletionFormTests {
    @Test("a completion that is called answers")
    func called() async throws {
        let loader = ScriptedLoader(.status(500), .status(200, body: "ok"))
        let interceptor = Interceptor(
            adaptHandler: { request, session, completion in
                var request = request
                request.headers["X-Adapted"] = "yes"
                completion(.success(request))
            },
            retryHandler: { request, session, error, completion in completion(.retry) }
        )
        let session = Session.testing(loader, interceptor: interceptor)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
        #expect(loader.requests.map { $0.headers["X-Adapted"] } == ["yes", "yes"])
    }

    @Test("R30: a completion that is called twice counts once")
    func calledTwice() async throws {
        let loader = ScriptedLoader(.status(500), .status(200, body: "ok"))
        let interceptor = Interceptor(
            adaptHandler: { request, _, completion in
                completion(.success(request))
                completion(.failure(TestError()))
            },
            retryHandler: { _, _, _, completion in
                completion(.retry)
                completion(.doNotRetryWithError(TestError()))
            }
        )
        let session = Session.testing(loader, interceptor: interceptor)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
        #expect(loader.requests.count == 2)
    }

    @Test("R30: an adapter's completion that is dropped fails the request with an error that says so")
    func droppedAdapter() async {
        let session = Session.testing(ScriptedLoader(.status(200)), interceptor: Adapter { _, _, _ in })
        let error = await session.request(HTTPRequest.sample).serializingData().response.error
        #expect(error?.isRequestAdaptationError == true)
        #expect(error?.underlyingError is Interceptor.CompletionDropped)
        #expect(error?.description.contains("Adapter") == true)
    }

    @Test("R30: a retrier's completion that is dropped fails the request with an error that says so")
    func droppedRetrier() async {
        let session = Session.testing(ScriptedLoader(.status(503)), interceptor: Retrier { _, _, _, _ in })
        let error = await session.request(HTTPRequest.sample).serializingData().response.error
        #expect(error?.isRequestRetryError == true)
        #expect(error?.underlyingError is Interceptor.CompletionDropped)
    }

    @Test("R30: a completion that is kept and never called ends with the cancellation of its request")
    func keptForEver() async {
        let kept = Journal<@Sendable (Result<HTTPRequest, any Error>) -> Void>()
        let asked = Signal()
        let adapter = Adapter { _, _, completion in
            kept.append(completion)
            asked.set()
        }
        let session = Session.testing(ScriptedLoader(.status(200)), interceptor: adapter)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        await asked.wait()
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(kept.entries.count == 1)
    }

    @Test("a completion may be called later, from elsewhere")
    func calledLater() async throws {
        let adapter = Adapter { request, _, completion in
            Task.detached { completion(.success(request)) }
        }
        let session = Session.testing(ScriptedLoader(.status(200, body: "ok")), interceptor: adapter)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "ok")
    }
}
