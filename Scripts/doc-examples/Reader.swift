// SPDX-License-Identifier: Apache-2.0
// What the examples in documentation comments take as given: a reader has it, or would write it. Each example becomes a
// method of `Reader`, which is only compiled, so that nothing here needs a value.

import Dispatch
import Refrain
import RefrainAlamofire
import RefrainQueue
import RefrainSimulation
import RefrainTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct Reader: Sendable {
    let anyRequest: HTTPRequest
    let loader: CurlLoader
    let mock: MockLoader
    let custom: MockLoader?
    let isOffline: Bool
    let session: Session
    let oauth: OAuth

    let api: Origin
    let token: Token
    let keychain: OAuth.InMemoryTokenStore
    let service: TokenService
    let person: User
    let counter: Counter

    let client: JobClient
    let id: Int
    let delay: Duration
    let count: Int
    let limit: Duration
    let context: RetryContext
    let response: HTTPResponse

    let queue: RequestQueue
    let database: Database

    let url: URL
    let logInURL: URL
    let photoURL: URL
    let folder: URL
    let form: [String: String]
    let logger: Logger

    func load() async throws -> String { "" }
    func askUser(for origin: Origin? = nil) async throws -> BasicAuth.Credentials? { nil }
    func expect(_ isSo: Bool) {}
}

let tokenURL = "https://api.example.com/token"

struct Busy: Error {}

struct User: Codable, Sendable { let name: String }

struct Logger: PluginType {}

struct Database {
    func execute(_ sql: String, _ values: [RequestQueue.Row.Value]) throws {}
}

enum GitHub: TargetType {
    case user(String)
    var baseURL: URL { URL(filePath: "/") }
    var path: String { "" }
    var method: HTTPMethod { .get }
    var task: TargetTask { .requestPlain }
    var headers: [String: String]? { nil }
}

struct Order: Codable, Sendable {}

struct JobClient: Sendable {
    enum State { case running, done }
    struct Job { let state: State }
    func job(_ id: Int) async throws -> Job { Job(state: .done) }
}

struct Token: AuthenticationCredential, Decodable {
    let access: String
    let refresh: String
    var requiresRefresh: Bool { false }
}

struct TokenService: Sendable {
    func refresh(_ token: OAuth.Token) async throws -> OAuth.Token? { nil }
    func logIn() async throws -> OAuth.Token? { nil }
}

struct TokenAuthenticator: Authenticator {
    func apply(_ credential: Token, to request: inout HTTPRequest) {}
    func refresh(_ credential: Token, for session: Session) async throws -> Token { credential }
    func didRequest(
        _ request: HTTPRequest,
        with response: HTTPResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool { false }
    func isRequest(_ request: HTTPRequest, authenticatedWith credential: Token) -> Bool { true }
}

final class Counter: Sendable {
    func increment() {}
}
