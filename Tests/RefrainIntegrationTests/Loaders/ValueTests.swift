// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("On the wire: values", .timeLimit(.minutes(10)))
struct ValueTests {
    let server: FaultServer
    let loader: CurlLoader

    init() throws {
        server = try FaultServer()
        loader = try transport()
    }

    private struct Echo: Decodable { var method: String; var path: String; var body: String }

    private func echo(_ method: HTTPMethod, _ body: HTTPBody) async throws -> (Echo, FaultServer.LogEntry) {
        let request = try HTTPRequest(server.baseURL + "/echo?a=b", method: method, body: body)
        let response = try await loader.response(for: request)
        return (try response.decode(Echo.self), try #require(server.log.last))
    }

    @Test("B: values: every kind of body arrives as it was meant, with its type")
    func bodies() async throws {
        struct Person: Codable { var name: String }
        let (empty, bare) = try await echo(.get, .empty)
        #expect(empty.method == "GET" && empty.path == "/echo?a=b" && empty.body.isEmpty)
        #expect(bare.header("Content-Type") == nil)
        let (data, raw) = try await echo(.post, .bytes(Array("raw".utf8), contentType: "text/x-raw"))
        #expect(data.body == "raw" && raw.header("Content-Type") == "text/x-raw")
        let (json, typed) = try await echo(.put, try .json(Person(name: "Ada")))
        #expect(json.method == "PUT" && json.body == #"{"name":"Ada"}"#)
        #expect(typed.header("Content-Type") == "application/json")
        let (form, encoded) = try await echo(.post, .form([("name", "A b"), ("x", "é&")]))
        #expect(form.body == "name=A+b&x=%C3%A9%26")
        #expect(encoded.header("Content-Type") == "application/x-www-form-urlencoded")
        let (parts, multipart) = try await echo(.post, try .multipart([.text("a", "b")], boundary: "limit"))
        #expect(parts.body == "--limit\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--limit--\r\n")
        #expect(multipart.header("Content-Type") == "multipart/form-data; boundary=limit")
    }

    @Test("B: values: header fields keep their order and repeats both ways, and their names have no case")
    func headers() async throws {
        server.on("/fields") { _ in
            [
                .respond(
                    .init(200, headers: [("X-One", "1"), ("Set-Cookie", "a=1"), ("x-one", "2"), ("set-cookie", "b=2")])
                )
            ]
        }
        var request = try HTTPRequest(server.baseURL + "/fields")
        request.headers.add("X-First", "1")
        request.headers.add("X-Second", "2")
        request.headers.add("x-first", "3")
        let response = try await loader.response(for: request)
        let own = server.log.first?.headers.filter { ($0.first ?? "").lowercased().hasPrefix("x-") }
        #expect(own == [["X-First", "1"], ["X-Second", "2"], ["x-first", "3"]])
        #expect(response.headers[values: "SET-COOKIE"] == ["a=1", "b=2"])
        let fields = response.headers.filter { $0.name.lowercased() == "x-one" }.map { [$0.name, $0.value] }
        #expect(fields == [["X-One", "1"], ["x-one", "2"]])
    }

    @Test("B: values: a result is a response or an error with its code, its request and its cause")
    func results() async throws {
        server.on("/lost") { _ in [.reset] }
        server.on("/cut") { _ in
            [.head(.init(200, headers: [("Content-Length", "10")])), .text("half"), .close]
        }
        #expect(try await loader.load(HTTPRequest(server.baseURL + "/ok")).get().status == .ok)
        let lost = try failure(of: await loader.load(HTTPRequest(server.baseURL + "/lost")))
        #expect(lost.code == .networkConnectionLost)
        #expect(lost.request.url.absoluteString == server.baseURL + "/lost")
        #expect(lost.response == nil)
        let cut = try failure(of: await loader.load(HTTPRequest(server.baseURL + "/cut")))
        #expect(cut.code == .networkConnectionLost)
        #expect(cut.response?.status == 200)
        await #expect(throws: HTTPError.self) { try await loader.response(for: HTTPRequest(server.baseURL + "/lost")) }
    }

    @Test("B: MockLoader: a chain meets it as it meets the wire: the same answers, attempts and requests")
    func mock() async throws {
        server.on("/twice") { $0.occurrence == 1 ? [.respond(.init(503))] : [.respond(.init(200, body: "ok"))] }
        let mock = MockLoader().then(.status(503)).then(.status(200))
        var records: [[HTTPStatus?]] = []
        for transport: any HTTPLoader in [loader, mock] {
            let chain = AnyLoader(try Retry(quick(), budgets: nil) --> AnyLoader(transport))
            var request = try HTTPRequest(server.baseURL + "/twice", method: .put, body: .text("body"))
            request.headers["X-One"] = "1"
            records.append(try await chain.response(for: request).attempts.map(\.status))
        }
        #expect(records == [[503, 200], [503, 200]])
        #expect(mock.requests.map { $0.headers["X-One"] } == server.log.map { $0.header("X-One") })
        #expect(mock.requests.count == server.log.count)
    }
}
