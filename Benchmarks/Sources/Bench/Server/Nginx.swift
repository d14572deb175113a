// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// A real server on loopback: nginx with one worker, its own configuration, ports and folder.
///
/// It listens on two ports that the kernel has chosen: HTTP/1.1 in plain, and HTTPS with HTTP/2. It is stopped by its
/// own process id, and it stops by itself when the runner is gone.
final class Nginx {
    /// The server in plain: `http://127.0.0.1:PORT`.
    let plainURL: String
    /// The server over TLS: `https://127.0.0.1:PORT`.
    let secureURL: String
    /// The certificate to trust for `secureURL`.
    let certificateFile: String
    private let folder: String
    private let pid: pid_t

    /// Makes the folder, the files and the certificate, starts the server, and waits until it answers.
    init() throws {
        var template = Array("/tmp/refrain-bench.XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw BenchFailure("no temporary folder: \(errorText())") }
        folder = String(cString: made)
        // The worker of a server that root starts has another user, who must be able to read the files.
        chmod(folder, 0o755)
        let (plain, secure) = (try Self.freePort(), try Self.freePort())
        plainURL = "http://127.0.0.1:\(plain)"
        secureURL = "https://127.0.0.1:\(secure)"
        certificateFile = folder + "/certificate.pem"
        mkdir(folder + "/files", 0o755)
        // Digits, so that the smallest body is JSON as well.
        for (name, size) in [
            ("2b", 2), ("2k", 2000), ("16k", 16_384), ("64k", 65_536), ("128k", 131_072), ("256k", 262_144),
            ("512k", 524_288), ("1m", 1_048_576), ("5m", 5_000_000), ("10m", 10_485_760),
        ] {
            try Self.write([UInt8](repeating: UInt8(ascii: "1"), count: size), to: folder + "/files/" + name)
        }
        let people = (1...8).map {
            "{\"id\":\($0),\"name\":\"Person number \($0)\",\"email\":\"person.\($0)@example.com\","
                + "\"isActive\":true,\"score\":\($0).25,\"tags\":[\"first\",\"second\"]}"
        }
        try Self.write(Array("[\(people.joined(separator: ","))]".utf8), to: folder + "/files/json-1k")
        // Without blocks on the disk.
        for (name, size) in [("128m", 128_000_000), ("1g", 1_000_000_000)] {
            try Self.write([], to: folder + "/files/" + name)
            truncate(folder + "/files/" + name, size)
        }
        let certificate = try Child.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1",
                "-addext", "subjectAltName=" + (1...8).map { "IP:127.0.0.\($0)" }.joined(separator: ","), "-keyout",
                folder + "/key.pem", "-out", certificateFile,
                "-batch",
            ],
            silently: true
        )
        guard certificate.status == 0 || access(certificateFile, R_OK) == 0 else {
            throw BenchFailure("openssl made no certificate")
        }
        let configuration = Self.configuration(folder: folder, plain: plain, secure: secure)
        try Self.write(Array(configuration.utf8), to: folder + "/nginx.conf")
        let nginx = access("/usr/sbin/nginx", X_OK) == 0 ? "/usr/sbin/nginx" : "nginx"
        pid = try Child.spawn(
            "setpriv",
            ["--pdeathsig", "TERM", nginx, "-p", folder, "-c", folder + "/nginx.conf", "-e", folder + "/error.log"]
        )
        try waitUntilItAnswers(plain)
    }

    /// Stops the server and removes its folder.
    func stop() {
        kill(pid, SIGTERM)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Reads a file that is served, so that its pages are in memory.
    ///
    /// A kernel that gives up what was not used of late, as those of some virtual machines do, has dropped a large one
    /// between two rounds, and whichever client comes first would wait until the server has read it again.
    func bringIntoMemory(_ file: String) {
        let descriptor = open(folder + "/files/" + file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }

    /// How many requests for `/fail` have arrived, counted by the server's own log.
    func failedRequests() -> Int {
        guard let data = FileManager.default.contents(atPath: folder + "/fail.log") else { return 0 }
        return data.count { $0 == UInt8(ascii: "\n") }
    }

    private func waitUntilItAnswers(_ port: UInt16) throws {
        for _ in 0..<200 {
            if Self.canConnect(port) { return }
            usleep(25_000)
        }
        let log = FileManager.default.contents(atPath: folder + "/error.log") ?? Data()
        stop()
        throw BenchFailure("nginx did not start: " + String(decoding: log, as: UTF8.self))
    }

    private static func configuration(folder: String, plain: UInt16, secure: UInt16) -> String {
        """
        daemon off;
        worker_processes 1;
        worker_rlimit_nofile 20000;
        pid \(folder)/nginx.pid;
        error_log \(folder)/error.log crit;
        events { worker_connections 12000; }
        http {
            access_log off;
            sendfile on;
            tcp_nopush on;
            tcp_nodelay on;
            keepalive_timeout 300s;
            keepalive_requests 1000000000;
            open_file_cache max=100 inactive=600s;
            open_file_cache_valid 600s;
            default_type application/octet-stream;
            log_format line $status;
            client_body_temp_path \(folder)/client;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
            root \(folder)/files;
            server {
                listen \(plain) backlog=16384;
                # Any number of names for one file.
                location ~ ^/many/(?<size>[0-9a-z]+)/ { try_files /$size =404; }
                location = /fail { access_log \(folder)/fail.log line; return 503 "no"; }
            }
            server {
                listen \(secure) ssl http2 backlog=16384;
                ssl_certificate \(folder)/certificate.pem;
                ssl_certificate_key \(folder)/key.pem;
            }
        }

        """
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
            throw BenchFailure("cannot write \(path)")
        }
    }

    /// A port that is free: the kernel chooses it, and it is given back at once.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard result else { throw BenchFailure("no free port: \(errorText())") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func canConnect(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
