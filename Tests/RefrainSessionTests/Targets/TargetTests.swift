// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Targets", .timeLimit(.minutes(10)))
struct TargetTests {
    enum API: TargetType {
        case user(String)
        case search(String)
        case create(name: String)
        case guarded(any RequestInterceptor)
        case checked(ValidationType)
        case form

        var baseURL: URL { URL(string: "http://host.test/v1") ?? URL(filePath: "/") }
        var path: String {
            switch self {
            case .user(let name): "/users/\(name)"
            case .search: "search"
            case .create: "/users"
            case .guarded, .checked: "/x"
            case .form: ""
            }
        }
        var method: HTTPMethod {
            switch self {
            case .create, .form: .post
            default: .get
            }
        }
        var task: TargetTask {
            switch self {
            case .search(let text): .requestParameters(["q": .string(text)])
            case .create(let name): .requestJSONEncodable(["name": name])
            case .form: .uploadMultipart([.text("a", "b")])
            default: .requestPlain
            }
        }
        var headers: [String: String]? { ["X-Version": "1"] }
        var validationType: ValidationType {
            if case .checked(let type) = self { return type }
            return .none
        }
        var interceptor: (any RequestInterceptor)? {
            if case .guarded(let interceptor) = self { return interceptor }
            return nil
        }
        var sampleData: Data { Data(#"{"name":"Ada"}"#.utf8) }
    }

    @Test("A: TargetType: a target becomes the request that it describes")
    func requests() async throws {
        let loader = ScriptedLoader(.status(200, body: "ok"))
        let session = Session.testing(loader)
        for target in [API.user("ada lovelace"), .search("a&b"), .create(name: "Ada"), .form] {
            _ = try await session.request(target).serializingString().value
        }
        #expect(
            loader.requests.map(\.url.absoluteString) == [
                "http://host.test/v1/users/ada%20lovelace", "http://host.test/v1/search?q=a%26b",
                "http://host.test/v1/users", "http://host.test/v1",
            ]
        )
        #expect(loader.requests.map(\.method) == [.get, .get, .post, .post])
        #expect(loader.requests[2].body.bytesInMemory == Array(#"{"name":"Ada"}"#.utf8))
        #expect(loader.requests[3].body.contentType?.hasPrefix("multipart/form-data") == true)
        #expect(loader.requests.allSatisfy { $0.headers["X-Version"] == "1" })
    }

    @Test("A: TargetType: a task's query and body go where they belong, and its own encoder writes it")
    func composites() async throws {
        struct Call: TargetType {
            let task: TargetTask

            var baseURL: URL { API.form.baseURL }
            var path: String { "" }
            var method: HTTPMethod { .post }
            var headers: [String: String]? { nil }
        }
        struct Person: Encodable, Sendable { var firstName = "Ada" }
        let loader = ScriptedLoader(.status(200, body: "ok"))
        let session = Session.testing(loader)
        let snakes = JSONEncoder()
        snakes.keyEncodingStrategy = .convertToSnakeCase
        let tasks: [TargetTask] = [
            .requestCustomJSONEncodable(Person(), encoder: snakes),
            .requestCompositeData(Data("raw".utf8), query: ["page": 2], contentType: "text/x-raw"),
            .uploadCompositeMultipart([.text("a", "b")], query: ["page": 2]),
        ]
        for task in tasks { _ = try await session.request(Call(task: task)).serializingString().value }
        #expect(session.request(Call(task: tasks[2])) is UploadRequest)
        #expect(loader.requests.map { $0.url.query() } == [nil, "page=2", "page=2"])
        #expect(loader.requests[0].body.bytesInMemory == Array(#"{"first_name":"Ada"}"#.utf8))
        #expect(loader.requests[1].body.bytesInMemory == Array("raw".utf8))
        #expect(loader.requests[1].body.contentType == "text/x-raw")
        #expect(loader.requests[2].body.contentType?.hasPrefix("multipart/form-data") == true)
    }

    @Test(
        "A: TargetType: a target's validation type says which statuses are accepted",
        arguments: [
            (ValidationType.none, 404, true), (.successCodes, 204, true), (.successCodes, 304, false),
            (.successAndRedirectCodes, 304, true), (.successAndRedirectCodes, 400, false),
            (.customCodes([418]), 418, true), (.customCodes([418]), 200, false),
            (.customCodes([]), 200, true), (.customCodes([]), 404, true),
        ]
    )
    func validation(type: ValidationType, status: Int, passes: Bool) async {
        let session = Session.testing(ScriptedLoader(.status(status, body: "x")))
        let response = await session.request(API.checked(type)).serializingResponse().response
        #expect((response.error == nil) == passes)
    }

    @Test("A: TargetType: a target's interceptor goes after the session's")
    func interceptor() async {
        let loader = ScriptedLoader(.status(503), .status(200, body: "ok"))
        let (first, second) = (CountingInterceptor(.doNotRetry), CountingInterceptor(.retry))
        let session = Session.testing(loader, interceptor: first)
        #expect(await session.request(API.guarded(second)).serializingString().response.value == "ok")
        #expect(first.retries.value == 1)
        #expect(second.retries.value == 1)
        #expect(second.adapts.value == 2)
    }

    @Test("A: TargetType: a target's download has its body, whatever its method is", arguments: [API.user("a"), .form])
    func download(target: API) async throws {
        let folder = try TemporaryFolder()
        let session = Session.testing(Session.TargetStubs())
        let file = folder.url.appending(path: "sample")
        let saved = try await session.download(target, to: file).serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: saved) == target.sampleData)
    }

    @Test("A: TargetType: stubs answer with sample data, or with what they are given; others go to the other loader")
    func stubs() async throws {
        struct User: Decodable, Sendable { var name: String }
        let session = Session.testing(Session.TargetStubs())
        #expect(try await session.request(API.user("ada")).serializingDecodable(User.self).value.name == "Ada")
        let error = await session.request(HTTPRequest.sample).serializingData().response.error
        #expect(error?.transportCode == .resourceUnavailable)

        let offline = Session.testing(Session.TargetStubs { _ in .networkError(.notConnectedToInternet) })
        #expect(
            await offline.request(API.user("a")).serializingData().response.error?.transportCode
                == .notConnectedToInternet
        )

        let mixed = Session.testing(
            Session.TargetStubs(others: ScriptedLoader(.status(200, body: "real"))) { _ in .never }
        )
        #expect(try await mixed.request(API.user("a")).serializingString().value == "real")
    }
}
