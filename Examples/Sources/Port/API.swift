import Refrain

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A pair of tokens, as the login and the refresh answer it.
struct Token: AuthenticationCredential, Decodable {
    let access: String
    let refresh: String

    /// A real one compares its expiry with the clock; this one learns it from a 401.
    var requiresRefresh: Bool { false }
}

/// One row of the list.
struct Photo: Decodable, Sendable {
    let id: Int
    let title: String
}

/// What the login sends.
struct Login: Encodable, Sendable {
    let name: String
    let password: String
}

/// Signs with a bearer token, and refreshes it on the same session.
struct TokenAuthenticator: Authenticator {
    let base: String

    func apply(_ credential: Token, to request: inout HTTPRequest) {
        request.headers["Authorization"] = "Bearer \(credential.access)"
    }

    func refresh(_ credential: Token, for session: Session) async throws -> Token {
        print("  the token is refreshed")
        return try await session.request(
            "\(base)/token",
            method: .post,
            parameters: ["refresh": .string(credential.refresh)]
        )
        .validate()
        .serializingDecodable(Token.self)
        .value
    }

    func didRequest(
        _ request: HTTPRequest,
        with response: HTTPResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool { response.status == .unauthorized }

    func isRequest(_ request: HTTPRequest, authenticatedWith credential: Token) -> Bool {
        request.headers["Authorization"] == "Bearer \(credential.access)"
    }
}
