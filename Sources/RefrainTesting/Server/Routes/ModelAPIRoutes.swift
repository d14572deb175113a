// SPDX-License-Identifier: Apache-2.0
extension Route {
    static let modelAPIs: [Route] = [
        Route(
            "/v1/chat/completions",
            example: "/v1/chat/completions?tokens=200000&requests=500&window=60",
            "a model API: tokens= and requests= in each window= seconds, then 429 with the fields that say so; overloaded=N answers "
                + "529 first, spent=1 is out of credit, \"stream\": true sends events, cut=N ends after N of them",
            options: ["tokens", "requests", "window", "ms", "overloaded", "spent", "cut"],
            kind: .plain,
            script: completion
        )
    ]

    private static let completion: @Sendable (Call) throws -> [Step] = { call in
        if try call.flag("spent") {
            return [.respond(failure(429, "insufficient_quota", "You exceeded your current quota."))]
        }
        if try call.request.occurrence <= call.integer("overloaded", 0) {
            return [.respond(failure(529, "overloaded_error", "Overloaded."))]
        }
        let window = try call.number("window", 60, in: 0.001...86_400)
        let maximum = max(1, ChatRequest.number("max_tokens", in: call.request.body) ?? 100)
        let prompt = max(1, call.request.body.count / 4)
        // Between half of what is allowed and all of it, the same for the same request.
        let share = SplitMix.unit(
            seed: UInt64(call.request.body.count),
            index: call.request.body.reduce(0) { $0 &+ Int($1) }
        )
        let completion = max(1, Int(Double(maximum) * (0.5 + share / 2)))
        let limits = [
            ("requests", try call.integer("requests", 500, in: 1...Call.largest), 1),
            ("tokens", try call.integer("tokens", 200_000, in: 1...Call.largest), prompt + completion),
        ]
        let taken = call.server.take(
            "quota " + call.request.path,
            limits.map { TokenBucket.Draw(name: $0.0, limit: Double($0.1), amount: Double($0.2), window: window) }
        )
        var headers: [(String, String)] = []
        for ((name, limit, _), state) in zip(limits, taken.buckets) {
            headers.append(("x-ratelimit-limit-\(name)", String(limit)))
            headers.append(("x-ratelimit-remaining-\(name)", String(Int(max(0, state.left)))))
            headers.append(("x-ratelimit-reset-\(name)", "\(Int((state.untilFull * 1000).rounded(.up)))ms"))
        }
        guard taken.wait == 0 else {
            var refusal = failure(429, "rate_limit_exceeded", "Rate limit reached.")
            let milliseconds = Int((taken.wait * 1000).rounded(.up))
            headers += [("retry-after-ms", String(milliseconds)), ("Retry-After", String((milliseconds + 999) / 1000))]
            refusal.headers += headers.map { (name: $0.0, value: $0.1) }
            return [.respond(refusal)]
        }
        let pause = Step.sleep(try call.duration("ms", 0))
        guard !ChatRequest.streams(call.request.body) else {
            return try [pause] + events(call, count: min(completion, 20), headers)
        }
        let usage =
            "{\"prompt_tokens\":\(prompt),\"completion_tokens\":\(completion),\"total_tokens\":\(prompt + completion)}"
        let text =
            "{\"object\":\"chat.completion\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"ok\"}}],"
            + "\"usage\":\(usage)}\n"
        return [pause, .respond(.init(200, headers: [("Content-Type", "application/json")] + headers, body: text))]
    }

    /// The events of a stream, each in a chunk of its own.
    private static func events(_ call: Call, count: Int, _ headers: [(String, String)]) throws -> [Step] {
        let fields = [("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")] + headers
        func chunk(_ text: String) -> Step {
            .text("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n")
        }
        let cut = try call.optionalInteger("cut")
        var steps: [Step] = [.head(.init(200, headers: fields))]
        for number in 0..<min(count, cut ?? count) {
            steps.append(
                chunk("id: \(number + 1)\ndata: {\"choices\":[{\"delta\":{\"content\":\"word\(number) \"}}]}\n\n")
            )
        }
        return steps + (cut == nil ? [chunk("data: [DONE]\n\n"), .text("0\r\n\r\n")] : [.close])
    }

    private static func failure(_ status: Int, _ code: String, _ message: String) -> Response {
        let body = "{\"error\":{\"code\":\"\(code)\",\"type\":\"\(code)\",\"message\":\"\(message)\"}}\n"
        return .init(status, headers: [("Content-Type", "application/json")], body: body)
    }
}

/// What the route reads of a request's JSON: its members are found by their names.
private enum ChatRequest {
    static func number(_ name: String, in body: [UInt8]) -> Int? {
        guard let rest = text(after: name, in: body) else { return nil }
        return Int(rest.prefix { $0.isNumber })
    }

    static func streams(_ body: [UInt8]) -> Bool { text(after: "stream", in: body)?.hasPrefix("true") == true }

    private static func text(after name: String, in body: [UInt8]) -> Substring? {
        let text = String(decoding: body, as: UTF8.self)
        guard let range = text.firstRange(of: "\"\(name)\"") else { return nil }
        return text[range.upperBound...].drop { $0 == ":" || $0.isWhitespace }
    }
}

/// Tokens that come back evenly, up to what a second brings.
struct TokenBucket {
    /// What is taken from one bucket.
    struct Draw {
        let name: String
        let limit: Double
        let amount: Double
        let window: Double

        var perSecond: Double { limit / window }
        /// As vendors do, a limit per minute is enforced in short spans: a twentieth at a time, and any one request.
        var capacity: Double { max(limit / 20, amount) }
    }

    var left: Double
    var time: Double

    /// The tokens at a time.
    mutating func refill(_ draw: Draw, at now: Double) {
        left = min(max(draw.capacity, left), left + (now - time) * draw.perSecond)
        time = now
    }
}
