// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import TestSupport
import Testing

@testable import RefrainCurl

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Codings of content", .timeLimit(.minutes(10)))
struct ContentDecoderTests {
    /// A coded text; `ends` are the lengths at which its coding is complete.
    struct Sample: Sendable {
        var name: String
        var coding: ContentCoding
        var base64: String
        var ends: Set<Int>

        var bytes: [UInt8] { Data(base64Encoded: base64).map { [UInt8]($0) } ?? [] }
    }

    static let text = String(
        repeating: String(repeating: "the quick brown fox jumps over the lazy dog; ", count: 3) + "and again ",
        count: 4
    )

    static let samples = [
        Sample(
            name: "gzip",
            coding: .gzip,
            base64: """
                H4sIAAAAAAACAyvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp1uDebRRnJiXopCYnpiZR0M7Rh1EIwcBAPY\
                06FFEAgAA
                """,
            ends: [84]
        ),
        Sample(
            name: "gzip of two members",
            coding: .gzip,
            base64: """
                H4sIAAAAAAACAyvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp1uDebRRnJiXopCYnpiZR64dAJF6zbTIAAA\
                AH4sIAAAAAAACA0sqyi/PU0jLr1DIKs0tKFbIL0stUijJSFXISayqVEjJT7cG8wpLM5OzFZIIK07MS1FITE/MzCNNG+0UD2IHAQCd/h\
                DdfAEAAA==
                """,
            ends: [78, 160]
        ),
        Sample(
            name: "deflate",
            coding: .deflate,
            base64: """
                eJwryUhVKCzNTM5WSCrKL89TSMuvUMgqzS0oVsgvSy1SKAFK5yRWVSqk5Kdbg3m0UZyYl6KQmJ6YmUdDO0YdRCMHAQC7KNG9
                """,
            ends: [72]
        ),
        Sample(
            name: "bare deflate",
            coding: .deflate,
            base64: """
                K8lIVSgszUzOVkgqyi/PU0jLr1DIKs0tKFbIL0stUigBSuckVlUqpOSnW4N5tFGcmJeikJiemJlHQztGHUQjBwEA
                """,
            ends: [66]
        ),
        Sample(
            name: "deflate, then gzip",
            coding: .several([.deflate, .gzip]),
            base64: """
                H4sIAAAAAAACAwFIALf/eNoryUhVKCzNTM5WSCrKL89TSMuvUMgqzS0oVsgvSy1SKAFK5yRWVSqk5Kdbg3m0UZyYl6KQmJ6YmUdDO0Y\
                dRCMHAQC7KNG9LMaKQUgAAAA=
                """,
            ends: [95]
        ),
        Sample(
            name: "gzip, twice",
            coding: .several([.gzip, .gzip]),
            base64: """
                H4sIAAAAAAACA5Pv5mAAASZm7ZMeoRo6Z33OhXlondI/H+xxen3ACa2zuhphJ/S9dYM0GL2eq4SFai15sjy6uXJL4JwZ0x\
                dNmDFvxkx3Z2s3WRdldkaGbyYvAl2YGBgAzUlGIVQAAAA=
                """,
            ends: [104]
        ),
        Sample(
            name: "as many codings as there may be",
            coding: .several([.gzip, .deflate, .gzip, .deflate, .gzip]),
            base64: """
                H4sIAAAAAAACAwF8AIP/eNqT7+ZgAAEmZsYYhsX/K25Nfv8sgYFRLe3tZLmFUlbptedaKzPmXrKXf1NYVXuAc+3mXVKJ6l\
                /2ljabSOydt7qlNUu3cpPNrp1F3g/mSF4W951hmH/Mpzw92zxSPLXMrS1fTZ8pdoaEBMPpGXJqmen/H8UArQIAYAYuLe+ELIB8AAAA
                """,
            ends: [147]
        ),
    ]

