// SPDX-License-Identifier: Apache-2.0
import Refrain
import Testing

@testable import RefrainCLI

@Suite("What is held back")
struct StreamSinkTests {
    private func sink(_ body: (StreamSink, ScratchFile) async throws -> Void) async throws {
        let file = try ScratchFile()
        try await body(StreamSink(try Output(path: file.path)), file)
        file.remove()
    }

    @Test("up to a megabyte nothing is passed on before the end, and all of it can be taken back")
    func holdsBack() async throws {
        try await sink { sink, file in
            try await sink.write([UInt8](repeating: 1, count: StreamSink.holdBack))
            #expect(try file.bytes().isEmpty)
            try await sink.startOver()
            try await sink.write([7, 8])
            try sink.finish()
            #expect(try file.bytes() == [7, 8])
            #expect(sink.delivered == 2)
        }
    }

    @Test("beyond a megabyte bytes are passed on as they come, once, and cannot be taken back")
    func passesOn() async throws {
        try await sink { sink, file in
            try await sink.write([UInt8](repeating: 1, count: StreamSink.holdBack))
            try await sink.write([2])
            #expect(try file.bytes().count == StreamSink.holdBack + 1)
            await #expect(throws: Download.CannotStartOver.self) { try await sink.startOver() }
            try await sink.write([3])
            try sink.finish()
            #expect(try file.bytes().suffix(2) == [2, 3])
            #expect(try file.bytes().count == StreamSink.holdBack + 2)
        }
    }
}
