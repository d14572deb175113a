// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainAlamofire
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct User: Decodable, Sendable, Equatable { let name: String }

private enum UserAPI: TargetType, AccessTokenAuthorizable {
    case user(String, base: String)
    case search(String, base: String)
    case missing(base: String)

    var baseURL: URL {
        switch self {
        case .user(_, let base), .search(_, let base), .missing(let base): URL(string: base) ?? URL(filePath: "/")
        }
    }
    var path: String {
        switch self {
        case .user: "/user"
        case .search: "/search"
        case .missing: "/status/404"
        }
    }
    var method: HTTPMethod { .get }
    var task: TargetTask {
        switch self {
        case .search(let text, _): .requestParameters(parameters: ["q": .string(text)], encoding: URLEncoding.default)
        default: .requestPlain
        }
    }
    var headers: [String: String]? { ["X-Target": "user"] }
    var sampleData: Data { Data(#"{"name":"sample"}"#.utf8) }
    var authorizationType: AuthorizationType? { .bearer }
}

private final class Recorder: PluginType {
    private let journal = Locked<[String]>([])
    var entries: [String] { journal.withLock { $0 } }

    func prepare(_ request: HTTPRequest, target: any TargetType) -> HTTPRequest {
        var request = request
        request.headers["X-Plugin"] = "yes"
        return request
    }
    func willSend(_ request: HTTPRequest, target: any TargetType) {
        journal.withLock { $0.append("send \(request.headers["Authorization"] ?? "")") }
    }
    func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType) {
        journal.withLock { $0.append("receive") }
    }
    func process(_ result: Result<Response, MoyaError>, target: any TargetType) -> Result<Response, MoyaError> {
        result.flatMap { response in
            response.statusCode == 404 ? .failure(.statusCode(response)) : .success(response)
        }
    }
}

@Suite("Moya's provider", .timeLimit(.minutes(10)))
struct MoyaTests {
    private let server: FaultServer
    private let recorder = Recorder()
    private let provider: MoyaProvider<UserAPI>

