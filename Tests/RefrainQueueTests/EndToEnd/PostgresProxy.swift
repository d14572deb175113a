// SPDX-License-Identifier: Apache-2.0
#if PostgreSQL
import Dispatch
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

/// A way to a server of PostgreSQL that can be cut: what is sent meanwhile is delivered when it is whole again.
final class PostgresProxy: Sendable {
    private enum State { case whole, cut, closed }

    private let folder: URL
    private let listener: Int32
    private let state = Locked(State.whole)

    /// Where its clients connect.
    var location: String { "host=\(folder.path()) user=postgres dbname=postgres" }

    init(to server: PostgresServer) throws {
        folder = URL(filePath: "/tmp/refrain-way-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let door = Self.socket()
        listener = door
        let isBound = Self.withAddress(folder.appending(path: ".s.PGSQL.5432").path()) { bind(door, $0, $1) } == 0
        guard isBound, listen(door, 8) == 0 else { throw HelperProcess.NotStarted(code: errno) }
        let (state, path) = (state, server.socket)
        DispatchQueue(label: "the door of a database").async {
            while true {
                let client = accept(door, nil, nil)
                guard client >= 0 else { return }
                let upstream = Self.socket()
                guard Self.withAddress(path, { connect(upstream, $0, $1) }) == 0 else {
                    close(client)
                    close(upstream)
                    continue
                }
                DispatchQueue(label: "a way to a database").async { Self.pass(client, upstream, state) }
            }
        }
    }

    /// Holds up what is sent from now on, in both directions.
    func cut() { state.withLock { $0 = .cut } }

    /// Delivers what was held up, and what follows.
    func heal() { state.withLock { $0 = .whole } }

    deinit {
        state.withLock { $0 = .closed }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(at: folder)
    }

    private static func socket() -> Int32 {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = systemSocket(AF_UNIX, kind, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafeBytes(of: &address) { bytes in
            guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return body(pointer, socklen_t(bytes.count))
        }
    }

    /// Passes bytes between two sockets, until one of them ends.
    private static func pass(_ client: Int32, _ server: Int32, _ state: Locked<State>) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            let present = state.withLock { $0 }
            guard present != .closed else { break }
            guard present == .whole, poll(&ends, 2, 10) > 0 else {
                poll(nil, 0, 5)
                continue
            }
            var isOver = false
            for (index, end) in ends.enumerated() where end.revents != 0 {
                let count = read(end.fd, &buffer, buffer.count)
                let other = ends[1 - index].fd
                isOver = isOver || count <= 0 || send(other, buffer, count, Int32(MSG_NOSIGNAL)) < 0
            }
            if isOver { break }
        }
        close(client)
        close(server)
    }
}

private func systemSocket(_ domain: Int32, _ kind: Int32, _ protocol: Int32) -> Int32 {
    socket(domain, kind, `protocol`)
}
#endif
