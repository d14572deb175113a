// SPDX-License-Identifier: Apache-2.0
enum Garbage {
    /// Bytes that no HTTP client can parse as a response.
    static let bytes = [UInt8]("\u{1}\u{2}%$ this is not HTTP \u{7f}\r\n\r\n".utf8) + [0, 0xff, 0xfe, 0x80, 13, 10]
}

extension Route {
    static let garbage: [Route] = [
        Route("/garbage", example: "/garbage", "an answer that is not HTTP, then closes") { _ in
            [.send(Garbage.bytes), .close]
        },
        Route(
            "/bad-length",
            example: "/bad-length",
            "an unusable Content-Length; kind=conflict, negative, text, overflow or both (with chunked)",
            options: ["kind"]
        ) { call in
            let headers: [(String, String)]
            switch call.text("kind") ?? "conflict" {
            case "conflict": headers = [("Content-Length", "5"), ("Content-Length", "9")]
            case "negative": headers = [("Content-Length", "-5")]
            case "text": headers = [("Content-Length", "five")]
            case "overflow": headers = [("Content-Length", String(repeating: "9", count: 40))]
            case "both": headers = [("Content-Length", "5"), ("Transfer-Encoding", "chunked")]
            case let other: throw BadOption(name: "kind", value: other)
            }
            return [.head(Response(200, headers: headers)), bodyText("hello"), .close]
        },
        Route("/bad-chunk", example: "/bad-chunk", "a chunked body whose second chunk has no size") { _ in
            [.head(.chunked), bodyText("5\r\nhello\r\nzz\r\nworld\r\n0\r\n\r\n"), .close]
        },
        Route(
            "/endless-headers",
            example: "/endless-headers",
            "headers without an end; limit=BYTES stops and closes",
            options: ["limit"]
        ) { call in
            let line = Array(("X-Filler: " + String(repeating: "a", count: 1012) + "\r\n").utf8)
            // Slices start at a line and are copied from one array: making 256 KB of headers byte by byte took a second
            // of CPU under the thread sanitizer.
            let lines = Array(repeatElement(line, count: 8).joined())
            var generator = FaultServer.Generator(count: try call.integer("limit", .max, in: 0...Int.max)) { _, count in
                Array(lines.prefix(count))
            }
            generator.isBody = false
            generator.slice = lines.count
            return [.text("HTTP/1.1 200 OK\r\n"), .generate(generator), .close]
        },
        Route(
            "/huge-header",
            example: "/huge-header?bytes=1000000",
            "a header of bytes= bytes (name=, fill= choose what it is)",
            options: ["bytes", "name", "fill"]
        ) { call in
            let count = try call.integer("bytes", 1_000_000, in: 0...100_000_000)
            let fill = Array((call.text("fill") ?? "a").utf8).first ?? 97
            var generator = FaultServer.Generator(count: count) { _, count in [UInt8](repeating: fill, count: count) }
            generator.isBody = false
            return [
                .text(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\(call.text("name") ?? "X-Huge"): "
                ),
                .generate(generator), .text("\r\n\r\n"), bodyText("ok\n"),
            ]
        },
    ]
}
