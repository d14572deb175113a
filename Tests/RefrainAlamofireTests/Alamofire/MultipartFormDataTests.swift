// SPDX-License-Identifier: Apache-2.0
import RefrainAlamofire
import RefrainTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("On the wire: forms that are put together step by step", .timeLimit(.minutes(10)))
struct MultipartFormDataTests {
    private let server: FaultServer
    private let folder: TemporaryFolder
    private let bodies = Journal<String>()
    private let session = Session(
        loader: PlatformLoader(),
        interceptor: RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
    )

    init() throws {
        server = try FaultServer()
        folder = try TemporaryFolder()
        server.on("/form") { [bodies] request in
            bodies.append(String(decoding: request.body, as: UTF8.self))
            return [.respond(.init(request.occurrence == 1 ? 503 : 200, body: "ok"))]
        }
    }

    private var address: String { server.baseURL + "/form" }

    @Test("R31: parts of negative and of endless lengths fail their upload", arguments: [Int64(-1000), .max])
    func lengths(length: Int64) async {
        let form = MultipartFormData()
        for name in ["a", "b", "c"] {
            let body = HTTPBody.stream(length: length) {
                AsyncStream<[UInt8]> { stream in
                    stream.yield([1])
                    stream.finish()
                }
            }
            form.append(body, withName: name)
        }
        #expect(form.contentLength == (length < 0 ? 0 : .max))
        let answer = await session.upload(multipartFormData: form, to: address).serializingString().response
        #expect(answer.error != nil && bodies.entries.isEmpty)
    }

    @Test("a closure's parts arrive as written, the same on each attempt", arguments: [UInt64(0), 1_000_000])
    func closure(threshold: UInt64) async throws {
        let file = folder.file("a.txt")
        try Data("file".utf8).write(to: file)
        let request = session.upload(
            multipartFormData: { form in
                form.append(Data("Ada".utf8), withName: "name")
                form.append(Data("{}".utf8), withName: "json", fileName: "x.json", mimeType: "application/json")
                form.append(file, withName: "file")
                form.append(file, withName: "named", fileName: "b.txt", mimeType: "text/plain")
            },
            to: address,
            usingThreshold: threshold,
            method: .put
        )
        #expect(try await request.validate().serializingString().value == "ok")
        let type = try #require(server.log.first?.header("Content-Type"))
        let boundary = try #require(type.split(separator: "boundary=").last)
        let expected =
            [
                "Content-Disposition: form-data; name=\"name\"\r\n\r\nAda",
                "Content-Disposition: form-data; name=\"json\"; filename=\"x.json\"\r\nContent-Type: application/json\r\n\r\n{}",
                "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nfile",
                "Content-Disposition: form-data; name=\"named\"; filename=\"b.txt\"\r\nContent-Type: text/plain\r\n\r\nfile",
            ].map { "--\(boundary)\r\n\($0)\r\n" }.joined() + "--\(boundary)--\r\n"
        #expect(bodies.entries == [expected, expected])
    }

    @Test("a form's type goes before a field of the caller's, which has no boundary")
    func formReplacesTypes() async throws {
        let own: HTTPHeaders = ["Content-Type": "multipart/form-data", "X-Own": "a"]
        let request = HTTPRequest(try address.asURL(), method: .post, headers: own)
        let add: (MultipartFormData) -> Void = { $0.append(Data("Ada".utf8), withName: "name") }
        for upload in [
            session.upload(multipartFormData: add, to: address, headers: own),
            session.upload(multipartFormData: add, to: address, usingThreshold: 0, headers: own),
            session.upload(multipartFormData: add, with: request),
            session.upload(multipartFormData: [.text("name", "Ada")], to: address, headers: own),
        ] {
            _ = await upload.serializingString().response
            #expect(server.log.last?.header("Content-Type")?.hasPrefix("multipart/form-data; boundary=") == true)
            #expect(server.log.last?.header("X-Own") == "a")
        }
    }

