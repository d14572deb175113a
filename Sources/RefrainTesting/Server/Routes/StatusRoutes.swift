// SPDX-License-Identifier: Apache-2.0
extension Route {
    static let status: [Route] = [
        Route(
            "/status/CODE",
            example: "/status/503?times=2",
            "this status for the first times=N requests, then another (200); retry-after=date+5 is a date",
            options: ["then", "retry-after", "date", "age", "body", "header", "close"],
            countsForItself: true
        ) { call in
            let code = try call.argument("CODE", in: 100...999)
            guard try call.isWithinTimes else {
                let then = try call.integer("then", 200, in: 200...999)
                return [.respond(then == 200 ? .ok : .text(then, "status \(then)\n"))]
            }
            var response = Response.text(code, call.text("body") ?? "status \(code)\n")
            let now = ServerTime.wall()
            var served = now
            if let date = call.text("date") {
                response.addsDate = false
                // The other dates of the response are compared with this one, so they are computed relative to it.
                if date.hasPrefix("now"), let shift = Double(date.dropFirst(3)) { served = now + shift }
                if date != "none" { response.headers.append(("Date", HTTPDateText.expanded(date, now: now))) }
            }
            for value in call.texts("retry-after") {
                response.headers.append(("Retry-After", HTTPDateText.expanded(value, now: served)))
            }
            if let age = call.text("age") { response.headers.append(("Age", age)) }
            for header in call.texts("header") {
                guard let colon = header.firstIndex(of: ":"), colon != header.startIndex else {
                    throw BadOption(name: "header", value: header)
                }
                let value = header[header.index(after: colon)...]
                response.headers.append((String(header[..<colon]), String(value.drop { $0 == " " })))
            }
            if code == 401, !response.has("WWW-Authenticate") {
                response.headers.append(("WWW-Authenticate", "Bearer realm=\"refrain\""))
            }
            if try call.flag("close") { response.headers.append(("Connection", "close")) }
            if (100..<200).contains(code) {
                // An interim response requires a final one.
                return [.head(response), .respond(.ok)]
            }
            return [.respond(response)]
        },
        Route(
            "/flaky",
            example: "/flaky?rate=0.3&seed=42",
            "fails at random, the same way for each seed: with status=CODE or fault=reset, close, cut, garbage or hang",
            options: ["rate", "seed", "status", "fault", "retry-after"]
        ) { call in
            let rate = try call.number("rate", 0.3, in: 0...1)
            let seed = UInt64(try call.integer("seed", 42))
            guard SplitMix.unit(seed: seed, index: call.request.occurrence) < rate else { return [.respond(.ok)] }
            switch call.text("fault") {
            case nil:
                let headers = call.text("retry-after").map { [("Retry-After", $0)] } ?? []
                return [.respond(.text(try call.integer("status", 503, in: 200...999), "flaky\n", headers: headers))]
            case "reset": return [.reset]
            case "close": return [.close]
            case "cut": return [.head(.sized(2000)), .send([UInt8](repeating: 120, count: 1000)), .close]
            case "garbage": return [.send(Garbage.bytes), .close]
            case "hang": return [.hang]
            case .some(let other): throw BadOption(name: "fault", value: other)
            }
        },
        Route(
            "/outage",
            example: "/outage?down=200",
            "503 for down= ms from the first request on, then well for up= ms (for ever if missing), and so on",
            options: ["down", "up", "status"]
        ) { call in
            let down = Double(try call.integer("down", 1000)) / 1000
            let up = try call.optionalInteger("up").map { Double($0) / 1000 }
            let begun = call.server.firstSeen(call.request.target)
            var age = call.server.elapsed - begun
            if let up, down + up > 0 { age = age.truncatingRemainder(dividingBy: down + up) }
            if age >= down { return [.respond(.ok)] }
            return [.respond(.text(try call.integer("status", 503, in: 200...999), "outage\n"))]
        },
    ]
}

extension FaultServer.Response {
    /// The head of a 200 with a content length of `count`.
    static func sized(_ count: Int) -> Self {
        Self(200, headers: [("Content-Type", "application/octet-stream"), ("Content-Length", String(count))])
    }

    /// The head of a 200 with chunked coding.
    static var chunked: Self {
        Self(200, headers: [("Content-Type", "application/octet-stream"), ("Transfer-Encoding", "chunked")])
    }
}
