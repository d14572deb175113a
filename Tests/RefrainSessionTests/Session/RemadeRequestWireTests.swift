// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request with the number of times that it was made.
private struct Numbered: Session.RequestConvertible {
    let address: String
    let count = Counter()
    var failsFrom = Int.max
    var body = HTTPBody.empty

    func asHTTPRequest() throws -> HTTPRequest {
        let number = count.increment()
        guard number < failsFrom else { throw TestError() }
        return try HTTPRequest(address, headers: ["X-Made": "\(number)"], body: body)
    }
}

private struct NumberedURL: URLConvertible {
    let address: String
    let count = Counter()

    func asURL() throws -> URL { try "\(address)?made=\(count.increment())".asURL() }
}

private struct NumberedEncoding: ParameterEncoding {
    let count = Counter()

    func encode(_ request: HTTPRequest, with parameters: Parameters?) throws -> HTTPRequest {
        var request = request
        request.headers["X-Encoded"] = "\(count.increment())"
        return request
    }
}

@Suite("On the wire: requests that are made anew for each attempt", .timeLimit(.minutes(10)))
struct RemadeRequestWireTests {
    private let server: FaultServer
    private let session: Session

    init() throws {
        server = try FaultServer()
        server.answer("/down-twice", 503, 503, 200)
        session = Session.overSockets(RetryPolicy.recommended)
    }

    private var address: String { server.baseURL + "/down-twice" }

    private func sent(_ name: String) -> [[String]] { server.requests(toPath: "/down-twice").map { $0.values(name) } }

    @Test("a convertible is evaluated once for each attempt")
    func convertible() async throws {
        let numbered = Numbered(address: address)
        _ = try await session.request(numbered).validate().serializingString().value
        #expect(sent("X-Made") == [["1"], ["2"], ["3"]])
        #expect(numbered.count.value == 3)
    }

    @Test("a request modifier runs once for each attempt, on the request as the arguments make it")
    func modifier() async throws {
        let count = Counter()
        let request = session.request(address, headers: ["X-Fixed": "a"]) { request in
            request.headers.add("X-Made", "\(count.increment())")
        }
        _ = try await request.validate().serializingString().value
        #expect(sent("X-Made") == [["1"], ["2"], ["3"]])
        #expect(sent("X-Fixed") == [["a"], ["a"], ["a"]])
    }

    @Test("an upload's modifier runs for each attempt, and the body is sent with each")
    func upload() async throws {
        let count = Counter()
        let request = session.upload(Data("abc".utf8), to: address, method: .put) { request in
            request.headers["X-Made"] = "\(count.increment())"
        }
        _ = try await request.validate().serializingString().value
        #expect(sent("X-Made") == [["1"], ["2"], ["3"]])
        #expect(server.requests(toPath: "/down-twice").map(\.bodyLength) == [3, 3, 3])
    }

    @Test("a URL of the caller's own, and an encoding of the caller's own, are evaluated for each attempt")
    func parts() async throws {
        let count = Counter()
        server.on("/numbered") { _ in [.respond(.init(count.increment() < 3 ? 503 : 200, body: "ok"))] }
        let url = NumberedURL(address: server.baseURL + "/numbered")
        let encoding = NumberedEncoding()
        let request = session.request(url, parameters: ["a": 1], encoding: encoding)
        _ = try await request.validate().serializingString().value
        #expect(server.log.map(\.path) == (1...3).map { "/numbered?made=\($0)" })
        #expect(server.log.map { $0.values("X-Encoded") } == [["1"], ["2"], ["3"]])
        #expect(url.count.value == 3)
    }

    @Test("adapters get the request of their attempt")
    func adapters() async throws {
        let adapter = Adapter { request, _ in
            var request = request
            request.headers["X-Copy"] = request.headers["X-Made"]
            return request
        }
        let adapting = Session.overSockets(Interceptor(interceptors: [adapter, .recommendedRetryPolicy]))
        _ = try await adapting.request(Numbered(address: address)).validate().serializingString().value
        #expect(sent("X-Copy") == [["1"], ["2"], ["3"]])
    }

    @Test("a convertible that throws for a later attempt ends the request with its error")
    func throwing() async {
        let response = await session.request(Numbered(address: address, failsFrom: 2)).serializingString().response
        guard case .createRequestFailed(let error)? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(error is TestError)
        #expect(sent("X-Made") == [["1"]])
    }

    @Test("R5: a generated key stays the same on every attempt of a request that is made anew")
    func key() async throws {
        let request = session.request(address, method: .post) { $0.idempotencyKey = .generated }
        _ = try await request.validate().serializingString().value
        #expect(sent("Idempotency-Key").count == 3)
        #expect(Set(sent("Idempotency-Key")).count == 1)
    }

