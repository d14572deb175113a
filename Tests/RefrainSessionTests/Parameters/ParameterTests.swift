import RefrainCore
import RefrainSession
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Parameters")
struct ParameterTests {
    private func text(_ parameters: Parameters, _ form: FormEncoding = FormEncoding()) -> String {
        form.text(of: parameters).replacing("%5B", with: "[").replacing("%5D", with: "]")
    }

    @Test("A: parameters: nested keys stand in brackets, in sorted order")
    func nested() {
        let parameters: Parameters = [
            "b": ["z": 1, "a": ["x": "y"]], "a": [1, 2, ["k": true]], "n": nil, "d": 1.5, "t": false,
        ]
        #expect(text(parameters) == "a[]=1&a[]=2&a[][k]=1&b[a][x]=y&b[z]=1&d=1.5&t=0")
    }

    @Test("A: parameters: lists, truth, nothing and spaces have their forms")
    func forms() {
        let parameters: Parameters = ["a": [1, 2], "b": true, "n": nil, "s": "x y"]
        #expect(
            text(parameters, FormEncoding(arrays: .noBrackets, bools: .literal, nils: .null, spaces: .plusReplaced))
                == "a=1&a=2&b=true&n=null&s=x+y"
        )
        #expect(
            text(parameters, FormEncoding(arrays: .indexInBrackets, nils: .dropValue))
                == "a[0]=1&a[1]=2&b=1&n=&s=x%20y"
        )
    }

    @Test(
        "A: parameters: reserved and non-ASCII characters are escaped",
        arguments: [
            ("&=+#", "%26%3D%2B%23"), ("é", "%C3%A9"), ("😀", "%F0%9F%98%80"), ("a-._~?/", "a-._~?/"),
            ("\r\n", "%0D%0A"),
        ]
    )
    func escaping(raw: String, escaped: String) {
        #expect(FormEncoding().text(of: [raw: .string(raw)]) == "\(escaped)=\(escaped)")
    }

    @Test(
        "A: parameters: GET, HEAD and DELETE carry parameters in the query, others in the body",
        arguments: [
            (HTTPMethod.get, true), (.head, true), (.delete, true), (.post, false), (.put, false), (.patch, false),
        ]
    )
    func destination(method: HTTPMethod, isQuery: Bool) throws {
        let request = try URLEncoding.default.encode(HTTPRequest("/a?z=1", method: method), with: ["k": "v"])
        #expect(request.url.query() == (isQuery ? "z=1&k=v" : "z=1"))
        #expect(request.body.bytesInMemory == (isQuery ? [] : Array("k=v".utf8)))
        #expect(request.body.contentType?.hasPrefix("application/x-www-form-urlencoded") == (isQuery ? nil : true))
    }

    @Test("A: parameters: no parameters change nothing")
    func none() throws {
        let request = try URLEncoding.default.encode(HTTPRequest("/a?z=1"), with: nil)
        #expect(request.url.absoluteString == "http://host.test/a?z=1")
        #expect(try URLEncoding.default.encode(HTTPRequest("/a"), with: [:]).url.absoluteString == "http://host.test/a")
    }

    @Test("A: parameters: parameters as JSON, nested and with nothing in them")
    func json() throws {
        let request = try JSONEncoding.default.encode(
            HTTPRequest("/a", method: .post),
            with: ["b": [1, nil, "x"], "a": ["k": 1.5]]
        )
        #expect(request.body.bytesInMemory == Array(#"{"a":{"k":1.5},"b":[1,null,"x"]}"#.utf8))
        #expect(request.body.contentType == "application/json")
    }

    @Test("A: parameters: an Encodable value goes into the query or the body")
    func encodable() throws {
        struct Filter: Encodable, Sendable {
            var name = "Ada Lovelace"
            var ids = [1, 2]
            var isActive = true
            var note: String?
        }
        let query = try URLEncodedFormParameterEncoder.default.encode(Filter(), into: HTTPRequest("/a"))
        #expect(query.url.query() == "ids%5B%5D=1&ids%5B%5D=2&isActive=1&name=Ada%20Lovelace")
        let json = try JSONParameterEncoder.default.encode(Filter(), into: HTTPRequest("/a", method: .post))
        #expect(json.body.bytesInMemory == Array(#"{"ids":[1,2],"isActive":true,"name":"Ada Lovelace"}"#.utf8))
    }

    @Test("A: parameters: parameters that cannot be encoded fail the request before anything is sent")
    func unencodable() async {
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader)
        let bad = session.request("http://host.test/a", method: .post, parameters: ["x": Double.nan], encoder: .json)
        let flat = session.request("http://host.test/a", parameters: [1, 2], encoder: .urlEncodedForm)
        for request in [bad, flat] {
            guard case .parameterEncodingFailed? = await request.serializingData().response.error else {
                Issue.record("not refused")
                continue
            }
        }
        #expect(loader.requests.isEmpty)
    }

    @Test("A: parameters: a GET with parameters as JSON is refused before it is sent")
    func jsonGet() async {
        let loader = ScriptedLoader(.status(200))
        let session = Session.testing(loader)
        let request = session.request("http://host.test/a", parameters: ["k": 1], encoding: JSONEncoding.default)
        guard case .requestValidationFailed? = await request.serializingData().response.error else {
            Issue.record("not refused")
            return
        }
        #expect(loader.requests.isEmpty)
    }

    @Test("A: parameters: values survive a round trip through JSON")
    func roundTrip() throws {
        let value: ParameterValue = ["s": "x", "i": -3, "d": 2.5, "b": true, "a": [1, nil], "o": ["k": "v"]]
        let back = try JSONDecoder().decode(ParameterValue.self, from: JSONEncoder().encode(value))
        #expect(back == value)
    }
}
