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
        await arguments.run("session-decodable") { host in
            let response = await session.request(urls[host]).validate().serializingDecodable(Int.self).response
            // The body is the two digits of this number.
            guard case .success(11) = response.result else { return -1 }
            return 2
        }
    }
}
