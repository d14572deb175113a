// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Serialization", .timeLimit(.minutes(10)))
struct SerializationTests {
    struct User: Codable, Equatable, Sendable {
        var name: String
        var tags: [String]
    }

    private func request(_ status: Int = 200, type: String? = nil, body: String) -> (DataRequest, Session) {
        let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? [:]
        let session = Session.testing(ScriptedLoader(.status(status, headers: headers, body: body)))
        return (session.request(HTTPRequest.sample), session)
    }

    @Test("A: serialization: a Decodable value is read")
    func decodable() async throws {
        let (request, session) = request(body: #"{"name": "Ada", "tags": ["a"]}"#)
        let user = try await request.serializingDecodable(User.self).value
        #expect(user == User(name: "Ada", tags: ["a"]))
        _ = session
    }

    /// Upper-cases names, and notes on which threads it decodes.
    private struct NotingDecoder: Request.DataDecoder {
        let threads = Locked<Set<String>>([])

        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let name = FileManager.default.contents(atPath: "/proc/thread-self/comm") ?? Data()
            threads.withLock { _ = $0.insert(String(decoding: name, as: UTF8.self)) }
            return try JSONDecoder().decode(type, from: Data(String(decoding: data, as: UTF8.self).uppercased().utf8))
        }
    }

    @Test("a session's decoder decodes all values, except those of requests that name another one")
    func sessionDecoder() async throws {
        var settings = Session.Settings()
        settings.decoder = NotingDecoder()
        let loader = ScriptedLoader(.status(200, body: #""ada""#), .status(200, body: #""ada""#))
        let session = Session(loader: loader, settings: settings)
        #expect(try await session.request(HTTPRequest.sample).serializingDecodable(String.self).value == "ADA")
        let plain = session.request(HTTPRequest.sample).serializingDecodable(String.self, decoder: JSONDecoder())
        #expect(try await plain.value == "ada")
    }

    @Test("no value is decoded on the thread that drives the transfers", .timeLimit(.minutes(2)))
    func decodingThread() async throws {
        let server = try FaultServer()
        let decoder = NotingDecoder()
        var settings = Session.Settings()
        settings.decoder = decoder
        let session = Session(loader: CurlLoader(), settings: settings)
        let url = server.baseURL + "/status/200"
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask { _ = await session.request(url).serializingDecodable(String.self).response }
            }
            try await group.waitForAll()
        }
        #expect(!decoder.threads.withLock { $0 }.isEmpty)
        #expect(!decoder.threads.withLock { $0 }.contains("refrain-curl\n"))
    }

    @Test("A: serialization: JSON that does not fit shows where, and keeps the body")
    func undecodable() async {
        let body = #"[{"name": "Ada", "tags": []}, {"name": "Bob", "tags": [1]}]"#
        let (request, session) = request(body: body)
        let error = await request.serializingDecodable([User].self).response.error
        guard case .responseSerializationFailed(.decodingFailed(_, let path, let bytes), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path == "[1].tags[0]")
        #expect(bytes == Array(body.utf8))
        _ = session
    }

