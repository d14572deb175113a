// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@Suite("The catalog of paths", .serialized, .offPool, .timeLimit(.minutes(10)))
struct RouteCatalogTests {
    /// What a client sees of an entry's example.
    enum Wire: Equatable {
        case answer(Int)
        case incomplete(RawClient.End)
        case nothing(RawClient.End)
    }

    /// Written by hand, not recorded.
    static let expected: [String: Wire] = [
        "index": .answer(200), "ok": .answer(200), "echo": .answer(200), "bytes": .answer(200),
        "status": .answer(503), "flaky": .answer(200), "outage": .answer(503),
        "delay": .answer(200), "trickle": .answer(200), "trickle-headers": .answer(200), "stream": .answer(200),
        "reset-before": .nothing(.reset), "reset-headers": .incomplete(.reset), "reset-body": .incomplete(.reset),
        "close-before": .nothing(.fin), "close-headers": .incomplete(.fin), "close-body": .incomplete(.fin),
        "close-chunked": .incomplete(.fin), "drop-reused": .answer(200), "drop-idle": .answer(200),
        "garbage": .incomplete(.fin), "bad-length": .answer(200), "bad-chunk": .incomplete(.fin),
        "endless-headers": .incomplete(.limit), "huge-header": .answer(200),
        "hang": .nothing(.timeout), "hang-headers": .incomplete(.timeout), "hang-body": .incomplete(.timeout),
        "hang-unread": .nothing(.timeout),
        "huge": .answer(200), "gzip-bomb": .answer(200), "bad-gzip": .answer(200),
        "redirect": .answer(302), "redirect-to": .answer(302), "redirect-loop": .answer(302),
        "redirect-no-location": .answer(302),
        "v1": .answer(200), "rate-limited": .answer(200), "auth": .answer(401), "idempotent": .answer(200),
        "early-response": .answer(200), "expect": .answer(200),
        "log": .answer(200), "reset-state": .answer(200), "ports": .answer(200),
    ]

    @Test("every entry's example does on the wire what is written down for it")
    func examples() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for entry in FaultServer.catalogue {
            let isHang = entry.name.hasPrefix("hang")
            let (bytes, end) = try RawClient.exchange(
                server.port,
                entry.example,
                timeoutMilliseconds: isHang ? 2_000 : 90_000,
                limit: 3_000_000
            )
            let seen: Wire =
                if bytes.isEmpty {
                    .nothing(end)
                } else if let (response, _) = RawResponse.parse(bytes) {
                    .answer(response.status)
                } else {
                    .incomplete(end)
                }
            #expect(seen == Self.expected[entry.name], "\(entry.name)")
        }
        #expect(Set(Self.expected.keys) == Set(FaultServer.catalogue.map(\.name)))
        let logged = FaultServer.catalogue.filter { $0.kind != .control }.count
        // The example of /reset-state forgot those before it.
        #expect(server.log.count <= logged)
    }

    @Test("every fault answers well after times=N")
    func times() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for entry in FaultServer.catalogue where entry.kind == .fault && entry.name != "drop-reused" {
            let base = entry.example.prefix { $0 != "?" }
            let target = "\(base)?times=1&limit=1&url=/ok&bytes=2000&ms=1&interval=1&down=60000"
            let first = try RawClient(server.port)
            first.request(target)
            // Not waited for: the request only has to arrive before the second one.
            while server.count(path: target) < 1 { Thread.pause() }
            let second = try RawClient.fetch(server.port, target)
            #expect(second?.status == 200, "\(entry.name)")
        }
    }

    @Test("names are unique, and the listing at / has every pattern")
    func listing() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let names = FaultServer.catalogue.map(\.name)
        #expect(Set(names).count == names.count)
        let listing = try #require(try RawClient.fetch(server.port, "/")).text
        #expect(listing == FaultServer.listing)
        for entry in FaultServer.catalogue { #expect(listing.contains(entry.pattern)) }
    }

    @Test("an unknown path is 404, and a bad option is 400 that names it")
    func unknown() throws {
        let server = try FaultServer()
        defer { server.stop() }
        #expect(try RawClient.fetch(server.port, "/nothing-here")?.status == 404)
        for target in [
            "/ok?times=x", "/status/99999", "/status/abc", "/bytes/-1", "/bytes/99999999999999999999",
            "/flaky?rate=2", "/flaky?rate=nan", "/delay?ms=99999999999", "/rate-limited?window=0", "/redirect-to",
            "/bytes/10?etag=odd", "/bad-gzip?kind=", "/status/503?header=nocolon",
        ] {
            let response = try RawClient.fetch(server.port, target)
            #expect(response?.status == 400, "\(target)")
            #expect(response?.text.hasPrefix("bad value for ") == true)
        }
    }
}
