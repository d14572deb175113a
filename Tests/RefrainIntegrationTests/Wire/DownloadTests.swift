// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("On the wire: downloads", .timeLimit(.minutes(10)))
struct DownloadTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    /// Downloads into a file; answers the result, and the digest of the file where the download was whole.
    private func download(_ target: String) async throws -> (result: HTTPResult, digest: String?) {
        let path = FileManager.default.temporaryDirectory.appending(path: "refrain-\(UUID().uuidString)").path
        let sink = try Download.FileSink(path: path)
        var request = try HTTPRequest(server.baseURL + target)
        request.download = Download(to: sink)
        let chain = try Redirect() --> Retry(quick(), budgets: nil) --> Resume() --> transport()
        let result = await chain.load(request)
        guard case .success = result else { return (result, nil) }
        try sink.finish()
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Foundation leaks its buffer where it reads a file that is empty.
        let content = try FileChunks(path: path).length == 0 ? Data() : Data(contentsOf: URL(filePath: path))
        return (result, SHA256.hex(of: Array(content)))
    }

    @Test(
        "R11: the digest of the file is the source's, and what was sent is on record",
        arguments: [
            ("/bytes/200000", 1),
            ("/bytes/200000?cut-each=30000", 7),
            ("/bytes/200000?cut-each=30000&reset=1", nil),
            ("/bytes/200000?cut-each=30000&chunked=1", nil),
            // A date far in the past is a strong validator, too, where there is no entity tag (RFC 9110 §13.1.5).
            ("/bytes/200000?cut-each=60000&etag=none", 4),
            ("/bytes/200000?cut=60000&times=1&etag=weak&last-modified=none", 2),
            ("/bytes/200000?cut=60000&times=1&etag=none&last-modified=now", 2),
            ("/bytes/200000?cut=60000&times=1&etag=changing", 2),
            ("/bytes/200000?cut=60000&times=1&no-range=1", 2),
            ("/bytes/200000?cut=60000&times=1&wrong-range=1", 3),
            ("/bytes/200000?cut=60000&times=1&wrong-total=1", 3),
            ("/bytes/200000?cut=60000&times=1&multipart-range=1", 3),
            ("/bytes/200000?cut=60000&times=1&multipart-range=labelled", 3),
            // Other bytes under no entity tag must not be mixed with the first ones (RFC 9110 §15.3.7).
            ("/bytes/200000?cut=60000&times=1&etag=whole", 3),
            ("/bytes/200000?cut=60000&times=1&not-modified=1", 3),
            ("/bytes/200000?chunked=1&length=900000", 1),
            ("/bytes/0", 1),
            ("/bytes/1?cut=0&times=1", 2),
        ] as [(String, Int?)]
    )
    func digests(target: String, sends: Int?) async throws {
        let (result, digest) = try await download(target)
        let response = try result.get()
        #expect(digest == response.headers["X-Content-SHA256"])
        #expect(response.attempts.count == server.log.count)
        if let sends { #expect(server.log.count == sends) }
    }

    @Test("R11: the rest is asked for with Range and If-Range, in order and without a gap")
    func ranges() async throws {
        let (result, _) = try await download("/bytes/100000?cut-each=40000")
        _ = try result.get()
        #expect(server.log.map { $0.header("Range") } == [nil, "bytes=40000-", "bytes=80000-"])
        #expect(server.log.map { $0.header("If-Range") } == [nil, "\"100000-0\"", "\"100000-0\""])
    }

    @Test("R11: a 416 starts over")
    func notSatisfiable() async throws {
        let content = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 251) }
        server.on("/file") { request in
            let fields = [("ETag", "\"v1\""), ("Content-Length", "50000")]
            if request.header("Range") != nil {
                return [.respond(.init(416, headers: [("Content-Range", "bytes */50000")]))]
            }
            if request.occurrence == 1 {
                return [.head(.init(200, headers: fields)), .send(Array(content.prefix(20_000))), .close]
            }
            return [.respond(.init(200, headers: fields, bytes: content))]
        }
        let (result, digest) = try await download("/file")
        #expect(try result.get().attempts.count == 3)
        #expect(digest == SHA256.hex(of: content))
    }

    @Test(
        "R11: a server that cuts each answer and never serves a rest is not asked for ever",
        arguments: [
            ("no-range=1", 3), ("etag=changing", 3), ("etag=weak", 3), ("etag=weak&last-modified=none", 3),
            ("etag=none&last-modified=now", 3), ("wrong-range=1", 3),
            ("wrong-total=1", 3), ("multipart-range=1", 3), ("encoding=gzip", 3),
        ]
    )
    func endless(options: String, sends: Int) async throws {
        let (result, _) = try await download("/bytes/200000?cut-each=50000&\(options)")
        let error = try failure(of: result)
        #expect(error.attempts.last?.reason == .attemptsUsedUp)
        #expect(error.attempts.count == server.log.count)
        #expect(server.log.count == sends)
    }

    @Test("R10: nothing is published under the file's name until it is whole")
    func nothingHalf() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "refrain-\(UUID().uuidString)").path
        do {
            let sink = try Download.FileSink(path: path)
            var request = try HTTPRequest(server.baseURL + "/close-body?bytes=100000&after=99999")
            request.download = Download(to: sink)
            let chain = try Retry(quick(), budgets: nil) --> Resume() --> transport()
            #expect(try failure(of: await chain.load(request)).code == .networkConnectionLost)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
