// SPDX-License-Identifier: Apache-2.0
extension Route {
    static let limits: [Route] = [
        Route(
            "/rate-limited",
            example: "/rate-limited?limit=2&window=1",
            "limit= requests in each window= seconds, then 429 with the headers that say so; reset=epoch, delta or ms",
            options: ["limit", "window", "reset", "no-retry-after", "no-headers"]
        ) { call in
            let limit = try call.integer("limit", 10)
            let window = try call.number("window", 1, in: 0.001...86_400)
            let (count, left) = call.server.countInWindow(call.request.target, length: window)
            let remaining = max(0, limit - count)
            var headers: [(String, String)] = []
            if try !call.flag("no-headers") {
                headers = [
                    ("RateLimit-Policy", "\"default\";q=\(limit);w=\(Int(window.rounded(.up)))"),
                    ("RateLimit", "\"default\";r=\(remaining);t=\(Int(left.rounded(.up)))"),
                    ("X-RateLimit-Limit", String(limit)),
                    ("X-RateLimit-Remaining", String(remaining)),
                    ("X-RateLimit-Reset", try reset(call, left)),
                ]
            }
            guard count > limit else { return [.respond(.text(200, "ok\n", headers: headers))] }
            if try !call.flag("no-retry-after") { headers.append(("Retry-After", String(Int(left.rounded(.up))))) }
            return [.respond(.text(429, "too many requests\n", headers: headers))]
        },
        Route(
            "/auth",
            example: "/auth?token=secret",
            "401 unless Authorization is Bearer token=",
            options: ["token"]
        ) { call in
            let authorization = call.request.header("Authorization")
            if authorization == "Bearer \(call.text("token") ?? "secret")" { return [.respond(.ok)] }
            let challenge = "Bearer realm=\"refrain\"" + (authorization == nil ? "" : ", error=\"invalid_token\"")
            return [.respond(.text(401, "unauthorized\n", headers: [("WWW-Authenticate", challenge)]))]
        },
        Route(
            "/idempotent",
            example: "/idempotent?ms=50",
            "runs once for each Idempotency-Key: 409 while it runs (ms=), then the same answer; fault=reset or close loses "
                + "the first times= answers",
            options: ["ms", "fault", "retry-after"],
            countsForItself: true,
            script: idempotent
        ),
    ]

    private static func reset(_ call: Call, _ left: Double) throws -> String {
        switch call.text("reset") ?? "epoch" {
        case "epoch": return String(Int((ServerTime.wall() + left).rounded(.up)))
        case "ms": return String(Int(((ServerTime.wall() + left) * 1000).rounded(.up)))
        case "delta": return String(Int(left.rounded(.up)))
        case let other: throw BadOption(name: "reset", value: other)
        }
    }

    private static let idempotent: @Sendable (Call) throws -> [Step] = { call in
        let duration = try call.duration("ms", 0)
        let counter = "executions " + call.request.target
        let key = call.request.header("Idempotency-Key")
        let fingerprint = call.request.method + SHA256.hex(of: call.request.body)
        let state =
            key.map {
                call.server.execute(
                    "\(call.request.target) \($0)",
                    fingerprint: fingerprint,
                    duration: Double(duration.milliseconds) / 1000,
                    counter: counter
                )
            } ?? .started(number: call.server.increment(counter))
        let retryAfter = call.texts("retry-after").map { ("Retry-After", $0) }
        var steps: [Step] = []
        let number: Int
        switch state {
        case .mismatch: return [.respond(.text(422, "this key was used for another request\n"))]
        case .running: return [.respond(.text(409, "still running\n", headers: retryAfter))]
        case .replayed(let first): number = first
        case .started(let own):
            number = own
            steps = [.sleep(duration)]
        }
        if let fault = call.text("fault"), call.server.increment("lost " + counter) <= (try call.integer("times", 1)) {
            guard fault == "reset" || fault == "close" else { throw BadOption(name: "fault", value: fault) }
            return steps + [fault == "reset" ? .reset : .close]
        }
        let executions = [("X-Execution", String(number))]
        return steps + [.respond(.text(200, "execution \(number)\n", headers: executions))]
    }

    static let bodies: [Route] = [
        Route(
            "/early-response",
            example: "/early-response",
            "answers (status=) before the request's body is read, then reads it; close=1 or reset=1 ends instead",
            options: ["status", "close", "reset"],
            readsBody: false
        ) { call in
            let status = try call.integer("status", 200, in: 200...999)
            if try call.flag("reset") { return [.respond(.text(status, "early\n")), .reset] }
            if try call.flag("close") { return [.respond(.text(status, "early\n")), .close] }
            // Keeps the connection alive, because the body is read afterwards.
            let answer = Response.text(status, "early\n", headers: [("Connection", "keep-alive")])
            return [.respond(answer), .readBody]
        },
        Route(
            "/expect",
            example: "/expect",
            "answers Expect: 100-continue after ms=; status=417 refuses, ignore=1 waits for the body",
            options: ["ms", "status", "ignore"],
            readsBody: false
        ) { call in
            let wait = Step.sleep(try call.duration("ms", 0))
            if let status = try call.optionalInteger("status") {
                guard (200...999).contains(status) else { throw BadOption(name: "status", value: String(status)) }
                return [wait, .respond(.text(status, "no\n"))]
            }
            // An empty send counts as the start of a response, so that no 100 is sent.
            return try call.flag("ignore")
                ? [wait, .send([]), .readBody, .respond(.ok)] : [wait, .readBody, .respond(.ok)]
        },
    ]
}
