// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("On the wire: targets", .timeLimit(.minutes(10)))
struct TargetWireTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    enum Call: Sendable {
        case list
        case search(String)
        case create(String)
        case both
        case raw
        case file(URL)
        case form
        case typedForm
        case broken(ValidationType)
        case guarded(any RequestInterceptor)
    }

    /// An API as a user of targets writes it.
    struct API: TargetType {
        var base: String
        var call: Call

        var baseURL: URL { URL(string: base) ?? URL(filePath: "/") }
        var path: String {
            switch call {
            case .list, .search, .create, .both, .raw: "/echo"
            case .file, .form, .typedForm: "/up"
            case .broken: "/moved"
            case .guarded: "/down-once"
            }
        }
        var method: HTTPMethod {
            switch call {
            case .list, .search, .broken, .guarded: .get
            case .create, .both, .raw, .form, .typedForm: .post
            case .file: .put
            }
        }
        var task: TargetTask {
            switch call {
            case .list, .broken, .guarded: .requestPlain
            case .search(let text): .requestParameters(["q": .string(text)])
            case .create(let name): .requestJSONEncodable(["name": name])
            case .both:
                .requestCompositeParameters(query: ["page": 2], body: ["a": "b"], encoding: JSONEncoding.default)
            case .raw: .requestData(Data("raw".utf8), contentType: "text/x-raw")
            case .file(let url): .uploadFile(url)
            case .form, .typedForm: .uploadMultipart([.text("a", "b")])
            }
        }
        var headers: [String: String]? {
            if case .typedForm = call { return ["Content-Type": "multipart/form-data"] }
            return ["X-Version": "2"]
        }
        var validationType: ValidationType {
            if case .broken(let type) = call { return type }
            return .successCodes
        }
        var interceptor: (any RequestInterceptor)? {
            if case .guarded(let interceptor) = call { return interceptor }
            return nil
        }
        var sampleData: Data { Data(#"{"name":"Sample"}"#.utf8) }
    }

    private func target(_ call: Call) -> API { API(base: server.baseURL, call: call) }

    struct Echo: Decodable, Sendable { var method: String; var path: String; var body: String }

    private func echo(_ session: Session, _ call: Call) async throws -> String {
        let echo = try await session.request(target(call)).serializingDecodable(Echo.self).value
        return "\(echo.method) \(echo.path) \(echo.body)"
    }

    @Test("A: TargetType: path, method, task and headers make the request that arrives")
    func requests() async throws {
        let session = Session.overSockets()
        #expect(try await echo(session, .list) == "GET /echo ")
        #expect(try await echo(session, .search("a b")) == "GET /echo?q=a%20b ")
        #expect(try await echo(session, .create("Ada")) == #"POST /echo {"name":"Ada"}"#)
        #expect(try await echo(session, .both) == #"POST /echo?page=2 {"a":"b"}"#)
        #expect(try await echo(session, .raw) == "POST /echo raw")
        #expect(server.log.map { $0.header("X-Version") } == Array(repeating: "2", count: 5))
        #expect(server.log.last?.header("Content-Type") == "text/x-raw")
    }

    @Test("A: TargetType: uploads and downloads go by file, with their progress")
    func files() async throws {
        let folder = try TemporaryFolder()
        try Data("from a file".utf8).write(to: folder.file("source"))
        server.on("/up") { [.respond(.init(200, body: "\($0.method) \($0.bodyLength)"))] }
        let session = Session.overSockets()
        let upload = session.request(target(.file(folder.file("source"))))
        #expect(try await upload.serializingString().value == "PUT 11")
        #expect(upload.uploadProgress.fractionCompleted == 1)
        let form = try await session.request(target(.form)).serializingString().value
        #expect(form.hasPrefix("POST "))
        #expect(server.log.last?.header("Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
        let url = try await session.download(target(.list), to: folder.file("result"))
            .serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: url).isEmpty == false)
    }

    @Test(
        "A: TargetType: its validation type says which answers are errors",
        arguments: [
            (ValidationType.none, 500, true), (.successCodes, 200, true), (.successCodes, 304, false),
            (.successAndRedirectCodes, 304, true), (.successAndRedirectCodes, 404, false),
            (.customCodes([404]), 404, true), (.customCodes([404]), 200, false),
        ]
    )
    func validation(type: ValidationType, status: Int, passes: Bool) async {
        server.answer("/moved", status)
        let session = Session.overSockets()
        let response = await session.request(target(.broken(type))).serializingResponse().response
        #expect((response.error == nil) == passes)
        #expect(passes || response.error?.responseCode == status)
    }

    @Test("A: TargetType: the type of a form goes before a field of the target, which has no boundary")
    func formReplacesTypes() async throws {
        server.answer("/up", 200)
        let session = Session.overSockets()
        _ = try await session.request(target(.typedForm)).serializingData().value
        let type = server.log.last?.header("Content-Type")
        #expect(type?.hasPrefix("multipart/form-data; boundary=") == true, "\(type ?? "")")
    }

    @Test("R5: a form of a target has the same bytes on every attempt")
    func formOnEachAttempt() async throws {
        server.answer("/up", 429, 429, 200)
        let session = Session.overSockets(RetryPolicy.recommended)
        _ = try await session.request(target(.form)).serializingData().value
        let types = server.requests(toPath: "/up").map { $0.header("Content-Type") }
        #expect(types.count == 3 && Set(types).count == 1)
    }

    @Test("A: TargetType: its interceptor adapts and retries it alone, after the session's")
    func interceptor() async throws {
        server.answer("/down-once", 503, 200)
        let (ofSession, ofTarget) = (CountingInterceptor(.doNotRetry), CountingInterceptor(.retry))
        let session = Session.overSockets(ofSession)
        #expect(try await session.request(target(.guarded(ofTarget))).serializingString().value == "200")
        _ = try await session.request(target(.list)).serializingData().value
        #expect(ofSession.adapts.value == 3 && ofTarget.adapts.value == 2)
        #expect(ofSession.retries.value == 1 && ofTarget.retries.value == 1)
        #expect(server.requests(toPath: "/down-once").map { $0.values("X-Adapted") } == [["1", "1"], ["2", "2"]])
    }

    @Test("A: TargetType: a stub answers in place of the wire, and one that is none leaves it to the wire")
    func stubs() async throws {
        struct User: Decodable, Sendable { var name: String }
        let stubbed = Session.testing(Session.TargetStubs())
        #expect(try await stubbed.request(target(.list)).serializingDecodable(User.self).value.name == "Sample")
        let failing = Session.testing(Session.TargetStubs { _ in .networkResponse(418, Data("short".utf8)) })
        #expect(await failing.request(target(.list)).serializingData().response.error?.responseCode == 418)
        let offline = Session.testing(Session.TargetStubs { _ in .networkError(.notConnectedToInternet) })
        let error = await offline.request(target(.list)).serializingData().response.error
        #expect(error?.transportCode == .notConnectedToInternet)
        #expect(server.log.isEmpty)
        let mixed = Session.testing(
            Session.TargetStubs(others: CurlLoader()) { target in
                target.method == .post ? .networkResponse(200, target.sampleData) : .never
            }
        )
        #expect(try await mixed.request(target(.create("x"))).serializingDecodable(User.self).value.name == "Sample")
        _ = try await mixed.request(target(.list)).serializingData().value
        #expect(server.log.map(\.method) == ["GET"])
    }

    @Test("A: TargetType: all that Moya has a default for has one")
    func defaults() async throws {
        struct Plain: TargetType {
            var baseURL: URL
            var path: String { "/ok" }
            var method: HTTPMethod { .get }
            var task: TargetTask { .requestPlain }
            var headers: [String: String]? { nil }
        }
        let plain = Plain(baseURL: try #require(URL(string: server.baseURL)))
        #expect(plain.validationType == .none && plain.interceptor == nil && plain.sampleData.isEmpty)
        let session = Session.overSockets()
        #expect(try await session.request(plain).serializingString().value == "ok\n")
        #expect(server.log.map(\.method) == ["GET"])
    }
}
