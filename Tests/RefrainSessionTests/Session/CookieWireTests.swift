// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainSession
import RefrainTesting
import Testing

@Suite("On the wire: cookies", .timeLimit(.minutes(10)))
struct CookieWireTests {
    private let server: FaultServer
    private let jar = CookieJar()
    private let session: Session

    init() throws {
        server = try FaultServer()
        server.on("/login") { _ in
            [.respond(.init(303, headers: [("Set-Cookie", "sid=abc; Path=/; HttpOnly"), ("Location", "/home")]))]
        }
        server.answer("/home", 503, 200)
        session = Session.testing(jar --> CurlLoader(), interceptor: RetryPolicy.recommended)
    }

    @Test("a log-in's cookie is sent by the redirect that follows, by each attempt and by later requests")
    func logIn() async throws {
        _ = try await session.request(server.baseURL + "/login", method: .post, parameters: ["user": "ada"])
            .validate().serializingString().value
        _ = try await session.request(server.baseURL + "/home").validate().serializingString().value
        #expect(server.requests(toPath: "/login").map { $0.values("Cookie") } == [[]])
        #expect(
            server.requests(toPath: "/home").map { $0.values("Cookie") } == [["sid=abc"], ["sid=abc"], ["sid=abc"]]
        )
        #expect(jar.cookies.map(\.isHTTPOnly) == [true])
    }

    @Test("R26: a redirect to another host carries none of this one's cookies, and may set its own")
    func otherHost() async throws {
        let other = try FaultServer()
        other.on("/there") { _ in [.respond(.init(200, headers: [("Set-Cookie", "other=1")], body: "ok"))] }
        server.on("/away") { _ in
            [.respond(.init(302, headers: [("Location", "http://localhost:\(other.port)/there")]))]
        }
        jar.insert(.init(name: "sid", value: "abc", domain: "127.0.0.1"))
        _ = try await session.request(server.baseURL + "/away").validate().serializingString().value
        #expect(server.requests(toPath: "/away").map { $0.values("Cookie") } == [["sid=abc"]])
        #expect(other.requests(toPath: "/there").map { $0.values("Cookie") } == [[]])
        #expect(Set(jar.cookies.map(\.domain)) == ["127.0.0.1", "localhost"])
    }
}