    @Test("A: serialization: a lying content type does not matter to a reader that was asked for")
    func lyingType() async throws {
        let (request, session) = request(type: "text/html", body: #"{"name": "Ada", "tags": []}"#)
        #expect(try await request.serializingDecodable(User.self).value.name == "Ada")
        _ = session
    }

    @Test("A: serialization: no content is an error, but for 204, 205 and HEAD")
    func empty() async throws {
        let (first, one) = request(body: "")
        guard
            case .responseSerializationFailed(.inputDataNilOrZeroLength, _)? = await first.serializingData().response
                .error
        else {
            Issue.record("an empty 200 is no data")
            return
        }
        let (second, two) = request(204, body: "")
        #expect(try await second.serializingDecodable(Empty.self).value == .value)
        let (third, three) = request(204, body: "")
        guard
            case .responseSerializationFailed(.invalidEmptyResponse, _)? =
                await third.serializingDecodable(User.self).response.error
        else {
            Issue.record("a User cannot be empty")
            return
        }
        _ = (one, two, three)
    }

    @Test("A: serialization: text is read in the encoding that the response names")
    func text() async throws {
        let latin: [UInt8] = [0x63, 0x61, 0x66, 0xE9]
        let loader = ScriptedLoader(
            .compute { request in
                .success(
                    HTTPResponse(
                        request: request,
                        status: 200,
                        headers: ["Content-Type": "text/plain; charset=ISO-8859-1"],
                        body: .bytes(latin)
                    )
                )
            }
        )
        let session = Session.testing(loader)
        #expect(try await session.request(HTTPRequest.sample).serializingString().value == "café")
        let error = await session.request(HTTPRequest.sample).serializingString(encoding: .utf8).response.error
        guard case .responseSerializationFailed(.stringSerializationFailed(_, let body), _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(body == latin)
    }

    @Test(
        "A: serialization: text without a named encoding is UTF-8 where it can be, else ISO-8859-1; a name is binding",
        arguments: [
            ("text/plain", [0x63, 0xC3, 0xA9], "cé"), ("text/plain", [0x63, 0xE9], "cé"), (nil, [0xE9], "é"),
            ("text/plain; charset=utf-8", [0x63, 0xE9], nil), ("text/plain; charset=shift_jis", [0x63, 0xE9], nil),
            ("text/plain; charset=us-ascii", [0x63, 0xE9], nil), ("text/plain; charset=cp1252", [0x80], "€"),
            ("text/plain; charset=ISO_8859-1", [0xE9], "é"),
        ] as [(String?, [UInt8], String?)]
    )
    func unnamedEncoding(type: String?, bytes: [UInt8], text: String?) async {
        let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? [:]
        let loader = ScriptedLoader(
            .compute { .success(HTTPResponse(request: $0, status: 200, headers: headers, body: .bytes(bytes))) }
        )
        let session = Session.testing(loader)
        #expect(await session.request(HTTPRequest.sample).serializingString().response.value == text)
    }

    @Test(
        "A: serialization: what cannot be read is asked about once for each attempt, however many readers there are"
    )
    func askedOnce() async {
        let loader = ScriptedLoader(.status(200, body: "no json"))
        let interceptor = CountingInterceptor(.retry, .doNotRetry)
        let session = Session.testing(loader, interceptor: interceptor) { $0.startsRequestsImmediately = false }
        let request = session.request(HTTPRequest.sample)
        let users = request.serializingDecodable(User.self)
        let numbers = request.serializingDecodable([Int].self)
        let text = request.serializingString()
        request.resume()
        #expect(await users.response.error?.isResponseSerializationError == true)
        #expect(await numbers.response.error?.isResponseSerializationError == true)
        #expect(await text.response.value == "no json")
        #expect(loader.requests.count == 2)
        #expect(interceptor.retries.value == 2)
    }

    @Test("A: serialization: a retry after a response that cannot be read brings a value")
    func retried() async throws {
        let loader = ScriptedLoader(.status(200, body: "{"), .status(200, body: #"{"name": "Ada", "tags": []}"#))
        let session = Session.testing(loader, interceptor: CountingInterceptor(.retry))
        #expect(try await session.request(HTTPRequest.sample).serializingDecodable(User.self).value.name == "Ada")
    }

    @Test("A: serialization: a reader that comes after the end reads the same response")
    func late() async throws {
        let (request, session) = request(body: "late")
        _ = await request.serializingData().response
        #expect(try await request.serializingString().value == "late")
        _ = session
    }

    @Test("A: serialization: the completion form is called once")
    func completion() async {
        let (request, session) = request(body: #"{"name": "Ada", "tags": []}"#)
        let called = Signal()
        let values = Journal<String?>()
        request.responseDecodable(of: User.self) { response in
            values.append(response.value?.name)
            called.set()
        }
        await called.wait()
        #expect(values.entries == ["Ada"])
        _ = session
    }

    @Test("A: serialization: cancelling the waiting task cancels the request, unless it was made otherwise")
    func automaticCancellation() async {
        let session = Session.testing(ScriptedLoader(.hang), clock: nil)
        let request = session.request(HTTPRequest.sample)
        let task = request.serializingData()
        let waiting = Task { await task.response }
        waiting.cancel()
        #expect(await waiting.value.error?.isExplicitlyCancelledError == true)
        #expect(request.isCancelled)
    }
}
