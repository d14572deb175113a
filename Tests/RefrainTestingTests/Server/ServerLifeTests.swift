// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("FaultServer: connections, scripts, stop", .serialized, .offPool, .timeLimit(.minutes(10)))
struct ServerLifeTests {
    @Test("200 connections at once, each with 20 keep-alive requests, are all answered and logged")
    func concurrency() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let port = server.port
        let good = Locked(0)
        inParallel(200) { index in
            guard let client = try? RawClient(port) else { return }
            for number in 0..<20 {
                client.request("/ok?c=\(index)&n=\(number)")
                if client.response()?.status == 200 { good.withLock { $0 += 1 } }
            }
        }
        #expect(good.withLock { $0 } == 4000)
        #expect(server.count(path: "/ok") == 4000)
        #expect(server.connectionCount == 200)
        #expect(Set(server.log.map(\.connection)).count == 200)
        #expect(Set(server.log.map(\.number)) == Set(1...20))
    }

    @Test("1,200 connections can be open at the same time")
    func manyOpen() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let clients = try (0..<1200).map { _ in try RawClient(server.port) }
        for client in clients { client.request("/ok") }
        for client in clients { #expect(client.response()?.status == 200) }
        #expect(server.openConnectionCount == 1200)
    }

    @Test("stop() ends hanging, sleeping, sending and idle connections and comes back; a second call does nothing")
    func stop() throws {
        let server = try FaultServer()
        var clients: [RawClient] = []
        for target in ["/hang", "/delay?ms=60000", "/huge", "/hang-unread", "/hang-headers", "/trickle?interval=60000"]
        {
            let client = try RawClient(server.port)
            client.request(target)
            clients.append(client)
        }
        clients.append(try RawClient(server.port))
        while server.log.count < 6 || server.openConnectionCount < 7 { Thread.pause() }
        let start = Thread.now()
        server.stop()
        #expect(Thread.now() - start < 50)
        server.stop()
        for client in clients { #expect(client.readAll().end != .timeout) }
        #expect(server.openConnectionCount == 0)
    }

    @Test("the last reference stops the server")
    func deinitStops() throws {
        var server: FaultServer? = try FaultServer()
        let port = try #require(server?.port)
        let client = try RawClient(port)
        client.request("/hang")
        while server?.log.isEmpty ?? false { Thread.pause() }
        server = nil
        #expect(client.readAll().end != .timeout)
    }

    @Test("a port in use is refused with an error that names it")
    func portInUse() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let error = #expect(throws: FaultServer.Failure.self) { try FaultServer(port: server.port) }
        #expect(error?.description.contains("127.0.0.1:\(server.port)") == true)
    }

    @Test("a script in Swift decides by the number of the request, step by step")
    func script() throws {
        let server = try FaultServer()
        defer { server.stop() }
        server.on("/mine") { request in
            request.occurrence == 1
                ? [
                    .text("HTTP/1.1 200 OK\r\n"), .sleep(.milliseconds(1)), .text("Content-Length: 2\r\n\r\nhi"),
                    .close,
                ]
                : [.respond(.init(201, headers: [("X-Body", "\(request.bodyLength)")], body: request.method))]
        }
        let first = try RawClient.exchange(server.port, "/mine")
        #expect(String(decoding: first.bytes, as: UTF8.self) == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        let second = try #require(try RawClient.fetch(server.port, "/mine", method: "PUT", body: "abc"))
        #expect(second.status == 201)
        #expect(second["X-Body"] == "3")
        #expect(second.text == "PUT")
        #expect(server.requests(toPath: "/mine").map(\.method) == ["GET", "PUT"])
    }

    @Test("each mode does on connect what its name says")
    func modes() throws {
        let hang = try FaultServer(mode: .hangOnAccept)
        let client = try RawClient(hang.port, timeoutMilliseconds: 200)
        client.request("/ok")
        #expect(client.readAll() == ([], .timeout))
        let reset = try FaultServer(mode: .resetOnAccept)
        let resetClient = try RawClient(reset.port)
        #expect(resetClient.readAll() == ([], .reset))
        let closing = try FaultServer(mode: .closeOnAccept)
        #expect(try RawClient(closing.port).readAll() == ([], .fin))
        let garbage = try FaultServer(mode: .garbageOnAccept)
        let (bytes, end) = try RawClient(garbage.port).readAll()
        #expect(!bytes.isEmpty && end == .fin && !bytes.starts(with: Array("HTTP".utf8)))
        let refuse = try FaultServer(mode: .refuse)
        #expect(throws: RawClient.Unreachable(code: ECONNREFUSED)) { try RawClient(refuse.port) }
        // The port stays taken, so that no other server can be met there.
        #expect(throws: FaultServer.Failure.self) { try FaultServer(port: refuse.port) }
        for server in [hang, reset, closing, garbage, refuse] { server.stop() }
    }

    @Test("a script that holds its server keeps it no longer than until it is stopped")
    func scriptsAreLetGo() throws {
        weak var kept: FaultServer?
        do {
            let server = try FaultServer()
            kept = server
            server.on("/a") { _ in [.respond(.init(302, headers: [("Location", server.baseURL)]))] }
            #expect(try RawClient.fetch(server.port, "/a")?.status == 302)
            server.stop()
        }
        #expect(kept == nil)
    }

    #if os(Linux)
    @Test("a server that never accepts leaves a connection attempt without an answer")
    func neverAccept() throws {
        let server = try FaultServer(mode: .neverAccept)
        defer { server.stop() }
        // The send timeout bounds connect() as well.
        var unanswered = 0
        for _ in 0..<4 {
            do {
                _ = try RawClient(server.port, timeoutMilliseconds: 200)
            } catch is RawClient.Unreachable {
                unanswered += 1
            }
        }
        #expect(unanswered >= 3)
    }
    #endif

    @Test("/ports starts the misbehaving servers once and says where they are")
    func ports() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let first = try #require(try RawClient.fetch(server.port, "/ports")).text
        let second = try #require(try RawClient.fetch(server.port, "/ports")).text
        #expect(first == second)
        for mode in FaultServer.Mode.allCases { #expect(first.contains("\"\(mode.rawValue)\":")) }
        #expect(first.contains("\"normal\":\(server.port)"))
    }
}

private func == (left: (bytes: [UInt8], end: RawClient.End), right: ([UInt8], RawClient.End)) -> Bool {
    left.bytes == right.0 && left.end == right.1
}
