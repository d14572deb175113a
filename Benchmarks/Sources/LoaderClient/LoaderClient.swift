// SPDX-License-Identifier: Apache-2.0
import LoadDriver
import Refrain

/// The transport alone, with nothing above it.
@main
struct LoaderClient {
    static func main() async throws {
        let arguments = LoadArguments()
        var configuration = CurlLoader.Configuration()
        if let file = arguments.certificateFile { configuration.trust = .certificateFile(file) }
        configuration.maximumConnectionsPerHost = max(configuration.maximumConnectionsPerHost, arguments.open)
        let loader = try CurlLoader(configuration: configuration)
        let requests = try arguments.urls.map { try HTTPRequest($0) }
        try await arguments.openResponses {
            var request = try HTTPRequest(arguments.openURL)
            request.streamsResponse = true
            let body = try await loader.response(for: request).body
            Task { for try await _ in body {} }
        }
        await arguments.run("loader") { host in
            guard case .success(let response) = await loader.load(requests[host]), response.status == 200 else {
                return -1
            }
            return response.data?.count ?? -1
        }
    }
}
