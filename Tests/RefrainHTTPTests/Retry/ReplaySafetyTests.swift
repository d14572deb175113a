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
            for status: HTTPStatus in [500, 502, 503, 504, 403, 409, 413, 429] {
                #expect(!isSafe(context(method, .status(status))), "\(method) \(status)")
            }
            for code in HTTPError.Code.allCases where code != .requestNotProcessed {
                #expect(!isSafe(context(method, .failure(code), bytesSent: 1)), "\(method) \(code)")
            }
            #expect(!isSafe(context(method, .status(503), headers: ["Retry-After": "1"])), "\(method)")
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

    @Test("R2: (e) a 429 counts as unprocessed only with a well-formed Retry-After")
    func rateLimited() {
        for (value, safe) in [
            ("1", true), ("0", true), ("Mon, 03 Jun 2019 11:00:00 GMT", true), ("-1", false), ("", false),
            ("1.5", false),
        ] {
            #expect(isSafe(context(.post, .status(429), headers: ["Retry-After": value])) == safe, "\(value)")
        }
        #expect(!isSafe(context(.post, .status(429))))
        let contradictory = HTTPHeaders([("Retry-After", "1"), ("Retry-After", "2")])
        #expect(!isSafe(context(.post, .status(429), headers: contradictory)))
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
