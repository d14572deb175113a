// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainAlamofire
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Alamofire's names", .timeLimit(.minutes(10)))
struct AlamofireNamesTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.on("/text") { request in [.respond(.init(200, body: "ok"))] }
        server.on("/moved") { _ in [.respond(.init(302, headers: [("Location", "/text")], body: "moved"))] }
    }

    private struct Router: URLRequestConvertible {
        let address: String

        func asURLRequest() throws -> HTTPRequest {
            var request = HTTPRequest(url: try address.asURL())
            request.httpMethod = "PUT"
            request.httpBody = Data("abc".utf8)
            request.setValue("yes", forHTTPHeaderField: "X-Router")
            return request
        }
    }

    @Test("AF and a router with asURLRequest()")
    func router() async throws {
        let text = try await AF.request(Router(address: server.baseURL + "/text")).validate().serializingString().value
        #expect(text == "ok")
        #expect(server.log.map(\.method) == ["PUT"] && server.log.map(\.bodyLength) == [3])
        #expect(server.log.first?.headers.contains(["X-Router", "yes"]) == true)
    }

    @Test("completions with Alamofire's labels, and without")
    func labels() async {
        let first: AFDataResponse<String> = await withCheckedContinuation { done in
            AF.request(server.baseURL + "/text").responseString(
                queue: .global(),
                completionHandler: { done.resume(returning: $0) }
            )
        }
        #expect(first.value == "ok")
        let second: AFDataResponse<Data> = await withCheckedContinuation { done in
            AF.request(server.baseURL + "/text").responseData(emptyResponseCodes: [200]) { done.resume(returning: $0) }
        }
        #expect(second.value?.count == 2)
        let third: AFDownloadResponse<String> = await withCheckedContinuation { done in
            AF.download(server.baseURL + "/text").responseString { done.resume(returning: $0) }
        }
        #expect(third.value == "ok" && third.fileURL != nil)
        if let file = third.fileURL { try? FileManager.default.removeItem(at: file) }
        let fourth = await withCheckedContinuation { done in
            AF.request(server.baseURL + "/text").response { done.resume(returning: $0) }
        }
        #expect(fourth.value == Data("ok".utf8))
        #expect(server.count(path: "/text") == 4)
    }

    @Test("a redirector decides whether redirects are followed")
    func redirector() async throws {
        let session = Session.default
        let stays = await session.request(server.baseURL + "/moved").redirect(using: .doNotFollow)
            .serializingString().response
        #expect(stays.response?.statusCode == 302)
        #expect(stays.response?.allHeaderFields["Location"] == "/text")
        #expect(server.count(path: "/text") == 0)
        let follows = session.request(server.baseURL + "/moved").redirect(using: .follow)
        #expect(try await follows.serializingString().value == "ok")
        #expect(server.count(path: "/text") == 1)
    }

    @Test("errors have Alamofire's properties")
    func errors() async {
        let error: any Error = await AF.request("no url").serializingData().response.error ?? .explicitlyCancelled
        #expect(error.asAFError?.isInvalidURLError == true)
        #expect(CancellationError().asAFError == nil)
        #expect(CancellationError().asAFError(or: .explicitlyCancelled).isExplicitlyCancelledError)
        let type = await AF.request(server.baseURL + "/text").validate(contentType: ["image/png"]).serializingData()
            .response.error
        #expect(type?.acceptableContentTypes == ["image/png"])
    }

    @Test("a trust manager has evaluators by host")
    func trust() throws {
        let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let evaluators: [String: any ServerTrustEvaluating] = [
            "a.example": DefaultTrustEvaluator(), "localhost": DisabledTrustEvaluator(),
            "b.example": PublicKeysTrustEvaluator(keys: [pin]),
            "c.example": PinnedCertificatesTrustEvaluator(certificateFile: "/does/not/exist.pem"),
        ]
        let manager = ServerTrustManager(evaluators: evaluators)
        let trust = try manager.serverTrust()
        #expect(trust.evaluator(forHost: "a.example") == .system)
        #expect(trust.evaluator(forHost: "localhost") == .disabledAndInsecure)
        #expect(try trust.evaluator(forHost: "b.example") == .publicKeys([pin]))
        #expect(trust.evaluator(forHost: "c.example") == .certificateFile("/does/not/exist.pem"))
        #expect(try manager.serverTrustEvaluator(forHost: "localhost") is DisabledTrustEvaluator)
        #expect(throws: InvalidArgument.self) { try manager.serverTrustEvaluator(forHost: "d.example") }
        let open = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        #expect(try open.serverTrustEvaluator(forHost: "d.example") == nil)
        #expect(throws: InvalidArgument.self, "a file that is not there") { try Session(serverTrustManager: manager) }
        let wrong = ServerTrustManager(evaluators: ["a.example": PublicKeysTrustEvaluator(keys: ["no pin"])])
        #expect(throws: InvalidArgument.self, "no pin") { try Session(serverTrustManager: wrong) }
        _ = try Session(serverTrustManager: open)
    }

    @Test("encoders and serializers take what Alamofire's take")
    func codecs() throws {
        let encoder = URLEncodedFormEncoder(arrayEncoding: .indexInBrackets, boolEncoding: .literal)
        let text: String = try encoder.encode(["b": [true, false], "a": []])
        #expect(text == "b%5B0%5D=true&b%5B1%5D=false")
        class Base: Encodable { let id = 1 }
        final class Derived: Base {
            enum Keys: String, CodingKey { case tags }
            override func encode(to encoder: any Encoder) throws {
                var members = encoder.container(keyedBy: Keys.self)
                try members.encode(["b", "a"], forKey: .tags)
                try super.encode(to: members.superEncoder())
            }
        }
        let flat: String = try URLEncodedFormEncoder(arrayEncoding: .noBrackets).encode(Derived())
        #expect(flat == "id=1&tags=a&tags=b", "as Alamofire encodes it")
        let any: [String: Any] = ["n": 1, "t": "x y", "l": [1.5, true] as [Any], "u": UInt8(7)]
        let request = try URLEncoding(arrayEncoding: .noBrackets).encode(
            HTTPRequest(url: URL(filePath: "/")),
            with: any
        )
        #expect(request.url.query(percentEncoded: true) == "l=1.5&l=1&n=1&t=x%20y&u=7")
        #expect(throws: AFError.self) { try URLEncoding.default.encode(request, with: ["x": self] as [String: Any]) }
        let serializer = StringResponseSerializer()
        #expect(try serializer.serialize(request: nil, response: nil, data: Data("a".utf8), error: nil) == "a")
        #expect(throws: AFError.self) { try serializer.serialize(request: nil, response: nil, data: nil, error: nil) }
        #expect(throws: CancellationError.self) {
            try serializer.serialize(request: nil, response: nil, data: Data(), error: CancellationError())
        }
    }
    @Test("what Refrain nests in another type has Alamofire's name, too")
    func nestedTypes() async throws {
        struct Count: Decodable, EmptyResponse {
            var count = 0
            static func emptyValue() -> Count { Count() }
        }
        struct Fixed: DataDecoder {
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                try JSONDecoder().decode(type, from: Data(#"{"count":2}"#.utf8))
            }
        }
        let response = HTTPResponse(request: HTTPRequest(url: URL(filePath: "/")), status: .ok, body: .bytes([1]))
        #expect(try DecodableResponseSerializer<Count>(decoder: Fixed()).serialize(response).count == 2)
        #expect(try DataResponseSerializer().serialize(response) == Data([1]))
        #expect(HTTPHeader(name: "a", value: "b").description == "a: b")
        #expect(AuthenticationError.missingCredential != .excessiveRefresh)
        let task: DataTask<Data> = AF.request("http://127.0.0.1:1", shouldAutomaticallyResume: false).serializingData()
        task.cancel()
        #expect(await task.response.error != nil)
    }
}
