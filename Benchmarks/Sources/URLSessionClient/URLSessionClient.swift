// SPDX-License-Identifier: Apache-2.0
import Foundation
import LoadDriver

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The system's own client, with as many connections as the others have, and no cache to write to.
@main
struct URLSessionClient {
    static func main() async throws {
        let arguments = LoadArguments()
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = min(64, arguments.concurrency)
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        let urls = arguments.urls.compactMap { URL(string: $0) }
        guard urls.count == arguments.urls.count else { throw URLError(.badURL) }
        await arguments.run("urlsession") { host in
            guard let (data, response) = try? await session.data(from: urls[host]),
                (response as? HTTPURLResponse)?.statusCode == 200
            else { return -1 }
            return data.count
        }
    }
}
