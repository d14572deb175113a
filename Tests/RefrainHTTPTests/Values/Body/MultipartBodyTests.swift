// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import RefrainHTTP

@Suite("Bodies of several parts")
struct MultipartBodyTests {
    @Test(
        "B: values: parts go out with their heads between boundaries, in order, and the length is told beforehand"
    )
    func wire() async throws {
        let file = try TemporaryFile("<svg/>".utf8)
        let body = try HTTPBody.multipart(
            [
                .text("title", "Grüße"),
                .bytes("raw", [1, 2], filename: "a.bin", contentType: "application/octet-stream"),
                .file("image", file.path, filename: "x.svg", contentType: "image/svg+xml"),
                .init(name: "log", body: .stream(length: 3) { chunks("a", "bc") }),
            ],
            boundary: "XX"
        )
        let expected = [
            "--XX", #"Content-Disposition: form-data; name="title""#, "", "Grüße",
            "--XX", #"Content-Disposition: form-data; name="raw"; filename="a.bin""#,
            "Content-Type: application/octet-stream", "", "\u{1}\u{2}",
            "--XX", #"Content-Disposition: form-data; name="image"; filename="x.svg""#,
            "Content-Type: image/svg+xml", "", "<svg/>",
            "--XX", #"Content-Disposition: form-data; name="log""#, "", "abc",
            "--XX--", "",
        ].joined(separator: "\r\n")
        #expect(body.contentType == "multipart/form-data; boundary=XX")
        #expect(body.length == Int64(expected.utf8.count))
        #expect(body.replayability == .replayable)
        #expect(try await body.collectText() == expected)
        #expect(try await body.collectText() == expected)
    }

    @Test("The length is known where all parts know theirs, and is what arrives, for any parts", .computing)
    func lengths() async throws {
        for seed in UInt64(0)..<300 {
            var random = RandomSource(seed: seed)
            let parts = (0..<Int.random(in: 0...5, using: &random)).map { index in
                let bytes = [UInt8](repeating: 0x61, count: Int.random(in: 0...70_000, using: &random))
                return HTTPBody.Part.bytes("n\"\(index)\r", bytes, filename: Bool.random(using: &random) ? "ü\n" : nil)
            }
            let body = try HTTPBody.multipart(parts)
            let collected = try await body.collect().count
            #expect(body.length == Int64(collected), "seed \(seed)")
        }
        let unknown = try HTTPBody.multipart([.text("a", "b"), .init(name: "s", body: .stream { chunks("x") })])
        #expect(unknown.length == nil)
    }

    @Test("R4: with a one-shot part the whole is a one-shot body, and a part that has been read is refused")
    func oneShot() async throws {
        let part = HTTPBody.oneShot(chunks("x"), length: 1)
        let body = try HTTPBody.multipart([.text("a", "b"), .init(name: "s", body: part)])
        #expect(body.replayability == .once)
        #expect(body.length != nil)
        #expect(try await body.collectText().contains("\r\n\r\nx\r\n"))
        #expect(body.replayability == .onceAndRead)
        await #expect(throws: HTTPBody.ReadTwice()) { try await body.collect() }
        #expect(throws: InvalidArgument.self) { try HTTPBody.multipart([.init(name: "s", body: part)]) }
    }

    @Test(
        "R31: names and file names cannot break out of their quotes",
        arguments: [
            ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"),
            ("ü\\", "ü\\"), ("", ""),
        ]
    )
    func names(name: String, written: String) async throws {
        let text = try await HTTPBody.multipart([.text(name, "v")], boundary: "B").collectText()
        #expect(text == "--B\r\nContent-Disposition: form-data; name=\"\(written)\"\r\n\r\nv\r\n--B--\r\n")
        let file = try HTTPBody.multipart([.bytes("n", [], filename: "a\n\"b")], boundary: "B")
        #expect(try await file.collectText().contains("filename=\"a%0A%22b\"\r\n"))
    }

    @Test("R31: a content type that would forge a field is refused", arguments: ["a\r\nX: y", "", " a"])
    func contentTypes(type: String) {
        #expect(throws: InvalidArgument("contentType", is: type, expected: "a media type such as image/png")) {
            try HTTPBody.multipart([.bytes("n", [], contentType: type)])
        }
    }

    @Test(
        "R31: a boundary that is none is refused",
        arguments: ["", "a ", "a\r\nb", "ü", "a\"b", String(repeating: "x", count: 71)]
    )
    func boundaries(boundary: String) {
        #expect(throws: InvalidArgument.self) { try HTTPBody.multipart([], boundary: boundary) }
    }

    @Test("A boundary that is no token is quoted, and a random one is never the same")
    func boundaryForms() throws {
        #expect(try HTTPBody.multipart([], boundary: "a:b c").contentType == "multipart/form-data; boundary=\"a:b c\"")
        let types = try (0..<100).map { _ in try HTTPBody.multipart([]).contentType }
        #expect(Set(types).count == 100)
    }

    @Test("A file that is not there is refused at once; one that shrinks fails; one that grows is sent as announced")
    func files() async throws {
        let file = try TemporaryFile("12345".utf8)
        let body = try HTTPBody.multipart([.file("f", file.path)], boundary: "B")
        try file.write("1234567".utf8)
        #expect(try await body.collectText().contains("\r\n\r\n12345\r\n--B--"))
        try file.write("123".utf8)
        let error = await #expect(throws: HTTPBody.FileError.self) { try await body.collect() }
        #expect(error?.operation == .shrank)
        try file.remove()
        #expect(throws: HTTPBody.FileError.self) { try HTTPBody.multipart([.file("f", file.path)]) }
    }

    @Test("A stream that is longer or shorter than announced fails, whatever the other parts make up for")
    func mismatches() async throws {
        for length: Int64 in [1, 3] {
            let body = try HTTPBody.multipart([.init(name: "s", body: .stream(length: length) { chunks("xx") })])
            let error = await #expect(throws: HTTPBody.LengthMismatch.self) { try await body.collect() }
            #expect(error == HTTPBody.LengthMismatch(announced: length, delivered: 2))
        }
    }
}
