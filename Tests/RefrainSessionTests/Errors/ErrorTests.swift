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

@Suite("The errors of requests", .timeLimit(.minutes(10)))
struct ErrorTests {
    private let server: FaultServer

    init() throws { server = try FaultServer() }

    private func name(_ error: RefrainError?) -> String {
        switch error {
        case nil: "none"
        case .explicitlyCancelled: "explicitlyCancelled"
        case .invalidURL: "invalidURL"
        case .createRequestFailed: "createRequestFailed"
        case .parameterEncodingFailed: "parameterEncodingFailed"
        case .requestValidationFailed: "requestValidationFailed"
        case .requestAdaptationFailed: "requestAdaptationFailed"
        case .requestRetryFailed: "requestRetryFailed"
        case .responseValidationFailed(.unacceptableStatusCode, _): "unacceptableStatusCode"
        case .responseValidationFailed(.unacceptableContentType, _): "unacceptableContentType"
        case .responseValidationFailed(.missingContentType, _): "missingContentType"
        case .responseValidationFailed(.customValidationFailed, _): "customValidationFailed"
        case .responseSerializationFailed: "responseSerializationFailed"
        case .sessionTaskFailed(let error): error.code.rawValue
        case .sessionDeinitialized: "sessionDeinitialized"
        case .sessionInvalidated: "sessionInvalidated"
        }
    }

    @Test("A: errors: each way in which a request fails has a case of its own, with what caused it")
    func cases() async throws {
        let session = Session.overSockets()
        let url = server.baseURL + "/typed"
        server.on("/typed") { _ in [.respond(.init(200, headers: [("Content-Type", "text/html")], body: "<p>"))] }
        server.on("/bare") { _ in [.respond(.init(200, body: "x"))] }
        server.answer("/down", 503)
        server.on("/lost") { _ in [.reset] }
        func end(_ request: DataRequest) async -> String { name(await request.serializingData().response.error) }

        #expect(await end(session.request(url).cancel()) == "explicitlyCancelled")
        #expect(await end(session.request("no url")) == "invalidURL")
        #expect(await end(session.request(url) { _ in throw TestError() }) == "createRequestFailed")
        #expect(await end(session.request(url, parameters: [1], encoder: .urlEncodedForm)) == "parameterEncodingFailed")
        #expect(await end(session.request(url) { $0.body = .text("x") }) == "requestValidationFailed")
        let failing = Adapter { _, _ in throw TestError() }
        #expect(await end(session.request(url, interceptor: failing)) == "requestAdaptationFailed")
        let refusing = Retrier { _, _, _ in .doNotRetryWithError(TestError()) }
        #expect(await end(session.request(server.baseURL + "/down", interceptor: refusing)) == "requestRetryFailed")
        #expect(await end(session.request(server.baseURL + "/down").validate()) == "unacceptableStatusCode")
        #expect(await end(session.request(url).validate(contentType: ["a/b"])) == "unacceptableContentType")
        let bare = session.request(server.baseURL + "/bare")
        #expect(await end(bare.validate(contentType: ["a/b"])) == "missingContentType")
        let checked = session.request(url).validate { _, _, _ in .failure(TestError()) }
        #expect(await end(checked) == "customValidationFailed")
        let unread = await session.request(url).serializingDecodable(Int.self).response.error
        #expect(name(unread) == "responseSerializationFailed")
        #expect(await end(session.request(server.baseURL + "/lost")) == "networkConnectionLost")
        let refused = try FaultServer(mode: .refuse)
        #expect(await end(session.request(refused.baseURL + "/")) == "cannotConnectToHost")
        session.invalidate(dueTo: TestError(name: "logged out"))
        let late = session.request(url)
        #expect(await end(late) == "sessionInvalidated")
        #expect(late.error?.underlyingError as? TestError == TestError(name: "logged out"))
    }

    @Test("A: errors: a session that is released ends what is under way, and says so")
    func released() async {
        var session: Session? = Session.overSockets(clock: nil)
        let request = session?.request(server.baseURL + "/hang")
        let task = request?.serializingData()
        await server.requests(atLeast: 1, toPath: "/hang")
        session = nil
        #expect(name(await task?.response.error) == "sessionDeinitialized")
    }

