// SPDX-License-Identifier: Apache-2.0
#if OpenAPI && Logging && Metrics && Tracing && ServiceLifecycle && AsyncHTTPClient
import HTTPTypes
@_spi(Generated) import OpenAPIRuntime
import RefrainOpenAPI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An order of the shop.
struct Order: Codable, Equatable, Sendable {
    var id: Int
    var item: String
}

/// The client of the shop's API, in the form in which Swift OpenAPI Generator makes it: it knows a transport and its
/// middlewares, and nothing of Refrain.
struct OrdersClient: Sendable {
    /// What the API answers besides an order.
    struct UnexpectedStatus: Error, Equatable { var code: Int }

    private let client: UniversalClient

    init(serverURL: URL, transport: any ClientTransport, middlewares: [any ClientMiddleware] = []) {
        client = UniversalClient(serverURL: serverURL, transport: transport, middlewares: middlewares)
    }

    /// Sends `GET /orders/{id}`.
    func order(_ id: Int) async throws -> Order {
        try await client.send(
            input: id,
            forOperation: "getOrder",
            serializer: { id in
                let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/orders/\(id)")
                return (request, nil)
            },
            deserializer: { response, body in try await Self.order(in: response, body, expecting: 200) }
        )
    }

    /// Sends `POST /orders`.
    func create(_ order: Order) async throws -> Order {
        try await client.send(
            input: order,
            forOperation: "createOrder",
            serializer: { order in
                var request = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/orders")
                request.headerFields[.contentType] = "application/json"
                return (request, HTTPBody(try JSONEncoder().encode(order)))
            },
            deserializer: { response, body in try await Self.order(in: response, body, expecting: 201) }
        )
    }

    private static func order(in response: HTTPResponse, _ body: HTTPBody?, expecting code: Int) async throws -> Order {
        guard response.status.code == code, let body else { throw UnexpectedStatus(code: response.status.code) }
        return try JSONDecoder().decode(Order.self, from: await Data(collecting: body, upTo: 1 << 20))
    }
}
#endif
