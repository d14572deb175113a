// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
import RefrainCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server of PostgreSQL of a test's own: in a temporary folder, on a Unix socket in it, as the user postgres.
///
/// The system's own servers are not touched.
final class PostgresServer: @unchecked Sendable {
    // @unchecked Sendable: one test uses it.
    private let folder: URL
    private var process: HelperProcess?

    /// The folder of the server's programs; nil: it is not installed.
    static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.sorted().last.map { "\(root)/\($0)/bin" }.flatMap {
            access($0 + "/initdb", X_OK) == 0 ? $0 : nil
        }
    }()

    /// Where the tests connect.
    var location: String { "host=\(folder.path()) user=postgres dbname=postgres" }

    /// The socket that it listens on.
    var socket: String { folder.appending(path: ".s.PGSQL.5432").path() }

    /// The same as a URL, for the command.
    var url: String { "postgres://postgres@/postgres?host=" + folder.path().dropLast() }

    /// Makes a server and starts it.
    ///
    /// - Parameter options: further settings, such as a bad default of the database.
    init(options: [String] = []) throws {
        guard let programs = Self.programs else { throw HelperProcess.NotStarted(code: ENOENT) }
        folder = URL(filePath: "/tmp/refrain-pg-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if geteuid() == 0, let user = getpwnam("postgres") {
            chown(folder.path(), user.pointee.pw_uid, user.pointee.pw_gid)
        }
        let data = folder.appending(path: "data").path()
        let status = try Self.run(["\(programs)/initdb", "-N", "-A", "trust", "-U", "postgres", "-D", data])
            .blockingEnd()
        guard status == 0 else { throw HelperProcess.NotStarted(code: status) }
        try start(options)
    }

    /// Starts the server, also after it was killed.
    func start(_ options: [String] = []) throws {
        guard let programs = Self.programs else { return }
        let folder = folder.path()
        let settings = ["listen_addresses=", "unix_socket_directories=\(folder)"] + options
        process = try Self.run(["\(programs)/postgres", "-D", "\(folder)/data"] + settings.flatMap { ["-c", $0] })
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            if try Self.run(["\(programs)/pg_isready", "-q", "-h", folder]).blockingEnd() == 0 { return }
            poll(nil, 0, 50)
        }
        throw HelperProcess.NotStarted(code: ETIMEDOUT)
    }

    /// Ends the server as a crash does.
    func kill() {
        // The children end with it: they notice that it is gone.
        process?.signal(SIGKILL)
        _ = process?.blockingEnd()
        process = nil
        poll(nil, 0, 1500)
    }

    /// The server refuses to run as root.
    private static func run(_ words: [String]) throws -> HelperProcess {
        guard geteuid() == 0 else { return try HelperProcess(Array(words.dropFirst()), program: words[0]) }
        let other = ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
        return try HelperProcess(other + words, program: "/usr/bin/setpriv")
    }

    deinit {
        process?.signal(SIGQUIT)
        _ = process?.blockingEnd()
        try? FileManager.default.removeItem(at: folder)
    }
}
#endif
