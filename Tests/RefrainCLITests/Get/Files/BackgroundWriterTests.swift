// SPDX-License-Identifier: Apache-2.0
import Refrain
import Testing

@testable import RefrainCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Writing beside the receiving")
struct BackgroundWriterTests {
    @Test("what is appended is in the file in its order, whatever the sizes are")
    func order() throws {
        let scratch = try ScratchFile("")
        defer { scratch.remove() }
        let descriptor = open(scratch.path, O_RDWR | O_TRUNC)
        defer { close(descriptor) }
        let writer = try #require(BackgroundWriter(descriptor))
        var expected: [UInt8] = []
        for number in 0..<300 {
            let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number * 97 % 40_000)
            expected += piece
            #expect(piece.withUnsafeBytes { writer.append($0) } == nil)
        }
        #expect(writer.finish() == nil)
        var written: [UInt8] = []
        #expect(systemReadAll(descriptor, Int64(expected.count)) { written += $0 })
        #expect(written == expected && lseek(descriptor, 0, SEEK_END) == off_t(expected.count))
    }

    @Test("what comes slowly is written piece by piece, so that a killed process loses little", .timeLimit(.minutes(5)))
    func slow() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let writer = try #require(BackgroundWriter(ends[1], longestDelay: .zero))
        for number in UInt8(1)...20 {
            #expect([number].withUnsafeBytes { writer.append($0) } == nil)
            let written = await Executable.Running.onThread { [reader = ends[0]] in
                var byte: UInt8 = 0
                return read(reader, &byte, 1) == 1 ? byte : nil
            }
            #expect(written == number)
        }
        #expect(writer.finish() == nil)
    }

    #if os(Linux)
    @Test("a disk that is full is said at the latest at the end")
    func full() throws {
        let descriptor = open("/dev/full", O_WRONLY)
        defer { close(descriptor) }
        let piece = [UInt8](repeating: 1, count: 100_000)
        let short = try #require(BackgroundWriter(descriptor))
        #expect(piece.withUnsafeBytes { short.append($0) } == nil)
        #expect(short.finish() == ENOSPC)
        let long = try #require(BackgroundWriter(descriptor))
        let codes = (0..<100).map { _ in piece.withUnsafeBytes { long.append($0) } }
        #expect(codes.last == ENOSPC && long.finish() == ENOSPC)
    }
    #endif

    @Test("of a download that breaks off, all that came is in the partial file, and is continued there")
    func partial() async throws {
        let scratch = try ScratchFile("")
        defer { scratch.remove() }
        let path = scratch.path + ".target"
        let total = 2 * ResumableFile.minimumSizeBeside
        let checkpoint = Download.Checkpoint(
            offset: 0,
            total: total,
            validator: "\"a\"",
            requestedURL: "http://h/",
            answeringURL: "http://h/",
            fields: HTTPHeaders()
        )
        let response = HTTPResponse(request: try HTTPRequest("http://h/"), status: HTTPStatus(rawValue: 200))
        let first = try ResumableFile(path: path, url: "http://h/", isAlone: true)
        try await first.willReceive(response, from: checkpoint)
        let piece = [UInt8](repeating: 7, count: 300_001)
        for _ in 0..<10 { try piece.withUnsafeBytes { try first.append($0) } }
        first.discard()
        #expect(first.isPartial && first.size == 3_000_010)
        let second = try ResumableFile(path: path, url: "http://h/", isAlone: true)
        #expect(second.checkpoint?.offset == 3_000_010)
        let rest = [UInt8](repeating: 8, count: Int(total) - 3_000_010)
        try await second.willReceive(response, from: second.checkpoint)
        try rest.withUnsafeBytes { try second.append($0) }
        try second.finish()
        defer { unlink(path) }
        let content = try Input(path: path).rest()
        #expect(content.count == Int(total) && content[3_000_009] == 7 && content[3_000_010] == 8)
    }
}
