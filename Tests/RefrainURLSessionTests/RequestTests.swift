// SPDX-License-Identifier: Apache-2.0
import Foundation
import RefrainHTTP
import Testing

@testable import RefrainURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLRequest and URLResponse", .timeLimit(.minutes(10)))
struct RequestTests {
    @Test("a request survives the way to URLRequest and back")
    func roundTrip() throws {
        let request = try HTTPRequest(
            "http://host.test/a?b=c",
            method: .post,
            headers: ["Accept": "text/plain", "X-One": "1"],
            body: .text("hello")
        )
        let theirs = try #require(URLRequest(request))
        #expect(theirs.httpBody == Data("hello".utf8))
        #expect(theirs.value(forHTTPHeaderField: "content-type") == "text/plain; charset=utf-8")
        let back = try #require(HTTPRequest(theirs))
        #expect(back.url == request.url)
        #expect(back.method == .post)
        #expect(back.headers["Accept"] == "text/plain")
        #expect(back.headers["X-One"] == "1")
        #expect(back.body.bytesInMemory == Array("hello".utf8))
    }

    @Test("R5: the idempotency key goes along, and one that cannot be written makes no request")
    func idempotencyKey() throws {
        var request = try HTTPRequest("http://host.test/", method: .post)
        request.idempotencyKey = .custom("order 7")
        #expect(URLRequest(request)?.value(forHTTPHeaderField: "Idempotency-Key") == "\"order 7\"")
        request.idempotencyKey = .generated
        #expect(URLRequest(request)?.value(forHTTPHeaderField: "Idempotency-Key")?.isEmpty == false)
        request.idempotencyKey = .custom("")
        #expect(URLRequest(request) == nil)
    }

    @Test("the loader asks for the host in its ASCII form, which is that of budgets and certificates")
    func host() throws {
        let request = try HTTPRequest("http://b%C3%BCcher.example/a?b=%2F")
        let (task, _) = try UploadStreamWriter.makeTask(for: request, in: .shared) { _ in }
        #expect(task.originalRequest?.url?.absoluteString == "http://xn--bcher-kva.example/a?b=%2F")
        task.cancel()
    }

    @Test("a request without a body has none on either side")
    func empty() throws {
        let theirs = try #require(URLRequest(try HTTPRequest("http://host.test/")))
        #expect(theirs.httpBody == nil)
        #expect(try #require(HTTPRequest(theirs)).body.isEmpty)
    }

    @Test("the fields that frame the message are left to the transport")
    func framing() throws {
        var theirs = URLRequest(url: try #require(URL(string: "http://host.test/")))
        theirs.setValue("7", forHTTPHeaderField: "Content-Length")
        #expect(try #require(HTTPRequest(theirs)).headers.isEmpty)
    }

    @Test("a response keeps status, fields and body; what is not HTTP is none")
    func response() throws {
        let request = try HTTPRequest("http://host.test/")
        let theirs = try #require(
            HTTPURLResponse(
                url: request.url,
                statusCode: 503,
                httpVersion: "HTTP/1.1",
                headerFields: ["Retry-After": "7"]
            )
        )
        let response = try #require(HTTPResponse(theirs, to: request, body: .text("busy")))
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers["retry-after"] == "7")
        #expect(response.body.bytesInMemory == Array("busy".utf8))
        let other = URLResponse(url: request.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        #expect(HTTPResponse(other, to: request) == nil)
    }
}
