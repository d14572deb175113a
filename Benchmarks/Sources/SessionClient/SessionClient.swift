// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import LoadDriver
import Refrain

/// The default session: retries, budget, records and redirects with their defaults.
@main
struct SessionClient {
    static func main() async throws {
        let arguments = LoadArguments()
        let session: Session
        if let file = arguments.certificateFile {
            var configuration = CurlLoader.Configuration()
            configuration.trust = .certificateFile(file)
            session = Session(loader: try CurlLoader(configuration: configuration))
        } else {
            session = Session()
        }
        let urls = try arguments.urls.map { try HTTPRequest($0).url }
        await arguments.run("session") { host in
            let response = await session.request(urls[host]).serializingData().response
            guard response.response?.status == 200, case .success(let data) = response.result else { return -1 }
            return data.count
        }
    }
}
