// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import LoadDriver
import Refrain

/// The call of the README: a default session, a validated response, and a value decoded from JSON.
@main
struct SessionDecodableClient {
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
        let isObject = arguments.urls[0].hasSuffix("/json-1k")
        await arguments.run("session-decodable") { host in
            let request = session.request(urls[host]).validate()
            if isObject {
                let response = await request.serializingDecodable([Person].self).response
                guard case .success(let people) = response.result, people.count == 8 else { return -1 }
                return response.data?.count ?? -1
            }
            // The body is the two digits of this number.
            guard case .success(11) = await request.serializingDecodable(Int.self).response.result else { return -1 }
            return 2
        }
    }
}

/// An element of the case `json-1k`.
private struct Person: Decodable {
    let id: Int
    let name: String
    let email: String
    let isActive: Bool
    let score: Double
    let tags: [String]
}
