// SPDX-License-Identifier: Apache-2.0
#if HTTPTypes
import HTTPTypes
import RefrainHTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Both packages' types stand in this file without the names of their modules.
@Suite("HTTPTypes")
struct ConversionTests {
    @Test("a request goes there and back: method, URL, fields in their order, repeats")
    func request() throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .accept, value: "text/plain"))
        fields[values: .cookie] = ["a=1", "b=2"]
        let theirs = HTTPRequest(
            method: .patch,
            scheme: "https",
            authority: "api.example.com:8443",
            path: "/a%20b?x=1&y=%2F",
            headerFields: fields
        )
        let ours = try RefrainRequest(theirs, body: .text("hello"))
        #expect(ours.method == .patch)
        #expect(ours.url.absoluteString == "https://api.example.com:8443/a%20b?x=1&y=%2F")
        #expect(ours.headers.map(\.value) == ["text/plain", "a=1", "b=2"])
        #expect(ours.body.bytesInMemory == Array("hello".utf8))
        #expect(try HTTPRequest(ours) == theirs)
    }

    @Test(
        "a URL is split at its authority; user, password and fragment are left out",
        arguments: [
            ("http://example.com", "example.com", "/"),
            ("http://user:word@example.com/a?b#c", "example.com", "/a?b"),
            ("http://example.com?x=@/y", "example.com", "/?x=@/y"),
            ("http://[::1]:80/a", "[::1]:80", "/a"),
            ("http://b%C3%BCcher.example:80/b%C3%BC", "xn--bcher-kva.example:80", "/b%C3%BC"),
        ]
    )
    func target(url: String, authority: String, path: String) throws {
        let request = try HTTPRequest(RefrainRequest(url))
        #expect(request.scheme == "http")
        #expect(request.authority == authority)
        #expect(request.path == path)
    }

    @Test(
        "an authority and a path that would make another host are refused",
        arguments: [
            ("example.com", "evil.com/"), ("example.com", ".evil.com/"), ("example.com", ":80@evil.com/"),
            ("example.com/", "/a"), ("example.com?", "/a"), (nil, "/a"), ("", "/a"),
        ] as [(String?, String)]
    )
    func refused(authority: String?, path: String) {
        let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: path)
        #expect(throws: HTTPError.self) { try RefrainRequest(request) }
    }

    @Test("a field that must not be indexed is secret, and a secret field is not indexed")
    func secrets() throws {
        var field = HTTPField(name: .authorization, value: "Bearer x")
        field.indexingStrategy = .disallow
        var theirs = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        theirs.headerFields.append(field)
        theirs.headerFields[.accept] = "*/*"
        let ours = try RefrainRequest(theirs)
        #expect(ours.secretHeaders.contains { RefrainHeaders.isSame($0, "Authorization") })
        #expect(!ours.secretHeaders.contains { RefrainHeaders.isSame($0, "Accept") })
        let strategies = try HTTPRequest(ours).headerFields.map(\.indexingStrategy)
        #expect(strategies == [.disallow, .automatic])
    }

    @Test("R5: the idempotency key goes along, and one that cannot be written is refused")
    func idempotencyKey() throws {
        var ours = try RefrainRequest("https://example.com", method: .post)
        ours.idempotencyKey = .custom("order 7")
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(try HTTPRequest(ours).headerFields[name] == "\"order 7\"")
        ours.idempotencyKey = .custom("")
        #expect(throws: InvalidArgument.self) { try HTTPRequest(ours) }
    }

    @Test("the fields that frame a message are the transport's")
    func framing() throws {
        var theirs = HTTPRequest(method: .post, scheme: "https", authority: "example.com", path: "/")
        theirs.headerFields[.contentLength] = "5"
        theirs.headerFields[.transferEncoding] = "chunked"
        let ours = try RefrainRequest(theirs, body: .text("hello"))
        #expect(ours.headers.isEmpty)
        #expect(throws: Never.self) { try ours.validated() }
    }

    @Test("fields that HTTPTypes cannot hold are refused in a request, and left out of a response")
    func invalidFields() throws {
        var request = try RefrainRequest("https://example.com")
        request.headers.add("no token", "x")
        #expect(throws: InvalidArgument.self) { try HTTPRequest(request) }
        #expect(throws: InvalidArgument.self) { try HTTPFields(["X": "a\nb"]) }
        let response = RefrainResponse(request: request, status: 200, headers: ["no token": "x", "Server": "s"])
        #expect(try HTTPResponse(response).headerFields.map(\.value) == ["s"])
        let many = RefrainHeaders((0..<70_000).map { _ in ("X", "y") })
        #expect(throws: InvalidArgument.self) { try HTTPFields(many) }
        let flood = RefrainResponse(request: request, status: 200, headers: many)
        #expect(try HTTPResponse(flood).headerFields.count < 65_536)
    }

    @Test("a response goes there and back, and a status out of range is refused")
    func response() throws {
        let request = try RefrainRequest("https://example.com")
        let theirs = HTTPResponse(status: .tooManyRequests, headerFields: [.retryAfter: "7"])
        let ours = RefrainResponse(theirs, to: request, body: .text("later"))
        #expect(ours.status == .tooManyRequests)
        #expect(ours.headers["Retry-After"] == "7")
        #expect(ours.text == "later")
        #expect(try HTTPResponse(ours) == theirs)
        #expect(throws: InvalidArgument.self) {
            try HTTPResponse(RefrainResponse(request: request, status: RefrainStatus(rawValue: 1000)))
        }
        #expect(HTTPResponse.Status(RefrainStatus(rawValue: -1)) == nil)
        #expect(HTTPRequest.Method(RefrainMethod(rawValue: "NO TOKEN")) == nil)
    }
}
#endif
