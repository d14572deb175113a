// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import Testing

@testable import RefrainQueue

@Suite("What follows from a claim, and from its result")
struct ClaimDecisionTests {
    private static func claim(
        _ safety: StoredRequest.Safety,
        _ method: HTTPMethod = .post,
        claims: Int = 1,
        age: Duration? = nil
    ) -> Claim {
        let (head, key) = ("\(method) https://example.com/\n", safety == .keyed ? "k" : nil)
        let request = StoredRequest(head: head, body: [], file: nil, key: key, safety: safety)
        return Claim(id: 1, token: 1, request: request, claims: claims, attempts: 0, age: age)
    }

    private static func decide(_ claim: Claim) -> ClaimDecision {
        ClaimDecision.decide(claim, keyLifetime: .seconds(86_400))
    }

    private static func isEnd(_ decision: ClaimDecision, _ outcome: ClaimResult.Outcome) -> Bool {
        if case .end(outcome, _) = decision { true } else { false }
    }

    @Test("R37: what may be sent once and has begun is unknown; with a key it is sent as long as that lasts")
    func begun() {
        #expect(Self.decide(Self.claim(.once)) == .send(within: nil))
        #expect(Self.isEnd(Self.decide(Self.claim(.once, age: .zero)), .unknown))
        #expect(Self.decide(Self.claim(.keyed)) == .send(within: .seconds(86_400)))
        #expect(Self.decide(Self.claim(.keyed, age: .seconds(86_000))) == .send(within: .seconds(400)))
        #expect(Self.isEnd(Self.decide(Self.claim(.keyed, age: .seconds(86_401))), .unknown))
        #expect(Self.decide(Self.claim(.repeatable, age: .seconds(1 << 30))) == .send(within: nil))
    }

    @Test("a request that has ended five workers is not sent a sixth time")
    func poison() {
        for safety in [StoredRequest.Safety.keyed, .repeatable] {
            #expect(!Self.isEnd(Self.decide(Self.claim(safety, claims: 5, age: .seconds(1))), .failed))
            #expect(Self.isEnd(Self.decide(Self.claim(safety, claims: 6, age: .seconds(1))), .failed))
        }
    }

    /// The decision on an answer or on a failure.
    private static func result(
        _ method: HTTPMethod,
        _ safety: StoredRequest.Safety,
        status: HTTPStatus? = nil,
        code: HTTPError.Code = .timedOut,
        bytesSent: Int64? = 100
    ) throws -> ClaimResult.Outcome {
        var request = try HTTPRequest("https://example.com/", method: method)
        if safety == .keyed { request.headers["Idempotency-Key"] = "\"k\"" }
        let result: HTTPResult =
            if let status { .success(HTTPResponse(request: request, status: status)) } else {
                .failure(HTTPError(code, request: request, bytesSent: bytesSent))
            }
        return ResultDecision.decide(result, claim(safety, method), timeLeft: nil, now: .now).outcome
    }

    @Test("an answer is a success, a final failure, or of unknown effect")
    func answers() throws {
        #expect(try Self.result(.post, .once, status: 201) == .done)
        #expect(try Self.result(.post, .once, status: 400) == .failed)
        #expect(try Self.result(.post, .once, status: 502) == .unknown)
        #expect(try Self.result(.post, .keyed, status: 502) == .failed)
        #expect(try Self.result(.get, .repeatable, status: 304) == .done)
        #expect(try Self.result(.get, .repeatable, status: 301) == .failed)
        #expect(try Self.result(.post, .once, code: .timedOut) == .unknown)
        #expect(try Self.result(.post, .once, code: .cannotConnectToHost, bytesSent: 0) == .failed)
        #expect(try Self.result(.get, .repeatable, code: .timedOut) == .failed)
    }

