// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport
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

    enum Ending: CaseIterable { case cancel, cancelAll, reset, invalidate }

    @Test(
        "R9: a loop round a call does not send again what was cancelled or reset, even one that retries everything",
        arguments: Ending.allCases,
        [false, true]
    )
    func outerLoop(ending: Ending, retriesExhausted: Bool) async {
        let loader = ScriptedLoader(.hang, .status(200, body: "sent again"))
        let session = Session.testing(loader)
        let current = Locked<DataRequest?>(nil)
        let loop = Task {
            try await withRetry(
                .immediately(maxAttempts: 3),
                retriesExhausted: retriesExhausted
            ) { () async throws -> String in
                let request = session.request(HTTPRequest.sample)
                current.withLock { $0 = request }
                return try await request.serializingString().value
            }
        }
        await loader.requests(atLeast: 1)
        switch ending {
        case .cancel: current.withLock { $0 }?.cancel()
        case .cancelAll: session.cancelAllRequests()
        case .reset: await session.reset()
        case .invalidate: session.invalidate()
        }
        await #expect(throws: RefrainError.self) { try await loop.value }
        #expect(loader.requests.count == 1)
        current.withLock { $0 = nil }
    }

    @Test("R9: an adapter that gives up as cancelled ends the request: no retrier is asked, and no loop repeats it")
    func adapterCancelled() async {
        let (adapted, asked) = (Counter(), Counter())
        let adapter = Adapter { (_: HTTPRequest, _: Session) async throws -> HTTPRequest in
            adapted.increment()
            throw CancellationError()
        }
        let retrier = Retrier { _, _, _ in
            asked.increment()
            return .retry
        }
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader, interceptor: Interceptor(adapter: adapter, retrier: retrier))
        do {
            _ = try await withRetry(.immediately(maxAttempts: 3)) {
                try await session.request(HTTPRequest.sample).serializingData().value
            }
            Issue.record("nothing can be sent")
        } catch {
            #expect((error as? RefrainError)?.underlyingError is CancellationError)
        }
        #expect(adapted.value == 1)
        #expect(asked.value == 0)
        #expect(loader.requests.isEmpty)
    }

    @Test("R9: a retrier that answers as cancelled ends the request, and no loop repeats it")
    func retrierCancelled() async {
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(
            loader,
            interceptor: Retrier { _, _, _ in .doNotRetryWithError(CancellationError()) }
        )
        await #expect(throws: RefrainError.self) {
            try await withRetry(.immediately(maxAttempts: 3)) {
                try await session.request(HTTPRequest.sample).serializingResponse().value
            }
        }
        #expect(loader.requests.count == 1)
    }
}
