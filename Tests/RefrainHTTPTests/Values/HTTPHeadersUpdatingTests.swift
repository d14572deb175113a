// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("Header fields by Alamofire's names", .computing)
struct HTTPHeadersUpdatingTests {
    @Test("a dictionary, a list and an array literal make fields")
    func makers() {
        #expect(HTTPHeaders(["B": "2", "A": "1"]).map(\.name) == ["A", "B"])
        let listed = HTTPHeaders([.init(name: "a", value: "1"), .accept("x/y"), .init(name: "A", value: "2")])
        #expect(listed.map(\.description) == ["A: 2", "Accept: x/y"])
        let literal: HTTPHeaders = [.contentType("text/plain"), .authorization(bearerToken: "abc")]
        #expect(literal.map(\.description) == ["Content-Type: text/plain", "Authorization: Bearer abc"])
    }

    @Test("add(name:value:) and update set a field; the last spelling of its name stands")
    func updating() {
        var headers: HTTPHeaders = ["a": "1", "b": "2"]
        headers.add("A", "3")
        headers.update(name: "A", value: "4")
        headers.add(name: "C", value: "5")
        headers.add(.userAgent("me"))
        headers.update(.userAgent("you"))
        headers.remove(name: "B")
        #expect(headers.map(\.description) == ["A: 4", "C: 5", "User-Agent: you"])
        #expect(headers.value(for: "user-agent") == "you")
        #expect(headers.dictionary == ["A": "4", "C": "5", "User-Agent": "you"])
    }

    @Test("sorting is by name, and keeps the order of repeats")
    func sorting() {
        let headers: HTTPHeaders = ["c": "1", "A": "2", "a": "1", "B": "3"]
        #expect(headers.sorted().map(\.description) == ["A: 2", "a: 1", "B: 3", "c: 1"])
        #expect(headers.dictionary == ["c": "1", "A": "2, 1", "B": "3"])
    }

    @Test("basic credentials are encoded (RFC 7617 §2)")
    func basic() {
        let field = HTTPHeaders.Field.authorization(username: "Aladdin", password: "open sesame")
        #expect(field.value == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test("the default fields are Alamofire's, with falling qualities")
    func defaults() {
        #expect(HTTPHeaders.default.map(\.name) == ["Accept-Encoding", "Accept-Language", "User-Agent"])
        #expect(HTTPHeaders.Field.defaultAcceptEncoding.value == "br;q=1.0, gzip;q=0.9, deflate;q=0.8")
        #expect(HTTPHeaders.Field.defaultAcceptLanguage.value.contains(";q=1.0"))
        #expect(HTTPHeaders.Field.defaultUserAgent.value.hasSuffix("Refrain"))
    }

    @Test("R31: a program of any name has a User-Agent that can be sent", arguments: ["", "/", "/opt/天気", "/opt/ (é)"])
    func program(path: String) {
        let field = HTTPHeaders.Field.defaultUserAgent(of: path)
        #expect(field.value.hasPrefix("unknown (") && HTTPHeaders.isValidValue(field.value))
    }
}

@Suite("What a response says of itself", .computing)
struct HTTPResponseFieldsTests {
    private func response(_ status: HTTPStatus, _ headers: HTTPHeaders = [:]) throws -> HTTPResponse {
        HTTPResponse(request: try HTTPRequest("http://host.test/a"), status: status, headers: headers)
    }

    @Test("a status has its code and its phrase")
    func status() throws {
        #expect(try response(404).statusCode == 404)
        #expect(try response(404).message == "Not Found")
        #expect(HTTPStatus(rawValue: 599).message == "Server Error")
    }

    @Test(
        "R15: Retry-After is read by its rules; what is malformed is none",
        arguments: [
            ("7", Duration.seconds(7)), ("nan", nil), ("-1", nil), ("1e3", nil), ("", nil),
            (String(repeating: "9", count: 400), Duration.longestDelay),
        ]
    )
    func retryAfter(_ value: String, _ expected: Duration?) throws {
        #expect(try response(503, ["Retry-After": value]).retryAfter == expected)
    }

    @Test("R16: a Retry-After date is read against the response's own Date")
    func retryAfterDate() throws {
        let headers: HTTPHeaders = [
            "Retry-After": "Sun, 06 Nov 1994 08:49:39 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        #expect(try response(503, headers).retryAfter == .seconds(2))
    }

    @Test("a result has its request and its response, whatever it is")
    func results() throws {
        let response = try response(200)
        #expect(HTTPResult.success(response).response?.statusCode == 200)
        #expect(HTTPResult.success(response).request.url == response.url)
        let error = HTTPError(.timedOut, request: response.request, response: response)
        #expect(HTTPResult.failure(error).response?.statusCode == 200)
        #expect(HTTPResult.failure(error).request.url == response.url)
    }

    @Test(
        "a strategy's seconds are clamped",
        arguments: [(0.5, Duration.milliseconds(500)), (.nan, .zero), (-1, .zero)]
    )
    func seconds(_ seconds: Double, _ expected: Duration) {
        struct Strategy: HTTPRetryStrategy {
            let seconds: Double
            func retryDelay(for result: HTTPResult) -> Duration? { retryDelay(seconds: seconds) }
        }
        #expect(Strategy(seconds: seconds).retryDelay(seconds: seconds) == expected)
    }

    @Test("a strategy is an option of a request")
    func option() throws {
        var request = try HTTPRequest("http://host.test/a")
        #expect(request[option: RetryOption.self] == nil)
        request[option: RetryOption.self] = Backoff.never
        #expect(request.retryStrategy is Backoff)
    }
}
