#if OpenAPI && Logging && Metrics && Tracing
import Logging
import Metrics
import RefrainLogging
import RefrainMetrics
import RefrainOpenAPI
import RefrainTracing
import Tracing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A service that orders from the shop, and can be watched while it does: the whole wiring is in `init`.
struct OrderService: Sendable {
    private let orders: OrdersClient
    private let stock: any Stock
    private let logger: Logger
    private let tracer: any Tracer
    private let metrics: any MetricsFactory

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - serverURL: where the shop's API is.
    ///   - stock: says what there is.
    ///   - strategy: when the API is asked again.
    init(
        serverURL: URL,
        stock: any Stock,
        strategy: any RetryStrategy = RetryPolicy.recommended,
        logger: Logger,
        tracer: any Tracer,
        metrics: any MetricsFactory
    ) {
        let loader =
            TraceCalls(tracer: tracer) --> MeasureCalls(factory: metrics) --> LogCalls(to: logger)
            --> Retry(strategy) --> TraceAttempts(tracer: tracer) --> CurlLoader()
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

    /// Orders an item, and returns the order as the shop has it.
    ///
    /// - Throws: ``SoldOut``, or the error of the client.
    func order(_ item: String) async throws -> Order {
        let span = tracer.startAnySpan("order")
        defer { span.end() }
        return try await ServiceContext.$current.withValue(span.context) {
            guard try await isInStock(item) else { throw SoldOut(item: item) }
            let created = try await orders.create(Order(id: 0, item: item))
            return try await orders.order(created.id)
        }
    }

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
