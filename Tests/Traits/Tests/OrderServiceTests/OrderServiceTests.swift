// SPDX-License-Identifier: Apache-2.0
#if OpenAPI && Logging && Metrics && Tracing && ServiceLifecycle && AsyncHTTPClient
import AsyncHTTPClient
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
@testable import OrderService
import OpenAPIRuntime
import RefrainOpenAPI
import RefrainTesting
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A stock that fails at first.
private final class UnsteadyStock: Stock {
    struct Busy: Error {}

    private let calls = Atomic(0)

    func has(_ item: String) async throws -> Bool {
        if calls.add(1, ordering: .relaxed).newValue == 1 { throw Busy() }
        return item != "coffee"
    }
}

@Suite("A service with an OpenAPI client, AsyncHTTPClient, logs, metrics and traces")
struct OrderServiceTests {
    let server: FaultServer
    let tracer = InMemoryTracer()
    let metrics = TestMetrics()
    let log = InMemoryLogHandler()

    init() throws { server = try FaultServer() }

    private func withService(_ body: (OrderService) async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do { try await body(service(client)) } catch { Issue.record(error) }
        try await client.shutdown()
        server.stop()
    }

    private func service(_ client: HTTPClient) throws -> OrderService {
        OrderService(
            serverURL: try #require(URL(string: "\(server.baseURL)/v1")),
            stock: UnsteadyStock(),
            client: client,
            strategy: RetryPolicy.recommended.with(schedule: .constant(delay: .milliseconds(2), maxAttempts: 3)),
            logger: Logger(label: "orders") { [log] _ in log },
            tracer: tracer,
            metrics: metrics
        )
    }

    @Test("an order survives a 503 and a broken connection, is made once, and can be followed afterwards")
    func order() async throws {
        server.on("/v1/orders") { request in
            guard request.occurrence > 1 else { return [.reset] }
            return [.respond(.init(201, body: #"{"id":7,"item":"tea"}"#))]
        }
        server.on("/v1/orders/7") { request in
            guard request.occurrence > 1 else { return [.respond(.init(503))] }
            return [.respond(.init(200, body: #"{"id":7,"item":"tea"}"#))]
        }
        try await withService { service in
            let made = try await service.order("tea")
            #expect(made == Order(id: 7, item: "tea"))
        }

        let posts = server.log.filter { $0.method == "POST" }
        let keys = Set(posts.map { $0.header("Idempotency-Key") })
        #expect(posts.count == 2 && keys.count == 1 && !keys.contains(nil))
        // Two calls with two attempts each, below the span of the order.
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["POST", "POST", "POST call", "GET", "GET", "GET call", "order"])
        let sent = server.log.map { $0.header(InMemoryTracer.spanIDKey) }
        #expect(sent == [spans[0].spanID, spans[1].spanID, spans[3].spanID, spans[4].spanID])
        #expect(Set(spans.map(\.traceID)).count == 1)
        let attempts = ("outcome", "503")
        #expect(try metrics.expectCounter("refrain_attempts_total", [("host", "127.0.0.1"), attempts]).totalValue == 1)
        #expect(try metrics.expectCounter("refrain_requests_total", [("outcome", "succeeded")]).totalValue == 2)
        let stock = [("operation", "stock"), ("error_type", "Busy")]
        #expect(try metrics.expectCounter("refrain_operation_retries_total", stock).totalValue == 1)
        #expect(log.entries.map(\.level) == [.notice, .notice, .notice])
    }

    @Test("what is sold out is not ordered, and what the shop refuses is the client's error")
    func refused() async throws {
        server.on("/v1/orders") { _ in [.respond(.init(422))] }
        try await withService { service in
            await #expect(throws: SoldOut(item: "coffee")) { try await service.order("coffee") }
            let error = await #expect(throws: ClientError.self) { try await service.order("tea") }
            #expect(error?.underlyingError as? OrdersClient.UnexpectedStatus == .init(code: 422))
        }
        #expect(server.log.count == 1)
    }

    @Test("a graceful shutdown lets a request in flight end, retries included, and refuses the next one")
    func shutdown() async throws {
        let gate = Gate()
        server.on("/v1/orders") { request in
            guard request.occurrence > 1 else {
                gate.arrive()
                return [.sleep(.milliseconds(50)), .respond(.init(503))]
            }
            return [.respond(.init(201, body: #"{"id":8,"item":"tea"}"#))]
        }
        try await withService { service in
            try await testGracefulShutdown { trigger in
                async let running: Void = service.run()
                async let created = service.create("tea")
                await gate.wait()
                trigger.triggerGracefulShutdown()
                let made = try await created
                #expect(made == Order(id: 8, item: "tea"))
                try await running
            }
            await #expect(throws: ClientError.self) { try await service.create("tea") }
        }
        #expect(server.log.count == 2)
    }
}

/// Opens when something has arrived.
private struct Gate: Sendable {
    private let stream = AsyncStream<Void>.makeStream()

    func arrive() { stream.continuation.finish() }
    func wait() async { for await _ in stream.stream {} }
}
#endif
