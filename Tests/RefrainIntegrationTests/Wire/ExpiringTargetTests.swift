// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Redirects to URLs that expire, as signed ones do.
@Suite("On the wire: targets that expire", .timeLimit(.minutes(5)))
struct ExpiringTargetTests {
    private let server: FaultServer
    private let clock = TestClock(.autoAdvancing)
    private let content = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7 % 253) }

    init() throws { server = try FaultServer() }

    private var chain: some HTTPLoader {
        let clocks = clock.retryClocks()
        return Redirect(clocks: clocks) --> Retry(.recommended, budgets: nil, clocks: clocks) --> Resume()
            --> CurlLoader()
    }

    /// Redirects to a target that is good for one request, cuts what it sends, and answers the next request so.
    private func serve(_ redirect: Int, refusal: Int) {
        server.on("/start") { request in
            let target = "/object?X-Amz-Signature=\(request.occurrence)"
            return [.respond(.init(redirect, headers: [("Location", target)]))]
        }
        server.on("/object") { [server, content] request in
            guard server.log.filter({ $0.path == request.target }).count <= 1 else {
                return [.respond(.init(refusal, body: "expired"))]
            }
            let range = request.header("Range") ?? ""
            let from = Int(range.dropFirst(6).split(separator: "-").first ?? "") ?? 0
            let fields = [("ETag", "\"v\""), ("Content-Length", "\(content.count - from)")]
            let part = range.isEmpty ? [] : [("Content-Range", "bytes \(from)-\(content.count - 1)/\(content.count)")]
            let end = min(content.count, from + 200_000)
            let head = FaultServer.Response(range.isEmpty ? 200 : 206, headers: fields + part)
            return [.head(head), .send(Array(content[from..<end])), .close]
        }
    }

    private func download() async throws -> (result: HTTPResult, bytes: [UInt8]) {
        let sink = BytesSink()
        var request = try HTTPRequest(server.baseURL + "/start", headers: [:])
        request.download = Download(to: sink)
        let result = await chain.load(request)
        return (result, sink.bytes)
    }

    @Test(
        "R33: a target that has expired is asked for anew, and the download goes on",
        arguments: [401, 403, 404, 410]
    )
    func goesOn(refusal: Int) async throws {
        serve(302, refusal: refusal)
        let (result, bytes) = try await download()
        #expect(try result.get().status.isSuccess)
        #expect(bytes == content)
        let parts = server.log.filter { $0.path.hasPrefix("/object") && $0.header("Range") != nil }
        #expect(
            parts.contains { $0.header("Range") == "bytes=200000-" && $0.path.hasSuffix("=2") },
            "partial bytes stay"
        )
    }

    @Test("R33: a permanent redirect names its target for good, so it is not asked again", arguments: [301, 308])
    func permanent(redirect: Int) async throws {
        serve(redirect, refusal: 410)
        let (result, _) = try await download()
        #expect(try result.get().status == 410)
        #expect(server.log.count { $0.path == "/start" } == 1)
    }

    @Test("R33: a first attempt that is refused is an answer, and the origin is asked a bounded number of times")
    func bounded() async throws {
        server.on("/start") { _ in [.respond(.init(307, headers: [("Location", "/object")]))] }
        server.on("/object") { _ in [.respond(.init(403))] }
        #expect(try await download().result.get().status == 403)
        #expect(server.log.count { $0.path == "/start" } == 1)
        server.clearLog()
        server.on("/object") { request in request.occurrence % 2 == 0 ? [.respond(.init(403))] : [.reset] }
        #expect(try await download().result.get().status == 403)
        #expect(server.log.count { $0.path == "/start" } <= 3)
    }
}

private final class BytesSink: Download.Sink {
    private let state = Locked<[UInt8]>([])
    var bytes: [UInt8] { state.withLock { $0 } }
    func write(_ bytes: [UInt8]) async throws { state.withLock { $0 += bytes } }
    func startOver() async throws { state.withLock { $0 = [] } }
}
