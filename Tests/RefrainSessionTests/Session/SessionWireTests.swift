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

@Suite("On the wire: sessions", .timeLimit(.minutes(10)))
struct SessionWireTests {
    private let server: FaultServer
    private let folder: TemporaryFolder

    init() throws {
        server = try FaultServer()
        folder = try TemporaryFolder()
    }

    @Test("A: Session: over any chain of loaders it requests, uploads, downloads and streams")
    func kinds() async throws {
        let stamp = ModifyRequest { request in
            var request = request
            request.headers["X-Chain"] = "mine"
            return request
        }
        server.on("/up") { [.respond(.init(200, body: "\($0.method) \($0.bodyLength)"))] }
        let session = Session(loader: stamp --> CurlLoader())
        let (ok, up) = (server.baseURL + "/ok", server.baseURL + "/up")
        #expect(try await session.request(ok).serializingString().value == "ok\n")
        #expect(try await session.upload(Data("abc".utf8), to: up).serializingString().value == "POST 3")
        try Data("from a file".utf8).write(to: folder.file("source"))
        let file = session.upload(folder.file("source"), to: up, method: .put)
        #expect(try await file.serializingString().value == "PUT 11")
        let form = session.upload(multipartFormData: [.text("a", "b")], to: up)
        #expect(try await form.serializingString().value.hasPrefix("POST "))
        let url = try await session.download(ok, to: folder.file("result")).serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: url) == Data("ok\n".utf8))
        var streamed: [UInt8] = []
        for try await chunk in session.streamRequest(ok).chunks { streamed += chunk }
        #expect(streamed == Array("ok\n".utf8))
        #expect(server.log.count == 6)
        #expect(server.log.allSatisfy { $0.header("X-Chain") == "mine" })
    }

    @Test("A: Session: a download that is cut goes on where it stopped, and the file is whole")
    func resumable() async throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        server.on("/cut") { request in
            let fields = [("ETag", "\"v1\""), ("Accept-Ranges", "bytes")]
            guard let range = request.header("Range"), let start = Int(range.dropFirst(6).dropLast()) else {
                return [
                    .head(.init(200, headers: fields + [("Content-Length", "300000")])),
                    .send(Array(content[..<100_000])), .close,
                ]
            }
            let end = start < 200_000 ? 200_000 : 300_000
            let rest =
                fields + [
                    ("Content-Range", "bytes \(start)-299999/300000"), ("Content-Length", "\(300_000 - start)"),
                ]
            return [.head(.init(206, headers: rest)), .send(Array(content[start..<end])), .close]
        }
        let session = Session.overSockets(RetryPolicy.recommended)
        let request = session.download(server.baseURL + "/cut", to: folder.file("result")).validate()
        _ = try await request.serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: folder.file("result")) == Data(content))
        #expect(request.bytesReceived == 300_000)
        let ranges = server.requests(toPath: "/cut").map { $0.header("Range") }
        #expect(ranges == [nil, "bytes=100000-", "bytes=200000-"])
    }

    @Test("A: Session: withAllRequests shows what is under way, and cancelAllRequests ends all of it")
    func cancelAll() async {
        let session = Session.overSockets(RetryPolicy.recommended)
        let requests = (0..<20).map { _ in session.request(server.baseURL + "/hang") }
        let tasks = requests.map { $0.serializingData() }
        await server.requests(atLeast: 1, toPath: "/hang")
        session.withAllRequests { #expect($0 == Set(requests)) }
        session.cancelAllRequests()
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
        session.withAllRequests { #expect($0.isEmpty) }
        let after = session.request(server.baseURL + "/ok")
        #expect(await after.serializingString().response.value == "ok\n")
    }

    @Test("A: Session: its interceptor and its monitors stand before and watch over every kind of request")
    func interceptorAndMonitors() async throws {
        let (interceptor, recorder) = (CountingInterceptor(.retry), EventTests.Recorder())
        let session = Session.overSockets(interceptor, monitors: [recorder])
        for path in ["/a", "/b", "/c"] { server.answer(path, 503, 200) }
        _ = try await session.request(server.baseURL + "/a").serializingData().value
        _ = try await session.download(server.baseURL + "/b", to: folder.file("b")).serializingDownloadedFileURL().value
        for try await _ in session.streamRequest(server.baseURL + "/c").chunks {}
        #expect(interceptor.adapts.value == 6)
        #expect(interceptor.retries.value == 3)
        #expect(server.log.count == 6)
        #expect(recorder.events.entries.count { $0.hasPrefix("started") } == 6)
    }
}
