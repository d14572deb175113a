// SPDX-License-Identifier: Apache-2.0
extension Route {
    static let resets: [Route] = [
        Route(
            "/reset-before",
            example: "/reset-before",
            "resets the connection before any byte of an answer; unread=1 before the request's body is read",
            options: ["unread"],
            readsBody: false
        ) { call in
            try call.flag("unread") ? [.reset] : [.readBody, .reset]
        },
        Route("/reset-headers", example: "/reset-headers", "resets in the middle of the headers") { _ in
            [.text(halfHead), .reset]
        },
        Route(
            "/reset-body",
            example: "/reset-body",
            "resets after after= of bytes= body bytes",
            options: ["bytes", "after"]
        ) {
            call in try cutBody(call) + [.reset]
        },
    ]

    static let closes: [Route] = [
        Route(
            "/close-before",
            example: "/close-before",
            "closes before any byte of an answer; unread=1 before the request's body is read",
            options: ["unread"],
            readsBody: false
        ) { call in
            try call.flag("unread") ? [.close] : [.readBody, .close]
        },
        Route("/close-headers", example: "/close-headers", "closes in the middle of the headers") { _ in
            [.text(halfHead), .close]
        },
        Route(
            "/close-body",
            example: "/close-body",
            "closes after after= of the bytes= that Content-Length promised",
            options: ["bytes", "after"]
        ) { call in try cutBody(call) + [.close] },
        Route(
            "/close-chunked",
            example: "/close-chunked",
            "a chunked body without its last chunk; mid=1 closes within a chunk",
            options: ["mid", "reset"]
        ) { call in
            let chunk = try call.flag("mid") ? "400\r\n" + String(repeating: "x", count: 500) : "5\r\nhello\r\n"
            return [.head(.chunked), bodyText(chunk), try call.ending()]
        },
    ]

    static let reuse: [Route] = [
        Route(
            "/drop-reused",
            example: "/drop-reused",
            "well on a new connection; on a reused one the request is read and the connection reset (close=1: closed)",
            options: ["close"],
            countsForItself: true
        ) { call in
            guard call.request.numberOnConnection > 1 else { return [.respond(.ok)] }
            if let times = try call.optionalInteger("times"),
                call.server.increment("drop " + call.request.target) > times
            {
                return [.respond(.ok)]
            }
            return [try call.flag("close") ? .close : .reset]
        },
        Route(
            "/drop-idle",
            example: "/drop-idle",
            "answers with keep-alive and closes right after, or after ms=",
            options: ["ms", "reset"]
        ) { call in
            [.respond(.ok), .sleep(try call.duration("ms", 0)), try call.ending()]
        },
    ]

    private static let halfHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Len"

    private static func cutBody(_ call: Call) throws -> [Step] {
        let bytes = try call.integer("bytes", 2000)
        let after = min(try call.integer("after", bytes / 2), bytes)
        let content = Content.random(count: bytes, seed: 0)
        return [.head(.sized(bytes)), .generate(.init(count: after, bytes: content.bytes))]
    }

    /// Sends text without framing; sends nothing in response to HEAD.
    static func bodyText(_ text: String) -> Step {
        let bytes = Array(text.utf8)
        return .generate(.init(count: bytes.count, bytes: Content.fixed(bytes).bytes))
    }
}
