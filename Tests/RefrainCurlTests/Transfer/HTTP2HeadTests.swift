// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import TLSFixture
import Testing

@Suite("CurlLoader: heads over HTTP/2", .timeLimit(.minutes(4)))
struct HTTP2HeadTests {
    /// A literal field without an index (RFC 7541 §6.2.2), with a value of 1,000 bytes.
    private static let field = [0, 1, UInt8(ascii: "x"), 0x7f, 0xe9, 6] + [UInt8](repeating: 0x61, count: 1000)

    /// A server that answers with heads of so many fields, one after the other, and with the body `ok`.
    private func serve(_ counts: [Int]) -> RawServer {
        RawServer { connection in
            guard connection.read(24) != nil else { return }
            connection.write([0, 0, 0, 4, 0, 0, 0, 0, 0])
            var rest = counts[...]
            while let (type, _, stream) = connection.readFrame() {
                guard type == 1, var fields = rest.popFirst() else { continue }
                // HEADERS, and CONTINUATION until one ends the head (RFC 9113 §6.2, §6.10).
                var block: [UInt8] = [0x88]
                var kind: UInt8 = 1
                repeat {
                    let count = min(fields, 15)
                    fields -= count
                    for _ in 0..<count { block += Self.field }
                    let size = [UInt8(block.count >> 8), UInt8(block.count & 0xff)]
                    connection.write([0] + size + [kind, fields == 0 ? 4 : 0] + stream + block)
                    block = []
                    kind = 9
                } while fields > 0
                connection.write([0, 0, 2, 0, 1] + stream + Array("ok".utf8))
            }
        }
    }

    @Test("R10: a large head is whole at once, and so is its body, also behind many short answers")
    func large() async throws {
        let counts = [28, 20] + [Int](repeating: 0, count: 20) + [5, 20, 28]
        let server = serve(counts)
        let fixture = try TLSFixture(upstreamPort: server.port, alpn: ["h2"])
        defer { withExtendedLifetime(server) { fixture.stop() } }
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        let loader = try CurlLoader(configuration: configuration)
        for count in counts {
            var request = try HTTPRequest(fixture.baseURL + "/")
            request.attemptTimeout = .seconds(5)
            let response = try await loader.response(for: request)
            #expect(response.exchange.version == "2")
            #expect(response.headers[values: "x"].count == count)
            #expect(try await response.body.collect() == Array("ok".utf8))
        }
    }
}
