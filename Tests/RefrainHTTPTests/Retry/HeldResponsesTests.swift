// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("Responses that are not read any more")
struct HeldResponsesTests {
    private let clock = TestClock(.autoAdvancing)

    @Test(
        "R28: a response is let go of before the next request is sent, which may need its connection",
        arguments: ["retry", "redirect", "401"],
        [nil, .seconds(60)] as [Duration?]
    )
    func letsGo(_ stage: String, deadline: Duration?) async throws {
        let first = FirstResponse(status: ["retry": 503, "redirect": 302, "401": 401][stage] ?? 500)
        var request = try HTTPRequest("http://a.example/")
        request.timeout = deadline
        request.streamsResponse = true
        let chain = try chain(stage, first)
        #expect(await chain.load(request).isResponse)
        #expect(first.isHeld == false)
    }

    @Test("R28: nor is one held through a wait, though the deadline may ask for what it was")
    func waits() async throws {
        let clock = TestClock()
        let first = FirstResponse(status: 503)
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(1)))
        let loader = Retry(policy, budgets: nil, clocks: clock.retryClocks()) --> first
        var request = try HTTPRequest("http://a.example/")
        request.timeout = .seconds(60)
        request.streamsResponse = true
        let call = Task { [request] in await loader.load(request) }
        await clock.sleepers(atLeast: 1)
        #expect(first.holdsConnection == false)
        await clock.advanceToNextSleeper()
        #expect(await call.value.isResponse)
    }

    private func chain(_ stage: String, _ loader: FirstResponse) throws -> any HTTPLoader {
        switch stage {
        case "retry":
            let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(1)))
            return Retry(policy, budgets: nil, clocks: clock.retryClocks()) --> loader
        case "redirect":
            return Redirect(clocks: clock.retryClocks()) --> loader
        default:
            let tokens = Locked(0)
            return OAuth(clocks: clock.retryClocks()) {
                OAuth.Token(accessToken: "\(tokens.withLock { $0 += 1; return $0 })")
            } --> loader
        }
    }

    /// Returns a streamed body first, and then reports whether that body is still referenced.
    private final class FirstResponse: HTTPLoader {
        private final class Connection: Sendable {}

        private struct State {
            weak var connection: Connection?
            var sends = 0
            var isHeld: Bool?
        }

        private let status: HTTPStatus
        private let state = Locked(State())

        init(status: HTTPStatus) { self.status = status }

        var holdsConnection: Bool { state.withLock { $0.connection != nil } }

        var isHeld: Bool? { state.withLock { $0.isHeld } }

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let sends = state.withLock { state in
                state.sends += 1
                if state.sends == 2 { state.isHeld = state.connection != nil }
                return state.sends
            }
            guard sends == 1 else { return .success(HTTPResponse(request: request, status: 200)) }
            let connection = Connection()
            state.withLock { $0.connection = connection }
            let body = HTTPBody.stream {
                withExtendedLifetime(connection) {}
                return AsyncStream<[UInt8]> { $0.finish() }
            }
            return .success(HTTPResponse(request: request, status: status, headers: ["Location": "/b"], body: body))
        }
    }
}

extension HTTPResult {
    fileprivate var isResponse: Bool { if case .success(let response) = self { response.status == 200 } else { false } }
}
