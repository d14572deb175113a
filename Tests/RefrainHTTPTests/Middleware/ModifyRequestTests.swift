// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("ModifyRequest")
struct ModifyRequestTests {
    private struct Trouble: Error, CustomStringConvertible {
        let description = "no token"
    }

    @Test("R6: after Retry each attempt is made from the original request, and fields do not pile up")
    func eachTry() async throws {
        let mock = MockLoader().then(.status(503)).then(.status(200))
        let tag = ModifyRequest { request in
            var request = request
            request.headers.add("X-Try", "1")
            return request
        }
        let clock = TestClock(.autoAdvancing)
        let retry = Retry(Backoff.immediately(), budgets: nil, clocks: clock.retryClocks())
        _ = await (retry --> tag --> mock).load(sampleRequest())
        #expect(mock.requests.map { $0.headers[values: "X-Try"] } == [["1"], ["1"]])
    }

    @Test(
        "B: ModifyRequest: an error of the closure fails the request under the stage's name, and nothing is sent"
    )
    func throwing() async throws {
        let mock = MockLoader()
        let result = await (ModifyRequest("Sign") { _ in throw Trouble() } --> mock).load(sampleRequest())
        guard case .failure(let error) = result else { throw Trouble() }
        #expect(error.code == .callerFailed)
        #expect(error.message == "Sign threw: no token")
        #expect(error.underlyingError is Trouble)
        #expect(error.bytesSent == 0)
        #expect(mock.requests.isEmpty)
    }

    @Test("R9: a cancellation within the closure is a cancellation, and an HTTPError stays what it is")
    func otherErrors() async {
        let mock = MockLoader()
        let cancelled = await (ModifyRequest { _ in throw CancellationError() } --> mock).load(sampleRequest())
        #expect(cancelled.errorCode == .cancelled)
        let own = await (ModifyRequest { throw HTTPError(.timedOut, request: $0) } --> mock).load(sampleRequest())
        #expect(own.errorCode == .timedOut)
    }

    private func limited() -> HTTPRequest {
        var request = sampleRequest()
        request.timeout = .seconds(3)
        return request
    }

    @Test("R20: the deadline ends the closure's wait, and nothing is sent")
    func deadline() async {
        let (clock, hold, mock) = (TestClock(), MockLoader.Gate(), MockLoader())
        let gate = MockLoader().then(.held(by: hold, .status(200)))
        let stage = ModifyRequest(clocks: clock.retryClocks()) { request in
            _ = await gate.load(request)
            return request
        }
        let task = (stage --> mock).load(limited()) { _ in }
        await hold.arrivals(atLeast: 1)
        await clock.advanceToNextSleeper()
        let result = await task.result
        #expect(result.errorCode == .deadlineExceeded)
        #expect(result.error?.bytesSent == 0)
        #expect(hold.count == 0)
        #expect(mock.requests.isEmpty)
    }

    @Test("R20: a closure that does not heed the deadline goes on to its end, and nothing is sent after it")
    func unheededDeadline() async {
        let (clock, mock) = (TestClock(), MockLoader().otherwise(.status(200)))
        let stage = ModifyRequest(clocks: clock.retryClocks()) { request in
            await clock.advance(by: .seconds(5))
            return request
        }
        #expect(await (stage --> mock).load(limited()).errorCode == .deadlineExceeded)
        #expect(mock.requests.isEmpty)
    }

    @Test("R20: what is sent has what the closure has left of the deadline")
    func deadlineThatIsLeft() async {
        let (clock, mock) = (TestClock(), MockLoader().otherwise(.status(200)))
        let stage = ModifyRequest(clocks: clock.retryClocks()) { request in
            await clock.advance(by: .seconds(1))
            return HTTPRequest(request.url)
        }
        #expect(await (stage --> mock).load(limited()).status == 200)
        #expect(mock.requests.map(\.attemptTimeout) == [.seconds(2)])
    }

    private func patient() -> ModifyRequest {
        ModifyRequest { request in
            var request = request
            request.timeout = .seconds(60)
            return request
        }
    }

    @Test("R20: the time of a call that the closure makes longer is that of its waits as well")
    func longerTimeout() async {
        let (clock, mock) = (TestClock(.autoAdvancing), MockLoader().then(.status(503)).then(.status(200)))
        let retry = Retry(Backoff.constant(delay: .seconds(5)), budgets: nil, clocks: clock.retryClocks())
        #expect(await (retry --> patient() --> mock).load(limited()).status == 200)
        #expect(clock.sleeps == [.seconds(5)])
    }

