// SPDX-License-Identifier: Apache-2.0
import Refrain

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A pair of tokens, as login and refresh return it.
struct Token: AuthenticationCredential, Decodable {
    let access: String
    let refresh: String

    /// An app would compare the expiry with the clock; this one reacts to a 401.
    var requiresRefresh: Bool { false }
}

/// One element of the list.
struct Photo: Decodable, Sendable {
    let id: Int
    let title: String
}

/// The body of the login.
struct Login: Encodable, Sendable {
    let name: String
    let password: String
}

/// Adds a bearer token to requests, and refreshes it on the same session.
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
