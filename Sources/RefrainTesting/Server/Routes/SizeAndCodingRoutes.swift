// SPDX-License-Identifier: Apache-2.0
extension Route {
    static let sizes: [Route] = [
        Route(
            "/huge",
            example: "/huge?bytes=1000000",
            "a chunked body of bytes= bytes, without an end if missing; length=1 sends it with Content-Length",
            options: ["bytes", "length"]
        ) { call in
            let bytes = try call.optionalInteger("bytes")
            let block = Content.random(count: 65_536, seed: 1).bytes(0, 65_536)
            var generator = FaultServer.Generator(count: bytes ?? Int.max) { _, count in
                count == block.count ? block : Array(block.prefix(count))
            }
            if let bytes, try call.flag("length") { return [.head(.sized(bytes)), .generate(generator)] }
            generator.framing = .chunked(sendsLastChunk: true)
            return [.head(.chunked), .generate(generator)]
        }
    ]

    static let codings: [Route] = [
        Route(
            "/gzip-bomb",
            example: "/gzip-bomb?bytes=10000000",
            "a gzip body that expands to bytes= zeros, about 1:1000",
            options: ["bytes"]
        ) { call in
            let content = Gzip.zeros(count: try call.integer("bytes", 100_000_000))
            var head = Response.sized(content.count)
            head.headers.append(("Content-Encoding", "gzip"))
            return [.head(head), .generate(.init(count: content.count, bytes: content.bytes))]
        },
        Route(
            "/bad-gzip",
            example: "/bad-gzip",
            "a gzip body that cannot be decoded; kind=deflate, crc, magic or cut",
            options: ["kind"]
        ) { call in
            var file = Gzip.stored(Array("hello, hello, hello\n".utf8))
            switch call.text("kind") ?? "deflate" {
            case "deflate": file[10] = 0x07
            case "crc": file[file.count - 8] ^= 0xff
            case "magic": file[0] = 0
            case "cut": file.removeLast(12)
            case let other: throw BadOption(name: "kind", value: other)
            }
            return [.respond(Response(200, headers: [("Content-Encoding", "gzip")], bytes: file))]
        },
    ]
}
