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
        let requests = try call.integer("requests", 500, in: 1...Call.largest)
        let tokens = try call.integer("tokens", 200_000, in: 1...Call.largest)
        let (prompt, completion) = ChatRequest.tokens(of: call.request.body)
        let (isTaken, headers) = call.server.take(
            tokens: Double(prompt + completion),
            of: "\(call.request.path) \(requests) \(tokens) \(window)"
        ) { ModelQuota(requests: Double(requests), tokens: Double(tokens), window: window, now: $0) }
        guard isTaken else {
            var refusal = failure(429, "rate_limit_exceeded", "Rate limit reached.")
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
package enum ChatRequest {
    /// The tokens of the prompt, and those of an answer: between half of what is allowed and all of it, the same for
    /// the same request.
    package static func tokens(of body: [UInt8]) -> (prompt: Int, completion: Int) {
        let maximum = max(1, number("max_tokens", in: body) ?? 100)
        let share = SplitMix.unit(seed: UInt64(body.count), index: body.reduce(0) { $0 &+ Int($1) })
        return (max(1, body.count / 4), max(1, Int(Double(maximum) * (0.5 + share / 2))))
    }

    private static func number(_ name: String, in body: [UInt8]) -> Int? {
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
