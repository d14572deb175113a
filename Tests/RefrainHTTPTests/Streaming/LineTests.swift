// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@testable import RefrainHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A body whose chunks are these texts.
func body(_ chunks: [String]) -> HTTPBody {
    body(chunks.map { Array($0.utf8) })
}

func body(_ chunks: [[UInt8]]) -> HTTPBody {
    HTTPBody.stream {
        AsyncStream { continuation in
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish()
        }
    }
}

/// Bytes cut into chunks at random places, some of them empty.
func cut(_ bytes: [UInt8], _ random: inout RandomSource) -> [[UInt8]] {
    var chunks: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = Int(random.unit() * 6)
        chunks.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
    }
    return chunks
}

extension AsyncSequence {
    /// All elements.
    func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}

@Suite("Lines of a body", .computing)
struct LineTests {
    @Test(
        "a line ends with LF or CR LF, an empty one counts, and the last one needs no end",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\r\nb", ["a", "b"]), ("\n\na\n", ["", "", "a"]),
            ("a\rb\n", ["a\rb"]), ("é\n🧵", ["é", "🧵"]), ("\r\n", [""]), ("a\n\r", ["a", ""]),
        ]
    )
    func splits(text: String, lines: [String]) async throws {
        #expect(try await body([text]).lines.all() == lines)
        #expect(try await body(text.utf8.map { [$0] }).lines.all() == lines, "byte by byte")
    }

    @Test("however the bytes are cut into chunks, the lines are the same (10,000 seeds)")
    func cutsDoNotMatter() async throws {
        let alphabet: [UInt8] = [10, 13, 97, 0xC3, 0xA9, 32]
        for seed in UInt64(0)..<10_000 {
            var random = RandomSource(seed: seed)
            let bytes = (0..<Int(random.unit() * 24)).map { _ in alphabet[Int(random.unit() * 6)] }
            let whole = try await body([bytes]).lines.all()
            let parts = try await body(cut(bytes, &random)).lines.all()
            guard whole == parts else {
                Issue.record("the lines differ with seed \(seed)")
                return
            }
        }
    }

    @Test("a line over the limit is an error that says which, and one at the limit is none")
    func limit() async throws {
        #expect(try await body(["abc\ndef\n"]).lines(upTo: 3).all() == ["abc", "def"])
        await #expect(throws: HTTPBody.LineTooLong(limit: 3, line: 2)) {
            try await body(["abc\nde", "fg\n"]).lines(upTo: 3).all()
        }
    }

    @Test("no more of the body is pulled than the lines that are read need")
    func pullsOnDemand() async throws {
        let pulled = Journal<Int>()
        let source = HTTPBody.stream {
            AsyncStream<[UInt8]>(unfolding: {
                pulled.append(1)
                return Array("line\n".utf8)
            })
        }
        var iterator = source.lines.makeAsyncIterator()
        #expect(try await iterator.next() == "line")
        #expect(try await iterator.next() == "line")
        #expect(pulled.entries.count == 2)
    }

    @Test("JSON Lines are decoded one by one; white space between them is nothing")
    func jsonLines() async throws {
        let values = try await body(["{\"a\":1}\n \r\n", "{\"a\"", ":2}"]).jsonLines(of: [String: Int].self).all()
        #expect(values == [["a": 1], ["a": 2]])
    }

    @Test("a line that is no JSON is an error with its number, after the values before it")
    func badJSONLine() async throws {
        var iterator = body(["1\n\nx\n2\n"]).jsonLines(of: Int.self).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        let error = try await #require(throws: HTTPBody.InvalidJSONLine.self) { try await iterator.next() }
        #expect(error.line == 3)
    }
}
