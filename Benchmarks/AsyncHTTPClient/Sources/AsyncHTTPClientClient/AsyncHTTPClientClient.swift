// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import LoadDriver

/// The client of the Swift server ecosystem, with as many connections as the others have.
@main
struct AsyncHTTPClientClient {
    static func main() async throws {
        let arguments = LoadArguments()
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = min(64, arguments.concurrency)
        // Requests wait for a connection as long as they have to, as those of the others do.
        configuration.timeout.connect = .seconds(60)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let urls = arguments.urls
        await arguments.run("async-http-client") { host in
            do {
                let response = try await client.execute(HTTPClientRequest(url: urls[host]), timeout: .seconds(60))
                guard response.status == .ok else { return -1 }
                return try await response.body.collect(upTo: 1 << 24).readableBytes
            } catch {
                return -1
            }
        }
        try await client.shutdown()
    }
}