    @Test("R37: the time that a key of a durable queue has left is not made longer")
    func lifeOfAKey() async {
        let (clock, mock) = (TestClock(.autoAdvancing), MockLoader().otherwise(.status(503)))
        var request = limited()
        request.durableCall = DurableCall(
            earlierAttempts: 0,
            longestWait: .seconds(10),
            isOwned: { true },
            willWait: nil,
            refusal: { _ in nil }
        )
        let retry = Retry(Backoff.constant(delay: .seconds(2)), budgets: nil, clocks: clock.retryClocks())
        let redirect = Redirect(clocks: clock.retryClocks())
        let result = await (redirect --> retry --> patient() --> mock).load(request)
        #expect(result.attempts.last?.reason == .deadlineExceeded)
        #expect(clock.sleeps == [.seconds(2)] && mock.requests.count == 2)
    }

    @Test("R20: an attempt that has timed out by itself, or a redirect, is in the time that the closure gives the call")
    func longerAttempts() async {
        let clock = TestClock()
        let mock = MockLoader().then { request in
            await clock.advance(by: .seconds(5))
            return .failure(HTTPError(.timedOut, request: request))
        }
        mock.then { request in
            await clock.advance(by: .seconds(5))
            return .success(HTTPResponse(request: request, status: 302, headers: ["Location": "/b"]))
        }
        mock.then(.status(200)).otherwise(.status(500))
        let redirect = Redirect(clocks: clock.retryClocks())
        let retry = Retry(Backoff.immediately(), budgets: nil, clocks: clock.retryClocks())
        #expect(await (redirect --> retry --> patient() --> mock).load(limited()).status == 200)
        #expect(mock.requests.count == 3)
    }

    @Test("R20: the time that the closure gives a call without a limit is that of all its hops together")
    func limitOfAllHops() async {
        let clock = TestClock()
        let mock = MockLoader().otherwise(
            MockLoader.Reply { request in
                await clock.advance(by: .seconds(40))
                return .success(HTTPResponse(request: request, status: 302, headers: ["Location": "/b"]))
            }
        )
        let redirect = Redirect(clocks: clock.retryClocks())
        let chain = redirect --> Retry(Backoff.never, clocks: clock.retryClocks()) --> patient() --> mock
        #expect(await chain.load(sampleRequest()).errorCode == .deadlineExceeded)
        #expect(mock.requests.count == 2)
    }

    @Test("R6, R26: a request that is made anew, or signed, gets nothing back that a redirect has dropped")
    func dropped() async {
        let oauth = OAuth(store: OAuth.InMemoryTokenStore(OAuth.Token(accessToken: "secret"))) { nil }
        let anew = ModifyRequest { request in HTTPRequest(request.url, headers: request.headers) }
        let signing = ModifyRequest { request in
            var request = request
            request.headers["Authorization"] = "Bearer secret"
            return request
        }
        for stage in [anew, signing] {
            let mock = MockLoader().then(.status(302, headers: ["Location": "https://other.example.com/"]))
                .otherwise(.status(200))
            #expect(await (Redirect() --> stage --> oauth --> mock).load(sampleRequest()).status == 200)
            #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil])
        }
    }

    @Test("A request that is made anew has the options of the one that it stands for, unless it sets them")
    func options() async {
        let mock = MockLoader().otherwise(.status(200))
        let stage = ModifyRequest { request in
            var anew = HTTPRequest(request.url)
            anew.maximumBodySize = 20
            return anew
        }
        var request = sampleRequest()
        request.maximumBodySize = 10
        request.throttle = .never
        request.timeouts.idle = .seconds(7)
        request[option: Note.self] = "mine"
        #expect(await (stage --> mock).load(request).status == 200)
        #expect(mock.requests.map(\.maximumBodySize) == [20])
        #expect(mock.requests.map(\.throttle) == [.never])
        #expect(mock.requests.map(\.timeouts.idle) == [.seconds(7)])
        #expect(mock.requests.map { $0[option: Note.self] } == ["mine"])
    }

    private enum Note: HTTPRequestOption { static let defaultValue = "none" }
}
