// SPDX-License-Identifier: Apache-2.0
import Foundation
import RefrainHTTP
import RefrainURLSession
import Testing

@Suite("URLError", .timeLimit(.minutes(10)))
struct ErrorCodeTests {
    @Test("A: default error codes: each of the 48 becomes URLError's and comes back")
    func roundTrip() {
        let theirs = HTTPError.Code.allCases.compactMap { code in URLError.Code(code).map { (code, $0) } }
        #expect(theirs.count == 48)
        #expect(Set(theirs.map(\.1)).count == 48)
        for (ours, code) in theirs { #expect(HTTPError.Code(code) == ours) }
    }

    @Test("codes keep the numbers of URLError")
    func numbers() {
        #expect(URLError.Code(.timedOut)?.rawValue == -1001)
        #expect(URLError.Code(.cannotConnectToHost)?.rawValue == -1004)
        #expect(URLError.Code(.networkConnectionLost)?.rawValue == -1005)
        #expect(URLError.Code(.secureConnectionFailed)?.rawValue == -1200)
    }

    @Test("the localized description of an error is its description")
    func localized() throws {
        let error: any Error = HTTPError(.timedOut, request: try HTTPRequest("http://host.test/"), message: "no answer")
        #expect(error.localizedDescription == "GET http://host.test/ failed: timedOut (no answer)")
    }

    @Test("what only Refrain tells apart has no code of URLError")
    func ownCodes() { #expect(URLError.Code(HTTPError.Code.deadlineExceeded) == nil) }

    @Test(
        "A: RetryPolicy with URLError.Code: it takes URLError's codes, and leaves out those that it does not know"
    )
    func policy() throws {
        // A closed enumeration on Linux, where no unknown code can be made; open on Apple.
        let stranger: URLError.Code? = URLError.Code(rawValue: 12)
        let policy = RetryPolicy(retryableURLErrorCodes: Set([.timedOut, stranger].compactMap(\.self)))
        #expect(policy == RetryPolicy(retryableErrorCodes: [.timedOut]))
        if let stranger { #expect(HTTPError.Code(stranger) == .unknown) }
    }
}
