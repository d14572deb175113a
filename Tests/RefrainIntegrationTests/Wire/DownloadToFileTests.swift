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

@Suite("On the wire: a download in one call", .timeLimit(.minutes(10)))
struct DownloadToFileTests {
    let server: FaultServer
    let path = FileManager.default.temporaryDirectory.appending(path: "refrain-\(UUID().uuidString)").path

    init() throws { server = try FaultServer() }

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    private func content() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    @Test("R11: with Resume the download continues where it was cut, and the file is the source's")
    func resumes() async throws {
        defer { remove() }
        let chain = try Retry(quick(), budgets: nil) --> Resume() --> transport()
        let response = try await chain.download(HTTPRequest("\(server.baseURL)/bytes/200000?cut-each=60000"), to: path)
        #expect(SHA256.hex(of: try content()) == response.headers["X-Content-SHA256"])
        #expect(server.log.map { $0.header("Range") } == [nil, "bytes=60000-", "bytes=120000-", "bytes=180000-"])
        #expect(response.body.isEmpty)
    }

    @Test("R10: without Resume a download that was cut starts over, and no byte of the first attempt is in the file")
    func startsOver() async throws {
        defer { remove() }
        let chain = try Retry(quick(), budgets: nil) --> transport()
        let request = try HTTPRequest("\(server.baseURL)/bytes/200000?cut=60000&times=1")
        let response = try await chain.download(request, to: path)
        #expect(SHA256.hex(of: try content()) == response.headers["X-Content-SHA256"])
        #expect(server.log.map { $0.header("Range") } == [nil, nil])
    }

    @Test("a 404 throws, and leaves the file that was there as it was", arguments: [true, false])
    func keepsOldFile(resumes: Bool) async throws {
        defer { remove() }
        try Data("old".utf8).write(to: URL(filePath: path))
        let request = try HTTPRequest("\(server.baseURL)/status/404")
        let whole = try Retry(quick(), budgets: nil) --> transport()
        let resuming = try Retry(quick(), budgets: nil) --> Resume() --> transport()
        let loader: any HTTPLoader = resumes ? resuming : whole
        let error = await #expect(throws: HTTPError.self) { try await loader.download(request, to: path) }
        #expect(error?.code == .badServerResponse)
        #expect(error?.response?.status == 404)
        #expect(try content() == Array("old".utf8))
    }

    @Test("R9: a cancelled download throws CancellationError, and leaves no file")
    func cancels() async throws {
        defer { remove() }
        let chain = try Retry(quick(), budgets: nil) --> Resume() --> transport()
        let request = try HTTPRequest("\(server.baseURL)/hang")
        let task = Task { try await chain.download(request, to: path) }
        #expect(await eventually { !server.log.isEmpty })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
