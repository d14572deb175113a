// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import Refrain
import RefrainTesting

/// The server's side, in a process of its own, so that its memory is not taken for the client's.
///
/// `/call` answers calls, by the number in `X-Call` or in the query, and fails as the plan says; `/plain` never fails.
/// `/counts` returns how many attempts of each call have arrived, one byte for each; `/seen` how many calls have.
enum SoakServer {
    private struct Counts {
        var arrivals: [UInt8] = []
        var seen = 0
        var wrongBodies = 0

        /// Counts an attempt of a call; returns its number.
        mutating func arrive(_ number: Int) -> Int {
            while arrivals.count <= number { arrivals.append(0) }
            if arrivals[number] == 0 { seen += 1 }
            if arrivals[number] < .max { arrivals[number] += 1 }
            return Int(arrivals[number])
        }
    }

    /// Serves until standard input ends.
    static func run(_ plan: SoakPlan) throws {
        let counts = Locked(Counts())
        let server = try FaultServer(logLimit: 1000)
        for (path, fails) in [("/call", true), ("/plain", false)] {
            server.on(path) { request in
                guard let number = (request.header("X-Call") ?? request.query("n")).flatMap({ Int($0) }), number >= 0
                else { return [.respond(.init(400))] }
                let isWrong = request.method != "GET" && request.body != plan.requestBody(number)
                let attempt = counts.withLock { counts in
                    if isWrong { counts.wrongBodies += 1 }
                    return counts.arrive(number)
                }
                let fault = fails ? plan.fault(number, attempt: attempt) : nil
                return steps(plan, number, attempt, fault, request)
            }
        }
        server.on("/counts") { _ in
            let (arrivals, wrong) = counts.withLock { ($0.arrivals, $0.wrongBodies) }
            return [.respond(.init(200, headers: [("X-Wrong-Bodies", String(wrong))], bytes: arrivals))]
        }
        server.on("/seen") { _ in [.respond(.init(200, body: String(counts.withLock { $0.seen })))] }
        print(server.baseURL)
        // Standard output may be a pipe, which would keep the line back.
        SystemIO.flush()
        while SystemIO.readByte() {}
        server.stop()
    }

    private static func steps(
        _ plan: SoakPlan,
        _ number: Int,
        _ attempt: Int,
        _ fault: SoakPlan.Fault?,
        _ request: FaultServer.Request
    ) -> [FaultServer.Step] {
        let whole = plan.content(number)
        let tag = "\"\(number)\""
        var first = 0
        // A range that goes to the end, of a content that never changes (RFC 9110 §14.2, §13.1.5).
        if let range = request.header("Range"), range.hasPrefix("bytes="), range.hasSuffix("-"),
            request.header("If-Range") ?? tag == tag, let start = Int(range.dropFirst(6).dropLast()),
            start < whole.count
        {
            first = start
        }
        let part = Array(whole[first...])
        var fields = [("ETag", tag), ("Content-Type", "text/plain")]
        if first > 0 { fields.append(("Content-Range", "bytes \(first)-\(whole.count - 1)/\(whole.count)")) }
        let status = first > 0 ? 206 : 200
        let cut = Array(part.prefix(plan.cut(number, attempt: attempt, of: part.count)))
        let head = FaultServer.Step.head(.init(status, headers: fields + [("Content-Length", String(part.count))]))
        switch fault {
        case nil: return [.respond(.init(status, headers: fields, bytes: part))]
        case .delay: return [.sleep(.milliseconds(20)), .respond(.init(status, headers: fields, bytes: part))]
        case .unavailable: return [.respond(.init(503, body: "soak\n"))]
        case .unavailableWithTime: return [.respond(.init(503, headers: [("Retry-After", "0")], body: "soak\n"))]
        case .internalError: return [.respond(.init(500, body: "soak\n"))]
        case .reset: return [.reset]
        case .resetInHead: return [.text("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Len"), .reset]
        case .cut: return [head, .send(cut), .close]
        case .resetInBody: return [head, .send(cut), .reset]
        case .cutChunk:
            let head = FaultServer.Step.head(.init(status, headers: fields + [("Transfer-Encoding", "chunked")]))
            return [head, .text(String(cut.count + 1, radix: 16) + "\r\n"), .send(cut), .close]
        case .garbage: return [.text("\u{1}\u{2} this is not HTTP\r\n\r\n"), .close]
        }
    }
}
#endif
