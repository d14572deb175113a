// SPDX-License-Identifier: Apache-2.0
#if ServiceLifecycle
import Logging
import RefrainServiceLifecycle
import RefrainTesting
import ServiceLifecycleTestKit
import Testing

@Suite("Services")
struct ServiceTests {
    /// A transport whose answers wait until the test lets them go.
    private final class Held: HTTPLoader {
        private let state = Box<(waiting: [CheckedContinuation<Void, Never>], isOpen: Bool)>(([], false))

        var count: Int { state.withLock { $0.waiting.count } }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func load(_ request: HTTPRequest) async -> HTTPResult {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOpen = state.withLock { state in
                        if !state.isOpen { state.waiting.append(continuation) }
                        return state.isOpen
                    }
                    if isOpen { continuation.resume() }
                }
            } onCancel: {
                open()
            }
            if Task.isCancelled { return .failure(HTTPError(.cancelled, request: request, bytesSent: 0)) }
            return .success(HTTPResponse(request: request, status: 200))
        }
    }

    private func waitUntil(_ condition: () -> Bool) async { while !condition() { await Task.yield() } }

    @Test("a chain: after a shutdown what is in flight ends well, and what comes later is refused")
    func chain() async throws {
        let held = Held()
        let drain = DrainOnShutdown()
        let chain = drain --> held
        try await testGracefulShutdown { trigger in
            async let service: Void = drain.run()
            async let first = chain.load(HTTPRequest("http://localhost/1"))
            await waitUntil { held.count == 1 }
            trigger.triggerGracefulShutdown()
            // Refused as soon as the service has heard of it.
            var later: HTTPResult
            repeat { later = try await withTimeout(chain) } while held.count > 1
            #expect(throws: HTTPError.self) { try later.get() }
            held.open()
            #expect(try await first.get().status == 200)
            try await service
        }
        #expect(try await code(of: chain.load(HTTPRequest("http://localhost/2"))) == .sessionInvalidated)
    }

    /// A request that is cancelled where it is not refused at once.
    private func withTimeout(_ loader: some HTTPLoader) async throws -> HTTPResult {
        let request = try HTTPRequest("http://localhost/later")
        let task = Task { await loader.load(request) }
        for _ in 0..<100 { await Task.yield() }
        task.cancel()
        return await task.value
    }

    private func code(of result: HTTPResult) -> HTTPError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test("a session: after a shutdown its requests end well, retries included, and later ones are refused")
    func session() async throws {
        let (mock, clock) = (MockLoader(), TestClock(.autoAdvancing))
        let held = Held()
        let asked = Box(0)
        let transport = AnyLoader(Gate(held) --> mock)
        mock.then(.status(503)).otherwise(.status(200))
        var settings = Session.Settings()
        settings.clocks = clock.retryClocks()
        let session = Session(loader: transport, settings: settings)
        let observer = session
        try await testGracefulShutdown { trigger in
            async let service: Void = observer.run()
            let task = session.request("http://localhost/1").serializingResponse()
            async let first = task.result
            await waitUntil { held.count == 1 }
            trigger.triggerGracefulShutdown()
            // Until the service has heard of it, a request is admitted, and waits for the transport.
            while asked.withLock({ $0 }) == 0 {
                let later = session.request("http://localhost/later")
                for _ in 0..<100 { await Task.yield() }
                later.cancel()
                if case .failure(.sessionInvalidated) = await later.serializingResponse().result {
                    asked.withLock { $0 += 1 }
                }
            }
            held.open()
            #expect(try await first.get().status == 200)
            try await service
        }
        // The first of its attempts was answered after the shutdown, with a 503.
        #expect(mock.requests.count == 2)
    }

    @Test("cancelled services end what is in flight")
    func cancelled() async throws {
        let (held, drain) = (Held(), DrainOnShutdown())
        let chain = drain --> held
        let session = Session(loader: Held(), interceptor: nil)
        let service = Task { try await drain.run() }
        let other = Task { try await session.run() }
        async let first = chain.load(HTTPRequest("http://localhost/1"))
        let second = session.request("http://localhost/2").serializingResponse()
        async let answer = second.result
        await waitUntil { held.count == 1 }
        service.cancel()
        other.cancel()
        #expect(try await code(of: first) == .cancelled)
        if case .success = await answer { Issue.record("a request outlived its session") }
        await #expect(throws: CancellationError.self) { try await service.value }
        await #expect(throws: CancellationError.self) { try await other.value }
    }

    @Test("a group shuts down the service that uses the chain first, and the chain when that has ended")
    func group() async throws {
        struct Worker: Service {
            let chain: AnyLoader
            let results: Box<[HTTPResult]>
            let isRunning: Box<Bool>

            func run() async throws {
                isRunning.withLock { $0 = true }
                try await gracefulShutdown()
                // What is made on the way out is in order, since the chain is shut down later.
                let result = await chain.load(try HTTPRequest("http://localhost/last"))
                results.withLock { $0.append(result) }
            }
        }
        let (drain, results) = (DrainOnShutdown(), Box<[HTTPResult]>([]))
        let mock = MockLoader()
        mock.otherwise(.status(200))
        let worker = Worker(chain: AnyLoader(drain --> mock), results: results, isRunning: Box(false))
        let group = ServiceGroup(services: [drain, worker], logger: Logger(label: "test"))
        async let run: Void = group.run()
        await waitUntil { worker.isRunning.withLock { $0 } }
        await group.triggerGracefulShutdown()
        try await run
        #expect(try results.withLock { $0 }.first?.get().status == 200)
    }
}

/// Passes a request on when the transport before it lets it go.
private struct Gate: HTTPMiddleware {
    let held: any HTTPLoader

    init(_ held: any HTTPLoader) { self.held = held }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        if case .failure(let error) = await held.load(request) { return .failure(error) }
        return await next.load(request)
    }
}
#endif
