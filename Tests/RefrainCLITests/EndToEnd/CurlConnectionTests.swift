// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import TLSFixture
import Testing

@testable import RefrainCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite(
    "Options of curl that set connections, times and rates, beside curl itself",
    .enabled(if: Executable.installed("curl") != nil)
)
struct CurlConnectionTests {
    private func curl(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["-q", "-sS"] + words, program: Executable.installed("curl") ?? "")
    }

    private func own(_ words: [String]) async throws -> Executable.Ended {
        try await Executable.run(["get", "--attempts", "1"] + words)
    }

    @Test("--unix-socket connects by a socket of the file system")
    func unixSocket() async throws {
        let socket = try ScratchFile()
        let server = try UnixServer(path: socket.path)
        let words = ["--unix-socket", socket.path, "http://refrain.example/a/b?c"]
        let (theirs, ours) = (try await curl(words), try await own(words))
        #expect(theirs.status == 0 && ours.status == 0, "\(theirs.errors) \(ours.errors)")
        #expect(ours.output == theirs.output && ours.text == "GET /a/b?c HTTP/1.1, Host: refrain.example")
        server.stop()
        let missing = ["--unix-socket", socket.path + "-none", "http://refrain.example/"]
        let (none, noneOfOurs) = (try await curl(missing), try await own(missing))
        #expect(none.status != 0 && noneOfOurs.status == 1)
        socket.remove()
    }

    @Test("-4 and -6 keep to one family of addresses")
    func families() async throws {
        let server = try FaultServer()
        for (option, sends) in [("-4", 2), ("-6", 0)] {
            server.clearLog()
            let words = [option, server.baseURL + "/ok"]
            let (theirs, ours) = (try await curl(words), try await own(words))
            #expect((theirs.status == 0) == (ours.status == 0), "\(option): \(theirs.errors) \(ours.errors)")
            #expect(server.log.count == sends)
        }
    }

    @Test("-m ends a request that is not answered, and --connect-timeout one that does not connect")
    func timeouts() async throws {
        let server = try FaultServer()
        let silent = try SilentListener()
        defer { silent.close() }
        for words in [
            // Long enough for a busy machine to get the request out.
            ["-m", "2", server.baseURL + "/hang"], ["--max-time", "2", server.baseURL + "/hang"],
            // The server accepts, and says nothing in the handshake of TLS, which belongs to the connection.
            ["--connect-timeout", "0.5", "https://127.0.0.1:\(silent.port)/"],
        ] {
            for isOurs in [false, true] {
                // The process measures itself: a busy machine starts it late.
                let timed = ["-w", "%{time_total}"] + words
                let ended = try await isOurs ? own(timed) : curl(timed)
                let who = "\(isOurs ? "refrain" : "curl") \(words[0]): \(ended.text), \(ended.errors)"
                #expect(ended.status == (isOurs ? 1 : 28), "\(who)")
                let took = try #require(Double(ended.text.split(separator: "\n").last ?? ""), "\(who)")
                #expect(took >= (words[1] == "2" ? 1.95 : 0.45) && took < 60, "\(who)")
            }
        }
        #expect(server.log.count == 4)
    }

    @Test("--retry-max-time begins no attempt after it")
    func retryMaxTime() async throws {
        let server = try FaultServer()
        let words = [
            "--retry", "5", "--retry-delay", "4", "--retry-max-time", "7", "-f", server.baseURL + "/status/503",
        ]
        let theirs = try await curl(words)
        let count = server.log.count
        server.clearLog()
        let ours = try await Executable.run(["get"] + words)
        #expect(theirs.status == 22 && ours.status == 22, "\(ours.errors)")
        #expect(server.log.count == count && count == 3)
        server.clearLog()
        // A server that wants a longer wait is not asked before, nor waited for.
        server.on("/later") { _ in [.respond(.init(503, headers: [("Retry-After", "200")]))] }
        let late = ["--retry", "2", "--retry-max-time", "10", "-f", server.baseURL + "/later"]
        #expect(try await curl(late).status == 22)
        #expect(try await Executable.run(["get"] + late).status == 75)
        #expect(server.log.count == 2)
    }

    @Test("--limit-rate and --rate hold back as curl's do")
    func rates() async throws {
        let server = try FaultServer()
        let clock = ContinuousClock()
        let urls = (0..<4).map { "\(server.baseURL)/ok?\($0)" }
        for (words, least) in [
            (["--limit-rate", "400k", "-o", "/dev/null", server.baseURL + "/bytes/1200000"], Duration.seconds(1)),
            (["--rate", "10/s"] + urls, Duration.milliseconds(300)),
        ] {
            let theirs = try await clock.measure { _ = try await curl(words) }
            let ours = try await clock.measure { _ = try await own(words) }
            // curl does not hold back what has come before it first looks, which is all of it on a busy machine.
            #expect(ours >= least, "\(words[0]): \(theirs) \(ours)")
            #expect(ours < max(theirs * 3, .seconds(60)), "\(words[0]): \(theirs) \(ours)")
        }
    }

    @Test("--cert and --key give the certificate of the client")
    func certificate() async throws {
        let server = try FaultServer()
        let fixture = try TLSFixture(upstreamPort: server.port, requiresClientCertificate: true)
        let words = [
            "--cacert", fixture.caPath, "--cert", fixture.clientFile("client", "pem"), "--key",
            fixture.clientFile("client", "key"), fixture.baseURL + "/ok",
        ]
        let (theirs, ours) = (try await curl(words), try await own(words))
        #expect(theirs.status == 0 && ours.status == 0, "\(theirs.errors) \(ours.errors)")
        #expect(ours.output == theirs.output && fixture.handshakeCount == 2)
        let without = ["--cacert", fixture.caPath, fixture.baseURL + "/ok"]
        let (refused, oursRefused) = (try await curl(without), try await own(without))
        #expect(refused.status != 0 && oursRefused.status == 1)
    }
}

/// A port of loopback whose connections the system accepts, and from which nothing is read.
struct SilentListener {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, kind, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        try #require(isBound && listen(listener, 16) == 0)
        port = UInt16(bigEndian: address.sin_port)
    }

    func close() { systemClose(descriptor) }
}

/// A server on a socket of the file system, which answers each request with its first line and its host.
private final class UnixServer: Sendable {
    private let descriptor: Int32

    init(path: String) throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        descriptor = socket(AF_UNIX, kind, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = self.descriptor
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound && listen(listener, 16) == 0)
        Task { await Executable.Running.onThread { Self.serve(listener) } }
    }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private static func serve(_ descriptor: Int32) {
        while true {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { break }
            answer(connection)
            systemClose(connection)
        }
        systemClose(descriptor)
    }

    private static func answer(_ connection: Int32) {
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: head, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            head += buffer[..<count]
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        let body = ([lines[0]] + lines.filter { $0.lowercased().hasPrefix("host:") }).joined(separator: ", ")
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        _ = Array(text.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
    }
}

private func systemClose(_ descriptor: Int32) { close(descriptor) }
