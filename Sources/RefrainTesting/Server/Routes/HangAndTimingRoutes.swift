// SPDX-License-Identifier: Apache-2.0
extension Route {
    static let hangs: [Route] = [
        Route("/hang", example: "/hang", "reads the request and never answers") { _ in [.hang] },
        Route("/hang-headers", example: "/hang-headers", "sends the headers of an answer and no more") { _ in
            [.head(.sized(1000)), .hang]
        },
        Route(
            "/hang-body",
            example: "/hang-body",
            "sends after= of bytes= body bytes and no more; chunked=1",
            options: ["bytes", "after", "chunked"]
        ) { call in
            let bytes = try call.integer("bytes", 2000)
            let isChunked = try call.flag("chunked")
            let count = min(try call.integer("after", bytes / 2), bytes)
            var generator = FaultServer.Generator(count: count, bytes: Content.random(count: bytes, seed: 0).bytes)
            if isChunked { generator.framing = .chunked(sendsLastChunk: false) }
            return [.head(isChunked ? .chunked : .sized(bytes)), .generate(generator), .hang]
        },
        Route(
            "/hang-unread",
            example: "/hang-unread",
            "never reads the request's body and never answers",
            readsBody: false
        ) {
            _ in
            [.stall]
        },
    ]

    static let timing: [Route] = [
        Route("/delay", example: "/delay?ms=100", "answers well after ms= milliseconds", options: ["ms"]) { call in
            [.sleep(try call.duration("ms", 1000)), .respond(.ok)]
        },
        Route(
            "/trickle",
            example: "/trickle?bytes=10&interval=5",
            "a body of bytes= bytes, one every interval= ms; status= and url= (a Location) choose the answer",
            options: ["bytes", "interval", "status", "url"]
        ) { call in
            let bytes = try call.integer("bytes", 10)
            var generator = FaultServer.Generator(count: bytes) { _, count in [UInt8](repeating: 120, count: count) }
            generator.slice = 1
            generator.pause = try call.duration("interval", 100)
            var head = Response.sized(bytes)
            head.status = try call.integer("status", 200, in: 200...999)
            if let url = call.text("url") { head.headers.append(("Location", url)) }
            return [.head(head), .generate(generator)]
        },
        Route(
            "/trickle-headers",
            example: "/trickle-headers?interval=2",
            "the head of an answer, one byte every interval= ms",
            options: ["interval"]
        ) { call in
            let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n".utf8)
            var generator = FaultServer.Generator(count: head.count, bytes: Content.fixed(head).bytes)
            generator.isBody = false
            generator.slice = 1
            generator.pause = try call.duration("interval", 100)
            return [.generate(generator), bodyText("ok\n")]
        },
        Route(
            "/stream",
            example: "/stream?chunks=3&interval=5",
            "an event stream of chunks= events, one every interval= ms; cut=K closes after K events",
            options: ["chunks", "interval", "cut", "reset"]
        ) { call in
            let chunks = try call.integer("chunks", 10, in: 0...1_000_000_000)
            let cut = try call.optionalInteger("cut").map { min($0, chunks) }
            let interval = try call.duration("interval", 100)
            // All events have the same length, so that an offset identifies an event.
            let event: @Sendable (Int) -> [UInt8] = { number in
                let digits = String(number)
                return Array("data: \(String(repeating: "0", count: max(0, 10 - digits.count)))\(digits)\n\n".utf8)
            }
            var generator = FaultServer.Generator(count: (cut ?? chunks) * 18) { offset, _ in event(offset / 18) }
            generator.slice = 18
            generator.pause = interval
            generator.framing = .chunked(sendsLastChunk: cut == nil || cut == chunks)
            let head = Response(
                200,
                headers: [("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")]
            )
            let isCut = cut.map { $0 < chunks } ?? false
            return [.head(head), .generate(generator)] + (isCut ? [try call.ending()] : [])
        },
    ]
}
