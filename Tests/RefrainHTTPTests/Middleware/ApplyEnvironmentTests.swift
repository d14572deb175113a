// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("ApplyEnvironment")
struct ApplyEnvironmentTests {
    private let production = ServerEnvironment(
        host: "api.example.com",
        pathPrefix: "/v1",
        headers: ["X-Key": "secret", "Accept": "application/json"],
        query: [URLQueryItem(name: "locale", value: "de+AT"), URLQueryItem(name: "page", value: "1")]
    )

    private func sent(_ request: HTTPRequest, _ environment: ServerEnvironment?) async throws -> HTTPRequest {
        let mock = MockLoader().then(.status(200))
        let response = try await (ApplyEnvironment(environment) --> mock).response(for: request)
        return response.request
    }

    @Test(
        "B: ServerEnvironment: a relative URL is completed; a path that begins with a slash needs no prefix",
        arguments: [
            ("people/1", "https://api.example.com/v1/people/1"),
            ("/people/1", "https://api.example.com/people/1"),
            ("", "https://api.example.com/v1"),
            ("a b/ü", "https://api.example.com/v1/a%20b/%C3%BC"),
        ]
    )
    func completes(path: String, url: String) async throws {
        let plain = ServerEnvironment(host: "api.example.com", pathPrefix: "v1")
        #expect(try await sent(HTTPRequest(path: path), plain).url.absoluteString == url)
    }

    @Test("B: ServerEnvironment: fields and query items are added where the request has none of that name")
    func fieldsAndQuery() async throws {
        let query = [URLQueryItem(name: "page", value: "7"), URLQueryItem(name: "q", value: "a&b+c")]
        let request = try HTTPRequest(path: "people", query: query, headers: ["accept": "text/plain"])
        let sent = try await sent(request, production)
        #expect(sent.url.absoluteString == "https://api.example.com/v1/people?page=7&q=a%26b%2Bc&locale=de%2BAT")
        #expect(sent.headers[values: "Accept"] == ["text/plain"])
        #expect(sent.headers["X-Key"] == "secret")
    }

    @Test("B: ApplyEnvironment: an absolute URL to another origin gets nothing of the environment, above all no key")
    func otherOrigins() async throws {
        for text in ["https://other.example.com/x", "http://api.example.com/x", "https://api.example.com:444/x"] {
            let sent = try await sent(HTTPRequest(text), production)
            #expect(sent.url.absoluteString == text)
            #expect(sent.headers.isEmpty)
        }
        let same = try await sent(HTTPRequest("https://api.example.com/x"), production)
        #expect(same.headers["X-Key"] == "secret")
    }

    @Test("B: ApplyEnvironment: a reference that names a host gets a scheme, and no key of another host")
    func networkPath() async throws {
        let url = try #require(URL(string: "//other.example.com/x"))
        let sent = try await sent(HTTPRequest(url), production)
        #expect(sent.url.absoluteString == "https://other.example.com/x")
        #expect(sent.headers.isEmpty)
    }

    @Test("R26: what a redirect has dropped is not given back where the redirects lead to the server again")
    func redirectsThereAndBack() async throws {
        let mock = MockLoader()
        mock.then(.status(302, headers: ["Location": "https://evil.example/"]))
            .then(.status(302, headers: ["Location": "https://api.example.com/admin"]))
            .then(.status(200))
        var environment = production
        environment.headers.add("Authorization", "Bearer secret")
        var request = try HTTPRequest("https://api.example.com/a")
        request.secretHeaders = ["X-Key"]
        _ = try await (Redirect() --> ApplyEnvironment(environment) --> mock).response(for: request)
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil, nil])
        #expect(mock.requests.map { $0.headers["X-Key"] } == ["secret", nil, nil])
        #expect(mock.requests.map { $0.headers["Accept"] } == ["application/json", nil, "application/json"])
    }

    @Test("B: ApplyEnvironment: the request's own environment comes before that of the stage")
    func ownEnvironment() async throws {
        var request = try HTTPRequest(path: "x")
        request.serverEnvironment = ServerEnvironment(scheme: "http", host: "::1", port: 8080)
        #expect(try await sent(request, production).url.absoluteString == "http://[::1]:8080/x")
    }

    @Test("A relative URL without an environment is refused by the transport's check, in words")
    func noEnvironment() async throws {
        let request = try await sent(HTTPRequest(path: "people"), nil)
        let error = #expect(throws: HTTPError.self) { try request.validated() }
        #expect(error?.code == .badURL)
        let advice = "begin it with https://, or put ApplyEnvironment into the chain"
        #expect(error?.message == "the URL has no scheme; \(advice)")
    }

    @Test(
        "R31: an environment that no URL can be made of fails the request, and names itself",
        arguments: [
            ServerEnvironment(host: ""), ServerEnvironment(host: "a b"), ServerEnvironment(host: "evil.com/x"),
            ServerEnvironment(host: "user@evil.com"), ServerEnvironment(host: "h?q"), ServerEnvironment(host: "h#f"),
            ServerEnvironment(host: "h:80"), ServerEnvironment(host: "[::1]:80"),
            ServerEnvironment(host: "h", port: -1),
            ServerEnvironment(scheme: "a b", host: "h"), ServerEnvironment(scheme: "ftp", host: "h"),
            ServerEnvironment(scheme: "", host: "h"), ServerEnvironment(host: "h", port: 0),
            ServerEnvironment(host: "h", port: 65_536), ServerEnvironment(host: "h\r\nX: y"),
        ]
    )
    func badEnvironments(environment: ServerEnvironment) async throws {
        let result = await (ApplyEnvironment(environment) --> MockLoader()).load(try HTTPRequest(path: "x"))
        #expect(result.errorCode == .badURL, "\(environment)")
        if case .failure(let error) = result { #expect(error.message?.hasPrefix("ServerEnvironment is ") == true) }
    }

    @Test("R31: what is no path is refused where it is given", arguments: ["//host/x", "mailto:x", "http://h/"])
    func badPaths(path: String) {
        let error = #expect(throws: HTTPError.self) { try HTTPRequest(path: path) }
        #expect(error?.code == .badURL)
        #expect(error?.message?.contains(path) == true)
    }
}
