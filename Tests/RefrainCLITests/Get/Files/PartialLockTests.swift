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

@Suite("A partial file that several processes want to write")
struct PartialLockTests {
    private let scratch: ScratchFile
    private let path: String
    private let total = ResumableFile.minimumSize * 2
    private let response: HTTPResponse

    init() throws {
        scratch = try ScratchFile()
        try scratch.makeFolder()
        path = scratch.path + "/target"
        response = HTTPResponse(request: try HTTPRequest("http://h/"), status: .ok)
    }

    /// The beginning of a content, as a server sends it.
    private func checkpoint(_ tag: String = "a") throws -> Download.Checkpoint? {
        Download.Checkpoint(
            offset: 0,
            total: total,
            validator: "\"\(tag)\"",
            requestedURL: "http://h/",
            answeringURL: "http://h/",
            fields: HTTPHeaders()
        )
    }

    private func content(_ byte: UInt8, _ count: Int64) -> [UInt8] { [UInt8](repeating: byte, count: Int(count)) }

    @Test("one that came too late removes nothing, and a third one does not get its own content a wrong name")
    func threeAtATime() async throws {
        // All three begin before anything is there.
        let files = try (0..<3).map { _ in try ResumableFile(path: path, url: "http://h/") }
        try await files[0].willReceive(response, from: try checkpoint())
        try await files[0].write(content(1, total / 2))
        for late in files[1...] {
            let error = await #expect(throws: HTTPBody.FileError.self) {
                try await late.willReceive(response, from: try checkpoint())
            }
            #expect(error?.description.contains("another process writes it") == true)
            late.discard()
        }
        #expect(PartialRecord.read(PartialNames(path).record) != nil)
        #expect(throws: HTTPBody.FileError.self) { try ResumableFile(path: path, url: "http://h/") }
        #expect(throws: HTTPBody.FileError.self) { try SegmentedFile(path: path, url: "http://h/", connections: 2) }
        try await files[0].write(content(1, total / 2))
        try files[0].finish()
        #expect(try ScratchFile.at(path).bytes() == content(1, total))
        #expect(scratch.files == ["target"])
        scratch.remove()
    }

    @Test("a partial file that was removed, and made anew by another process, is not moved to the target")
    func removedMeanwhile() async throws {
        let first = try ResumableFile(path: path, url: "http://h/")
        try await first.willReceive(response, from: try checkpoint())
        try await first.write(content(1, total))
        unlink(PartialNames(path).part)
        let second = try ResumableFile(path: path, url: "http://h/")
        try await second.willReceive(response, from: try checkpoint())
        try await second.write(content(2, total / 2))
        #expect(throws: HTTPBody.FileError.self) { try first.finish() }
        first.discard()
        #expect(!ScratchFile.at(path).exists)
        try await second.write(content(2, total / 2))
        try second.finish()
        #expect(try ScratchFile.at(path).bytes() == content(2, total))
        scratch.remove()
    }

    @Test("R11: a partial file that is longer than the content has bytes of another program, and is not continued")
    func longer() async throws {
        let first = try ResumableFile(path: path, url: "http://h/")
        try await first.willReceive(response, from: try checkpoint())
        try await first.write(content(1, 300_000))
        first.discard()
        truncate(PartialNames(path).part, off_t(total + 1))
        let second = try ResumableFile(path: path, url: "http://h/")
        #expect(second.checkpoint == nil && scratch.files.isEmpty, "\(scratch.files)")
        scratch.remove()
    }

    @Test("the record is not written through a symbolic link")
    func linkedRecord() async throws {
        let other = scratch.path + "/other"
        try await ScratchFile.at(other).overwrite("mine")
        symlink(other, PartialNames(path).record + ".new")
        let file = try ResumableFile(path: path, url: "http://h/")
        await #expect(throws: SystemError.self) { try await file.willReceive(response, from: try checkpoint()) }
        #expect(try ScratchFile.at(other).bytes() == Array("mine".utf8))
        scratch.remove()
    }

    @Test("where a partial file is of no use, the remark says so")
    func remark() async throws {
        let first = try ResumableFile(path: path, url: "http://h/")
        try await first.willReceive(response, from: try checkpoint())
        try await first.write(content(1, 100_000))
        first.discard()
        let second = try ResumableFile(path: path, url: "http://h/")
        #expect(second.remark == "goes on at 100.0 KB")
        try await second.startOver()
        try await second.willReceive(response, from: try checkpoint("b"))
        #expect(second.remark?.hasPrefix("started over: ") == true)
        try await second.write(content(2, total))
        try second.finish()
        #expect(try ScratchFile.at(path).bytes() == content(2, total))
        scratch.remove()
    }
}
