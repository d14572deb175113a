// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP

/// The transport that the matrix is met over.
enum MatrixTransport {
    typealias Loader = CurlLoader

    /// Runs `body` with a transport that has one connection to an origin.
    static func with<Value>(
        trusting caPath: String?,
        _ body: (Loader) async throws -> Value
    ) async throws -> Value {
        var configuration = CurlLoader.Configuration()
        configuration.maximumConnectionsPerHost = 1
        if let caPath { configuration.trust = .certificateFile(caPath) }
        return try await body(CurlLoader(configuration: configuration))
    }
}
