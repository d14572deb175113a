// SPDX-License-Identifier: Apache-2.0
import RefrainAlamofire
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A source of so many bytes, which may fail after them.
private final class Bytes: HTTPBody.ByteSource {
    private var remaining: Int
    private let fails: Bool

    init(_ count: Int, thenFails fails: Bool = false) {
        remaining = count
        self.fails = fails
    }

    func open() {}
    func close() {}

    func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard remaining > 0 else { return fails ? -1 : 0 }
        let count = min(length, remaining)
        buffer.update(repeating: 7, count: count)
        remaining -= count
        return count
    }
}

@Suite("Parts of forms from sources", .timeLimit(.minutes(10)))
struct MultipartSourceTests {
    private let server: FaultServer

    init() throws {
        server = try FaultServer()
        server.on("/form") { _ in [.respond(.init(200, body: "ok"))] }
    }

    private func upload(_ source: Bytes, length: UInt64) async -> DataResponse<String, AFError> {
        await AF.upload(
            multipartFormData: {
                $0.append(source, withLength: length, name: "f", fileName: "f.bin", mimeType: "x/y")
            },
            to: server.baseURL + "/form"
        ).serializingString().response
    }

    @Test("a source that fails before its end fails the upload with its error, and nothing is sent")
    func failing() async {
        let response = await upload(Bytes(100, thenFails: true), length: 1000)
        #expect(response.error?.underlyingError is HTTPBody.ByteSourceFailed)
        #expect(server.log.isEmpty)
        let form = MultipartFormData()
        form.append(Bytes(1, thenFails: true), withLength: 2, name: "f", fileName: "f", mimeType: "x/y")
        let error = #expect(throws: AFError.self) { try form.encode() }
        #expect(error?.underlyingError is HTTPBody.ByteSourceFailed)
    }

    @Test("a source that ends before its length fails the upload with both numbers, and nothing is sent")
    func short() async {
        let response = await upload(Bytes(100), length: 1000)
        let error = response.error?.underlyingError as? AFError.UnexpectedInputStreamLength
        #expect(error?.bytesExpected == 1000 && error?.bytesRead == 100)
        #expect(server.log.isEmpty)
    }

    @Test("a source over the threshold is read while it is sent; one that fails or is short never ends the request")
    func large() async {
        let length = MultipartFormData.encodingMemoryThreshold + 100_000
        #expect(await upload(Bytes(.max), length: length).value == "ok")
        #expect(server.log.map(\.complete) == [true])
        let failed = await upload(Bytes(300_000, thenFails: true), length: length)
        #expect(failed.error?.isSessionTaskError == true && failed.response == nil)
        let short = await upload(Bytes(300_000), length: length)
        #expect(short.error?.isSessionTaskError == true && short.response == nil)
        #expect(server.log.dropFirst().allSatisfy { !$0.complete }, "what has arrived is no complete request")
        #expect(server.log.count <= 3, "neither is sent again")
    }

    /// Adds a part to a form when it is asked for the request.
    private struct Adding: URLRequestConvertible {
        let url: String
        let add: @Sendable () -> Void

        func asURLRequest() throws -> HTTPRequest {
            add()
            return try HTTPRequest(url: url, method: .post)
        }
    }

    @Test("a convertible may add the parts of its form; it is asked once for each attempt")
    func addedByConvertible() async {
        // nonisolated(unsafe): the convertible is asked before the call returns.
        nonisolated(unsafe) let form = MultipartFormData()
        let maker = Adding(url: server.baseURL + "/form") { form.append(Data("x".utf8), withName: "late") }
        let session = Session()
        let upload = session.upload(multipartFormData: form, with: maker)
        #expect(await upload.serializingString().response.value == "ok")
        #expect(form.parts.map(\.name) == ["late"])
        #expect(server.log.map { $0.bodyLength > 100 } == [true])
    }

    @Test("a source that has no end is read up to the length")
    func endless() async {
        #expect(await upload(Bytes(.max), length: 1000).value == "ok")
        #expect(server.log.map(\.complete) == [true])
    }
}
