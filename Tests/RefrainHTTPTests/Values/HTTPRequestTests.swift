// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Requests")
struct HTTPRequestTests {
    struct BadURL: Sendable, CustomTestStringConvertible {
        let text: String
        let code: HTTPError.Code
        let says: String
        var testDescription: String { text }

        init(_ text: String, _ code: HTTPError.Code, _ says: String) {
            self.text = text
            self.code = code
            self.says = says
        }
    }

    @Test(
        "R31: text that is no URL of a server is refused, quoted, and told what is wrong with it",
        arguments: [
            BadURL("", .badURL, "is empty"),
            BadURL("example.com/x", .badURL, "has no scheme"),
            BadURL("http:/x", .badURL, "has no scheme"),
            BadURL("ftp://host/x", .unsupportedURL, "has the scheme ftp"),
            BadURL("file:///etc/passwd", .unsupportedURL, "has the scheme file"),
            BadURL("http://", .badURL, ""),
            BadURL("http:///path", .badURL, "names no host"),
            BadURL("http://ho st/", .badURL, "contains white space"),
            BadURL("http://host/a\r\nX: y", .badURL, "contains white space"),
            BadURL("http://host/\u{0}", .badURL, "contains white space"),
            BadURL("http://host:0/", .badURL, "has the port 0"),
            BadURL("http://host:65536/", .badURL, "has the port 65536"),
        ]
    )
    func badURLs(bad: BadURL) {
        let error = #expect(throws: HTTPError.self) { try HTTPRequest(bad.text) }
        #expect(error?.code == bad.code)
        #expect(error?.message?.contains("\"\(bad.text)\"") == true)
        #expect(error?.message?.contains(bad.says) == true, "\(error?.message ?? "")")
        #expect(error?.bytesSent == 0)
    }

    @Test(
        "R31: ports, brackets and escapes of all kinds give a URL or an error",
        arguments: [
            "http://h:99999999999999999999/", "http://[::1", "http://[::1]:x/", "http://%/", "http://h/%zz",
            "http://h:-1/",
            "http://\u{FEFF}h/", "http://h\\x/", "http://[v1.x]/", "http://h:80:80/", "https://xn--/",
            "http://ü.example/",
        ]
    )
    func oddURLs(text: String) {
        if let request = try? HTTPRequest(text) {
            #expect(request.origin != nil)
            #expect((try? request.validated()) != nil)
        }
    }

    @Test(
        "A refused URL is quoted without user, password and secret parameters, wherever these end",
        arguments: [
            ("http://user:s3cret@host:99999/", "http://host:99999/"), ("ftp://user:s3cret@host/", "ftp://host/"),
            ("http://user:s3cret@ho st/", "http://ho st/"), ("user:s3cret@host/x", "host/x"),
            ("http:/user:s3cret@host/x", "host/x"), ("http://user:p/s3cret#@host/x", "http://host/x"),
            ("http://user:p@s3cret@host:0/", "http://host:0/"), ("http://s3cret@", "http://"),
            ("ftp://host/?token=s3cret&a=b", "ftp://host/?token=***&a=b"),
        ]
    )
    func refusedSecrets(text: String, quoted: String) {
        let error = #expect(throws: HTTPError.self) { try HTTPRequest(text) }
        #expect(error?.message?.hasPrefix("\"\(quoted)\" ") == true, "\(error?.message ?? "")")
        #expect(error.map { "\($0)" }?.contains("s3cret") == false)
    }

    @Test("The text of a long refused URL is shortened")
    func longURL() {
        let error = #expect(throws: HTTPError.self) { try HTTPRequest(String(repeating: "x", count: 100_000)) }
        #expect((error?.message?.count ?? .max) < 400)
    }

    @Test("Good URLs are kept as they are, and their origin is told in lower case with its port")
    func goodURLs() throws {
        for (text, origin) in [
            ("https://Example.com/a%20b?q=1#f", "https://example.com:443"), ("http://h", "http://h:80"),
            ("HTTP://h:8080/", "http://h:8080"), ("http://[::1]:1/", "http://[::1]:1"),
        ] {
            let request = try HTTPRequest(text)
            #expect(request.url.absoluteString == text)
            #expect(request.origin?.description == origin)
        }
    }

    @Test("A request is described without the credentials of its URL")
    func description() throws {
        let request = try HTTPRequest("https://user:secret@example.com/x", method: .put)
        #expect(request.description == "PUT https://example.com/x")
    }

    @Test(
        "R31: fields that could break out of the head are refused before they reach a transport",
        arguments: [
            ("Na me", "v", "\"Na me\" is not a token"), ("", "v", "\"\" is not a token"),
            ("X:", "v", "\"X:\" is not a token"), ("X\r\nY", "v", "is not a token"), ("Ü", "v", "\"Ü\" is not a token"),
            ("X", "a\r\nB: c", "value of the header X"), ("X", "a\nb", "value of the header X"),
            ("X", "a\u{0}", "value of the header X"), ("X", " a", "value of the header X"),
            ("X", "a\t", "value of the header X"), ("X", "\u{7F}", "value of the header X"),
            ("Transfer-Encoding", "chunked", "transport's to set"), ("content-length", "1", "transport's to set"),
            ("UPGRADE", "h2c", "transport's to set"),
        ]
    )
    func badFields(name: String, value: String, says: String) {
        var request = sampleRequest()
        request.headers.add(name, value)
        let error = #expect(throws: HTTPError.self) { try request.validated() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message?.contains(says) == true, "\(error?.message ?? "")")
    }

    @Test(
        "R31: a content type that no header field can have is refused, and not left out",
        arguments: ["", "a\r\nb", "a\0"]
    )
    func badContentTypes(contentType: String) throws {
        var request = sampleRequest()
        request.body = .text("x", contentType: contentType)
        let error = #expect(throws: HTTPError.self) { try request.validated() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message?.contains("content type of the body") == true, "\(error?.message ?? "")")
        request.body = .text("x", contentType: nil)
        _ = try request.validated()
    }

    @Test("Values with inner tabs, with letters beyond ASCII and without any content are legal")
    func goodFields() throws {
        var request = sampleRequest()
        request.headers = ["A": "", "B": "a\tb", "C": "grüße", "!#$%&'*+-.^_`|~": "x"]
        #expect(try request.validated().headers == request.headers)
    }

    @Test("R31: a method that is no token is refused", arguments: ["", "GE T", "GET\r\n", "GET/1", "Ü"])
    func badMethods(name: String) {
        let error = #expect(throws: HTTPError.self) {
            try sampleRequest(method: HTTPMethod(rawValue: name)).validated()
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message?.contains("the method \"\(name)\"") == true)
    }

    @Test(
        "R31: URLs that are not of a server are refused by the transport's check, each with its reason",
        arguments: [
            ("x/y", HTTPError.Code.badURL, "no scheme"), ("ftp://h/", .unsupportedURL, "ftp"),
            ("http:/x", .badURL, "no host"),
        ]
    )
    func badTargets(text: String, code: HTTPError.Code, says: String) throws {
        let request = HTTPRequest(try #require(URL(string: text)))
        let error = #expect(throws: HTTPError.self) { try request.validated() }
        #expect(error?.code == code)
        #expect(error?.message?.contains(says) == true)
    }
}
