// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Names of \"HTTP in Swift\"")
struct RequestPartsTests {
    @Test("a request is put together by its parts, in any order")
    func parts() {
        var request = HTTPRequest()
        request.path = "people"
        request.queryItems = [URLQueryItem(name: "q", value: "a+b c"), URLQueryItem(name: "r", value: nil)]
        request.host = "api.example.com"
        #expect(request.url.absoluteString == "https://api.example.com/people?q=a%2Bb%20c&r")
        #expect(request.host == "api.example.com" && request.path == "/people")
        #expect(request.queryItems?.map(\.value) == ["a+b c", nil])
        request.path = "x y"
        #expect(request.url.absoluteString == "https://api.example.com/x%20y?q=a%2Bb%20c&r")
        request.queryItems = nil
        #expect(request.url.absoluteString == "https://api.example.com/x%20y")
        request.host = nil
        #expect(request.url.relativeString == "/x%20y" && request.origin == nil)
        var plain = HTTPRequest(scheme: "http", method: .post)
        plain.host = "127.0.0.1"
        #expect(plain.url.absoluteString == "http://127.0.0.1/" && plain.method == .post)
    }

    @Test("a path with two slashes at its beginning is kept, whether the host is set before or after it")
    func twoSlashes() async {
        var request = HTTPRequest()
        request.path = "//a/b"
        let mock = MockLoader().then(.status(200))
        _ = await (ApplyEnvironment(ServerEnvironment(host: "h.example")) --> mock).load(request)
        #expect(mock.requests.map { $0.url.host() } == ["h.example"])
        #expect(mock.requests.map { $0.url.standardized.path() } == ["//a/b"])
        request.host = "h.example"
        #expect(request.url.absoluteString == "https://h.example//a/b" && request.path == "//a/b")
        request.host = nil
        request.host = "i.example"
        #expect(request.url.absoluteString == "https://i.example//a/b")
    }

    @Test("a request with an invalid host fails when it is sent, and goes to no other host")
    func invalidHost() async {
        let mock = MockLoader().otherwise(.status(200))
        for host in ["no host", "h.example:8080", "user@h.example", "h.example/x", ""] {
            var request = HTTPRequest()
            request.path = "/a"
            request.host = host
            request.queryItems = []
            #expect(throws: HTTPError.self) { try request.validated() }
            _ = await (ApplyEnvironment(ServerEnvironment(host: "h.example")) --> mock).load(request)
            #expect(throws: HTTPError.self, "\(host)") { try mock.requests.last?.validated() }
        }
    }

    @Test("R31: a request with an invalid scheme fails when it is sent", arguments: ["", "1a", "ht tp", "hé", "a:"])
    func invalidScheme(_ scheme: String) {
        var request = HTTPRequest(scheme: scheme)
        request.host = "h.example"
        request.path = "/a"
        #expect(throws: HTTPError.self) { try request.validated() }
    }

    @Test("the host of a request can be set on another one", arguments: ["h.example", "::1", "10.0.0.1"])
    func sameHost(_ host: String) throws {
        var request = HTTPRequest()
        request.host = host
        #expect(request.host == host)
        var other = HTTPRequest()
        other.host = request.host
        #expect(other.url == request.url)
        _ = try other.validated()
    }

    @Test("bodies under the names of types, of which one that cannot be encoded fails when it is sent")
    func bodies() async throws {
        struct Person: Encodable { var name: String }
        let json = JSONBody(Person(name: "Ada"))
        #expect(try await json.collect() == Array(#"{"name":"Ada"}"#.utf8))
        #expect(json.contentType == "application/json")
        let form = FormBody([URLQueryItem(name: "a b", value: "1&2")])
        #expect(try await form.collect() == Array("a+b=1%262".utf8))
        await #expect(throws: EncodingError.self) { try await JSONBody(Double.nan).collect() }
    }

    @Test("a reply by a completion, at once, later, twice or never")
    func completions() async throws {
        let mock = MockLoader()
            .then { request, handler in handler(.success(HTTPResponse(request: request, status: 201))) }
            .then { request, handler in
                DispatchQueue.global().async { handler(.failure(HTTPError(.timedOut, request: request))) }
            }
            .then { request, handler in
                handler(.success(HTTPResponse(request: request, status: 202)))
                handler(.success(HTTPResponse(request: request, status: 500)))
            }
            .then { _, _ in }
        let request = try HTTPRequest("https://api.example.com/")
        #expect(try await mock.load(request).get().statusCode == 201)
        for code in [HTTPError.Code.timedOut, nil, .callerFailed] {
            switch await mock.load(request) {
            case .success(let response): #expect(code == nil && response.statusCode == 202)
            case .failure(let error): #expect(error.code == code)
            }
        }
        #expect(mock.requests.count == 4)
    }

    @Test("a task knows its request and whether it was cancelled")
    func task() async throws {
        let gate = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: gate, .status(200))).then(.status(200))
        let loader = ResetGuard() --> mock
        let request = try HTTPRequest("https://api.example.com/")
        let task = loader.load(request) { _ in }
        #expect(task.request.url == request.url && !task.isCancelled)
        await gate.arrivals(atLeast: 1)
        await loader.reset()
        _ = await task.result
        #expect(task.isCancelled)
        let other = loader.load(request) { _ in }
        _ = await other.result
        other.cancel()
        #expect(!other.isCancelled)
        #expect(mock.requests.count == 2)
    }
}
