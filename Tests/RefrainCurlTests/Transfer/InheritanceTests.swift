// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

#if os(Linux)
@Suite("CurlLoader: what child processes inherit", .timeLimit(.minutes(10)))
struct InheritanceTests {
    @Test("a program that a child executes has none of the transport's sockets, not even those that wake its thread")
    func sockets() async throws {
        let server = try FaultServer()
        let before = try Self.ownSockets()
        let loader = CurlLoader()
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).exchange.reusedConnection)
        // A look-up of another test has sockets for a moment, which libcurl keeps to itself.
        let added = try Self.ownSockets().subtracting(before)
        #expect(!added.isEmpty)
        #expect(await eventually { (try? Self.inheritedSockets().isDisjoint(with: added)) ?? false })
        // The thread is still woken: a request that is cancelled ends at once.
        let task = Task { await loader.load(try HTTPRequest(server.baseURL + "/hang")) }
        #expect(await eventually { server.count(path: "/hang") == 1 })
        task.cancel()
        #expect(try failure(of: await task.value).code == .cancelled)
    }

    /// The sockets of this process, by their inodes.
    private static func ownSockets() throws -> Set<String> {
        let (folder, files) = ("/proc/self/fd/", FileManager.default)
        let names = try files.contentsOfDirectory(atPath: folder)
        // A descriptor may be closed while the others are read.
        let links = names.compactMap { try? files.destinationOfSymbolicLink(atPath: folder + $0) }
        return Set(links.filter { $0.hasPrefix("socket:") })
    }

    /// The sockets that `ls` finds among its own descriptors.
    private static func inheritedSockets() throws -> Set<String> {
        Set(try list().split(whereSeparator: \.isWhitespace).map(String.init).filter { $0.hasPrefix("socket:") })
    }

    private static func list() throws -> String {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let texts: [String] = ["ls", "-l", "/proc/self/fd"]
        var words: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var pid = pid_t()
        let result = posix_spawn(&pid, "/bin/ls", &actions, nil, &words, environ)
        close(ends[1])
        try #require(result == 0)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(ends[0], &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        return String(decoding: text, as: UTF8.self)
    }
}
#endif
