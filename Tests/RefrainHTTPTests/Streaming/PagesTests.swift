// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Pages")
struct PagesTests {
    @Test(
        "RFC 8288: links, their parameters, and what is malformed",
        arguments: [
            ("<a>; rel=next", ["a: next"]), ("<a>;rel=\"next prev\"", ["a: next prev"]),
            ("<a>; REL=\"Next\" , <b>; rel=prev", ["a: next", "b: prev"]),
            ("<a>; title=\"x,y; rel=no\"; rel=next", ["a: next"]), ("<a>; rel=next; rel=prev", ["a: next"]),
            ("<a>; rel=next; anchor=\"/other\"", []), ("<a,b>; rel=next", ["a,b: next"]), ("<a>", ["a: "]),
            ("<a>; rel = next;", ["a: next"]), ("<a; rel=next", []), ("a; rel=next", []), ("", []),
            ("<a>; rel=next, b", ["a: next"]), ("<a>; rel=\"next", []), (",, <a>; rel=next ,", ["a: next"]),
            ("<>; rel=next", [": next"]), ("<a>; rel", ["a: "]), ("<a>; type=text/html; rel=next", ["a: next"]),
            ("<a>; rel=https://example.com/r , <b>; rel=next", ["a: https://example.com/r", "b: next"]),
            ("<a>; title=two words; rel=next\t", ["a: next"]), ("<a>; title=; rel=next", ["a: next"]),
        ]
    )
    func links(field: String, expected: [String]) {
        let links = LinkField.parse(fieldValues: [field])
        #expect(links.map { "\($0.target): \($0.relations.joined(separator: " "))" } == expected)
    }

    @Test("pages follow the link to the next one, relative to the page, until there is none")
    func follows() async throws {
        let mock = MockLoader()
            .then(.status(200, headers: ["Link": "</orders?page=2>; rel=\"next\", </orders>; rel=first"]))
            .then(.status(200, headers: ["Link": "<?page=3>; rel=next"]))
            .then(.status(200))
        var request = sampleRequest("orders")
        request.headers["X-Team"] = "tea"
        let pages = try await mock.pages(from: request).all()
        #expect(pages.count == 3)
        #expect(
            mock.requests.map(\.url.absoluteString) == [
                "https://api.example.com/orders", "https://api.example.com/orders?page=2",
                "https://api.example.com/orders?page=3",
            ]
        )
        #expect(mock.requests.allSatisfy { $0.headers["X-Team"] == "tea" })
    }

    @Test("R26: credentials do not follow a link to another origin, and TLS is not left")
    func origins() async throws {
        let away = MockLoader()
            .then(.status(200, headers: ["Link": "<https://other.example.com/2>; rel=next"]))
            .then(.status(200, headers: ["Link": "<http://other.example.com/3>; rel=next"]))
        var request = sampleRequest("1")
        request.headers["Authorization"] = "Bearer secret"
        request.headers["X-Team"] = "tea"
        let error = await #expect(throws: HTTPError.self) { try await away.pages(from: request).all() }
        #expect(error?.code == .insecureRedirect)
        #expect(away.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil])
        #expect(away.requests.map { $0.headers["X-Team"] } == ["tea", "tea"])
    }

    @Test("R26: the request's own userinfo stays with its origin, and that of a link is ignored")
    func userinfo() async throws {
        let mock = MockLoader()
            .then(.status(200, headers: ["Link": "<https://api.example.com/2>; rel=next"]))
            .then(.status(200, headers: ["Link": "<https://bob:x@other.example.com/3>; rel=next"]))
            .then(.status(200))
        let request = try HTTPRequest("https://ann:secret@api.example.com/1")
        _ = try await mock.pages(from: request).all()
        let own = "https://ann:secret@api.example.com"
        #expect(mock.requests.map(\.url.absoluteString) == ["\(own)/1", "\(own)/2", "https://other.example.com/3"])
    }

    @Test("a page that is an error ends the pages with an error, and no further page is asked for")
    func errorPage() async throws {
        let mock = MockLoader()
            .then(.status(200, headers: ["Link": "<2>; rel=next"]))
            .then(.status(404, headers: ["Link": "<3>; rel=next"]))
        var iterator = mock.pages(from: sampleRequest("1")).makeAsyncIterator()
        #expect(try await iterator.next()?.status == 200)
        let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(error?.code == .badServerResponse && error?.response?.status == 404)
        #expect(try await iterator.next() == nil)
        #expect(mock.requests.count == 2)
    }

    @Test("a page whose link cannot be followed is read, and the error comes where the next one is asked for")
    func unusableLink() async throws {
        let mock = MockLoader().otherwise(.status(200, headers: ["Link": "<http://other.example.com/2>; rel=next"]))
        var iterator = mock.pages(from: sampleRequest("1")).makeAsyncIterator()
        #expect(try await iterator.next()?.status == 200)
        let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(error?.code == .insecureRedirect)
        #expect(try await iterator.next() == nil)
        #expect(mock.requests.count == 1)
    }

    @Test("a server that links in a circle is left after the limit")
    func circle() async throws {
        let mock = MockLoader().otherwise(.status(200, headers: ["Link": "<1>; rel=next"]))
        let error = await #expect(throws: HTTPError.self) {
            try await mock.pages(from: sampleRequest("1"), limit: 5).all()
        }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(mock.requests.count == 5)
    }

    @Test("a closure can say what comes next: a cursor in the body")
    func cursors() async throws {
        let mock = MockLoader().then(.status(200, body: .text("2"))).then(.status(200, body: .text("end")))
        let pages = mock.pages(from: sampleRequest("1")) { response in
            let text = String(decoding: response.data ?? Data(), as: UTF8.self)
            return text == "end" ? nil : sampleRequest(text)
        }
        #expect(try await pages.all().count == 2)
        #expect(mock.requests.map(\.name) == ["1", "2"])
    }

    @Test("R9: cancelled pages throw CancellationError")
    func cancelled() async throws {
        let gate = MockLoader.Gate()
        let mock = MockLoader().then(.held(by: gate, .status(200)))
        let task = Task { try await mock.pages(from: sampleRequest("1")).all() }
        await gate.arrivals(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a next page asked for by POST is asked for by GET, without the body and its fields")
    func posted() async throws {
        let mock = MockLoader()
            .then(.status(200, headers: ["Link": "<2>; rel=next"]))
            .then(.status(200))
        var request = sampleRequest("1", method: .post, body: .text("query"))
        request.headers["Content-Type"] = "text/plain"
        _ = try await mock.pages(from: request).all()
        #expect(mock.requests.last?.method == .get)
        #expect(mock.requests.last?.body.isEmpty == true && mock.requests.last?.headers["Content-Type"] == nil)
    }
}
