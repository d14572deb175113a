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

@Suite("On the wire: the life of a request", .timeLimit(.minutes(10)))
struct RequestWireTests {
    private let server: FaultServer
    private let session: Session

    init() throws {
        server = try FaultServer()
        session = Session.overSockets(RetryPolicy.recommended)
    }

    @Test("A: Request: it knows what was sent, what came back, and how often it was tried")
    func properties() async throws {
        server.answer("/down-once", 503, 200)
        let request = session.request(server.baseURL + "/down-once", headers: ["X-One": "1"]).validate()
        #expect(request.isInitialized)
        #expect(request.requests.isEmpty && request.response == nil && request.error == nil)
        #expect(try await request.serializingString().value == "200")
        #expect(request.isFinished)
        #expect(request.request?.headers["X-One"] == "1")
        #expect(request.requests.count == 2)
        #expect(request.response?.status == 200)
        #expect(request.retryCount == 1)
        #expect(request.attempts.map(\.status) == [503, 200])
        #expect(request.error == nil)
        #expect(request.id != session.request(server.baseURL + "/ok").id)
        #expect(server.count(path: "/down-once") == 2)
    }

    @Test("A: Request: from each state the calls lead to the legal ones only, and what has ended stays so")
    func transitions() async throws {
        server.on("/slow") { _ in
            [.head(.init(200, headers: [("Content-Length", "200000")])), .send(Self.bytes(100_000)), .hang]
        }
        let arrived = Signal()
        let request = session.download(server.baseURL + "/slow", to: Self.nowhere)
        request.downloadProgress { _ in arrived.set() }
        #expect(request.currentState == .initialized)
        #expect(request.suspend().currentState == .suspended)
        #expect(request.suspend().currentState == .suspended)
        #expect(server.log.isEmpty)
        #expect(request.resume().currentState == .resumed)
        #expect(request.resume().currentState == .resumed)
        await arrived.wait()
        #expect(request.suspend().currentState == .suspended)
        #expect(request.resume().currentState == .resumed)
        let task = request.serializingDownloadedFileURL()
        #expect(request.cancel().currentState == .cancelled)
        #expect(request.resume().currentState == .cancelled)
        #expect(request.suspend().currentState == .cancelled)
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(request.cancel().currentState == .cancelled)
        #expect(server.count(path: "/slow") == 1)

        let finished = session.request(server.baseURL + "/ok")
        _ = await finished.serializingData().response
        #expect(finished.currentState == .finished)
        #expect(finished.resume().suspend().cancel().currentState == .finished)
        #expect(finished.error == nil)
        #expect(server.count(path: "/ok") == 1)
    }

    @Test("A: Request: what is suspended before it starts is sent when it is resumed, once")
    func suspendedStart() async throws {
        let request = session.request(server.baseURL + "/ok").suspend()
        let task = request.serializingString()
        #expect(request.isSuspended)
        #expect(server.log.isEmpty)
        request.resume()
        #expect(try await task.value == "ok\n")
        #expect(server.count(path: "/ok") == 1)
    }

    @Test("A: Request: a suspended upload leaves the wire alone until it is resumed, and arrives whole")
    func suspendedUpload() async throws {
        server.on("/up") { request in [.respond(.init(200, body: "\(request.bodyLength)"))] }
        let paused = Signal()
        let request = session.upload(Data(Self.bytes(1_000_000)), to: server.baseURL + "/up")
        request.uploadProgress { [weak request] progress in
            guard progress.completed == 196_608 else { return }
            request?.suspend()
            paused.set()
        }
        let task = request.validate().serializingString()
        await paused.wait()
        #expect(request.isSuspended && request.uploadProgress.completed == 196_608)
        request.resume()
        #expect(try await task.value == "1000000")
        #expect(request.uploadProgress == Request.TransferProgress(completed: 1_000_000, total: 1_000_000))
    }

    @Test("A: Request: progress counts bytes up and down, never backwards within an attempt, up to the whole")
    func progress() async throws {
        server.on("/both") { _ in [.respond(.init(200, bytes: Self.bytes(400_000)))] }
        let (up, down) = (Journal<Request.TransferProgress>(), Journal<Request.TransferProgress>())
        let request = session.upload(Data(Self.bytes(300_000)), to: server.baseURL + "/both")
            .uploadProgress { up.append($0) }
            .downloadProgress { down.append($0) }
        #expect(try await request.validate().serializingData().value.count == 400_000)
        for (moments, total) in [(up.entries, Int64(300_000)), (down.entries, 400_000)] {
            #expect(moments.map(\.completed) == moments.map(\.completed).sorted())
            #expect(moments.last == Request.TransferProgress(completed: total, total: total))
            #expect(moments.count > 1)
            #expect(moments.last?.fractionCompleted == 1)
        }
    }

    @Test("A: Request: cURLDescription() is a command that a shell takes apart as it was meant")
    func cURLDescription() async throws {
        var plain = try HTTPRequest("\(server.baseURL)/echo?q=a%20b&c='d'", method: .put, headers: [:])
        plain.headers["X-One"] = "it's $HOME `id` \"quoted\" \\"
        plain.body = .text("line one\nline 'two' $(id)", contentType: "text/plain")
        let adapted = session.request(
            plain,
            interceptor: Adapter { request, _ in
                var request = request
                request.headers["X-Adapted"] = "yes"
                return request
            }
        )
        #expect(!adapted.cURLDescription().contains("X-Adapted"))
        _ = await adapted.serializingData().response
        let text = adapted.cURLDescription()
        #expect(text.hasPrefix("$ curl -v"))
        let words = try Shell.words(of: String(text.dropFirst("$ ".count)))
        #expect(
            words == [
                "curl", "-v", "-X", "PUT", "-H", "X-One: it's $HOME `id` \"quoted\" \\", "-H", "X-Adapted: yes", "-H",
                "Content-Type: text/plain", "--data-raw", "line one\nline 'two' $(id)",
                "\(server.baseURL)/echo?q=a%20b&c='d'",
            ]
        )
    }

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    private static var nowhere: URL {
        FileManager.default.temporaryDirectory.appending(path: "refrain-\(UUID().uuidString)")
    }
}
