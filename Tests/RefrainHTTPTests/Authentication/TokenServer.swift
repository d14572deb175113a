// SPDX-License-Identifier: Apache-2.0
import RefrainTesting

@testable import RefrainHTTP

/// A server that accepts one token at a time, and hands out the next one.
final class TokenServer: Sendable {
    private let state: Locked<State>

    private struct State {
        var accepted: String
        var refreshes = 0
        var logIns = 0
    }

    init(accepts token: String = "t1") { state = Locked(State(accepted: token)) }

    var refreshes: Int { state.withLock { $0.refreshes } }
    var logIns: Int { state.withLock { $0.logIns } }

    func refresh() -> OAuth.Token {
        state.withLock { state in
            state.refreshes += 1
            state.accepted = "r\(state.refreshes)"
            return OAuth.Token(accessToken: state.accepted, refreshToken: "again")
        }
    }

    func countRefresh() { state.withLock { $0.refreshes += 1 } }

    func logIn() -> OAuth.Token {
        state.withLock { state in
            state.logIns += 1
            state.accepted = "l\(state.logIns)"
            return OAuth.Token(accessToken: state.accepted, refreshToken: "again")
        }
    }

    /// Answers 200 to the accepted token, 401 to any other.
    var reply: MockLoader.Reply {
        MockLoader.Reply { [self] request in
            if !request.body.isEmpty { _ = try? await request.body.collect() }
            let accepted = state.withLock { $0.accepted }
            let isAccepted = request.headers["Authorization"] == "Bearer \(accepted)"
            return .success(HTTPResponse(request: request, status: isAccepted ? 200 : 401))
        }
    }
}

struct ServiceDown: Error {}

extension HTTPResult {
    var error: HTTPError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
