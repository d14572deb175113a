// SPDX-License-Identifier: Apache-2.0
import Dispatch
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

@Suite("On the wire: completions in place of async", .timeLimit(.minutes(10)))
struct CompletionWireTests {
    private let server: FaultServer
    private let session: Session

    init() throws {
        server = try FaultServer()
        server.answer("/ok-text", 200)
        server.answer("/down-once", 503, 200)
        server.on("/json") { _ in
            [.respond(.init(200, headers: [("Content-Type", "application/json")], body: #"{"name":"ada"}"#))]
        }
        session = Session.overSockets(RetryPolicy.recommended)
    }

    private struct User: Decodable, Sendable { let name: String }

    @Test("each form calls its completion once, with what the server sent")
    func forms() async throws {
        let raw = await withCheckedContinuation { done in
            session.request(server.baseURL + "/ok-text").response { done.resume(returning: $0) }
        }
        #expect(raw.value == Data("200".utf8))
        let data = await withCheckedContinuation { done in
            session.request(server.baseURL + "/ok-text").responseData { done.resume(returning: $0) }
        }
        #expect(data.value == Data("200".utf8))
        let text = await withCheckedContinuation { done in
            session.request(server.baseURL + "/down-once").validate().responseString { done.resume(returning: $0) }
        }
        #expect(text.value == "200" && text.attempts.count == 2)
        let user = await withCheckedContinuation { done in
            session.request(server.baseURL + "/json").responseDecodable(of: User.self) { done.resume(returning: $0) }
        }
        #expect(user.value?.name == "ada")
        #expect(server.count(path: "/ok-text") == 2)
        #expect(server.count(path: "/down-once") == 2)
        #expect(server.count(path: "/json") == 1)
    }

    @Test("a request without a response completes with its error")
    func failure() async {
        let response = await withCheckedContinuation { done in
            session.request("no url").response { done.resume(returning: $0) }
        }
        guard case .invalidURL? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(response.data == nil)
    }

    @Test("completions are called in the order in which they were added, on the queue that each names")
    func order() async {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "completions")
        queue.setSpecific(key: key, value: "yes")
        let journal = Journal<String>()
        await withCheckedContinuation { done in
            session.request(server.baseURL + "/ok-text")
                .response(queue: queue) { _ in journal.append("response \(DispatchQueue.getSpecific(key: key) ?? "")") }
                .responseData(queue: queue) { _ in journal.append("data") }
                .responseString(queue: queue) { _ in journal.append("string") }
                .responseDecodable(of: Int.self, queue: queue) { _ in
                    journal.append("decodable")
                    done.resume()
                }
        }
        #expect(journal.entries == ["response yes", "data", "string", "decodable"])
        #expect(server.count(path: "/ok-text") == 1)
    }

    @Test("a completion that is added late is called at once")
    func late() async throws {
        let request = session.request(server.baseURL + "/ok-text")
        _ = try await request.serializingString().value
        let late = await withCheckedContinuation { done in request.responseString { done.resume(returning: $0) } }
        #expect(late.value == "200")
        #expect(server.count(path: "/ok-text") == 1)
    }

    @Test("cURLDescription {} is called once, with what is sent")
    func curl() async throws {
        let adapter = Adapter { request, _ in
            var request = request
            request.headers["X-Adapted"] = "yes"
            return request
        }
        let journal = Journal<String>()
        let session = Session.overSockets(Interceptor(interceptors: [adapter, .recommendedRetryPolicy]))
        let request = session.request(server.baseURL + "/down-once").cURLDescription { journal.append($0) }
        #expect(journal.entries == [])
        _ = try await request.validate().serializingString().value
        #expect(server.count(path: "/down-once") == 2)
        #expect(journal.entries.count == 1)
        #expect(journal.entries.first?.contains("-H 'X-Adapted: yes'") == true)
        request.cURLDescription { journal.append($0) }
        #expect(journal.entries.count == 2)
    }

    @Test("cURLDescription {} of a request that is never sent is called at its end")
    func curlWithoutRequest() async {
        let description = await withCheckedContinuation { done in
            session.request("no url").cURLDescription { done.resume(returning: $0) }.resume()
        }
        #expect(description == "$ curl: there is no request")
    }

    @Test("cancelAllRequests {} is called when all requests have ended")
    func cancelAll() async {
        server.on("/hang-here") { _ in [.hang] }
        let requests = (1...3).map { _ in session.request(server.baseURL + "/hang-here").resume() }
        await server.requests(atLeast: 3, toPath: "/hang-here")
        let states = await withCheckedContinuation { done in
            session.cancelAllRequests(completingOnQueue: DispatchQueue(label: "cancelled")) {
                done.resume(returning: requests.map(\.error?.isExplicitlyCancelledError))
            }
        }
        #expect(states == [true, true, true])
        await withCheckedContinuation { done in session.cancelAllRequests { done.resume() } }
    }

    @Test("onHTTPResponse receives the head of each attempt, without redirects that are followed")
    func heads() async throws {
        server.on("/moved") { [server] _ in
            [.respond(.init(302, headers: [("Location", server.baseURL + "/down-once")]))]
        }
        let journal = Journal<Int>()
        let text = try await session.request(server.baseURL + "/moved")
            .onHTTPResponse { journal.append($0.statusCode) }
            .validate().serializingString().value
        #expect(text == "200")
        #expect(journal.entries == [503, 200])
        #expect(server.count(path: "/moved") == 1)
    }

    @Test("onHTTPResponse comes before the content, and can refuse it")
    func disposition() async throws {
        let sent = Signal()
        server.on("/slow") { _ in
            [
                .head(.init(200, headers: [("Content-Length", "100000")])), .send([UInt8](repeating: 1, count: 10)),
                .hang,
            ]
        }
        let request = session.request(server.baseURL + "/slow")
            .onHTTPResponse { response, completion in
                sent.set()
                completion(response.expectedBytes > 1000 ? .cancel : .allow)
            }
        let response = await request.serializingData().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(server.count(path: "/slow") == 1)
        let allowed = try await session.request(server.baseURL + "/ok-text")
            .onHTTPResponse { _, completion in completion(.allow) }
            .serializingString().value
        #expect(allowed == "200")
        let dropped = await session.request(server.baseURL + "/ok-text").onHTTPResponse { _, _ in }
            .serializingString().response
        #expect(dropped.error?.isExplicitlyCancelledError == true)
    }

    @Test("onHTTPResponse of a stream comes before its first chunk")
    func stream() async throws {
        let journal = Journal<String>()
        let request = session.streamRequest(server.baseURL + "/ok-text")
            .onHTTPResponse { journal.append("head \($0.statusCode)") }
        for try await chunk in request.chunks { journal.append(String(decoding: chunk, as: UTF8.self)) }
        #expect(journal.entries == ["head 200", "200"])
    }

    @Test("a monitor of closures receives the events for which it has closures")
    func monitor() async throws {
        let journal = Journal<String>()
        let monitor = ClosureEventMonitor()
        monitor.requestDidCreate = { _ in journal.append("create") }
        monitor.requestDidResume = { _ in journal.append("resume") }
        monitor.requestDidStartAttempt = { _, number, _ in journal.append("start \(number)") }
        monitor.requestDidFinishAttempt = { _, number, _, _ in journal.append("end \(number)") }
        monitor.requestDidValidateResponse = { _, response, error in
            journal.append("validate \(response.statusCode) \(error == nil)")
        }
        monitor.requestIsRetrying = { _ in journal.append("retrying") }
        monitor.requestWillRetryAfterDelay = { _, _, reason in journal.append("retry \(reason.rawValue)") }
        monitor.requestDidFinish = { _ in journal.append("finish") }
        let session = Session.overSockets(RetryPolicy.recommended, monitors: [monitor])
        _ = try await session.request(server.baseURL + "/down-once").validate().serializingString().value
        #expect(
            journal.entries == [
                "create", "resume", "start 1", "end 1", "validate 503 false", "retrying", "retry transientStatus",
                "start 2", "end 2", "validate 200 true", "finish",
            ]
        )
        monitor.requestDidFinish = nil
        _ = try await session.request(server.baseURL + "/ok-text").serializingString().value
        #expect(journal.entries.count { $0 == "finish" } == 1)
        #expect(server.count(path: "/down-once") == 2)
    }
}

extension HTTPResponse {
    fileprivate var expectedBytes: Int { headers["Content-Length"].flatMap { Int($0) } ?? 0 }
}
