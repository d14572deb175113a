// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@Suite("FaultServer: statuses, limits and redirects", .serialized, .offPool, .timeLimit(.minutes(10)))
struct StatusTests {
    @Test("/status/CODE answers N times, then well or with then=; state is kept for each query")
    func status() throws {
        let server = try FaultServer()
        defer { server.stop() }
        func statuses(_ target: String) throws -> [Int] {
            try (0..<3).compactMap { _ in try RawClient.fetch(server.port, target)?.status }
        }
        #expect(try statuses("/status/503?times=2") == [503, 503, 200])
        #expect(try statuses("/status/503?times=2&key=b") == [503, 503, 200])
        #expect(try statuses("/status/500?times=1&then=404") == [500, 404, 404])
        #expect(try statuses("/status/429") == [429, 429, 429])
        #expect(try RawClient.fetch(server.port, "/reset-state")?.status == 200)
        #expect(server.log.isEmpty)
        #expect(try statuses("/status/503?times=2") == [503, 503, 200])
        #expect(try RawClient.fetch(server.port, "/status/204")?.body.isEmpty == true)
        #expect(try RawClient.fetch(server.port, "/status/304")?.status == 304)
        let client = try RawClient(server.port)
        client.request("/status/103")
        #expect(client.response()?.status == 103)
        #expect(client.response()?.status == 200)
    }

