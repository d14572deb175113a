// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@Suite("What may be sent again")
struct ReplaySafetyTests {
    private let unsafeMethods: [HTTPMethod] = [.post, .patch, .connect, "FROBNICATE", "get"]

    private func isSafe(_ context: RetryContext, repeatable: Set<HTTPMethod> = []) -> Bool {
        if case .safe = ReplaySafety.decide(context, repeatable: repeatable) { return true }
        return false
    }

    @Test("R1: safe and idempotent methods may be sent again after any transient outcome")
    func idempotentMethods() {
        let methods: [HTTPMethod] = [
            .get, .head, .options, .trace, .put, .delete, "PROPFIND", "REPORT", "SEARCH", .query, "MKCOL", "LOCK-NOT",
        ]
        for method in methods.dropLast() {
            #expect(isSafe(context(method, .status(503))), "\(method)")
            #expect(isSafe(context(method, .failure(.timedOut))), "\(method)")
        }
        #expect(!isSafe(context(methods[11], .status(503))))
    }

    @Test("R1: the caller can name further methods")
    func namedMethods() {
        #expect(!isSafe(context("FROBNICATE", .status(503))))
        #expect(isSafe(context("FROBNICATE", .status(503)), repeatable: ["FROBNICATE"]))
    }

    @Test("R2: other methods are not sent again once a byte can have left")
    func unsafeOutcomes() {
        for method in unsafeMethods {
            for status: HTTPStatus in [500, 502, 503, 504, 403, 409, 413] {
                #expect(!isSafe(context(method, .status(status))), "\(method) \(status)")
            }
            for code in HTTPError.Code.allCases where code != .requestNotProcessed {
                #expect(!isSafe(context(method, .failure(code), bytesSent: 1)), "\(method) \(code)")
            }
            for status: HTTPStatus in [500, 502, 504] {
                #expect(!isSafe(context(method, .status(status), headers: ["Retry-After": "1"])), "\(method) \(status)")
            }
        }
    }

    @Test("R2: (a) what cannot have left may be sent again, and evidence goes before the kind of failure")
    func nothingLeft() {
        for method in unsafeMethods {
            for code: HTTPError.Code in [
                .networkConnectionLost, .timedOut, .cannotConnectToHost, .secureConnectionFailed,
            ] {
                #expect(isSafe(context(method, .failure(code), bytesSent: 0)), "\(method) \(code)")
            }
            for code: HTTPError.Code in [
                .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .secureConnectionFailed,
            ] {
                #expect(isSafe(context(method, .failure(code), bytesSent: nil)), "\(method) \(code)")
                #expect(!isSafe(context(method, .failure(code), bytesSent: 40)), "\(method) \(code)")
            }
            for code: HTTPError.Code in [.networkConnectionLost, .timedOut, .unknown, .badServerResponse] {
                #expect(!isSafe(context(method, .failure(code), bytesSent: nil)), "\(method) \(code)")
            }
        }
    }

    @Test("R2: (b) what the server says it did not process may be sent again")
    func notProcessed() {
        for method in unsafeMethods {
            #expect(isSafe(context(method, .failure(.requestNotProcessed))))
            for status: HTTPStatus in [408, 421, 425] {
                #expect(isSafe(context(method, .status(status))), "\(method) \(status)")
            }
            #expect(isSafe(context(method, .status(413), headers: ["Retry-After": "1"])))
            #expect(!isSafe(context(method, .status(413), headers: ["Retry-After": "soon"])))
        }
    }

    @Test("R2: (c) a request with an idempotency key may be sent again")
    func keyed() {
        for method in unsafeMethods {
            #expect(isSafe(context(method, .status(503), key: true)))
            #expect(isSafe(context(method, .failure(.timedOut), key: true)))
        }
    }

    @Test("R2: (d) the caller's word decides, and forbidden holds for every method")
    func permission() {
        for method in unsafeMethods + [.get, .put] {
            #expect(isSafe(context(method, .status(503), replay: .allowed)))
            #expect(!isSafe(context(method, .status(503), key: true, replay: .forbidden)))
            #expect(!isSafe(context(method, .failure(.cannotConnectToHost), bytesSent: 0, replay: .forbidden)))
        }
    }

    @Test("R2: (e) a refusal is not an execution: 429 in any case, 503 with a well-formed time to come back at")
    func refused() {
        let values = [
            ("1", true), ("0", true), ("Mon, 03 Jun 2019 11:00:00 GMT", true), ("-1", false), ("", false),
            ("1.5", false),
        ]
        for method in unsafeMethods {
            #expect(isSafe(context(method, .status(429))))
            for (value, safe) in values {
                #expect(isSafe(context(method, .status(429), headers: ["Retry-After": value])), "\(value)")
                #expect(isSafe(context(method, .status(503), headers: ["Retry-After": value])) == safe, "\(value)")
            }
            #expect(isSafe(context(method, .status(503), headers: ["Retry-After-Ms": "20"])))
            let contradictory = HTTPHeaders([("Retry-After", "1"), ("Retry-After", "2")])
            #expect(!isSafe(context(method, .status(503), headers: contradictory)))
            #expect(!isSafe(context(method, .status(503), replay: .forbidden)))
            #expect(!isSafe(context(method, .status(429), replay: .forbidden)))
        }
    }

    @Test("R2: (e) a 403 that a used-up rate limit explains is a refusal, one without a reset is not")
    func forbidden() {
        func safe(_ remaining: String, _ reset: String?) -> Bool {
            var headers: HTTPHeaders = ["X-RateLimit-Remaining": remaining]
            if let reset { headers["X-RateLimit-Reset"] = reset }
            return isSafe(context(.post, .status(403), headers: headers))
        }
        #expect(safe("0", "1559559602") && safe("0", "2"))
        #expect(!safe("5", "1559559602") && !safe("0", nil) && !safe("0", "soon") && !safe("none", "2"))
    }

    @Test("R4: a body that was read and cannot be had again is not sent again, whatever else allows it")
    func spentBodies() {
        for method: HTTPMethod in [.put, .post, .get] {
            let spent = context(method, .status(503), body: .onceAndRead, key: true, replay: .allowed)
            #expect(ReplaySafety.decide(spent) == .unsafe(.bodyNotReplayable, Rules(4)))
        }
        #expect(isSafe(context(.put, .failure(.cannotConnectToHost), bytesSent: 0, body: .once)))
        #expect(isSafe(context(.put, .status(503), body: .replayable)))
        #expect(isSafe(context(.put, .status(503), body: .none)))
    }
}
