// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("Auth")
struct AuthTests {
    private static let reports = Auth.Method("reports")

    private static func oauth(_ token: String) -> OAuth {
        OAuth(store: OAuth.InMemoryTokenStore(OAuth.Token(accessToken: token))) { nil }
    }

    private let auth = Auth(
        [
            .basic: BasicAuth(.beforehand) { _ in try BasicAuth.Credentials(user: "Ada", password: "secret") },
            .oauth: Self.oauth("main"),
            Self.reports: Self.oauth("reports"),
        ],
        default: .oauth
    )

    @Test(
        "B: Auth: each request is signed as it asks, over one loader",
        arguments: [
            (Auth.Method.automatic, "Bearer main"), (.oauth, "Bearer main"), (Self.reports, "Bearer reports"),
            (.basic, "Basic QWRhOnNlY3JldA=="), (.none, nil),
        ] as [(Auth.Method, String?)]
    )
    func routes(method: Auth.Method, field: String?) async {
        let mock = MockLoader().otherwise(.status(200))
        var request = sampleRequest()
        request.authentication = method
        #expect(await (auth --> mock).load(request).status == 200)
        #expect(mock.requests.map { $0.headers["Authorization"] } == [field])
    }

    @Test("B: Auth: a method that no stage stands for fails in words, before anything is sent")
    func unknown() async {
        let mock = MockLoader()
        var request = sampleRequest()
        request.authentication = Auth.Method("digest")
        let error = await (auth --> mock).load(request).error
        #expect(error?.code == .callerFailed)
        #expect(error?.message?.contains("digest") == true)
        #expect(mock.requests.isEmpty)
    }

    @Test("B: Auth: a stage on its own serves the requests that ask for it or for nothing")
    func alone() async {
        let mock = MockLoader().otherwise(.status(200))
        let loader = Self.oauth("main") --> mock
        for method in [Auth.Method.automatic, .oauth, .none, .basic] {
            var request = sampleRequest()
            request.authentication = method
            _ = await loader.load(request)
        }
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer main", "Bearer main", nil, nil])
    }
}
