// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("What is worth trying again")
struct ClassificationTests {
    private func isTransient(_ context: RetryContext) -> Bool {
        if case .transient = Classification.recommended(context) { return true }
        return false
    }

    @Test("R7: of all statuses, exactly the listed ones are transient by themselves")
    func statuses() {
        let finalServerErrors: Set = [501, 505, 506, 508, 510, 511]
        for status in 100...999 {
            let expected =
                [408, 421, 425, 429].contains(status)
                || ((500..<600).contains(status) && !finalServerErrors.contains(status))
            #expect(isTransient(context(.get, .status(HTTPStatus(rawValue: status)))) == expected, "\(status)")
        }
    }

    @Test("R7: 413 and 403 are transient only with a well-formed Retry-After")
    func needRetryAfter() {
        for status: HTTPStatus in [403, 413] {
            #expect(isTransient(context(.get, .status(status), headers: ["Retry-After": "3"])))
            #expect(!isTransient(context(.get, .status(status), headers: ["Retry-After": "3 s"])))
            #expect(
                !isTransient(context(.get, .status(status), headers: ["Retry-After": "3"], retryAfterPolicy: .ignored))
            )
        }
        for status: HTTPStatus in [400, 401, 404, 410, 451] {
            #expect(!isTransient(context(.get, .status(status), headers: ["Retry-After": "3"])))
        }
    }

    @Test("R7: a 403 with a used-up rate limit and a reset is a 429, in every spelling of the fields")
    func rateLimited() throws {
        let spellings: [[String: String]] = [
            ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1559559602"],
            ["RateLimit-Remaining": "0", "RateLimit-Reset": "2"],
            ["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1559559602000"],
            ["RateLimit": "\"core\";r=0;t=2"],
        ]
        for fields in spellings {
            let headers = HTTPHeaders(fields.map { ($0.key, $0.value) })
            let decision = RetryPolicy.recommended.decide(in: context(.post, .status(403), headers: headers))
            let limited = RetryPolicy.recommended.decide(in: context(.post, .status(429), headers: headers))
            #expect(decision.range == limited.range && decision.retries, "\(fields)")
            #expect(decision.range?.lowerBound == .seconds(2), "\(fields)")
            #expect(!isTransient(context(.get, .status(403), headers: headers, retryAfterPolicy: .ignored)))
            #expect(!isTransient(context(.get, .status(404), headers: headers)))
            #expect(!RetryPolicy().decide(in: context(.get, .status(403), headers: headers)).retries)
        }
        for fields in [
            ["X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "1559559602"], ["X-RateLimit-Remaining": "0"],
            ["X-RateLimit-Reset": "1559559602"], ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"],
        ] {
            let headers = HTTPHeaders(fields.map { ($0.key, $0.value) })
            #expect(!isTransient(context(.get, .status(403), headers: headers)), "\(fields)")
        }
    }

    @Test("R5: with a key 409 is still running, and 422 is final")
    func keyedConflicts() {
        #expect(isTransient(context(.post, .status(409), key: true)))
        #expect(!isTransient(context(.post, .status(409))))
        #expect(!isTransient(context(.post, .status(422), key: true)))
    }

    @Test("R7: after 408 and 421 the next attempt goes over another connection")
    func freshConnections() {
        for status: HTTPStatus in [408, 421] {
            #expect(RetryPolicy.recommended.decide(in: context(.get, .status(status))).details.needsFreshConnection)
        }
        #expect(!RetryPolicy.recommended.decide(in: context(.get, .status(503))).details.needsFreshConnection)
    }

    /// Written by hand from rule R8 and from Alamofire's list; not from the code.
    private let transientCodes: Set<HTTPError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .callIsActive,
        .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed, .dnsLookupFailed,
        .internationalRoamingOff, .networkConnectionLost, .notConnectedToInternet, .resourceUnavailable,
        .secureConnectionFailed, .timedOut, .unknown, .zeroByteResource, .requestNotProcessed,
        .badServerResponse, .cannotParseResponse,
    ]

    @Test("R8: of all failures, exactly those that may pass are transient")
    func failures() {
        for code in HTTPError.Code.allCases {
            #expect(isTransient(context(.get, .failure(code))) == transientCodes.contains(code), "\(code)")
        }
    }

    @Test("R8: protocol garbage is tried once more, and only once")
    func garbage() {
        for code: HTTPError.Code in [.badServerResponse, .cannotParseResponse] {
            #expect(isTransient(context(.get, .failure(code), attempt: 1)))
            #expect(!isTransient(context(.get, .failure(code), attempt: 2)))
        }
    }

    @Test("R8: the bare policy follows Alamofire's list of 18 failures and 5 statuses")
    func alamofire() throws {
        let policy = RetryPolicy()
        let retried = HTTPError.Code.allCases.filter { policy.decide(in: context(.get, .failure($0))).retries }
        #expect(Set(retried) == RetryPolicy.defaultRetryableErrorCodes)
        #expect(retried.count == 18)
        let statuses = (100...599).map { HTTPStatus(rawValue: $0) }.filter {
            policy.decide(in: context(.get, .status($0))).retries
        }
        #expect(statuses == [408, 500, 502, 503, 504])
        let methods: [HTTPMethod] = [.get, .head, .options, .trace, .put, .delete, .post, .patch, .connect, .query]
        #expect(methods.filter { policy.decide(in: context($0, .status(503))).retries } == Array(methods.prefix(6)))
        #expect(
            policy.decide(in: context(.get, .status(503), attempt: 1)).range == .milliseconds(
                500
            )...(.milliseconds(500))
        )
        #expect(policy.decide(in: context(.get, .status(503), attempt: 2)).range == .seconds(1)...(.seconds(1)))
        #expect(policy.decide(in: context(.get, .status(503), attempt: 3)).reason == .attemptsUsedUp)
        let longer = RetryPolicy(retryLimit: 4)
        #expect(longer.decide(in: context(.get, .status(503), attempt: 4)).range == .seconds(4)...(.seconds(4)))
    }

    @Test("R2: naming POST in the methods of the bare policy is the caller's leave")
    func namedPost() throws {
        let policy = RetryPolicy(retryableHTTPMethods: [.get, .post])
        #expect(policy.decide(in: context(.post, .status(503))).retries)
        #expect(!policy.decide(in: context(.post, .status(503), body: .onceAndRead)).retries)
        #expect(!policy.decide(in: context(.post, .status(503), replay: .forbidden)).retries)
    }

    @Test("R9: cancellation is never retried, under either policy")
    func cancellation() {
        for policy in [RetryPolicy.recommended, RetryPolicy()] {
            #expect(policy.decide(in: context(.get, .failure(.cancelled))).reason == .cancelled)
        }
    }

    @Test("A: RetryPolicy: settings that make no sense are clamped, and refused by name where they come from outside")
    func refusals() {
        #expect(RetryPolicy(retryLimit: -1) == RetryPolicy(retryLimit: 0))
        #expect(RetryPolicy(exponentialBackoffScale: .nan) == RetryPolicy(exponentialBackoffScale: 0))
        func refused(_ make: () throws(InvalidArgument) -> RetryPolicy) -> String? {
            do throws(InvalidArgument) { _ = try make() } catch { return error.argument }
            return nil
        }
        #expect(refused { () throws(InvalidArgument) in try RetryPolicy.validated(retryLimit: -1) } == "retryLimit")
        #expect(
            refused { () throws(InvalidArgument) in try RetryPolicy.validated(exponentialBackoffBase: 1) }
                == "exponentialBackoffBase"
        )
        for scale in [-1, .nan, .infinity] as [Double] {
            #expect(
                refused { () throws(InvalidArgument) in try RetryPolicy.validated(exponentialBackoffScale: scale) }
                    == "exponentialBackoffScale"
            )
        }
    }
}

@Suite("The table of failures")
struct RetryabilityTests {
    @Test("R8: the published table of all codes says what the code does")
    func published() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let text = String(
            decoding: try Data(contentsOf: URL(filePath: root + "/Documentation/Failures.md")),
            as: UTF8.self
        )
        for line in Self.rows { #expect(text.contains(line), "the table lacks this row:\n\(line)") }
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == HTTPError.Code.allCases.count)
    }

    private static var rows: [String] {
        let bare = RetryPolicy()
        return HTTPError.Code.allCases.map { code in
            let recommended =
                switch code.retryability {
                case .transient: "tried again"
                case .transientOnce: "tried once more"
                case .final: "final"
                }
            let alamofire = bare.decide(in: context(.get, .failure(code))).retries ? "tried again" : "final"
            let replay = code.isKnownUnsent ? "nothing left" : ""
            return "| `\(code.rawValue)` | \(recommended) | \(alamofire) | \(replay) | \(code.retryabilityReason) |"
        }
    }
}
