import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("ModifyRequest")
struct ModifyRequestTests {
    private struct Trouble: Error, CustomStringConvertible {
        let description = "no token"
    }

    @Test("R6: after Retry each try is made from the original request, and fields do not pile up")
    func eachTry() async throws {
        let mock = MockLoader().then(.status(503)).then(.status(200))
        let tag = ModifyRequest { request in
            var request = request
            request.headers.add("X-Try", "1")
            return request
        }
        let clock = TestClock(.autoAdvancing)
        let retry = Retry(try Backoff.immediately(), budgets: nil, clocks: clock.clockPair())
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
}
