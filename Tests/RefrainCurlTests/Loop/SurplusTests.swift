// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import TLSFixture
import Testing

@testable import RefrainCurl

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: bytes beyond a response", .timeLimit(.minutes(10)))
struct SurplusTests {
    /// A response, in the pieces in which it is written, and more than that.
    struct Surplus: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = HTTPMethod.get
        var pieces: [String]
        /// How the body is read.
        var discards = false

        static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        static let all = [
            Surplus(
                testDescription: "with the rest of a body",
                pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", "k" + evil]
            ),
            Surplus(
                testDescription: "200 ms after it",
                pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "", "", "", evil]
            ),
            Surplus(
                testDescription: "with the end of the chunks",
                pieces: [chunked + "2\r\nok\r\n", "0\r\n\r\n" + evil.prefix(30), String(evil.dropFirst(30))]
            ),
            Surplus(
                testDescription: "with the trailers",
                pieces: [chunked + "2\r\nok\r\n", "0\r\nX-A: b\r\n\r\n" + evil.prefix(30), String(evil.dropFirst(30))]
            ),
            Surplus(
                testDescription: "HEAD",
                method: .head,
                pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n" + evil.prefix(30), String(evil.dropFirst(30))]
            ),
            Surplus(
                testDescription: "204",
                pieces: ["HTTP/1.1 204 No Content\r\n\r\n" + evil.prefix(30), String(evil.dropFirst(30))]
            ),
            Surplus(
                testDescription: "304",
                pieces: ["HTTP/1.1 304 Not Modified\r\nETag: a\r\n\r\n" + evil.prefix(30), String(evil.dropFirst(30))]
            ),
            Surplus(
                testDescription: "with the rest of a discarded body",
                pieces: [
                    "HTTP/1.1 200 OK\r\nContent-Length: 1002\r\n\r\no",
                    "k" + String(repeating: "x", count: 1000) + evil,
                ],
                discards: true
            ),
        ]
    }

    /// The way to the server.
    enum Way: CaseIterable { case plain, tls, proxy, tunnel, secureProxy, secureTunnel, unixSocket }

    /// The server, what is in front of it, and a loader that uses both.
    private struct Place {
        let loader: CurlLoader
        let url: String
        let fixtures: [TLSFixture]
        let proxy: RawServer?
    }

    private func proxy() -> RawServer {
        RawServer { connection in
            guard let head = connection.readHead() else { return }
            // The host and port of CONNECT, or of the whole URL.
            let text = head.split(separator: " ")[1]
            let authority = text.hasPrefix("http:") ? text.dropFirst(7).prefix { $0 != "/" } : text
            guard let port = authority.split(separator: ":").last.flatMap({ UInt16($0) }),
                let upstream = RawConnection.connect(to: port)
            else { return }
            if head.hasPrefix("CONNECT ") {
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
            } else {
                upstream.write(head)
            }
            connection.relay(to: upstream)
            close(upstream.descriptor)
        }
    }

    private func place(_ way: Way, server: RawServer, path: String) throws -> Place {
        var configuration = CurlLoader.Configuration()
        var fixtures: [TLSFixture] = []
        var proxy: RawServer?
        var url = "http://127.0.0.1:\(max(server.port, 1))/"
        if way == .tls || way == .tunnel || way == .secureTunnel {
            fixtures.append(try TLSFixture(upstreamPort: server.port))
            url = fixtures[0].baseURL + "/"
        }
        if [.proxy, .tunnel, .secureProxy, .secureTunnel].contains(way) {
            let made = self.proxy()
            proxy = made
            configuration.proxy = "http://127.0.0.1:\(made.port)"
            if way == .secureProxy || way == .secureTunnel {
                fixtures.append(try TLSFixture(upstreamPort: made.port))
                configuration.proxy = fixtures[fixtures.count - 1].baseURL
                configuration.overrides.texts[.proxyCacert] = fixtures[fixtures.count - 1].caPath
            }
        }
        if way == .unixSocket { configuration.overrides.unixSocket = path }
        if let fixture = fixtures.first { configuration.trust = .certificateFile(fixture.caPath) }
        return Place(loader: try CurlLoader(configuration: configuration), url: url, fixtures: fixtures, proxy: proxy)
    }

    @Test(
        "R39: bytes beyond a response end the connection, on each kind of connection",
        arguments: Way.allCases,
        Surplus.all
    )
    func surplus(way: Way, surplus: Surplus) async throws {
        let (written, heads) = (Counter(), Counter())
        let path = "/tmp/refrain-\(getpid())-\(UInt32.random(in: .min ... .max)).sock"
        defer { unlink(path) }
        let listener = way == .unixSocket ? LoopbackListener(path: path) : LoopbackListener(backlog: 128)
        let server = RawServer(listener) { connection in
            guard connection.readHead() != nil else { return }
            // All requests of a round have a connection before one of them is answered.
            let round = (heads.value / 3 + 1) * 3
            heads.add(1)
            for _ in 0..<5000 where heads.value < round { usleep(1000) }
            for piece in surplus.pieces {
                if !piece.isEmpty { connection.write(piece) }
                usleep(50_000)
            }
            written.add(1)
            while connection.readHead() != nil { heads.add(1) }
        }
        let place = try place(way, server: server, path: path)
        defer { withExtendedLifetime((server, place.proxy)) { for fixture in place.fixtures { fixture.stop() } } }
        for round in 1...2 {
            try await concurrently(3, inFlight: 3) { _ in
                var request = try HTTPRequest(place.url, method: surplus.method)
                request.streamsResponse = surplus.discards
                let response = try await place.loader.response(for: request)
                #expect(!response.exchange.reusedConnection)
                guard !surplus.discards else { return }
                let content = try await response.body.collect()
                #expect(content.isEmpty || content == Array("ok".utf8))
            }
            #expect(await eventually { written.value == 3 * round })
            // The relays pass it on.
            if way != .plain, way != .unixSocket { try await Task.sleep(for: .milliseconds(100)) }
        }
        #expect(heads.value == 6)
        #expect(server.connectionCount == 6)
    }
}
