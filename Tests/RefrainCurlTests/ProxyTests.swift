// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import ScriptedResolver
import TLSFixture
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: proxies and settings", .timeLimit(.minutes(10)))
struct ProxyTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    /// A proxy that knows CONNECT, and answers everything else itself.
    private func proxy(connectStatus: String = "200 OK", target: UInt16) -> RawServer {
        RawServer { connection in
            guard let head = connection.readHead() else { return }
            guard head.hasPrefix("CONNECT ") else {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy")
                _ = connection.readHead()
                return
            }
            connection.write("HTTP/1.1 \(connectStatus)\r\nX-Proxy: yes\r\n\r\n")
            guard connectStatus.hasPrefix("200"), let upstream = RawConnection.connect(to: target) else { return }
            connection.relay(to: upstream)
        }
    }

    private func loader(proxy: RawServer, fixture: TLSFixture? = nil) throws -> CurlLoader {
        var configuration = CurlLoader.Configuration()
        configuration.proxy = "http://127.0.0.1:\(proxy.port)"
        if let fixture { configuration.trust = .certificateFile(fixture.caPath) }
        return try CurlLoader(configuration: configuration)
    }

    @Test("plain requests go to the proxy")
    func plain() async throws {
        let proxy = proxy(target: server.port)
        let response = try await loader(proxy: proxy).response(for: HTTPRequest(server.baseURL + "/ok"))
        #expect(try await response.body.collect() == Array("proxy".utf8))
        #expect(server.log.isEmpty)
    }

    @Test("TLS goes through the proxy, whose own head and bytes do not count")
    func tunnel() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { fixture.stop() }
        let proxy = proxy(target: fixture.port)
        let loader = try loader(proxy: proxy, fixture: fixture)
        let response = try await loader.response(for: HTTPRequest(fixture.baseURL + "/ok"))
        #expect(response.status == 200)
        #expect(response.headers["X-Proxy"] == nil)
        let direct = try await CurlLoader().response(for: HTTPRequest(server.baseURL + "/ok"))
        #expect(response.exchange.bytesSent == direct.exchange.bytesSent)
    }

    @Test(
        "a proxy that refuses has its codes, and nothing of the request was sent",
        arguments: [
            ("407 Proxy Authentication Required", HTTPError.Code.proxyAuthenticationRequired),
            ("502 Bad Gateway", .cannotConnectToHost),
            ("429 Too Many Requests", .cannotConnectToHost),
            ("403 Forbidden\r\nRetry-After: 1", .cannotConnectToHost),
            ("403 Forbidden", .proxyRefused),
            ("404 Not Found", .proxyRefused),
            ("501 Not Implemented", .proxyRefused),
        ]
    )
    func refusal(status: String, code: HTTPError.Code) async throws {
        let proxy = proxy(connectStatus: status, target: server.port)
        let error = try failure(of: await loader(proxy: proxy).load(HTTPRequest("https://127.0.0.1:\(server.port)/")))
        #expect(error.code == code, "\(error)")
        #expect(error.bytesSent == 0)
    }

    private func retry(_ loader: CurlLoader) -> some HTTPLoader {
        Retry(RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3)), budgets: nil) --> loader
    }

    @Test("R8: a CONNECT that was refused with a final status is not sent again")
    func finalRefusal() async throws {
        let proxy = proxy(connectStatus: "403 Forbidden", target: server.port)
        let error = try failure(of: await retry(loader(proxy: proxy)).load(HTTPRequest("https://127.0.0.1:1/")))
        #expect(error.code == .proxyRefused && error.attempts.count == 1, "\(error)")
        #expect(proxy.connectionCount == 1)
    }

    @Test("R15: the Retry-After of a proxy that cannot connect now is honoured")
    func delayedRefusal() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { fixture.stop() }
        let delay = Locked<Int?>(1)
        let proxy = RawServer { [port = fixture.port] connection in
            guard connection.readHead() != nil else { return }
            let asked = delay.withLock { delay in
                defer { delay = nil }
                return delay
            }
            if let asked {
                connection.write("HTTP/1.1 503 Busy\r\nRetry-After: \(asked)\r\nContent-Length: 5\r\n\r\nlater")
                return
            }
            connection.write("HTTP/1.1 200 OK\r\n\r\n")
            guard let upstream = RawConnection.connect(to: port) else { return }
            connection.relay(to: upstream)
        }
        let loader = try retry(loader(proxy: proxy, fixture: fixture))
        let response = try await loader.response(for: HTTPRequest(fixture.baseURL + "/ok"))
        #expect(response.status == 200 && response.headers["Retry-After"] == nil)
        #expect(response.attempts.map(\.error) == [.cannotConnectToHost, nil])
        #expect(response.attempts[0].delay >= .seconds(1) && response.attempts[0].rules.numbers.contains(15))
        var request = try HTTPRequest(fixture.baseURL + "/ok")
        request.timeout = .seconds(100)
        request.needsFreshConnection = true
        delay.withLock { $0 = 200 }
        #expect(try failure(of: await loader.load(request)).code == .retryAfterTooLong)
    }

    @Test("hosts that cannot be found or reached have their codes")
    func unreachable() async throws {
        let loader = CurlLoader()
        let refusing = try FaultServer(mode: .refuse)
        let refused = try failure(of: await loader.load(HTTPRequest(refusing.baseURL + "/")))
        #expect(refused.code == .cannotConnectToHost)
        #expect(refused.bytesSent == 0)
        // A name server of the machine's may take a minute to say so.
        try #require(scripted_resolver_set("no-such-host.invalid", nil, 0) == 1)
        let unknown = try failure(of: await loader.load(HTTPRequest("http://no-such-host.invalid/")))
        #expect(unknown.code == .cannotFindHost)
        #expect(unknown.bytesSent == 0)
        var configuration = CurlLoader.Configuration()
        configuration.proxy = "http://no-such-host.invalid:3128"
        let proxied = try CurlLoader(configuration: configuration)
        // The setting stays wrong, however often it is tried.
        let error = try failure(of: await retry(proxied).load(HTTPRequest(server.baseURL + "/ok")))
        #expect(error.code == .cannotFindProxy && error.attempts.count == 1, "\(error)")
    }

    @Test("R8: a SOCKS proxy that rejects the user, or wants one, is not asked again", arguments: [2, 0xFF] as [UInt8])
    func rejectedBySOCKS(method: UInt8) async throws {
        let proxy = RawServer { connection in
            guard let greeting = connection.read(2), connection.read(Int(greeting[1])) != nil else { return }
            connection.write([5, method])
            guard method == 2, let user = connection.read(2), connection.read(Int(user[1])) != nil,
                let password = connection.read(1), connection.read(Int(password[0])) != nil
            else { return }
            connection.write([1, 2])
        }
        var configuration = CurlLoader.Configuration()
        configuration.proxy = "socks5h://u:wrong@127.0.0.1:\(proxy.port)"
        let loader = try CurlLoader(configuration: configuration)
        let result = await loader.load(try HTTPRequest(server.baseURL + "/ok"))
        guard case .failure(let error) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.code == .proxyAuthenticationRequired, "\(error)")
        #expect(server.log.isEmpty && !"\(error)".contains("wrong"))
    }

    @Test(
        "R8: a SOCKS proxy whose rules forbid the host is not asked again; one that cannot reach it is",
        arguments: [(2, false), (5, true), (7, false), (8, false)] as [(UInt8, Bool)]
    )
    func refusedBySOCKS(reply: UInt8, isTransient: Bool) async throws {
        let proxy = RawServer { connection in
            guard let greeting = connection.read(2), connection.read(Int(greeting[1])) != nil else { return }
            connection.write([5, 0])
            guard let request = connection.read(5), connection.read(Int(request[4]) + 2) != nil else { return }
            connection.write([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        var configuration = CurlLoader.Configuration()
        configuration.proxy = "socks5h://127.0.0.1:\(proxy.port)"
        let loader = try CurlLoader(configuration: configuration)
        let error = try failure(of: await loader.load(HTTPRequest("http://example.test/", method: .post)))
        #expect(error.code == (isTransient ? .cannotConnectToHost : .proxyRefused), "\(error)")
        #expect(error.bytesSent == 0)
    }

    @Test("R31: settings that cannot be used are refused where they are given")
    func invalidSettings() {
        let changes: [(String, (inout CurlLoader.Configuration) -> Void)] = [
            ("maximumConnectionsPerHost", { $0.maximumConnectionsPerHost = 0 }),
            ("maximumConnectionsPerHost", { $0.maximumConnectionsPerHost = .max }),
            ("maximumIdleConnections", { $0.maximumIdleConnections = -1 }),
            ("maximumIdleTime", { $0.maximumIdleTime = .seconds(-1) }),
            ("trust", { $0.trust = .certificateFile("/nonexistent.pem") }),
            ("proxy", { $0.proxy = "ftp://host" }),
            ("proxy", { $0.proxy = "http://ho st" }),
            ("proxy", { $0.proxy = "http://u:geheim@127.0.0.1:99999" }),
            ("proxy", { $0.proxy = "u:geheim@127.0.0.1:1:2" }),
            ("proxy", { $0.proxy = "ftp://u:geheim@127.0.0.1" }),
            // libcurl would leave these out, and send requests past the proxy.
            ("proxy", { $0.proxy = "http://u:geheim%00@127.0.0.1:1" }),
            ("proxy", { $0.proxy = "u%0a:geheim@127.0.0.1:1" }),
            ("proxy", { $0.proxy = "socks5h://u:geheim%01@127.0.0.1:1" }),
            ("userAgent", { $0.userAgent = "a\r\nX: y" }),
        ]
        for (argument, change) in changes {
            var configuration = CurlLoader.Configuration()
            change(&configuration)
            let error = #expect(throws: InvalidArgument.self) { try CurlLoader(configuration: configuration) }
            #expect(error?.argument == argument)
            #expect(!"\(String(describing: error))".contains("geheim"))
        }
        for proxy in [
            "", "127.0.0.1", "127.0.0.1:3128", "http://u:p%40ss@[::1]:3128", "socks5h://proxy.example", "u@h:1",
        ] {
            var configuration = CurlLoader.Configuration()
            configuration.proxy = proxy
            #expect(throws: Never.self) { try CurlLoader(configuration: configuration) }
        }
    }

    @Test("guard 6: a request that breaks HTTP is refused before anything is sent")
    func invalidRequests() async throws {
        for (name, value) in [("X-A", "a\r\nX-B: c"), ("X A", "b"), ("Content-Length", "5"), ("X-N", "a\0b")] {
            var request = try HTTPRequest(server.baseURL + "/ok")
            request.headers.add(name, value)
            let error = try failure(of: await CurlLoader().load(request))
            #expect(error.code == .invalidRequest)
            #expect(error.bytesSent == 0)
        }
        #expect(server.log.isEmpty)
    }

    @Test("headers arrive as they were given: Host, repeats, empty values; and the transport adds few")
    func headers() async throws {
        var request = try HTTPRequest(server.baseURL + "/ok")
        request.headers = ["Host": "example.test", "X-Two": "1", "X-Two": "2", "X-Empty": "", "X-Long": "é"]
        _ = try await CurlLoader().response(for: request)
        let entry = try #require(server.log.first)
        #expect(entry.header("Host") == "example.test")
        #expect(entry.headers.filter { $0.first == "X-Two" }.map(\.last) == ["1", "2"])
        #expect(entry.header("X-Empty") == "")
        #expect(entry.header("X-Long") == "é")
        #expect(entry.header("User-Agent")?.hasPrefix("refrain/") == true)
        #expect(entry.header("Accept-Encoding")?.contains("gzip") == true)
        request.headers["Accept-Encoding"] = "identity"
        request.headers["User-Agent"] = "mine"
        _ = try await CurlLoader().response(for: request)
        #expect(server.log.last?.header("Accept-Encoding") == "identity")
        #expect(server.log.last?.header("User-Agent") == "mine")
    }

    @Test("gzip is undone unless the request names codings of its own")
    func decoding() async throws {
        let loader = CurlLoader()
        let bomb = server.baseURL + "/gzip-bomb?bytes=1000000"
        let decoded = try await loader.response(for: HTTPRequest(bomb))
        #expect(decoded.body.length == 1_000_000)
        #expect(decoded.exchange.bytesReceived < 10_000)
        let raw = try await loader.response(for: HTTPRequest(bomb, headers: ["Accept-Encoding": "gzip"]))
        #expect(try #require(raw.body.length) < 10_000)
        #expect(try await loader.response(for: HTTPRequest(bomb)).body.length == 1_000_000)
    }

    @Test("R10: a part of the content is asked for without a coding, which could not be undone")
    func partWithoutCoding() async throws {
        let loader = CurlLoader()
        for (headers, expected) in [
            (HTTPHeaders(), "gzip, deflate"), (["Range": "bytes=0-9"], "identity"),
            (["Range": "bytes=0-9", "Accept-Encoding": "gzip"], "gzip"),
            (["Range": "bytes=0-9", "Accept-Encoding": HTTPHeaders.Field.defaultAcceptEncoding.value], "identity"),
        ] {
            _ = try await loader.response(for: HTTPRequest(server.baseURL + "/ok", headers: headers))
            let entry = try #require(server.log.last)
            #expect(entry.headers.filter { $0.first == "Accept-Encoding" }.map(\.last) == [expected])
        }
    }

    @Test("the default headers of other libraries leave the codings to the transport")
    func defaultCodings() async throws {
        var headers = HTTPHeaders.default
        headers.add(name: "X-Own", value: "1")
        let bomb = server.baseURL + "/gzip-bomb?bytes=1000000"
        #expect(try await CurlLoader().response(for: HTTPRequest(bomb, headers: headers)).body.length == 1_000_000)
        let entry = try #require(server.log.last)
        #expect(entry.headers.filter { $0.first == "Accept-Encoding" }.map(\.last) == ["gzip, deflate"])
        #expect(entry.header("X-Own") == "1" && entry.header("Accept-Language") != nil)
        var configuration = CurlLoader.Configuration()
        configuration.decompresses = false
        let raw = try await CurlLoader(configuration: configuration).response(for: HTTPRequest(bomb, headers: headers))
        #expect(try #require(raw.body.length) < 10_000)
        #expect(server.log.last?.header("Accept-Encoding") == HTTPHeaders.Field.defaultAcceptEncoding.value)
    }

    @Test("a fresh connection is made where one is asked for")
    func freshConnection() async throws {
        let loader = CurlLoader()
        var request = try HTTPRequest(server.baseURL + "/ok")
        _ = try await loader.response(for: request)
        #expect(try await loader.response(for: request).exchange.reusedConnection)
        request.needsFreshConnection = true
        #expect(try await !loader.response(for: request).exchange.reusedConnection)
        #expect(server.connectionCount == 2)
    }

    @Test("R29: bytesSent is what has reached the server")
    func bytesSent() async throws {
        let counter = Counter()
        let raw = RawServer { connection in
            while let head = connection.readHead() {
                let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                let size = length.flatMap { Int($0.dropFirst(16)) } ?? 0
                guard connection.read(size) != nil else { return }
                counter.add(head.utf8.count + size)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let loader = CurlLoader()
        var sum = 0
        for size in [0, 1, 100, 16_384, 16_385, 100_000, 1_000_000] {
            for method: HTTPMethod in [.get, .post] {
                let body = HTTPBody.bytes([UInt8](repeating: 1, count: size))
                let request = try HTTPRequest("http://127.0.0.1:\(raw.port)/", method: method, body: body)
                sum += Int(try #require(try await loader.response(for: request).exchange.bytesSent))
                #expect(sum == counter.value, "\(method) \(size)")
            }
        }
    }
}