    /// A value whose encoding is another one each time, as the order of members is that a `JSONEncoder` does not sort.
    private struct Unsteady: Encodable, Sendable {
        let count = Counter()

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Key.self)
            try members.encode(count.increment(), forKey: .count)
        }

        private enum Key: CodingKey { case count }
    }

    @Test("R5: a value is encoded once, so that the bytes of all attempts are the same", arguments: [true, false])
    func encoding(isJSON: Bool) async throws {
        let bodies = Journal<String>()
        server.on("/orders") { request in
            bodies.append(String(decoding: request.body, as: UTF8.self))
            return [.respond(.init(request.occurrence < 3 ? 503 : 200))]
        }
        let count = Counter()
        let encoder: any ParameterEncoder =
            isJSON ? JSONParameterEncoder.default : URLEncodedFormParameterEncoder.default
        let request = session.request(
            server.baseURL + "/orders",
            method: .post,
            parameters: Unsteady(),
            encoder: encoder
        ) { request in
            request.idempotencyKey = .generated
            request.headers["X-Made"] = "\(count.increment())"
        }
        _ = await request.serializingData().response
        #expect(bodies.entries.count == 3 && Set(bodies.entries).count == 1, "\(bodies.entries)")
        #expect(server.requests(toPath: "/orders").map { $0.header("X-Made") } == ["1", "2", "3"])
    }

    /// A value that is another one each time.
    private static func newKey() -> String { "\"\(UInt64.random(in: 0 ... .max))\"" }

    private struct Keyed: Session.RequestConvertible {
        let address: String

        func asHTTPRequest() throws -> HTTPRequest {
            try HTTPRequest(address, method: .post, headers: ["Idempotency-Key": newKey()])
        }
    }

    private static let keying: [String: @Sendable (Session, String) -> DataRequest] = [
        "a convertible": { $0.request(Keyed(address: $1)) },
        "a modifier": { session, url in
            session.request(url, method: .post) { $0.headers["Idempotency-Key"] = newKey() }
        },
        "an adapter": { session, url in
            session.request(
                url,
                method: .post,
                interceptor: Adapter { request, _ in
                    var request = request
                    request.headers["Idempotency-Key"] = newKey()
                    return request
                }
            )
        },
        "an adapter that replaces the caller's": { session, url in
            let own: HTTPHeaders = ["Idempotency-Key": newKey()]
            return session.request(
                url,
                method: .post,
                headers: own,
                interceptor: Adapter { request, _ in
                    var request = request
                    request.headers["Idempotency-Key"] = newKey()
                    return request
                }
            )
        },
        "an adapter with the option": { session, url in
            session.request(
                url,
                method: .post,
                interceptor: Adapter { request, _ in
                    var request = request
                    request.idempotencyKey = .custom(newKey())
                    return request
                }
            )
        },
    ]

    @Test("R5: a key that is made anew for each attempt is that of the first one", arguments: keying.keys.sorted())
    func keyMadeAnew(by maker: String) async throws {
        _ = try await Self.keying[maker]?(session, address).validate().serializingString().value
        #expect(sent("Idempotency-Key").count == 3)
        #expect(Set(sent("Idempotency-Key")).count == 1)
    }

    @Test("R26: what a redirect points to is not made anew")
    func redirect() async throws {
        server.on("/moved") { [address] _ in [.respond(.init(303, headers: [("Location", address)]))] }
        let numbered = Numbered(address: server.baseURL + "/moved")
        _ = try await session.request(numbered).validate().serializingString().value
        #expect(sent("X-Made") == [["1"], ["1"], ["1"]])
        #expect(numbered.count.value == 1)
    }

    @Test("a GET that an adapter gives a body fails as an adaptation failure, and is not sent")
    func bodyInGET() async {
        let adapter = Adapter { request, _ in
            var request = request
            request.body = .text("no")
            return request
        }
        let adapting = Session.overSockets(adapter)
        let response = await adapting.request(address).serializingString().response
        guard case .requestAdaptationFailed(let error, "Adapter", _)? = response.error else {
            Issue.record("\(response)")
            return
        }
        guard case .requestValidationFailed(.bodyDataInGETRequest(length: 2))? = error as? RefrainError else {
            Issue.record("\(error)")
            return
        }
        let own = await adapting.request(Numbered(address: address, body: .text("no")))
            .serializingString().response
        guard case .requestValidationFailed? = own.error else {
            Issue.record("\(own)")
            return
        }
        #expect(server.log.isEmpty)
    }
}
