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

@Suite("Alamofire's sessions, monitors of a request, reachability", .timeLimit(.minutes(10)))
struct SessionNamesTests {
    private let server: FaultServer
    private let other: FaultServer

    init() throws {
        server = try FaultServer()
        other = try FaultServer()
        let target = other.baseURL + "/text"
        for server in [server, other] { server.on("/text") { _ in [.respond(.init(200, body: "ok"))] } }
        server.on("/away") { _ in [.respond(.init(302, headers: [("Location", target)], body: ""))] }
        server.on("/slow") { _ in [.hang] }
        server.on("/twice") { request in [.respond(.init(request.occurrence == 1 ? 503 : 200, body: "ok"))] }
    }

    @Test("a configuration's header fields are sent where a request has none, and no credentials to another origin")
    func configurationHeaders() async throws {
        let configuration = SessionConfiguration.af.default
        configuration.headers["Authorization"] = "secret"
        configuration.httpAdditionalHeaders?["X-App"] = "shop"
        configuration.httpMaximumConnectionsPerHost = 0
        let session = Session(configuration: configuration)
        #expect(try await session.request(server.baseURL + "/away").serializingString().value == "ok")
        let first = try #require(server.log.last)
        #expect(first.header("Authorization") == "secret" && first.header("X-App") == "shop")
        #expect(first.header("User-Agent") == HTTPHeaders.default["User-Agent"])
        let second = try #require(other.log.last)
        #expect(second.header("Authorization") == nil && second.header("X-App") == "shop")
        _ = await session.request(server.baseURL + "/text", headers: ["X-App": "own"]).serializingString().response
        #expect(server.log.last?.header("X-App") == "own")
    }

    @Test("a configuration's Content-Type is that of bodies without a type alone")
    func configurationTypes() async throws {
        let configuration = SessionConfiguration.default
        configuration.headers["Content-Type"] = "application/json"
        let session = Session(configuration: configuration)
        let url = server.baseURL + "/text"
        _ = await session.request(url, method: .post, parameters: ["a": "b"]).serializingString().response
        #expect(server.log.last?.header("Content-Type")?.hasPrefix("application/x-www-form-urlencoded") == true)
        _ = await session.upload(Data("{}".utf8), to: url).serializingString().response
        #expect(server.log.last?.header("Content-Type") == "application/json")
    }

    @Test("a configuration limits the wait for a byte")
    func configurationTimeout() async {
        let configuration = SessionConfiguration.default
        configuration.timeoutIntervalForRequest = 0.1
        let session = Session(configuration: configuration, interceptor: nil)
        let response = await session.request(server.baseURL + "/slow").serializingString().response
        guard case .sessionTaskFailed(let error)? = response.error else {
            Issue.record("\(response)")
            return
        }
        // The transport's own limit, of 60 s, is one of silence.
        #expect(error.code == .timedOut && error.message?.contains("first byte") == true, "\(error)")
    }

    @Test("a request's own monitor is called after the session's, for its own request only")
    func ownMonitor() async {
        let journal = Mutex<[String]>([])
        func monitor(_ name: String) -> ClosureEventMonitor {
            let monitor = ClosureEventMonitor()
            monitor.requestDidStartAttempt = { _, number, _ in journal.withLock { $0.append("\(name) \(number)") } }
            monitor.requestDidFinish = { _ in journal.withLock { $0.append("\(name) end") } }
            return monitor
        }
        let session = Session(eventMonitors: [monitor("session")])
        let request = session.request(server.baseURL + "/twice").eventMonitor(monitor("own"))
        _ = await request.eventMonitor(monitor("second")).serializingString().response
        let expected = ["1", "2", "end"].flatMap { ["session \($0)", "own \($0)", "second \($0)"] }
        #expect(journal.withLock { $0 } == expected)
        #expect(server.count(path: "/twice") == 2)
        let unwatched = Session()
        let alone = unwatched.request(server.baseURL + "/text").eventMonitor(monitor("alone"))
        _ = await alone.serializingString().response
        #expect(journal.withLock { $0.suffix(2) } == ["alone 1", "alone end"])
    }

    @Test("the requests of all attempts come as a stream, as commands, and to a handler")
    func requestStreams() async {
        let handled = Mutex(0)
        let session = Session()
        let request = session.request(server.baseURL + "/twice", shouldAutomaticallyResume: false)
        let (requests, commands, heads) = (request.urlRequests(), request.cURLDescriptions(), request.httpResponses())
        request.onURLRequestCreation(on: .global()) { _ in handled.withLock { $0 += 1 } }
        _ = request.response { _ in }.resume()
        #expect(await requests.reduce(0) { count, _ in count + 1 } == 2)
        #expect(await commands.reduce(0) { count, text in count + (text.contains("curl") ? 1 : 0) } == 2)
        #expect(await heads.reduce([]) { $0 + [$1.statusCode] } == [503, 200])
        await session.cancelAllRequestsAndWait()
        #expect(server.count(path: "/twice") == 2)
    }

    @Test("reachability is told once at the start, and no more after the end of listening")
    func reachability() async throws {
        let manager = try #require(NetworkReachabilityManager.default)
        let queue = DispatchQueue(label: "reachability")
        let (statuses, continuation) = AsyncStream.makeStream(
            of: NetworkReachabilityManager.NetworkReachabilityStatus.self
        )
        #expect(manager.startListening(onQueue: queue) { continuation.yield($0) })
        var iterator = statuses.makeAsyncIterator()
        #expect(await iterator.next() == manager.status)
        #expect(manager.isReachable == (manager.status != .notReachable) && !manager.isReachableOnCellular)
        manager.stopListening()
        continuation.finish()
        #expect(await iterator.next() == nil)
    }
}
