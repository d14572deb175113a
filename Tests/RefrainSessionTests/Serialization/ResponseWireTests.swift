// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("On the wire: validation, serialization and parameters", .timeLimit(.minutes(10)))
struct ResponseWireTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func request(
        _ path: String,
        accept: String? = nil,
        _ interceptor: (any RequestInterceptor)? = nil
    ) -> (DataRequest, Session) {
        let session = Session.overSockets(interceptor)
        let headers: HTTPHeaders = accept.map { ["Accept": $0] } ?? [:]
        return (session.request(server.baseURL + path, headers: headers), session)
    }

    private func serve(_ path: String, _ status: Int = 200, type: String? = nil, body: String) {
        server.on(path) { _ in
            [.respond(.init(status, headers: type.map { [("Content-Type", $0)] } ?? [], body: body))]
        }
    }

    /// The error of a request to `path`, kept together with its session until its end.
    private func error(
        _ path: String,
        accept: String? = nil,
        _ validate: (DataRequest) -> DataRequest
    ) async -> RefrainError? {
        let (request, session) = request(path, accept: accept)
        return await withExtendedLifetime(session) { validate(request) }.serializingResponse().response.error
    }

    @Test("R8, R28: a redirect that is the answer is decoded whole, however slowly its body comes")
    func slowAnswerWithoutLocation() async throws {
        let (request, session) = request("/trickle?bytes=8&interval=20&status=302")
        let value = try await withExtendedLifetime(session) { request }.validate(statusCode: 300..<400)
            .serializingString().value
        #expect(value == "xxxxxxxx")
    }

    @Test("A: validation: statuses, types and the request's Accept decide, and nothing does without validate()")
    func validation() async {
        serve("/missing", 404, type: "text/plain", body: "no")
        serve("/html", type: "text/html", body: "<p>")
        serve("/bare", body: "x")
        serve("/none", 204, body: "")
        #expect(await error("/missing") { $0 } == nil)
        #expect(await error("/missing") { $0.validate() }?.responseCode == 404)
        #expect(await error("/missing") { $0.validate(statusCode: 400..<500) } == nil)
        #expect(await error("/html") { $0.validate() } == nil)
        #expect(await error("/html", accept: "application/json") { $0.validate() }?.isResponseValidationError == true)
        #expect(await error("/html", accept: "text/*") { $0.validate() } == nil)
        #expect(await error("/html") { $0.validate(contentType: ["text/html"]) } == nil)
        guard
            case .responseValidationFailed(.unacceptableContentType(["a/b"], "text/html"), _)? =
                await error("/html", { $0.validate(contentType: ["a/b"]) })
        else {
            Issue.record("text/html is not a/b")
            return
        }
        guard
            case .responseValidationFailed(.missingContentType, _)? =
                await error("/bare", { $0.validate(contentType: ["a/b"]) })
        else {
            Issue.record("a missing type is told as such")
            return
        }
        #expect(await error("/none") { $0.validate(contentType: ["a/b"]) } == nil)
    }

    @Test("A: validation: the first failure wins, and a check of the caller's sees request, response and body")
    func customValidation() async {
        serve("/teapot", 418, type: "text/plain", body: "short")
        let seen = Journal<String>()
        func check(_ request: DataRequest) -> DataRequest {
            request.validate { request, response, data in
                seen.append("\(request?.method.rawValue ?? "") \(response.status) \(data?.count ?? -1)")
                return .failure(TestError())
            }
        }
        #expect(await error("/teapot") { check($0.validate(statusCode: [200])) }?.responseCode == 418)
        #expect(seen.entries.isEmpty)
        let error = await error("/teapot") { check($0).validate(statusCode: [200]) }
        #expect(error?.underlyingError as? TestError == TestError())
        #expect(seen.entries == ["GET 418 5"])
    }

    @Test("A: validation: what fails it reaches the retriers, once for each attempt")
    func retriedValidation() async throws {
        server.on("/pending") { request in
            [.respond(.init(200, body: request.occurrence < 3 ? "pending" : "done"))]
        }
        let interceptor = CountingInterceptor(.retry)
        let (request, session) = request("/pending", interceptor)
        let value = try await request.validate { _, _, data in
            data.map { Array($0) } == Array("done".utf8) ? .success(()) : .failure(TestError())
        }.serializingString().value
        #expect(value == "done")
        #expect(interceptor.retries.value == 2)
        #expect(server.count(path: "/pending") == 3)
        withExtendedLifetime(session) {}
    }

    struct User: Codable, Equatable, Sendable { var name: String }

    @Test("A: serialization: data, text, values and responses are read, each as value, result and response")
    func serialization() async throws {
        serve("/user", type: "application/json", body: #"{"name":"Ada"}"#)
        let session = Session.overSockets()
        let url = server.baseURL + "/user"
        #expect(try await session.request(url).serializingData().value == Data(#"{"name":"Ada"}"#.utf8))
        #expect(try await session.request(url).serializingString().result.get() == #"{"name":"Ada"}"#)
        let user = await session.request(url).serializingDecodable(User.self).response
        #expect(user.value == User(name: "Ada"))
        #expect(user.data?.count == 14)
        #expect(user.response?.status == 200)
        #expect(
            try await session.request(url).serializingResponse().value.headers["Content-Type"] == "application/json"
        )
        guard
            case .failure(.responseSerializationFailed(.decodingFailed(_, _, let body), _)) =
                await session.request(url).serializingDecodable([Int].self).result
        else {
            Issue.record("an object is no list")
            return
        }
        #expect(body == Array(#"{"name":"Ada"}"#.utf8))
    }

    @Test("A: serialization: a retrier is asked once for each attempt that cannot be read, whatever the readers")
    func retriedSerialization() async throws {
        server.on("/half") { request in
            [.respond(.init(200, body: request.occurrence == 1 ? #"{"name":"# : #"{"name":"Ada"}"#))]
        }
        let interceptor = CountingInterceptor(.retry)
        let session = Session.overSockets(interceptor) { $0.startsRequestsImmediately = false }
        let request = session.request(server.baseURL + "/half")
        let (first, second) = (request.serializingDecodable(User.self), request.serializingDecodable(User.self))
        request.resume()
        #expect(try await first.value == User(name: "Ada"))
        #expect(try await second.value == User(name: "Ada"))
        #expect(interceptor.retries.value == 1)
        #expect(server.count(path: "/half") == 2)
    }

    @Test("A: parameters: they arrive in the query, as a form, or as JSON, nested ones too")
    func parameters() async throws {
        let session = Session.overSockets()
        let parameters: Parameters = ["q": "a b&c", "ids": [1, 2], "by": ["name": "é"]]
        func sent(_ request: DataRequest) async throws -> FaultServer.LogEntry {
            _ = await request.serializingData().response
            return try #require(server.log.last)
        }
        let url = server.baseURL + "/echo"
        let text = "by%5Bname%5D=%C3%A9&ids%5B%5D=1&ids%5B%5D=2&q=a%20b%26c"
        #expect(try await sent(session.request(url, parameters: parameters)).path == "/echo?\(text)")
        let form = try await sent(session.request(url, method: .post, parameters: parameters))
        #expect(form.header("Content-Type")?.hasPrefix("application/x-www-form-urlencoded") == true)
        #expect(form.bodyLength == text.utf8.count && form.path == "/echo")
        let json = session.request(url, method: .post, parameters: parameters, encoding: JSONEncoding.default)
        struct Echo: Decodable, Sendable { var body: String }
        let body = try await json.serializingDecodable(Echo.self).value.body
        #expect(body == #"{"by":{"name":"é"},"ids":[1,2],"q":"a b&c"}"#)
        #expect(server.log.last?.header("Content-Type") == "application/json")
        let typed = session.request(url, method: .put, parameters: User(name: "Ada"), encoder: .json)
        #expect(try await typed.serializingDecodable(Echo.self).value.body == #"{"name":"Ada"}"#)
        let query = try await sent(session.request(url, parameters: User(name: "Ada"), encoder: .urlEncodedForm))
        #expect(query.path == "/echo?name=Ada")
    }

    @Test("A: parameters: a GET with a body reaches no server, whatever added the body")
    func getWithBody() async {
        let session = Session.overSockets(RetryPolicy.recommended)
        let url = server.baseURL + "/ok"
        let adapting = Adapter { request, _ in
            var request = request
            request.body = .text("x")
            return request
        }
        let requests = [
            session.request(url, parameters: ["a": 1], encoding: JSONEncoding.default),
            session.request(url) { $0.body = .text("x") }, session.request(url, interceptor: adapting),
        ]
        for (request, isAdapted) in zip(requests, [false, false, true]) {
            let error = await request.serializingData().response.error
            let reason = isAdapted ? error?.underlyingError as? RefrainError : error
            guard case .requestValidationFailed(.bodyDataInGETRequest)? = reason,
                isAdapted == error?.isRequestAdaptationError
            else {
                Issue.record("\(String(describing: request.error))")
                continue
            }
        }
        #expect(server.log.isEmpty)
    }
}