    @Test("A: errors: the retrier's error and the one before it are both kept, and the transport's code is told")
    func kept() async {
        server.on("/lost") { _ in [.reset] }
        let refusing = Retrier { _, _, _ in .doNotRetryWithError(TestError(name: "retry")) }
        let session = Session.overSockets()
        let request = session.request(server.baseURL + "/lost", interceptor: refusing)
        let error = await request.serializingData().response.error
        guard case .requestRetryFailed(let retryError, let originalError, "Retrier")? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(retryError as? TestError == TestError(name: "retry"))
        #expect((originalError as? RefrainError)?.transportCode == .networkConnectionLost)
        #expect(error?.transportCode == .networkConnectionLost)
        #expect(error?.transportError?.request.url == request.request?.url)
    }

    enum Reading: CaseIterable { case decodable, data, string, own, download, streamed }

    @Test(
        "R24: a loop round a call does not multiply its attempts, however the call's answer is read",
        arguments: Reading.allCases
    )
    func multiplied(reading: Reading) async throws {
        struct Own: ResponseSerializer {
            func serialize(_ response: HTTPResponse) throws -> Int { throw TestError() }
        }
        let loader = ScriptedLoader(.status(503))
        let session = Session.testing(loader, interceptor: RetryPolicy.recommended)
        let folder = try TemporaryFolder()
        do {
            try await withRetry(.immediately(maxAttempts: 3)) {
                let request = session.request(HTTPRequest.sample)
                switch reading {
                case .decodable: _ = try await request.serializingDecodable([Int].self).value
                case .data: _ = try await request.serializingData().value
                case .string: _ = try await request.serializingString().value
                case .own: _ = try await request.serializingResponse(using: Own()).value
                case .download:
                    let download = session.download("http://host.test/a", to: folder.file("a"))
                    _ = try await download.serializingDownloadedFileURL().value
                case .streamed:
                    for try await _ in session.streamRequest("http://host.test/a").validate().chunks {}
                }
            }
            Issue.record("there is no answer")
        } catch {
            let error = try #require(error as? RefrainError)
            #expect(error.retriesAreExhausted)
            #expect(error.attempts.map(\.number) == [1, 2, 3])
        }
        #expect(loader.requests.count == 3)
    }

    @Test("R29: the record is on the request's own error, and on the error that a retrier answers with")
    func recorded() async throws {
        let session = Session.testing(ScriptedLoader(.status(200)))
        let unread = session.request(HTTPRequest.sample)
        _ = await unread.serializingDecodable([Int].self).response
        #expect(unread.error?.attempts.map(\.number) == [1])
        #expect(unread.error?.retriesAreExhausted == false)

        let refusing = Retrier { request, _, _ in
            request.retryCount == 0 ? .retry : .doNotRetryWithError(TestError(name: "retry"))
        }
        let refused = Session.testing(ScriptedLoader(.status(503)), interceptor: refusing)
        let error = await refused.request(HTTPRequest.sample).serializingResponse().response.error
        #expect(error?.isRequestRetryError == true)
        #expect(error?.attempts.map(\.number) == [1, 2])
    }

    @Test("R29: an error of a validation or of a decoder names the request, the status and the attempts")
    func described() async throws {
        let url = "http://user:secret@host.test/a"
        let down = Session.testing(ScriptedLoader(.status(503)), interceptor: RetryPolicy.recommended)
        let unaccepted = try #require(await down.request(url).validate().serializingData().response.error)
        let lines = unaccepted.description.split(separator: "\n")
        #expect(lines.first == "GET http://host.test/a failed: the response is unacceptable: its status is 503")
        #expect(unaccepted.attempts.map(\.status) == [503, 503, 503])
        #expect(lines.dropFirst().map(String.init) == unaccepted.attempts.map { "  \($0)" })
        #expect(unaccepted.errorDescription == unaccepted.description)

        let session = Session.testing(ScriptedLoader(.status(200, body: "x\u{1B}[2J")))
        let request = session.request(url)
        let unread = try #require(await request.serializingDecodable([Int].self).response.error)
        let prefix = "GET http://host.test/a failed: the response could not be read: at its root"
        #expect(unread.description.hasPrefix(prefix))
        #expect(unread.description.hasSuffix("\n  \(try #require(unread.attempts.first))"))
        #expect(request.error?.description == unread.description)
        guard case .responseSerializationFailed(.decodingFailed, let attempts) = unread else {
            Issue.record("\(unread)")
            return
        }
        #expect(attempts == request.attempts)

        let bell = TestError(name: "\u{7}")
        let checked = RefrainError.responseValidationFailed(reason: .customValidationFailed(error: bell))
        #expect(!checked.description.contains("\u{7}"))
        let status = RefrainError.responseValidationFailed(reason: .unacceptableStatusCode(code: 503))
        #expect(status.description == "the response is unacceptable: its status is 503")
    }
}
