// SPDX-License-Identifier: Apache-2.0
extension Route {
    static let content: [Route] = [
        Route(
            "/bytes/N",
            example: "/bytes/100000",
            "N pseudo-random bytes with ETag, Range and If-Range; cut=K closes after K bytes of an answer",
            options: [
                "seed", "cut", "cut-each", "reset", "chunked", "etag", "last-modified", "no-range", "wrong-range",
                "multipart-range", "wrong-total", "slow", "encoding", "no-digest", "length", "not-modified",
            ],
            kind: .plain,
            countsForItself: true,
            script: bytes
        )
    ]

    private static let bytes: @Sendable (Call) throws -> [Step] = { call in
        let length = try call.argument("N")
        let resource = try Resource(call, length: length)
        let (response, content) = try resource.answer(call)
        guard let content else { return [.respond(response)] }

        var head = response
        let isChunked = try call.flag("chunked")
        head.headers.append(isChunked ? ("Transfer-Encoding", "chunked") : ("Content-Length", String(content.count)))
        // Beside chunked it is wrong, and counts for nothing (RFC 9112 §6.3).
        if isChunked, let length = call.text("length") { head.headers.append(("Content-Length", length)) }
        var sent = content.count
        if let cut = try call.optionalInteger("cut"), try call.isWithinTimes { sent = min(sent, cut) }
        if let cut = try call.optionalInteger("cut-each") { sent = min(sent, cut) }
        var generator = FaultServer.Generator(count: sent, bytes: content.bytes)
        if isChunked { generator.framing = .chunked(sendsLastChunk: sent == content.count) }
        if let speed = try call.optionalInteger("slow") {
            generator.slice = max(1, speed / 20)
            generator.pause = .milliseconds(speed < 20 ? 1000 / max(1, speed) : 50)
        }
        let isCut = sent < content.count
        return [.head(head), .generate(generator)] + (isCut ? [try call.ending()] : [])
    }
}

/// The resource of `/bytes/N`: its content, its validators (RFC 9110 §8.8) and its range responses (§14).
private struct Resource {
    let content: Content
    let digest: String?
    let etag: String?
    let lastModified: String?
    let coding: String?
    /// Whether a part is sent regardless of `If-Range`.
    private var ignoresCondition = false
    private static let largestInMemory = 64 << 20

    init(_ call: Call, length: Int) throws {
        var seed = UInt64(try call.integer("seed", 0))
        var tag = "\(length)-\(seed)"
        switch call.text("etag") {
        case nil, "strong": etag = "\"\(tag)\""
        case "weak": etag = "W/\"\(tag)\""
        case "none": etag = nil
        case "whole":
            // Parts come from another content, without another validator.
            let isPart = call.request.header("Range") != nil
            if isPart { seed = SplitMix.mix(seed &+ 1) }
            etag = isPart ? nil : "\"\(tag)\""
            ignoresCondition = true
        case "changing":
            // Another resource for each request: other bytes and another tag.
            seed = SplitMix.mix(seed &+ UInt64(call.request.occurrence))
            tag += "-\(call.request.occurrence)"
            etag = "\"\(tag)\""
        case .some(let other): throw BadOption(name: "etag", value: other)
        }
        switch call.text("last-modified") {
        case nil: lastModified = HTTPDateText.imf(1_577_836_800)
        case "none": lastModified = nil
        case "now": lastModified = HTTPDateText.imf(ServerTime.wall())
        case .some(let other): lastModified = HTTPDateText.expanded(other, now: ServerTime.wall())
        }
        let plain = Content.random(count: length, seed: seed)
        // Computing the digest of a longer content would exceed the timeout of clients.
        let isDigested = try length <= Self.largestInMemory && !call.flag("no-digest")
        digest = isDigested ? call.server.digest("\(length) \(seed)") { plain.sha256 } : nil
        coding = call.text("encoding")
        switch coding {
        case nil: content = plain
        case "gzip" where length <= Self.largestInMemory: content = .fixed(Gzip.stored(plain.bytes(0, length)))
        case .some(let other): throw BadOption(name: "encoding", value: other)
        }
    }

    /// The head of the response and its content; nil if the response has its own body.
    func answer(_ call: Call) throws -> (Response, Content?) {
        let total = content.count
        guard try !call.flag("no-range"), call.request.method == "GET", isCurrent(call.request.header("If-Range")),
            let wanted = call.request.header("Range").flatMap(ByteRange.init(_:))
        else { return (head(200, try call.flag("no-range") ? [] : [("Accept-Ranges", "bytes")]), content) }
        guard var range = wanted.resolved(in: total) else {
            var response = head(416, [("Content-Range", "bytes */\(total)")])
            response.body = Array("range not satisfiable\n".utf8)
            return (response, nil)
        }
        if try call.flag("not-modified") { return (head(304, []), nil) }
        if let kind = call.text("multipart-range") {
            // These parts are made in memory.
            guard range.count <= Self.largestInMemory else { throw BadOption(name: "multipart-range", value: kind) }
            return multipart(range, isLabelled: kind == "labelled")
        }
        if try call.flag("wrong-range") {
            range =
                range.lowerBound > 0 ? (range.lowerBound - 1)..<range.upperBound : min(1, total - 1)..<range.upperBound
        }
        let claimed = try call.flag("wrong-total") ? total + 1 : total
        let field = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(claimed)"
        return (head(206, [("Content-Range", field), ("Accept-Ranges", "bytes")]), part(range))
    }

    /// Strong comparison of tags, exact comparison of dates (RFC 9110 §13.1.5).
    private func isCurrent(_ condition: String?) -> Bool {
        guard let condition, !ignoresCondition else { return true }
        if condition.hasPrefix("\"") { return condition == etag }
        return condition == lastModified
    }

    private func part(_ range: Range<Int>) -> Content {
        Content(count: range.count) { [content] offset, count in content.bytes(range.lowerBound + offset, count) }
    }

    /// The range in two parts, which a server may send for a request for several ranges.
    private func multipart(_ range: Range<Int>, isLabelled: Bool) -> (Response, Content?) {
        let middle = range.lowerBound + range.count / 2
        var body: [UInt8] = []
        for piece in [range.lowerBound..<middle, middle..<range.upperBound] where !piece.isEmpty {
            let field = "bytes \(piece.lowerBound)-\(piece.upperBound - 1)/\(content.count)"
            body += Array("\r\n--frontier\r\nContent-Range: \(field)\r\n\r\n".utf8)
            body += content.bytes(piece.lowerBound, piece.count)
        }
        body += Array("\r\n--frontier--\r\n".utf8)
        let label = ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)")
        var response = head(206, isLabelled ? [label] : [])
        response.headers.removeAll { $0.name == "Content-Type" }
        response.headers.append(("Content-Type", "multipart/byteranges; boundary=frontier"))
        return (response, .fixed(body))
    }

    private func head(_ status: Int, _ more: [(String, String)]) -> Response {
        var headers = [("Content-Type", "application/octet-stream")] + more
        if let etag { headers.append(("ETag", etag)) }
        if let lastModified { headers.append(("Last-Modified", lastModified)) }
        if let coding { headers.append(("Content-Encoding", coding)) }
        if let digest { headers.append(("X-Content-SHA256", digest)) }
        return Response(status, headers: headers)
    }
}
