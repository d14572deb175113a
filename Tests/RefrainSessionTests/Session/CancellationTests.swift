import RefrainSession
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Cancelling at odd moments", .timeLimit(.minutes(5)))
struct CancellationTests {
    private final class CancelsAtStart: EventMonitor {
        func requestDidResume(_ request: Request) { request.cancel() }
    }

    @Test("R9: a request that is cancelled just as it starts is not sent")
    func cancelledAtStart() async {
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader, monitors: [CancelsAtStart()])
        let request = session.request(HTTPRequest("/a", method: .post, body: .text("x")))
        #expect(await request.serializingData().response.error?.isExplicitlyCancelledError == true)
        #expect(loader.requests.isEmpty)
    }

    /// Ends a session's requests, as an app does when its user's credentials are refused.
    private static func loggingOut(_ call: @escaping @Sendable (Session) async -> Void) -> Retrier {
        Retrier { _, session, _ in
            await call(session)
            return .doNotRetry
        }
    }

    @Test("a retrier that cancels all requests and waits does not wait for its own")
    func fromRetrier() async {
        let loggingOut = Self.loggingOut { await $0.cancelAllRequestsAndWait() }
        let session = Session.testing(ScriptedLoader(.status(401)), interceptor: loggingOut)
        let response = await session.request(HTTPRequest.sample).serializingString().response
        #expect(response.error?.isExplicitlyCancelledError == true)
    }

    @Test("an adapter that cancels all requests and waits does not wait for its own")
    func fromAdapter() async {
        let loader = ScriptedLoader(.status(200))
        let adapter = Adapter { request, session in
            await session.cancelAllRequestsAndWait()
            return request
        }
        let session = Session.testing(loader, interceptor: adapter)
        let response = await session.request(HTTPRequest.sample).serializingString().response
        #expect(response.error?.isExplicitlyCancelledError == true)
    }

    @Test("retriers of two requests that cancel all and wait do not wait for each other")
    func fromTwoRetriers() async {
        let (count, both) = (Counter(), Signal())
        let loggingOut = Self.loggingOut { session in
            if count.increment() == 2 { both.set() }
            await both.wait()
            await session.cancelAllRequestsAndWait()
        }
        let session = Session.testing(ScriptedLoader(.status(401)), interceptor: loggingOut)
        let tasks = (0..<2).map { session.request(HTTPRequest("/\($0)")).serializingString() }
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
    }

    @Test("a request of a request that cancels all and waits does not wait for either")
    func fromWithin() async {
        let loggingOut = Self.loggingOut { await $0.cancelAllRequestsAndWait() }
        let adapter = Adapter { request, session in
            guard request.url.path == "/outer" else { return request }
            _ = await session.request(HTTPRequest("/inner")).serializingString().response
            return request
        }
        let interceptor = Interceptor(adapters: [adapter], retriers: [loggingOut])
        let session = Session.testing(ScriptedLoader(.status(401)), interceptor: interceptor)
        let response = await session.request(HTTPRequest("/outer")).serializingString().response
        #expect(response.error?.isExplicitlyCancelledError == true)
    }

    @Test("a retrier of another session's request waits until all are gone")
    func fromAnotherSession() async {
        let cancelled = Session.testing(ScriptedLoader(.hang), clock: nil)
        let hanging = cancelled.request(HTTPRequest.sample)
        let task = hanging.serializingData()
        let isOver = Journal<Bool>()
        let loggingOut = Self.loggingOut { _ in
            await cancelled.cancelAllRequestsAndWait()
            cancelled.withAllRequests { isOver.append($0.isEmpty) }
        }
        let session = Session.testing(ScriptedLoader(.status(401)), interceptor: loggingOut)
        #expect(await session.request(HTTPRequest.sample).serializingString().response.response?.status == 401)
        #expect(isOver.entries == [true])
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
    }
}
