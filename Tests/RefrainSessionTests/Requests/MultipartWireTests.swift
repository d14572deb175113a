// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("On the wire: multipart forms", .timeLimit(.minutes(10)))
struct MultipartWireTests {
    private let server: FaultServer
    private let folder: TemporaryFolder
    private let session = Session.overSockets(RetryPolicy.recommended)

    init() throws {
        server = try FaultServer()
        folder = try TemporaryFolder()
    }

    @Test("A: parameters: a multipart form arrives part by part as it was written, and again as a whole when retried")
    func form() async throws {
        let file = folder.file("photo.png")
        try Data([0x89, 0x50, 0x0D, 0x0A]).write(to: file)
        let bodies = Journal<[UInt8]>()
        server.on("/form") { request in
            bodies.append(request.body)
            return [.respond(.init(request.occurrence == 1 ? 503 : 200, body: "ok"))]
        }
        let parts: [HTTPBody.Part] = [
            .text("name", "Ada"), .file("photo", file.path(), contentType: "image/png"),
            .bytes("raw", [1, 2], filename: "raw.bin", contentType: "application/octet-stream"),
        ]
        let request = session.upload(multipartFormData: parts, to: server.baseURL + "/form", method: .put)
        #expect(try await request.validate().serializingString().value == "ok")
        let entry = try #require(server.log.last)
        let boundary = try #require(entry.header("Content-Type")?.split(separator: "boundary=").last)
        var expected: [UInt8] = []
        for (head, content) in [
            ("Content-Disposition: form-data; name=\"name\"\r\n", Array("Ada".utf8)),
            (
                "Content-Disposition: form-data; name=\"photo\"; filename=\"photo.png\"\r\nContent-Type: image/png\r\n",
                [0x89, 0x50, 0x0D, 0x0A]
            ),
            (
                "Content-Disposition: form-data; name=\"raw\"; filename=\"raw.bin\"\r\n"
                    + "Content-Type: application/octet-stream\r\n",
                [1, 2]
            ),
        ] as [(String, [UInt8])] {
            expected += Array("--\(boundary)\r\n\(head)\r\n".utf8) + content + Array("\r\n".utf8)
        }
        expected += Array("--\(boundary)--\r\n".utf8)
        #expect(bodies.entries == [expected, expected])
        #expect(server.log.map { $0.header("Content-Length") } == ["\(expected.count)", "\(expected.count)"])
    }

    @Test("A: parameters: a form with a file of 24 MiB arrives byte for byte, with its length said beforehand")
    func largeFile() async throws {
        let file = folder.file("large")
        let size = 24 << 20
        // Sparse: it takes no room on the disk.
        try Data().write(to: file)
        let handle = open(file.path(), O_WRONLY)
        #expect(ftruncate(handle, off_t(size)) == 0)
        close(handle)
        server.on("/form", readsBody: true) { request in [.respond(.init(200, body: "\(request.bodyLength)"))] }
        let request = session.upload(multipartFormData: [.file("f", file.path())], to: server.baseURL + "/form")
        let text = try await request.validate().serializingString().value
        let entry = try #require(server.log.last)
        #expect(entry.complete && entry.bodyLength > size && "\(entry.bodyLength)" == text)
        #expect(entry.header("Content-Length") == text)
        #expect(
            request.uploadProgress
                == Request.TransferProgress(completed: Int64(entry.bodyLength), total: Int64(entry.bodyLength))
        )
    }

    @Test("A: parameters: a form is read from its source no faster than the server takes it")
    func backPressure() async throws {
        // 4 GiB if read completely: more than a test machine's memory.
        let chunk = [UInt8](repeating: 7, count: 1 << 20)
        let (pulled, total) = (Counter(), 4096)
        let source = HTTPBody.stream(length: Int64(total) << 20) {
            AsyncStream<[UInt8]>(unfolding: { pulled.increment() <= total ? chunk : nil })
        }
        server.on("/stall", readsBody: false) { _ in [.stall] }
        let parts = [HTTPBody.Part(name: "f", filename: "f", body: source)]
        let request = session.upload(multipartFormData: parts, to: server.baseURL + "/stall", method: .put)
        let task = request.serializingData()
        await server.requests(atLeast: 1, toPath: "/stall")
        await pulled.reaches(1)
        // The buffers of the kernel and of the pipe fill up, and then nothing more is asked of the source.
        var last = -1
        while pulled.value != last {
            last = pulled.value
            // No event: that nothing more is asked for is only seen in time.
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(pulled.value < 64)
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
    }
}
