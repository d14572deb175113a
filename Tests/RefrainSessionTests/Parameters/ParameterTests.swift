// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Parameters", .timeLimit(.minutes(10)))
struct ParameterTests {
    private func text(_ parameters: Parameters, _ form: URLEncoding.Form = URLEncoding.Form()) -> String {
        form.text(of: parameters).replacing("%5B", with: "[").replacing("%5D", with: "]")
    }

    @Test("A: parameters: nested keys stand in brackets, in sorted order")
    func nested() {
        let parameters: Parameters = [
            "b": ["z": 1, "a": ["x": "y"]], "a": [1, 2, ["k": true]], "n": nil, "d": 1.5, "t": false,
        ]
        #expect(text(parameters) == "a[]=1&a[]=2&a[][k]=1&b[a][x]=y&b[z]=1&d=1.5&t=0")
    }

    @Test(
        "A: parameters: an optional member that is nil is written as `nils` says, also where Swift wrote its encoding"
    )
    func optionalMembers() throws {
        struct Values: Encodable, Sendable {
            var one: String? = "one"
            var two: String?
            var three: Int?
            var four: [Int]?
        }
        for (nils, expected) in [
            (URLEncoding.Form.NilEncoding.dropKey, "one=one"), (.null, "four=null&one=one&three=null&two=null"),
            (.dropValue, "four=&one=one&three=&two="),
        ] {
            let encoder = URLEncodedFormParameterEncoder(form: URLEncoding.Form(nils: nils), destination: .httpBody)
            let request = try encoder.encode(Values(), into: HTTPRequest("http://host.test/", method: .post))
            #expect(request.body.bytesInMemory.map { String(decoding: $0, as: UTF8.self) } == expected)
        }
    }

    @Test("A: parameters: lists, truth, nothing and spaces have their forms")
    func forms() {
        let parameters: Parameters = ["a": [1, 2], "b": true, "n": nil, "s": "x y"]
        #expect(
            text(parameters, URLEncoding.Form(arrays: .noBrackets, bools: .literal, nils: .null, spaces: .plusReplaced))
                == "a=1&a=2&b=true&n=null&s=x+y"
        )
        #expect(
            text(parameters, URLEncoding.Form(arrays: .indexInBrackets, nils: .dropValue))
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
        #expect(URLEncoding.Form().text(of: [raw: .string(raw)]) == "\(escaped)=\(escaped)")
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

    @Test("A: parameters: the numbers of an Encodable value keep all of their digits, and their form")
    func numbers() throws {
        struct Numbers: Encodable, Sendable {
            var a = UInt64.max
            var b = Int64.min
            var c = 3.0
            var d = Decimal(string: "12345678901234567890.123456789")
            var e: Float = 0.1
            var f = [UInt64.max, 1]
            var g = 1e300
        }
        let request = try URLEncodedFormParameterEncoder.default.encode(Numbers(), into: HTTPRequest("/a"))
        let query = request.url.query()?.replacing("%5B%5D", with: "[]").replacing("%2B", with: "+")
        #expect(
            query == "a=18446744073709551615&b=-9223372036854775808&c=3.0&d=12345678901234567890.123456789&e=0.1"
                + "&f[]=18446744073709551615&f[]=1&g=1e+300"
        )
    }

    @Test(
        "A: parameters: an Encodable value is written as it encodes itself, superclass and nested containers included"
    )
    func containers() throws {
        class Base: Encodable, @unchecked Sendable {
            // @unchecked Sendable: nothing changes.
            let id = 1
        }
        final class Derived: Base, @unchecked Sendable {
            // @unchecked Sendable: nothing changes.
            enum Keys: String, CodingKey { case name, tags, inner, nothing, link, bytes, when, none }
            enum Inner: String, CodingKey { case deep }

            override func encode(to encoder: any Encoder) throws {
                var members = encoder.container(keyedBy: Keys.self)
                try members.encode("Ada", forKey: .name)
                try members.encodeNil(forKey: .nothing)
                try members.encode(URL(filePath: "/a b"), forKey: .link)
                try members.encode(Data([1, 2]), forKey: .bytes)
                try members.encode(Date(timeIntervalSinceReferenceDate: 1.5), forKey: .when)
                try members.encode([String: Int](), forKey: .none)
                var tags = members.nestedUnkeyedContainer(forKey: .tags)
                try tags.encode(true)
                var tag = tags.nestedContainer(keyedBy: Inner.self)
                try tag.encode(2, forKey: .deep)
                var inner = members.nestedContainer(keyedBy: Inner.self, forKey: .inner)
                try inner.encode(["k": 1], forKey: .deep)
                try super.encode(to: members.superEncoder())
            }
        }
        let encoder = URLEncodedFormParameterEncoder(form: URLEncoding.Form(bools: .literal, nils: .null))
        let request = try encoder.encode(Derived(), into: HTTPRequest("/a"))
        let query = request.url.query()?.replacing("%5B", with: "[").replacing("%5D", with: "]")
        #expect(
            query == "bytes=AQI%3D&inner[deep][k]=1&link=file%3A///a%2520b&name=Ada&nothing=null&super[id]=1"
                + "&tags[]=true&tags[][deep]=2&when=1.5"
        )
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
        let value: JSONEncoding.Value = ["s": "x", "i": -3, "d": 2.5, "b": true, "a": [1, nil], "o": ["k": "v"]]
        let back = try JSONDecoder().decode(JSONEncoding.Value.self, from: JSONEncoder().encode(value))
        #expect(back == value)
    }
}
