// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Chunks in an asynchronous sequence.
func chunks(_ texts: String...) -> AsyncStream<HTTPBody.Chunk> {
    AsyncStream { stream in
        for text in texts { stream.yield(Array(text.utf8)) }
        stream.finish()
    }
}

extension HTTPBody {
    /// The body as text, read to its end.
    func collectText() async throws -> String { String(decoding: try await collect(), as: UTF8.self) }
}

@Suite("Bodies")
struct HTTPBodyTests {
    @Test("B: values: bytes, text and streams from a factory start from their beginning each time")
    func replay() async throws {
        for body in [HTTPBody.bytes("abc".utf8), .text("abc"), .stream { chunks("a", "bc") }] {
            #expect(body.replayability == .replayable)
            #expect(try await body.collectText() == "abc")
            #expect(try await body.collectText() == "abc")
            #expect(body.replayability == .replayable)
        }
    }

    @Test("R5: one value has the same bytes as JSON each time")
    func json() throws {
        let members = Dictionary(uniqueKeysWithValues: (0..<12).map { ("member\($0)", $0) })
        let bodies = try (0..<100).flatMap { _ in [try HTTPBody.json(members), JSONBody(members)] }
        #expect(Set(bodies.map(\.bytesInMemory)).count == 1)
    }

    @Test("a slice of data is a body that begins at index 0, and multipart parts take it, too")
    func slices() async throws {
        let slice = Data("...abc...".utf8)[3..<6]
        let body = HTTPBody.bytes(slice)
        #expect(try await body.collectText() == "abc")
        #expect(body.bytesInMemory == Array("abc".utf8))
        let response = HTTPResponse(request: sampleRequest(), status: 200, body: body)
        #expect(response.data?.startIndex == 0)
        #expect(response.data?[0] == 0x61)
        let parts = try HTTPBody.multipart([.bytes("part", slice)])
        #expect(try await parts.collectText().contains("\r\n\r\nabc\r\n"))
        #expect(parts.replayability == .replayable)
    }

    @Test("a copy of a request or a response does not change with the other one, also where a change fails half-way")
    func copies() throws {
        struct Stop: Error {}
        func failing(_ headers: inout HTTPHeaders) throws {
            headers["Half"] = "way"
            throw Stop()
        }
        let first = sampleRequest("a")
        var second = first
        #expect(throws: Stop.self) { try failing(&second.headers) }
        #expect(second.headers["Half"] == "way")
        #expect(first.headers["Half"] == nil)
        var third = second
        third.method = .post
        second.headers["Half"] = nil
        #expect((first.method, second.method, third.method) == (.get, .get, .post))
        #expect((second.headers["Half"], third.headers["Half"]) == (nil, "way"))
        let response = HTTPResponse(request: first, status: 200)
        var other = response
        other.status = 503
        #expect((response.status, other.status) == (200, 503))
    }

    @Test("R4: a one-shot body can be sent while none of it was read, and is refused after that")
    func oneShot() async throws {
        let body = HTTPBody.oneShot(chunks("a", "b"), length: 2)
        #expect(body.replayability == .once)
        #expect(body.length == 2)
        // A reader who leaves before the first chunk uses nothing up.
        _ = body.makeAsyncIterator()
        #expect(body.replayability == .once)
        var reader = body.makeAsyncIterator()
        #expect(try await reader.next() == [0x61])
        #expect(body.replayability == .onceAndRead)
        await #expect(throws: HTTPBody.ReadTwice()) { try await body.collect() }
        // The first reader is not disturbed by that.
        #expect(try await reader.next() == [0x62])
        #expect(try await reader.next() == nil)
        #expect(body.replayability == .onceAndRead)
    }

    @Test("R10: a sequence that ends because its reader was cancelled has not brought the whole body")
    func cancelledReader() async {
        // As most sequences, it ends where its task is cancelled, and otherwise never.
        @Sendable func endless() -> AsyncStream<[UInt8]> { AsyncStream { $0.yield([1]) } }
        for body in [HTTPBody.oneShot(endless()), .stream { endless() }] {
            let task = Task { try await body.collect() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("R4: what has not been read is a property of the body, shared by all copies")
    func copies() async throws {
        let body = HTTPBody.oneShot(chunks("a"))
        let copy = body
        _ = try await copy.collect()
        #expect(body.replayability == .onceAndRead)
    }

    @Test("R4: an empty body is replayable, also a stream that is known to be empty")
    func empty() async throws {
        for body in [
            HTTPBody.empty, .bytes([]), .text(""), .oneShot(chunks(), length: 0), .stream(length: 0) { chunks() },
        ] {
            #expect(body.isEmpty)
            #expect(body.replayability == .none)
            #expect(try await body.collect().isEmpty)
        }
        #expect(!HTTPBody.oneShot(chunks()).isEmpty)
    }

    @Test("A limit refuses what is larger, and accepts what is as large", arguments: [2, 3])
    func limits(limit: Int) async throws {
        for body in [HTTPBody.text("abc"), .stream { chunks("ab", "c") }, .oneShot(chunks("a", "bc"))] {
            if limit == 2 {
                await #expect(throws: HTTPBody.TooLarge(limit: 2)) { try await body.collect(upTo: limit) }
            } else {
                #expect(try await body.collect(upTo: limit).count == 3)
            }
        }
    }

    @Test("R31: a limit below zero refuses every body that has a byte", arguments: [-1, .min])
    func limitsBelowZero(limit: Int) async throws {
        for body in [HTTPBody.text("abc"), .stream { chunks("ab", "c") }, .oneShot(chunks("a", "bc"))] {
            await #expect(throws: HTTPBody.TooLarge(limit: limit)) { try await body.collect(upTo: limit) }
        }
    }

    @Test("A file is read anew each time, as long as it is at that moment")
    func file() async throws {
        let file = try TemporaryFile("first".utf8)
        let body = HTTPBody.file(file.path, contentType: "text/plain")
        #expect(body.replayability == .replayable)
        #expect(body.length == nil)
        #expect(try await body.collectText() == "first")
        try file.write("and longer".utf8)
        #expect(try await body.collectText() == "and longer")
        try file.remove()
        let error = await #expect(throws: HTTPBody.FileError.self) { try await body.collect() }
        #expect(error?.code == .fileDoesNotExist)
        #expect(error?.description.contains(file.path) == true)
    }

    @Test("A file that shrinks while it is read is an error, and one that grows is sent as it was")
    func changingFile() async throws {
        let file = try TemporaryFile(repeatElement(0x61, count: 200_000))
        var shrinking = HTTPBody.file(file.path).makeAsyncIterator()
        #expect(try await shrinking.next()?.count == 65_536)
        try truncate(file, to: 70_000)
        #expect(try await shrinking.next()?.count == 70_000 - 65_536)
        let error = await #expect(throws: HTTPBody.FileError.self) { try await shrinking.next() }
        #expect(error?.operation == .shrank)

        var growing = HTTPBody.file(file.path).makeAsyncIterator()
        #expect(try await growing.next()?.count == 65_536)
        try truncate(file, to: 300_000)
        var rest = 0
        while let chunk = try await growing.next() { rest += chunk.count }
        #expect(rest == 70_000 - 65_536)
    }

    @Test("A folder is no body")
    func folder() async {
        let error = await #expect(throws: HTTPBody.FileError.self) { try await HTTPBody.file("/").collect() }
        #expect(error?.code == .fileIsDirectory)
    }
}
