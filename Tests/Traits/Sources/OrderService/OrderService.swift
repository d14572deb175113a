// SPDX-License-Identifier: Apache-2.0
#if OpenAPI && Logging && Metrics && Tracing && ServiceLifecycle && AsyncHTTPClient
import AsyncHTTPClient
import Logging
import Metrics
import RefrainAsyncHTTPClient
import RefrainLogging
import RefrainMetrics
import RefrainOpenAPI
import RefrainServiceLifecycle
import RefrainTracing
import ServiceLifecycle
import Tracing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A service that orders from the shop, and can be watched while it does: the whole wiring is in `init`.
///
/// In a service group it stands before the services that use it: when these have ended, it finishes its requests.
struct OrderService: Service {
    private let orders: OrdersClient
    private let drain = DrainOnShutdown()
    private let stock: any Stock
    private let logger: Logger
    private let tracer: any Tracer
    private let metrics: any MetricsFactory

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - serverURL: where the shop's API is.
    ///   - stock: says what there is.
    ///   - client: makes the connections; it stays the caller's, and follows no redirects.
    ///   - strategy: when a request is sent again.
    init(
        serverURL: URL,
        stock: any Stock,
        client: HTTPClient,
        strategy: any RetryStrategy = RetryPolicy.recommended,
        logger: Logger,
        tracer: any Tracer,
        metrics: any MetricsFactory
    ) {
        let loader =
            drain --> TraceCalls(tracer: tracer) --> MeasureCalls(factory: metrics) --> LogCalls(to: logger)
            --> Redirect() --> Retry(strategy) --> TraceAttempts(tracer: tracer) --> AsyncHTTPClientLoader(client)
        let transport = RefrainTransport(loader) { request, operation in
            request.timeout = .seconds(10)
            // With a key an order that may have arrived can be sent again: the shop knows it by the key.
            if operation == "createOrder" { request.idempotencyKey = .generated }
        }
        orders = OrdersClient(serverURL: serverURL, transport: transport)
        self.stock = stock
        self.logger = logger
        self.tracer = tracer
        self.metrics = metrics
    }

    /// Returns after a graceful shutdown, when the requests in flight have ended; others are refused from then on.
    func run() async throws { try await drain.run() }

    /// Orders an item, and returns the order as the shop has it.
    ///
    /// - Throws: ``SoldOut``, or the error of the client.
    func order(_ item: String) async throws -> Order {
        let span = tracer.startAnySpan("order")
        defer { span.end() }
        return try await ServiceContext.$current.withValue(span.context) {
            guard try await isInStock(item) else { throw SoldOut(item: item) }
            let created = try await create(item)
            return try await orders.order(created.id)
        }
    }

    /// Makes an order, whatever the stock says.
    func create(_ item: String) async throws -> Order { try await orders.create(Order(id: 0, item: item)) }

    /// Asks the stock, which is no HTTP: the same engine, spans, lines and counters.
    private func isInStock(_ item: String) async throws -> Bool {
        let log = logRetries(of: "stock", to: logger)
        let count = countRetries(of: "stock", factory: metrics)
        return try await withRetry(
            .constant(delay: .milliseconds(1), maxAttempts: 3),
            onRetry: { attempt, error, delay in
                await log(attempt, error, delay)
                await count(attempt, error, delay)
            },
            operation: { try await stock.has(item) }
        )
    }
}

/// What the service asks before it orders.
protocol Stock: Sendable {
    /// Whether there is any of an item.
    func has(_ item: String) async throws -> Bool
}

/// There is none of an item.
struct SoldOut: Error, Equatable { var item: String }
#endif