    @Test("R37: whatever the code of an error, a request that is sent once and may have been processed is unknown")
    func codesThatSayNothing() throws {
        for code in HTTPError.Code.allCases where ![.cancelled, .requestNotProcessed].contains(code) {
            let outcome = try Self.result(.post, .once, code: code)
            // The time to come back at, and a reset, have rules of their own.
            let isLater = if case .later = outcome { true } else { false }
            #expect(outcome == .unknown || isLater, "\(code): \(outcome)")
            let unsent = try Self.result(.post, .once, code: code, bytesSent: 0)
            #expect(unsent != .unknown, "\(code): \(unsent)")
        }
        #expect(try Self.result(.post, .once, code: .requestNotProcessed) == .failed)
        func refused(_ status: HTTPStatus, _ headers: HTTPHeaders = [:]) throws -> ClaimResult.Outcome {
            let request = try HTTPRequest("https://example.com/", method: .post)
            let response = HTTPResponse(request: request, status: status, headers: headers)
            let error = HTTPError(.callerFailed, request: request, response: response, bytesSent: 100)
            return ResultDecision.decide(.failure(error), Self.claim(.once), timeLeft: nil, now: .now).outcome
        }
        #expect(try refused(.ok) == .failed && refused(.notFound) == .failed)
        #expect(try refused(.internalServerError) == .unknown && refused(.serviceUnavailable) == .unknown)
        #expect(try refused(.serviceUnavailable, ["Retry-After": "5"]) == .failed)
    }

    @Test("R37: one that is sent once and was answered with a redirect is unknown, whatever became of the rest")
    func redirected() throws {
        let request = try HTTPRequest("https://example.com/orders/7")
        func outcome(_ result: HTTPResult, _ safety: StoredRequest.Safety = .once) -> ClaimResult.Outcome {
            ResultDecision.decide(result, Self.claim(safety), timeLeft: nil, wait: .seconds(5), now: .now).outcome
        }
        var later = HTTPError(.retryAfterTooLong, request: request, bytesSent: 100)
        later.retryAfterDate = WallClock.Instant.now.advanced(by: .seconds(600))
        let cancelled = HTTPError(.cancelled, request: request, bytesSent: 0)
        #expect(outcome(.failure(later)) == .unknown && outcome(.failure(cancelled)) == .unknown)
        #expect(outcome(.success(HTTPResponse(request: request, status: .notFound))) == .unknown)
        #expect(outcome(.success(HTTPResponse(request: request, status: .ok))) == .done)
        #expect(outcome(.failure(cancelled), .keyed) == .later(.seconds(5)))
    }

    @Test("a cancelled request waits for another worker, unless it may be sent once and may have been")
    func cancellations() throws {
        #expect(try Self.result(.post, .once, code: .cancelled, bytesSent: 0) == .later(.zero))
        #expect(try Self.result(.post, .once, code: .cancelled, bytesSent: nil) == .unknown)
        #expect(try Self.result(.post, .keyed, code: .cancelled) == .later(.zero))
        #expect(try Self.result(.get, .repeatable, code: .cancelled) == .later(.zero))
    }

    @Test("R37: a request that was cancelled before its second attempt has begun, unless the first was not sent")
    func cancelledLater() throws {
        func isUnsent(_ safety: StoredRequest.Safety, first: Int64?) throws -> Bool {
            let request = try HTTPRequest("https://example.com/", method: .post)
            var error = HTTPError(.cancelled, request: request, bytesSent: 0)
            error.attempts = [(HTTPError.Code.networkConnectionLost, first), (.cancelled, 0)].enumerated().map {
                AttemptRecord(
                    number: $0 + 1,
                    start: .zero,
                    duration: .zero,
                    error: $1.0,
                    bytesSent: $1.1,
                    decision: .finish,
                    reason: .cancelled
                )
            }
            return ResultDecision.decide(.failure(error), Self.claim(safety), timeLeft: nil, now: .now).isUnsent
        }
        #expect(try isUnsent(.keyed, first: 0) && !isUnsent(.keyed, first: 100) && !isUnsent(.keyed, first: nil))
        // Its first attempt was refused for certain.
        #expect(try isUnsent(.once, first: 100))
    }

    @Test("a later time is kept, unless the key ends before it")
    func later() throws {
        let request = try HTTPRequest("https://example.com/")
        var error = HTTPError(.retryAfterTooLong, request: request, bytesSent: 100)
        let now = WallClock.Instant(sinceEpoch: .seconds(1000))
        error.retryAfterDate = now.advanced(by: .seconds(600))
        func outcome(_ timeLeft: Duration?) -> ClaimResult.Outcome {
            ResultDecision.decide(.failure(error), Self.claim(.keyed), timeLeft: timeLeft, now: now).outcome
        }
        #expect(outcome(nil) == .later(.seconds(600)))
        #expect(outcome(.seconds(601)) == .later(.seconds(600)))
        #expect(outcome(.seconds(600)) == .unknown)
    }
}
