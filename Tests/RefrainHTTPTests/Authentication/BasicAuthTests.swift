// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("BasicAuth")
struct BasicAuthTests {
    private let asked = Journal<BasicAuth.CredentialsRequest>()

    /// Answers 200 to Ada's password, and a challenge to all else.
    private static let guarded = MockLoader.Reply { request in
        let isRight = request.headers["Authorization"] == "Basic QWRhOnNlY3JldA=="
        let challenge: HTTPHeaders = ["WWW-Authenticate": "Basic realm=\"all\", Bearer"]
        return .success(
            HTTPResponse(request: request, status: isRight ? 200 : 401, headers: isRight ? [:] : challenge)
        )
    }

    private func basic(_ timing: BasicAuth.Timing = .onChallenge, passwords: String?...) -> BasicAuth {
        BasicAuth(timing) { [asked] request in
            asked.append(request)
            guard let password = passwords[min(asked.entries.count, passwords.count) - 1] else { return nil }
            return try BasicAuth.Credentials(user: "Ada", password: password)
        }
    }

    @Test("R27: a thousand challenged requests ask for credentials once, and each is sent once more")
    func asksOnce() async {
        let hold = MockLoader.Gate()
        let mock = MockLoader().then(times: 1_000, .held(by: hold, Self.guarded)).otherwise(Self.guarded)
        let loader = basic(passwords: "secret") --> mock
        let tasks = (0..<1_000).map { number in loader.load(sampleRequest("\(number)")) { _ in } }
        await hold.arrivals(atLeast: 1_000)
        await hold.release()
        for task in tasks { #expect(await task.result.status == 200) }
        #expect(asked.entries.count == 1)
        #expect(await loader.load(sampleRequest()).attempts.isEmpty)
        #expect(mock.requests.count == 2_001)
    }

    @Test("B: BasicAuth: a refusal to give credentials fails all that were under way, and the next request asks again")
    func declined() async {
        let hold = MockLoader.Gate()
        let mock = MockLoader().then(times: 100, .held(by: hold, Self.guarded)).otherwise(Self.guarded)
        let loader = basic(passwords: nil, "secret") --> mock
        let tasks = (0..<100).map { number in loader.load(sampleRequest("\(number)")) { _ in } }
        await hold.arrivals(atLeast: 100)
        await hold.release()
        for task in tasks {
            let error = await task.result.error
            #expect(error?.code == .userCancelledAuthentication)
            #expect(error?.response?.status == 401)
        }
        #expect(asked.entries.count == 1)
        #expect(await loader.load(sampleRequest()).status == 200)
    }

    @Test("B: BasicAuth: credentials that are asked for beforehand are sent with the first request")
    func beforehand() async {
        let mock = MockLoader().otherwise(Self.guarded)
        let loader = basic(.beforehand, passwords: "secret") --> mock
        #expect(await loader.load(sampleRequest()).status == 200)
        #expect(mock.requests.count == 1)
    }

    @Test("R27: credentials that are refused twice fail the request, and are not sent again")
    func refused() async {
        let mock = MockLoader().otherwise(Self.guarded)
        let loader = basic(passwords: "wrong", "wrong too", "secret") --> mock
        let error = await loader.load(sampleRequest()).error
        #expect(error?.code == .userAuthenticationRequired)
        #expect(error?.response?.status == 401)
        #expect(error?.attempts.map(\.reason) == [.credentialsRefreshed, .finalStatus])
        #expect(mock.requests.count == 2)
        // Unsigned first: the refused ones are gone.
        let result = await loader.load(sampleRequest())
        #expect(result.errorCode == .userAuthenticationRequired)
        #expect(mock.requests[2].headers["Authorization"] == nil)
        #expect(asked.entries.map(\.refused?.password) == [nil, "wrong"])
        #expect(await loader.load(sampleRequest()).status == 200)
    }

    @Test("R26: credentials are kept by origin, and not sent to where a redirect leads")
    func origins() async throws {
        let mock = MockLoader()
            .then(.status(302, headers: ["Location": "https://other.example.com/"]))
            .then(Self.guarded)
            .otherwise(.status(200))
        let loader = Redirect() --> basic(.beforehand, passwords: "secret") --> mock
        #expect(await loader.load(sampleRequest()).status == 401)
        #expect(mock.requests.map { $0.headers["Authorization"] != nil } == [true, false])
        _ = await loader.load(try HTTPRequest("https://other.example.com/"))
        #expect(asked.entries.map(\.origin.host) == ["api.example.com", "other.example.com"])
    }

    @Test("A 401 that offers other schemes only, and a request with an Authorization of its own, are left alone")
    func others() async {
        let mock = MockLoader().otherwise(.status(401, headers: ["WWW-Authenticate": "Bearer realm=\"all\""]))
        let loader = basic(passwords: "secret") --> mock
        #expect(await loader.load(sampleRequest()).status == 401)
        var signed = sampleRequest()
        signed.headers["Authorization"] = "Basic own"
        let guarded = MockLoader().otherwise(Self.guarded)
        #expect(await (basic(passwords: "secret") --> guarded).load(signed).status == 401)
        #expect(asked.entries.isEmpty)
    }

    @Test(
        "A malformed challenge is of the scheme that it names",
        arguments: [
            ("Digest realm=\"all\" nonce=\"1\"", 0), ("Negotiate, Digest realm=My Site", 0), ("Basic realm=My Site", 1),
            ("=", 1),
        ]
    )
    func malformed(challenge: String, questions: Int) async {
        for lines in [[challenge], [challenge, "Bearer"]] where lines != ["=", "Bearer"] {
            var headers = HTTPHeaders()
            for line in lines { headers.add("WWW-Authenticate", line) }
            let mock = MockLoader().otherwise(.status(401, headers: headers))
            _ = await (basic(passwords: "secret") --> mock).load(sampleRequest())
            #expect(mock.requests.count == 1 + questions)
        }
        #expect(asked.entries.count == questions * (challenge == "=" ? 1 : 2))
    }

    @Test("A user with a colon is refused in words, and no description shows a password")
    func credentials() throws {
        #expect(throws: InvalidArgument.self) { try BasicAuth.Credentials(user: "a:b", password: "c") }
        let credentials = try BasicAuth.Credentials(user: "Ada", password: "secret")
        #expect(!"\(credentials)".contains("secret"))
        #expect(!String(reflecting: credentials).contains("secret"))
    }

    @Test("A reset discards credentials, and ends the waits for them")
    func reset() async {
        let gate = MockLoader.Gate()
        let held = MockLoader().otherwise(.held(by: gate, .status(200)))
        let basic = BasicAuth(.beforehand) { _ in
            _ = await held.load(sampleRequest())
            return try BasicAuth.Credentials(user: "Ada", password: "secret")
        }
        let mock = MockLoader().otherwise(Self.guarded)
        let loader = basic --> mock
        let task = loader.load(sampleRequest()) { _ in }
        await gate.arrivals(atLeast: 1)
        await loader.reset()
        #expect(await task.result.errorCode == .cancelled)
        #expect(basic.numberOfWaitingRequests == 0)
        #expect(mock.requests.isEmpty)
        await gate.release()
        #expect(await loader.load(sampleRequest()).status == 200)
    }
}
