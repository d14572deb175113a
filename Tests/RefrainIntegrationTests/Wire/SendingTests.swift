// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("On the wire: what is sent again", .timeLimit(.minutes(10)))
struct SendingTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    @Test("R3: a server that drops reused connections counts as many requests as are on record")
    func droppedWhenReused() async throws {
        let chain = try Retry(quick(), budgets: nil) --> transport(1)
        for (method, body): (HTTPMethod, HTTPBody) in [(.get, .empty), (.put, .text("a")), (.post, .text("a"))] {
            for ending in ["", "?close=1"] {
                let path = "/drop-reused\(ending)"
                server.clearLog()
                var recorded = 0
                for _ in 1...10 {
                    recorded += await chain.load(try HTTPRequest(server.baseURL + path, method: method, body: body))
                        .attempts.count
                }
                #expect(server.log.count == recorded, "\(method) \(path)")
                #expect(method == .post ? recorded == 10 : recorded > 10, "\(method) \(path)")
            }
        }
    }

    @Test("R3: on connections that are just being closed, a POST is sent once, and arrives once or never")
    func closedWhenIdle() async throws {
        let chain = try Retry(quick(), budgets: nil) --> transport(1)
        var answered = 0
        for number in 1...60 {
            // Some requests meet a connection whose end is just on its way; the server reads none of those.
            let path = "/drop-idle?ms=\(number % 3)&reset=\(number % 2)"
            switch await chain.load(try HTTPRequest(server.baseURL + path, method: .post, body: .text("a"))) {
            case .success(let response):
                answered += 1
                // Only an attempt of which nothing had left was followed by another one.
                #expect(response.attempts.dropLast().allSatisfy { $0.bytesSent == 0 })
            case .failure(let error):
                #expect(error.code == .networkConnectionLost)
                #expect(error.attempts.last?.reason == .notReplayable)
            }
            if number % 4 == 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
        #expect(answered > 10)
        #expect(server.log.count == answered)
    }

    @Test("R4: a handle whose stream failed on a reused connection serves the next attempt")
    func streamOnDeadConnection() async throws {
        let loader = try transport(1)
        let chain = try Retry(quick(), budgets: nil) --> loader
        for _ in 1...5 {
            _ = try await loader.response(for: HTTPRequest(server.baseURL + "/ok"))
            server.clearLog()
            let body = HTTPBody.stream {
                AsyncStream {
                    $0.yield([UInt8](repeating: 7, count: 50_000))
                    $0.finish()
                }
            }
            let request = try HTTPRequest(server.baseURL + "/drop-reused?close=1", method: .put, body: body)
            let response = try await chain.response(for: request)
            #expect(response.attempts.map(\.status) == [nil, 200])
            #expect(response.attempts.allSatisfy { $0.bytesSent.map { $0 > 50_000 } ?? false })
            #expect(server.log.count == 2)
            #expect(server.log.last?.bodyLength == 50_000)
        }
    }

    @Test("R5: the key is the same on every attempt, and the server runs the request once")
    func generatedKey() async throws {
        let chain = try Retry(quick(), budgets: nil) --> transport()
        var request = try HTTPRequest(server.baseURL + "/idempotent?fault=reset&times=2", method: .post)
        request.body = .text("pay")
        request.idempotencyKey = .generated
        let response = try await chain.response(for: request)
        #expect(response.headers["X-Execution"] == "1")
        let keys = server.log.map { $0.values("Idempotency-Key") }
        #expect(keys.count == 3 && Set(keys).count == 1 && keys[0].count == 1)
        #expect(keys[0].first?.first == "\"" && keys[0].first?.last == "\"")

        _ = try await chain.response(for: request)
        #expect(server.log.last?.values("Idempotency-Key") != keys[0], "another call has another key")
    }

    @Test("R5: with a key, 409 is waited out, and both calls get the one execution")
    func stillRunning() async throws {
        let schedule = Backoff.constant(delay: .milliseconds(50), maxAttempts: 200)
        let chain = try Retry(policy(schedule), budgets: nil) --> transport()
        var hasMet = false
        // On a machine that is busy elsewhere the second call may come when the first one is done: then both are made
        // anew.
        for key in 1...10 where !hasMet {
            let server = try FaultServer()
            var request = try HTTPRequest(server.baseURL + "/idempotent?ms=400", method: .post, body: .text("pay"))
            request.idempotencyKey = .custom("\(key)")
            let first = Task { [request] in try await chain.response(for: request) }
            _ = await eventually { server.log.count == 1 }
            let second = try await chain.response(for: request)
            let responses = [try await first.value, second]
            #expect(responses.map { $0.headers["X-Execution"] } == ["1", "1"])
            #expect(Set(server.log.map { $0.values("Idempotency-Key") }) == [["\"\(key)\""]])
            #expect(server.log.count == responses.reduce(0) { $0 + $1.attempts.count })
            hasMet = second.attempts.contains { $0.status == 409 }
        }
        #expect(hasMet)
    }

    @Test("R6: each attempt is built from the original request; header fields do not pile up")
    func freshTries() async throws {
        let stamp = ModifyRequest { request in
            var request = request
            request.headers.add("X-Stamp", "stamp")
            return request
        }
        let chain = try Redirect() --> Retry(quick(5), budgets: nil) --> stamp --> transport()
        var request = try HTTPRequest(server.baseURL + "/status/503?times=4", method: .put, body: .text("a"))
        request.headers["X-Own"] = "own"
        #expect(try await chain.response(for: request).attempts.count == 5)
        let fields = server.log.map { $0.headers.map { $0.joined(separator: ": ") } }
        #expect(fields.count == 5 && Set(fields).count == 1)
        #expect(server.log.allSatisfy { $0.values("X-Stamp") == ["stamp"] && $0.values("X-Own") == ["own"] })
    }

    @Test("R7: after 408 and 421 the next attempt goes over another connection", arguments: [408, 421])
    func otherConnection(status: Int) async throws {
        let chain = try Retry(quick(), budgets: nil) --> transport(1)
        _ = try await chain.response(for: HTTPRequest(server.baseURL + "/status/\(status)?times=1"))
        #expect(Set(server.log.map(\.connection)).count == 2)
    }

    @Test("R28: what is left of a dropped response is drained up to 64 KiB, else the connection is closed")
    func drain() async throws {
        for (size, staysOpen) in [(0, true), (60_000, true), (1_000_000, false)] {
            var hasStayed = false
            // The next request does not wait for what comes late, as it may on a busy machine.
            for _ in 1...10 where !hasStayed {
                let server = try FaultServer()
                server.on("/body") { _ in [.respond(.init(200, bytes: [UInt8](repeating: 65, count: size)))] }
                let loader = try transport(1)
                var request = try HTTPRequest(server.baseURL + "/body")
                request.streamsResponse = true
                _ = try await loader.response(for: request)
                _ = try await loader.response(for: HTTPRequest(server.baseURL + "/ok"))
                hasStayed = server.log.map(\.connection) == [1, 1]
            }
            #expect(hasStayed == staysOpen, "\(size) bytes")
        }
    }

    @Test("R28: the answer to an attempt that is made again leaves its connection to the next one")
    func retriedOverTheSameConnection() async throws {
        var hasStayed = false
        // An answer that comes late, as it may on a busy machine, is not waited for.
        for _ in 1...10 where !hasStayed {
            let server = try FaultServer()
            let chain = try Retry(quick(), budgets: nil) --> transport(1)
            _ = try await chain.response(for: HTTPRequest(server.baseURL + "/status/503?times=2"))
            hasStayed = server.log.map(\.connection) == [1, 1, 1]
        }
        #expect(hasStayed)
    }
}
