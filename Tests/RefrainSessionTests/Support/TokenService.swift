// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport

struct Token: AuthenticationCredential, Equatable {
    var value: String
    var requiresRefresh = false
}

/// A service that accepts one token at a time, and hands out the next one.
final class TokenService: HTTPLoader, Sendable {
    private struct State {
        var accepted = 1
        var requests = 0
        var refusals = 0
        var refreshes = 0
    }

    private let state = Observed(State())
    private let acceptsNothing: Bool
    private let gathering: Int
    private let gathered = Signal()

    /// Accepts the token of this number; answers no request until so many have come.
    init(accepting number: Int = 1, acceptsNothing: Bool = false, gathering: Int = 0) {
        self.acceptsNothing = acceptsNothing
        self.gathering = gathering
        state.withLock { $0.accepted = number }
    }

    var requests: Int { state.withLock { $0.requests } }
    var refusals: Int { state.withLock { $0.refusals } }
    /// Returns when so many requests were refused.
    func refusals(atLeast count: Int) async { await state.wait { $0.refusals >= count } }
    var refreshes: Int { state.withLock { $0.refreshes } }

    /// The next token; the ones before it count no more.
    func refresh() -> String {
        state.withLock { state in
            state.refreshes += 1
            state.accepted += 1
            return "t\(state.accepted)"
        }
    }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        if request.headers["X-Refresh"] != nil {
            return .success(HTTPResponse(request: request, status: 200, body: .text(refresh())))
        }
        let count = state.withLock { state in
            state.requests += 1
            return state.requests
        }
        if count == gathering { gathered.set() }
        if count <= gathering { await gathered.wait() }
        let isAccepted = state.withLock { state in
            let isAccepted = !acceptsNothing && request.headers["Authorization"] == "Bearer t\(state.accepted)"
            if !isAccepted { state.refusals += 1 }
            return isAccepted
        }
        let status: HTTPStatus = isAccepted ? 200 : 401
        return .success(HTTPResponse(request: request, status: status, body: .text("\(status)")))
    }
}

struct TokenAuthenticator: Authenticator {
    var refreshing: @Sendable (Token, Session) async throws -> Token

    func apply(_ credential: Token, to request: inout HTTPRequest) {
        request.headers["Authorization"] = "Bearer \(credential.value)"
    }

    func refresh(_ credential: Token, for session: Session) async throws -> Token {
        try await refreshing(credential, session)
    }

    func didRequest(
        _ request: HTTPRequest,
        with response: HTTPResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool { response.status == .unauthorized }

    func isRequest(_ request: HTTPRequest, authenticatedWith credential: Token) -> Bool {
        request.headers["Authorization"] == "Bearer \(credential.value)"
    }
}