    private func decode(_ bytes: [UInt8], as coding: ContentCoding, slice: Int) throws -> (text: String, whole: Bool) {
        let decoder = try #require(ContentDecoder(coding))
        var content: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            try Array(rest.prefix(slice)).withUnsafeBytes { piece in
                try decoder.decode(piece) {
                    content.append(contentsOf: $0)
                    return true
                }
            }
            rest = rest.dropFirst(slice)
        }
        return (String(decoding: content, as: UTF8.self), decoder.isComplete)
    }

    @Test("R10: content is complete at the end of its coding, and nowhere before", arguments: samples)
    func everyCut(sample: Sample) throws {
        let bytes = sample.bytes
        #expect(sample.ends.contains(bytes.count))
        for slice in [1, 3, bytes.count] {
            for length in 1...bytes.count {
                let decoded = try decode(Array(bytes.prefix(length)), as: sample.coding, slice: slice)
                #expect(decoded.whole == sample.ends.contains(length), "\(sample.name), \(length) bytes")
                #expect(Self.text.hasPrefix(decoded.text))
                if length == bytes.count { #expect(decoded.text == Self.text) }
            }
        }
    }

    @Test("Padding behind the end is left out, also when it comes alone")
    func padding() throws {
        for slice in [1, 50, 1000] {
            let gzip = try decode(Self.samples[0].bytes + [0, 0, 0], as: .gzip, slice: slice)
            #expect(gzip.text == Self.text && gzip.whole)
            let deflate = try decode(Self.samples[2].bytes + [0x1f, 0], as: .deflate, slice: slice)
            #expect(deflate.text == Self.text && deflate.whole)
        }
    }

    @Test("R31: noise is refused or cut short, and never ends the process", .computing)
    func noise() throws {
        for seed in UInt64(0)..<10_000 {
            var random = RandomSource(seed: seed)
            let sample = Self.samples[Int(seed % 4)]
            var bytes = sample.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            // What a checksum protects cannot come out as something else.
            let decoded = try? decode(bytes, as: sample.coding, slice: .random(in: 1...200, using: &random))
            guard let decoded, decoded.whole, sample.name == "gzip", bytes.count == 84 else { continue }
            #expect(decoded.text == Self.text, "seed \(seed)")
        }
    }

    @Test("The consumer of the content can stop it")
    func stops() throws {
        let decoder = try #require(ContentDecoder(.gzip))
        var pieces = 0
        #expect(throws: DecodingLayer.Failure.self) {
            try Self.samples[0].bytes.withUnsafeBytes { bytes in
                try decoder.decode(bytes) { _ in
                    pieces += 1
                    return false
                }
            }
        }
        #expect(pieces == 1)
    }

    @Test("what is under several codings is bounded, also where nothing comes of it in the end")
    func boundBetween() throws {
        // A gzip of nothing, then zeros as its padding, in deflate: 4 MB in 4 KB.
        let empty: [UInt8] = [
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ]
        let padded = try Deflate.compress(empty + [UInt8](repeating: 0, count: 1 << 22))
        #expect(padded.count < 5000)
        let error = #expect(throws: DecodingLayer.Failure.self) {
            _ = try decode(padded, as: .several([.gzip, .deflate]), slice: 512)
        }
        #expect("\(String(describing: error))".contains("four times"), "\(String(describing: error))")
        // A little of that is padding as any other.
        let little = try Deflate.compress(empty + [UInt8](repeating: 0, count: 60_000))
        #expect(try decode(little, as: .several([.gzip, .deflate]), slice: 512).whole)
    }

    @Test("Content-Encoding is read over several fields, without identity and in any case")
    func names() {
        func coding(_ values: String...) -> ContentCoding {
            values.reduce(into: .none) { $0.add($1) }
        }
        #expect(coding() == .none)
        #expect(coding("", " , ", "identity") == .none)
        #expect(coding("None") == .none && coding("none, gzip") == .gzip)
        #expect(coding("GZip") == .gzip)
        #expect(coding("x-gzip") == .gzip)
        #expect(coding(" deflate\t") == .deflate)
        #expect(coding("identity, gzip") == .gzip)
        #expect(coding("gzip, gzip") == .several([.gzip, .gzip]))
        #expect(coding("deflate", "identity, X-GZip") == .several([.deflate, .gzip]))
        #expect(coding("gzip, br, gzip") == .other("gzip, br, gzip"))
        let five = Array(repeating: "gzip", count: 5).joined(separator: ", ")
        #expect(coding(five).layers.count == 5)
        #expect(coding(five, "deflate") == .other(five + ", deflate"))
        #expect(coding("br") == .other("br"))
        #expect(coding("gzip", "br") == .other("gzip, br"))
    }

    @Test(
        "R10: a coded body that ends too soon is a failure, although all that was promised has come",
        arguments: samples
    )
    func onTheWire(sample: Sample) async throws {
        let all = sample.bytes
        let loader = CurlLoader()
        for (bytes, isWhole) in [(all, true), (Array(all.dropLast(5)), false), (Array(all.prefix(40)), false)] {
            for chunked in [true, false] {
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(sample.coding)\r\nConnection: close\r\n"
                let server = RawServer { connection in
                    guard connection.readHead() != nil else { return }
                    if chunked {
                        connection.write(head + "Transfer-Encoding: chunked\r\n\r\n")
                        for byte in bytes {
                            connection.write("1\r\n")
                            connection.write([byte])
                            connection.write("\r\n")
                        }
                        connection.write("0\r\n\r\n")
                    } else {
                        connection.write(head + "Content-Length: \(bytes.count)\r\n\r\n")
                        connection.write(bytes)
                    }
                }
                for streams in [true, false] {
                    var request = try HTTPRequest("http://127.0.0.1:\(server.port)/")
                    request.streamsResponse = streams
                    do {
                        let body = try await loader.response(for: request).body.collect()
                        #expect(isWhole, "\(sample.name), chunked \(chunked), streamed \(streams)")
                        #expect(String(decoding: body, as: UTF8.self) == Self.text)
                    } catch let error as HTTPError {
                        #expect(!isWhole, "\(error)")
                        #expect(error.code == .cannotDecodeContentData)
                        #expect("\(error)".contains("ends too soon"))
                    }
                }
            }
        }
    }

    @Test(
        "a coding is undone however its field is written: as a list, over several lines, folded (RFC 9110 §8.4, §5.3)",
        arguments: [
            "Content-Encoding: gzip, identity", "Content-Encoding: identity,gzip,", "Content-Encoding: , X-GZip ,",
            "Content-Encoding: identity\r\nContent-Encoding: gzip", "Content-Encoding: gzip\r\ncontent-encoding:",
            // Folded, which RFC 9112 §5.2 wants to be read as white space.
            "Content-Encoding:\r\n gzip", "Content-Encoding: identity,\r\n\tgzip",
            "Content-Encoding: gzip\r\n ,identity",
        ]
    )
    func fieldForms(field: String) async throws {
        let content = Self.samples[0].bytes
        let server = RawServer { connection in
            // Twice: the second head is one that is known already.
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: \(content.count)\r\n\r\n")
                connection.write(content)
            }
        }
        let loader = CurlLoader()
        for _ in 1...2 {
            let response = try await loader.response(for: HTTPRequest("http://127.0.0.1:\(server.port)/"))
            #expect(try await String(decoding: response.body.collect(), as: UTF8.self) == Self.text)
        }
        #expect(server.connectionCount == 1)
    }

    @Test("R8: two codings, also where the second one is folded, cannot be undone and are named")
    func twoCodings() async throws {
        for field in ["gzip, br", "gzip,\r\n br", "gzip\r\nContent-Encoding: br"] {
            let server = RawServer { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: \(field)\r\nContent-Length: 3\r\n\r\nabc")
            }
            let error = try failure(of: await CurlLoader().load(HTTPRequest("http://127.0.0.1:\(server.port)/")))
            #expect(error.code == .cannotDecodeContentData)
            #expect("\(error)".contains("gzip, br"))
        }
    }

    @Test("A coding that was not asked for is named, unless the request asked for codings itself or there is no body")
    func notAskedFor() async throws {
        let server = RawServer { connection in
            while let head = connection.readHead() {
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\n")
                if !head.hasPrefix("HEAD") { connection.write("abc") }
            }
        }
        let loader = CurlLoader()
        let error = try await #require(throws: HTTPError.self) {
            try await loader.response(for: HTTPRequest("http://127.0.0.1:\(server.port)/"))
        }
        #expect(error.code == .cannotDecodeContentData)
        #expect("\(error)".contains("br"))
        let asked = try HTTPRequest("http://127.0.0.1:\(server.port)/", headers: ["Accept-Encoding": "br"])
        #expect(try await loader.response(for: asked).body.collect() == Array("abc".utf8))
        #expect(
            try await loader.response(for: HTTPRequest("http://127.0.0.1:\(server.port)/", method: .head)).status == 200
        )
    }
}