    @Test("up to the threshold a file is read before the call returns, above it while it is sent")
    func threshold() async throws {
        for (threshold, outcome) in [(UInt64(1000), "ok"), (0, nil)] {
            let file = folder.file("b.txt")
            try Data("file".utf8).write(to: file)
            let request = session.upload(
                multipartFormData: { $0.append(file, withName: "file") },
                to: address,
                usingThreshold: threshold,
                method: .put
            )
            try FileManager.default.removeItem(at: file)
            let response = await request.validate().serializingString().response
            #expect(response.value == outcome)
            if outcome == nil { #expect(response.error?.transportCode == .fileDoesNotExist) }
        }
        #expect(server.log.count { $0.complete } == 2)
    }

    @Test("a form encodes in memory and into a file as it is sent")
    func encoding() async throws {
        let form = MultipartFormData(boundary: "b")
        form.append(Data("1".utf8), withName: "one")
        #expect(form.contentType == "multipart/form-data; boundary=b")
        #expect(MultipartFormData(boundary: "a b:c").contentType == "multipart/form-data; boundary=\"a b:c\"")
        let text = "--b\r\nContent-Disposition: form-data; name=\"one\"\r\n\r\n1\r\n--b--\r\n"
        #expect(try form.encode() == Data(text.utf8))
        #expect(form.contentLength == 1, "of the parts alone")
        let file = folder.file("encoded")
        try form.writeEncodedData(to: file)
        #expect(try Data(contentsOf: file) == Data(text.utf8))
        #expect(throws: (any Error).self) { try form.writeEncodedData(to: file) }
        let other = MultipartFormData()
        other.append(file, withName: "file")
        #expect(other.contentLength == UInt64(text.utf8.count))
        #expect(other.parts.last?.body.contentType == "application/octet-stream", "of an extension that is unknown")
        other.append(try #require(URL(string: "https://a.example\(file.path())")), withName: "remote")
        #expect(throws: RefrainError.self, "a URL that is not of a file") { try other.encode() }
        _ = try await session.upload(multipartFormData: form, to: address, method: .put).validate()
            .serializingString().value
        #expect(bodies.entries == [text, text])
    }

    @Test("a stream is a part, which is sent while it is read and cannot be encoded in memory")
    func stream() async throws {
        let form = MultipartFormData(boundary: "b")
        let stream = HTTPBody.stream(length: 3) {
            AsyncStream<[UInt8]> { continuation in
                continuation.yield([0x61, 0x62, 0x63])
                continuation.finish()
            }
        }
        form.append(stream, withName: "s", fileName: "s.txt", mimeType: "text/plain")
        let refusal = #expect(throws: RefrainError.self) { try form.encode() }
        #expect(refusal?.underlyingError is InvalidArgument)
        let request = session.upload(multipartFormData: form, with: HTTPRequest(try address.asURL(), method: .put))
        _ = try await request.validate().serializingString().value
        #expect(bodies.entries.allSatisfy { $0.contains("\r\n\r\nabc\r\n--b--") })
        #expect(bodies.entries.count == 2)
    }

    @Test("an invalid part, a missing file and an invalid boundary fail the upload before it is sent")
    func invalid() async {
        let missing = folder.file("missing")
        let requests = [
            session.upload(multipartFormData: { $0.append(missing, withName: "f") }, to: address),
            session.upload(
                multipartFormData: { $0.append(Data(), withName: "f", mimeType: "a\r\nb") },
                to: address
            ), session.upload(multipartFormData: MultipartFormData(boundary: "å"), to: address),
        ]
        for request in requests {
            guard case .createRequestFailed? = await request.serializingData().response.error else {
                Issue.record("\(String(describing: request.error))")
                continue
            }
        }
        #expect(server.log.isEmpty)
    }

    @Test("bytes, a file and a stream are bodies of a request that is made elsewhere")
    func bodies() async throws {
        server.on("/up") { request in [.respond(.init(200, body: String(decoding: request.body, as: UTF8.self)))] }
        let file = folder.file("c.txt")
        try Data("file".utf8).write(to: file)
        let base = try HTTPRequest(server.baseURL + "/up", method: .put, headers: ["X-Base": "1"])
        let texts = try await [
            session.upload(Data("data".utf8), with: base).serializingString().value,
            session.upload(file, with: base).serializingString().value,
            session.upload(.text("text"), with: base).serializingString().value,
        ]
        #expect(texts == ["data", "file", "text"])
        #expect(server.log.map { $0.header("X-Base") } == ["1", "1", "1"])
    }
}