    @Test("/status/CODE sets the headers that it is asked for")
    func headers() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let response = try #require(
            try RawClient.fetch(
                server.port,
                "/status/503?retry-after=7&retry-after=9&age=3&date=Sun,%2006%20Nov%201994%2008:49:37%20GMT"
                    + "&header=X-A:1&header=X-B:%20two&body=sorry"
            )
        )
        #expect(response.headers.filter { $0.0 == "Retry-After" }.map(\.1) == ["7", "9"])
        #expect(response["Age"] == "3")
        #expect(response["Date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(response["X-A"] == "1" && response["X-B"] == "two")
        #expect(response.text == "sorry")
        let shifted = try #require(try RawClient.fetch(server.port, "/status/503?date=now-3600&retry-after=date-3600"))
        #expect(shifted["Date"]?.hasSuffix(" GMT") == true && shifted["Date"] != shifted["Retry-After"])
        let same = try #require(try RawClient.fetch(server.port, "/status/503?date=now-3600&retry-after=date"))
        #expect(same["Date"] == same["Retry-After"])
        #expect(try RawClient.fetch(server.port, "/status/503?date=none")?["Date"] == nil)
        #expect(try RawClient.fetch(server.port, "/status/401")?["WWW-Authenticate"] != nil)
        #expect(try RawClient.fetch(server.port, "/status/503?close=1")?["Connection"] == "close")
    }

    @Test("/flaky fails at its rate, the same way for the same seed")
    func flaky() throws {
        let server = try FaultServer()
        defer { server.stop() }
        func run(_ query: String) throws -> [Int] {
            let client = try RawClient(server.port)
            return (0..<500).compactMap { _ in
                client.request("/flaky?\(query)")
                return client.response()?.status
            }
        }
        let first = try run("rate=0.3&seed=42&key=a")
        #expect(first == (try run("rate=0.3&seed=42&key=b")))
        #expect(first != (try run("rate=0.3&seed=43")))
        #expect((110...190).contains(first.filter { $0 == 503 }.count))
        #expect(try run("rate=0").allSatisfy { $0 == 200 })
        #expect(try run("rate=1&status=500").allSatisfy { $0 == 500 })
        for (fault, end) in [("reset", RawClient.End.reset), ("close", .fin), ("cut", .fin), ("garbage", .fin)] {
            #expect(try RawClient.exchange(server.port, "/flaky?rate=1&fault=\(fault)").end == end)
        }
    }

    @Test("/outage is down from the first request on, then up")
    func outage() throws {
        let server = try FaultServer()
        defer { server.stop() }
        #expect(try RawClient.fetch(server.port, "/outage?down=60000")?.status == 503)
        let target = "/outage?down=150"
        #expect(try RawClient.fetch(server.port, target)?.status == 503)
        let start = Thread.now()
        while try RawClient.fetch(server.port, target)?.status == 503, Thread.now() - start < 90 { Thread.pause() }
        #expect(try RawClient.fetch(server.port, target)?.status == 200)
    }

    @Test("redirects: N hops, relative and absolute, loops, and one without a target")
    func redirects() throws {
        let server = try FaultServer()
        defer { server.stop() }
        #expect(try RawClient.fetch(server.port, "/redirect/2?status=307")?["Location"] == "/redirect/1?status=307")
        #expect(try RawClient.fetch(server.port, "/redirect/1")?["Location"] == "/ok")
        #expect(try RawClient.fetch(server.port, "/redirect/0")?.status == 200)
        #expect(
            try RawClient.fetch(server.port, "/redirect/1?absolute=1")?["Location"] == server.baseURL + "/ok"
        )
        let other = try RawClient.fetch(server.port, "/redirect-to?url=http%3A%2F%2Fa.example%2F%3Fb&status=308")
        #expect(other?.status == 308 && other?["Location"] == "http://a.example/?b")
        #expect(try RawClient.fetch(server.port, "/redirect-loop?x")?["Location"] == "/redirect-loop?x")
        let none = try RawClient.fetch(server.port, "/redirect-no-location")
        #expect(none?.status == 302 && none?["Location"] == nil)
    }

    @Test("/rate-limited counts within its window and says so in every header")
    func rateLimited() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let target = "/rate-limited?limit=2&window=3600"
        let first = try #require(try RawClient.fetch(server.port, target))
        #expect(first.status == 200)
        #expect(first["RateLimit-Policy"] == "\"default\";q=2;w=3600")
        #expect(first["RateLimit"] == "\"default\";r=1;t=3600")
        #expect(first["X-RateLimit-Remaining"] == "1" && first["Retry-After"] == nil)
        _ = try RawClient.fetch(server.port, target)
        let third = try #require(try RawClient.fetch(server.port, target))
        #expect(third.status == 429)
        #expect(third["RateLimit"]?.hasPrefix("\"default\";r=0;t=") == true)
        let left = try #require(third["Retry-After"].flatMap { Int($0) })
        #expect((3000...3600).contains(left))
        let reset = try #require(third["X-RateLimit-Reset"].flatMap { Double($0) })
        #expect(abs(reset - Thread.wallNow() - Double(left)) < 60)
        // Windows of 50 ms pass by themselves.
        let short = "/rate-limited?limit=1&window=0.05"
        let start = Thread.now()
        var seen: [Int] = []
        while seen.filter({ $0 == 200 }).count < 3, Thread.now() - start < 90 {
            seen.append(try #require(try RawClient.fetch(server.port, short)).status)
        }
        #expect(seen.filter { $0 == 200 }.count == 3)
    }

    @Test("/auth wants its token")
    func auth() throws {
        let server = try FaultServer()
        defer { server.stop() }
        #expect(try RawClient.fetch(server.port, "/auth?token=t")?["WWW-Authenticate"] == "Bearer realm=\"refrain\"")
        func status(_ value: String) throws -> Int? {
            try RawClient.fetch(server.port, "/auth?token=t", headers: ["Authorization: \(value)"])?.status
        }
        #expect(try status("Bearer x") == 401)
        #expect(try status("Bearer t") == 200)
    }

    @Test("/idempotent runs once for each key: 409 while it runs, then the same answer, 422 for another body")
    func idempotent() throws {
        let server = try FaultServer()
        defer { server.stop() }
        func post(
            _ target: String,
            key: String?,
            body: String = "a",
            timeoutMilliseconds: Int = 90_000
        ) throws -> RawResponse? {
            try RawClient.fetch(
                server.port,
                target,
                method: "POST",
                headers: key.map { ["Idempotency-Key: \"\($0)\""] } ?? [],
                body: body,
                timeoutMilliseconds: timeoutMilliseconds
            )
        }
        let slow = "/idempotent?ms=60000"
        let running = try RawClient(server.port)
        running.request(slow, method: "POST", headers: ["Idempotency-Key: \"k\""], body: "a")
        while server.log.first?.complete != true { Thread.pause() }
        var status: Int?
        // The other request may still stand before its execution; then this one has taken its place, and its answer is
        // not waited for.
        while status == nil { status = try post(slow, key: "k", timeoutMilliseconds: 10_000)?.status }
        #expect(status == 409)

        #expect(try post("/idempotent", key: "a")?["X-Execution"] == "1")
        #expect(try post("/idempotent", key: "a")?["X-Execution"] == "1")
        #expect(try post("/idempotent", key: "a", body: "b")?.status == 422)
        #expect(try post("/idempotent", key: "b")?["X-Execution"] == "2")
        #expect(try post("/idempotent", key: nil)?["X-Execution"] == "3")
        #expect(try post("/idempotent", key: nil)?["X-Execution"] == "4")

        let lossy = "/idempotent?fault=reset"
        #expect(try post(lossy, key: "c") == nil)
        #expect(try post(lossy, key: "c")?["X-Execution"] == "1")
    }
}
