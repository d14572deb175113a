// SPDX-License-Identifier: Apache-2.0
import Foundation
import RefrainAlamofire
import RefrainTesting
import Testing

@Suite("Alamofire's serializers and encoders", .timeLimit(.minutes(10)))
struct SerializationNamesTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.on("/xssi") { _ in [.respond(.init(200, body: ")]}',\n{\"a\":[1,2.5,true,null,\"b\"]}"))] }
    }

    private struct Value: Encodable, Sendable {
        var oneTwo = "x"
        var aURL = ["k": 1]
        var date = Date(timeIntervalSince1970: 1)
        var data = Data([1, 2])
    }

    @Test("a preprocessor changes the bytes of data requests and downloads, and its error is the response's")
    func preprocessor() async throws {
        struct Refused: Error {}
        struct Refusing: DataPreprocessor {
            func preprocess(_ data: Data) throws -> Data { throw Refused() }
        }
        let content: [String: [JSONEncoding.Value]] = try await AF.request(server.baseURL + "/xssi")
            .serializingDecodable([String: [JSONEncoding.Value]].self, dataPreprocessor: .googleXSSI).value
        #expect(content["a"]?.count == 5)
        let response: AFDownloadResponse<String> = await withCheckedContinuation { done in
            AF.download(server.baseURL + "/xssi").responseString(dataPreprocessor: .googleXSSI) {
                done.resume(returning: $0)
            }
        }
        #expect(response.value?.hasPrefix("{\"a\"") == true)
        if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
        let refused = await AF.request(server.baseURL + "/xssi").serializingData(dataPreprocessor: Refusing()).response
        guard case .responseSerializationFailed(.customSerializationFailed(let error, _), _) = refused.error else {
            Issue.record("\(refused)")
            return
        }
        #expect(error is Refused)
        #expect(server.count(path: "/xssi") == 3)
    }

    @Test("any JSON is read as Swift's own values")
    func json() async {
        let response: AFDataResponse<any Sendable> = await withCheckedContinuation { done in
            AF.request(server.baseURL + "/xssi").responseJSON(dataPreprocessor: .googleXSSI) {
                done.resume(returning: $0)
            }
        }
        let list = (response.value as? [String: any Sendable])?["a"] as? [any Sendable]
        #expect(list?.count == 5 && list?[0] as? Int == 1 && list?[1] as? Double == 2.5 && list?[2] as? Bool == true)
    }

    @Test("what JSONSerialization has read is written as it was: 0 and 1 are numbers, and null is null")
    func anyJSON() throws {
        let text = #"{"a":[1,0,true,false,null,1.5,2,"x"],"b":{"c":1,"d":null}}"#
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let request = try JSONEncoding.default.encode(HTTPRequest("https://a.example/"), withJSONObject: object)
        #expect(request.httpBody == Data(text.utf8))

        let literal = URLEncoding(destination: .queryString, boolEncoding: .literal)
        let any: [String: Any] = [
            "a": NSNumber(value: 1), "b": NSNumber(value: true), "c": Optional(NSNumber(value: 0)) as Any,
            "d": Optional(true) as Any, "e": NSNumber(value: 1.0), "f": Float(0.1), "g": Int?.none as Any,
            "h": Decimal(999) / 100, "i": Decimal(-7), "j": Decimal(sign: .plus, exponent: 20, significand: 1),
        ]
        let query = try literal.encode(HTTPRequest("https://a.example/"), with: any).url.query(percentEncoded: true)
        #expect(query == "a=1&b=true&c=0&d=true&e=1&f=0.1&h=9.99&i=-7&j=1e%2B20")
        let exact = try #require(Decimal(string: "0.1234567890123456789012345"))
        #expect(throws: AFError.self) { try literal.encode(request, with: ["a": exact] as [String: Any]) }
    }

    @Test("keys, key paths, dates and data are encoded as the encoder says")
    func form() throws {
        func text(_ encoder: URLEncodedFormEncoder) throws -> String {
            let text: String = try encoder.encode(Value())
            return text.replacing("%5B", with: "[").replacing("%5D", with: "]").replacing("%3A", with: ":")
        }
        #expect(try text(URLEncodedFormEncoder()) == "aURL[k]=1&data=AQI%3D&date=-978307199.0&oneTwo=x")
        let snake = URLEncodedFormEncoder(
            dataEncoding: .deferredToData,
            dateEncoding: .secondsSince1970,
            keyEncoding: .convertToSnakeCase,
            keyPathEncoding: .dots
        )
        #expect(try text(snake) == "a_url.k=1&data[]=1&data[]=2&date=1.0&one_two=x")
        let kebab = URLEncodedFormEncoder(
            arrayEncoding: .custom { key, index in "\(key)-\(index)" },
            dataEncoding: .deferredToData,
            dateEncoding: .iso8601,
            keyEncoding: .convertToKebabCase,
            keyPathEncoding: .init { "/\($0)" }
        )
        #expect(try text(kebab) == "a-url/k=1&data-0=1&data-1=2&date=1970-01-01T00:00:01Z&one-two=x")
        let custom = URLEncodedFormEncoder(
            dataEncoding: .custom { "\($0.count)" },
            dateEncoding: .custom { "\(Int($0.timeIntervalSince1970))" },
            keyEncoding: .custom { "_\($0)" }
        )
        #expect(try text(custom) == "_aURL[_k]=1&_data=2&_date=1&_oneTwo=x")
        #expect(try text(URLEncodedFormEncoder(dateEncoding: .millisecondsSince1970)).contains("date=1000.0"))
        #expect(try text(URLEncodedFormEncoder(keyEncoding: .capitalized)).contains("OneTwo=x"))
        #expect(try text(URLEncodedFormEncoder(keyEncoding: .uppercased)).contains("ONETWO=x"))
        #expect(try text(URLEncodedFormEncoder(keyEncoding: .lowercased)).contains("onetwo=x"))
    }

    @Test("members and the elements of lists are in the order of their text, as Alamofire sends them")
    func order() throws {
        let members = ["page": ["b", "a"], "page2": ["c"], "page-3": [], "pageB": ["d"]]
        let text: String = try URLEncodedFormEncoder(arrayEncoding: .noBrackets).encode(members)
        #expect(text == "page2=c&page=a&page=b&pageB=d")
        let tree = ["a": ["k": 1, "k2": 2], "a2": [:]]
        let nested: String = try URLEncodedFormEncoder(keyPathEncoding: .dots).encode(tree)
        #expect(nested == "a.k2=2&a.k=1")
        let snake: String = try URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase).encode(["aB": 1, "a_a": 2])
        #expect(snake == "a_a=2&a_b=1")
        let form = URLEncoding.Form(arrays: .noBrackets)
        #expect(form.text(of: ["page2": 2, "page": [2, 1]]) == "page=2&page=1&page2=2", "by key")
    }
}
