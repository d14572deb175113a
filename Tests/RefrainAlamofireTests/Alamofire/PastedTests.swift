// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainAlamofire
import RefrainTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Types as they are written for Alamofire", .timeLimit(.minutes(10)))
struct PastedTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.on("/private") { request in
            let isSigned = request.headers.contains { $0 == ("Authorization", "new") }
            return [.respond(.init(isSigned ? 200 : 401, body: "ok"))]
        }
        server.on("/text") { _ in [.respond(.init(200, body: "ok"))] }
    }

    private struct Token: AuthenticationCredential {
        let value: String
        let requiresRefresh = false
    }

    private final class CompletionAuthenticator: Authenticator {
        let refreshes = Mutex(0)

        func apply(_ credential: Token, to urlRequest: inout HTTPRequest) {
            urlRequest.headers.add(.authorization(credential.value))
        }

        func refresh(
            _ credential: Token,
            for session: Session,
            completion: @escaping @Sendable (Result<Token, any Error>) -> Void
        ) {
            refreshes.withLock { $0 += 1 }
            DispatchQueue.global().async { completion(.success(Token(value: "new"))) }
        }

        func didRequest(
            _ urlRequest: HTTPRequest,
            with response: HTTPResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool { response.statusCode == 401 }

        func isRequest(_ urlRequest: HTTPRequest, authenticatedWith credential: Token) -> Bool {
            urlRequest.headers["Authorization"] == credential.value
        }
    }

    private struct NoAuthenticator: Authenticator {
        func apply(_ credential: Token, to request: inout HTTPRequest) {}
        func didRequest(
            _ request: HTTPRequest,
            with response: HTTPResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool { true }
        func isRequest(_ request: HTTPRequest, authenticatedWith credential: Token) -> Bool { true }
    }

    @Test("an authenticator whose refresh calls a completion is called once, and one without a refresh says so")
    func authenticator() async throws {
        let authenticator = CompletionAuthenticator()
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator,
            credential: Token(value: "old"),
            refreshWindow: .init(interval: 30, maximumAttempts: 2)
        )
        let text = try await AF.request(server.baseURL + "/private", interceptor: interceptor).validate()
            .serializingString().value
        #expect(text == "ok" && authenticator.refreshes.withLock { $0 } == 1)
        #expect(server.count(path: "/private") == 2)

        let none = AuthenticationInterceptor(authenticator: NoAuthenticator(), credential: Token(value: "old"))
        let error = await AF.request(server.baseURL + "/private", interceptor: none).validate()
            .serializingString().response.error
        #expect((error?.underlyingError as? InvalidArgument)?.expected.contains("refresh(_:for:)") == true)
    }

    @Test("a window of no refreshes allows none")
    func noRefresh() async {
        let authenticator = CompletionAuthenticator()
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator,
            credential: Token(value: "old"),
            refreshWindow: .init(interval: 30, maximumAttempts: 0)
        )
        let response = await AF.request(server.baseURL + "/private", interceptor: interceptor).validate()
            .serializingString().response
        #expect(response.error?.underlyingError as? AuthenticationError == .excessiveRefresh)
        #expect(authenticator.refreshes.withLock { $0 } == 0 && server.count(path: "/private") == 1)
    }

    @Test("the hooks of tasks are called once for each attempt")
    func hooks() async throws {
        let monitor = ClosureEventMonitor()
        let events = Mutex<[String]>([])
        @Sendable func note(_ event: String) { events.withLock { $0.append(event) } }
        monitor.requestDidCreateInitialURLRequest = { _, _ in note("made") }
        monitor.requestDidCreateURLRequest = { _, _ in note("request") }
        monitor.requestDidCreateTask = { _, task in note("task \(task.number)") }
        monitor.requestDidResumeTask = { _, _ in note("resumed") }
        monitor.requestDidGatherMetrics = { _, _ in note("metrics") }
        monitor.requestDidCompleteTaskWithError = { _, _, error in note(error == nil ? "complete" : "failed") }
        monitor.requestDidFinish = { _ in note("finished") }
        let session = Session(startRequestsImmediately: false, eventMonitors: [monitor])
        let request = session.request(server.baseURL + "/text")
        let task = request.serializingString()
        #expect(request.state == .initialized)
        request.resume()
        _ = try await task.value
        #expect(
            events.withLock { $0 }
                == ["made", "request", "task 1", "resumed", "metrics", "complete", "finished"]
        )
        #expect(server.count(path: "/text") == 1)
    }

    @Test("progress has Alamofire's numbers, on the queue that was named")
    func progress() async throws {
        let last = Mutex<Request.Progress?>(nil)
        let queue = DispatchQueue(label: "progress")
        let request = AF.request(server.baseURL + "/text")
            .downloadProgress(queue: queue) { progress in last.withLock { $0 = progress } }
        _ = try await request.serializingString().value
        queue.sync {}
        let progress = try #require(last.withLock { $0 })
        #expect(progress.completedUnitCount == 2 && progress.totalUnitCount == 2 && progress.fractionCompleted == 1)
    }

    @Test("a response is made of its parts, and a timeout is in seconds")
    func parts() throws {
        let url = try "http://example.com/a".asURL()
        let response = HTTPResponse(url: url, statusCode: 404, httpVersion: "HTTP/1.1", headerFields: ["A": "b"])
        #expect(response?.statusCode == 404 && response?.allHeaderFields == ["A": "b"] && response?.url == url)
        var request = HTTPRequest(url: url)
        request.timeoutInterval = 1.5
        #expect(request.timeoutInterval == 1.5 && request.timeouts.firstByte == .milliseconds(1_500))
    }

    @Test("what is no URL is in the error")
    func invalidURL() async {
        let error = await AF.request("no url").serializingData().response.error
        #expect(error?.urlConvertible as? String == "no url")
        #expect(AFError.invalidURL(url: "x").urlConvertible as? String == "x")
    }

    /// A source without an end.
    private final class Endless: HTTPBody.ByteSource {
        private(set) var isOpen = false
        func open() { isOpen = true }
        func close() { isOpen = false }
        func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            buffer.update(repeating: UInt8(ascii: "a"), count: len)
            return len
        }
    }

    @Test("a part of a form takes no more of its source than its length, and closes it")
    func endlessSource() throws {
        let source = Endless()
        let form = MultipartFormData()
        form.append(source, withLength: 70_000, name: "log", fileName: "log.txt", mimeType: "text/plain")
        let text = String(decoding: try form.encode(), as: UTF8.self)
        #expect(text.split(separator: "\r\n").map(\.count).max() == 70_000)
        #expect(!source.isOpen)
    }
}