    init() throws {
        server = try FaultServer()
        server.on("/user") { request in
            [.respond(.init(request.occurrence == 1 ? 503 : 200, body: #"{"name":"ada"}"#))]
        }
        server.on("/search") { _ in [.respond(.init(200, body: "found"))] }
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
        provider = MoyaProvider(
            session: Session(interceptor: policy),
            plugins: [AccessTokenPlugin { _ in "token" }, recorder]
        )
    }

    @Test("plugins prepare each attempt in order, and receive the result once")
    func plugins() async throws {
        let result = await withCheckedContinuation { done in
            provider.request(.user("ada", base: server.baseURL)) { done.resume(returning: $0) }
        }
        #expect(try result.get().filterSuccessfulStatusCodes().map(User.self) == User(name: "ada"))
        #expect(recorder.entries == ["send Bearer token", "send Bearer token", "receive"])
        let sent = server.requests(toPath: "/user").map(\.headers)
        #expect(sent.count == 2 && sent.allSatisfy { $0.contains(["X-Plugin", "yes"]) })
        #expect(
            sent.allSatisfy { $0.contains(["Authorization", "Bearer token"]) && $0.contains(["X-Target", "user"]) }
        )
    }

    @Test("a session whose requests wait to be resumed, as Moya's own does, sends those of a provider")
    func sessionThatWaits() async throws {
        let waiting = MoyaProvider<UserAPI>(session: Session(startRequestsImmediately: false))
        let response = try await waiting.request(.search("a", base: server.baseURL))
        #expect(try response.mapString() == "found")
    }

    @Test("parameters are encoded as the task says, and a plugin changes the result")
    func parameters() async throws {
        let response = try await provider.request(.search("a b", base: server.baseURL))
        #expect(try response.mapString() == "found")
        #expect(server.log.map(\.path) == ["/search?q=a%20b"])
        await #expect(throws: MoyaError.self) { try await provider.request(.missing(base: server.baseURL)) }
        #expect(throws: MoyaError.self) { try response.map(User.self) }
        let error = #expect(throws: MoyaError.self) { try response.filter(statusCodes: 300..<400) }
        #expect(error?.errorDescription == "the status is not accepted: \(response)")
    }

    @Test("stubs answer without the network, also after a delay, and a cancelled request completes")
    func stubs() async throws {
        for closure in [MoyaProvider<UserAPI>.immediatelyStub, MoyaProvider.delayedStub(0.001)] {
            let stubbing = MoyaProvider<UserAPI>(stubClosure: closure, plugins: [recorder])
            let response = try await stubbing.request(.user("x", base: server.baseURL))
            #expect(try response.map(User.self).name == "sample")
        }
        #expect(server.log.isEmpty)
        let never = MoyaProvider<UserAPI>(stubClosure: MoyaProvider.delayedStub(3600))
        let result = await withCheckedContinuation { done in
            let request = never.request(.user("x", base: server.baseURL)) { done.resume(returning: $0) }
            request.cancel()
            #expect(request.isCancelled)
        }
        guard case .failure(.underlying(let error, _)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.asAFError?.isExplicitlyCancelledError == true)
    }

    @Test("values are read at a key path, as any JSON, and of an empty body")
    func mapping() throws {
        let nested = Response(statusCode: 200, data: Data(#"{"data":{"user":{"name":"ada"},"n":[1,null]}}"#.utf8))
        #expect(try nested.map(User.self, atKeyPath: "data.user") == User(name: "ada"))
        #expect(try nested.mapString(atKeyPath: "data.user.name") == "ada")
        #expect(throws: MoyaError.self) { try nested.map(User.self, atKeyPath: "data.other") }
        #expect(throws: MoyaError.self) { try nested.map(User.self, atKeyPath: "data.n.user") }
        #expect(throws: MoyaError.self) { try nested.mapString(atKeyPath: "data.user") }
        let data = try nested.mapJSON() as? [String: any Sendable]
        #expect((data?["data"] as? [String: any Sendable])?.keys.sorted() == ["n", "user"])
        let empty = Response(statusCode: 200, data: Data())
        #expect(throws: MoyaError.self) { try empty.mapJSON() }
        #expect(try empty.mapJSON(failsOnEmptyData: false) as? JSONEncoding.Value == .null)
        #expect(try empty.map([User].self, atKeyPath: "data", failsOnEmptyData: false).isEmpty)
        struct Draft: Decodable { let name: String? }
        #expect(try empty.map(Draft.self, failsOnEmptyData: false).name == nil)
        #expect(try empty.map([Draft].self, failsOnEmptyData: false).map(\.name) == [nil])
        struct Event: Decodable { let at: Date }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let dated = Response(statusCode: 200, data: Data(#"{"event":{"at":1}}"#.utf8))
        #expect(try dated.map(Event.self, atKeyPath: "event", using: decoder).at == Date(timeIntervalSince1970: 1))
        #expect(try dated.map(Date.self, atKeyPath: "event.at", using: decoder) == Date(timeIntervalSince1970: 1))
    }

    @Test("an endpoint closure changes what is sent, and what a stub answers")
    func endpoints() async throws {
        let provider = MoyaProvider<UserAPI>(endpointClosure: { target in
            MoyaProvider.defaultEndpointMapping(for: target).adding(newHTTPHeaderFields: ["X-Target": "changed"])
                .replacing(task: .requestParameters(["q": "other"]))
        })
        let base = server.baseURL
        #expect(try await provider.request(.search("a", base: base)).mapString() == "found")
        #expect(server.log.map(\.path) == ["/search?q=other"])
        #expect(server.log.first?.header("X-Target") == "changed")
        let further = Endpoint(
            url: base,
            sampleResponseClosure: { .networkResponse(200, Data()) },
            method: .get,
            task: .requestPlain,
            httpHeaderFields: ["x-target": "user", "X-Other": "kept"]
        ).adding(newHTTPHeaderFields: ["X-TARGET": "changed"])
        #expect(further.httpHeaderFields == ["X-TARGET": "changed", "X-Other": "kept"], "a name has no case")
        func stub(_ url: String, _ sample: EndpointSampleResponse) -> MoyaProvider<UserAPI> {
            MoyaProvider(
                endpointClosure: { target in
                    Endpoint(
                        url: url,
                        sampleResponseClosure: { sample },
                        method: target.method,
                        task: target.task,
                        httpHeaderFields: nil
                    )
                },
                stubClosure: MoyaProvider.immediatelyStub
            )
        }
        let teapot = try await stub(base, .networkResponse(418, Data("tea".utf8))).request(.user("x", base: base))
        #expect(teapot.statusCode == 418 && teapot.data == Data("tea".utf8))
        await #expect(throws: MoyaError.self) {
            try await stub(base, .networkError(AFError.explicitlyCancelled)).request(.user("x", base: base))
        }
        await #expect(throws: MoyaError.self, "no URL") {
            try await stub("no url", .networkResponse(200, Data())).request(.user("x", base: base))
        }
        #expect(server.log.count == 1)
    }

    @Test("a provider of several kinds of targets")
    func multiTarget() async throws {
        let multi = MoyaProvider<MultiTarget>(plugins: [AccessTokenPlugin { _ in "token" }])
        let response = try await multi.request(MultiTarget(UserAPI.search("x", base: server.baseURL)))
        #expect(try response.mapString() == "found")
        #expect(server.log.first?.headers.contains(["Authorization", "Bearer token"]) == true)
    }

    @Test("completions and progress come on the queue that is named")
    func queue() async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "moya")
        queue.setSpecific(key: key, value: true)
        let isThere = await withCheckedContinuation { done in
            provider.request(.search("x", base: server.baseURL), callbackQueue: queue) { _ in
                done.resume(returning: DispatchQueue.getSpecific(key: key))
            }
        }
        #expect(isThere == true)
    }
}
