// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOSSL
import RefrainAsyncHTTPClient

/// The transport that the matrix is met over.
enum MatrixTransport {
    typealias Loader = AsyncHTTPClientLoader

    /// Runs `body` with a transport that has one connection to an origin.
    static func with<Value>(
        trusting caPath: String?,
        _ body: (Loader) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(1)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        if let caPath {
            configuration.tlsConfiguration = .makeClientConfiguration()
            configuration.tlsConfiguration?.trustRoots = .file(caPath)
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let value = try await body(AsyncHTTPClientLoader(client))
            try await client.shutdown()
            return value
        } catch {
            try await client.shutdown()
            throw error
        }
    }
}
#else
import RefrainHTTP

/// Without the trait there is no transport here, and no test of it.
enum MatrixTransport {
    typealias Loader = AnyLoader

    static func with<Value>(
        trusting caPath: String?,
        _ body: (Loader) async throws -> Value
    ) async throws -> Value {
        throw CancellationError()
    }
}
#endif
