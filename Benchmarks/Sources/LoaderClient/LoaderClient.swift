import LoadDriver
import Refrain

/// The transport alone, with nothing above it.
@main
struct LoaderClient {
    static func main() async throws {
        let arguments = LoadArguments()
        var configuration = CurlLoader.Configuration()
        if let file = arguments.certificateFile { configuration.trust = .certificateFile(file) }
        configuration.maximumConnectionsPerHost += arguments.open
        let loader = try CurlLoader(configuration: configuration)
        let requests = try arguments.urls.map { try HTTPRequest($0) }
        var slow = try HTTPRequest(arguments.slowURL)
        slow.streamsResponse = true
        let opened = slow
        try await arguments.openSlowResponses {
            let body = try await loader.response(for: opened).body
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
