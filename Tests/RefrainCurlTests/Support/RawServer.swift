// SPDX-License-Identifier: Apache-2.0
import CurlShim
import RefrainCore

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A socket that listens on a free port of loopback.
struct LoopbackListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// Listens, with so many connections that wait to be accepted.
    init(backlog: Int32) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(descriptor, address, length)
                _ = listen(descriptor, backlog)
                _ = getsockname(descriptor, address, &length)
            }
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Listens on a Unix domain socket.
    init(path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        port = 0
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8) + [0]) }
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        listen(descriptor, 128)
    }

    /// Waits for the next connection; nil after `stop()`.
    ///
    /// The thread that accepts closes the descriptor. Were `stop()` to do it, the thread might go on to accept from
    /// another test's socket that was given the same number.
    func accept() -> Int32? {
        while true {
            let connection = Glibc.accept(descriptor, nil, nil)
            guard connection < 0 else { return connection }
            switch errno {
            case EINTR, ECONNABORTED: continue
            // Other tests have all descriptors open for a moment.
            case EMFILE, ENFILE: usleep(10_000)
            default:
                close(descriptor)
                return nil
            }
        }
    }

    /// Ends the wait for connections, for good.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// A loopback server that hands each connection to a closure, for what is not HTTP/1.1.
final class RawServer: Sendable {
    private let listener: LoopbackListener
    private let accepted = Counter()

    var port: UInt16 { listener.port }
    var connectionCount: Int { accepted.value }

    init(
        _ listener: LoopbackListener = LoopbackListener(backlog: 128),
        _ serve: @escaping @Sendable (RawConnection) -> Void
    ) {
        self.listener = listener
        startThread { [listener, accepted] in
            while let descriptor = listener.accept() {
                accepted.add(1)
                startThread {
                    serve(RawConnection(descriptor))
                    close(descriptor)
                }
            }
        }
    }

    deinit { listener.stop() }
}

/// One connection, read and written by one thread.
final class RawConnection {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Reads exactly so many bytes; nil at the end of the connection.
    func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let number = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress.map { $0 + done }, count - done, 0)
            }
            guard number > 0 else { return nil }
            done += number
        }
        return bytes
    }

    /// Reads through a blank line; nil at the end of the connection.
    func readHead() -> String? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let next = read(1) else { return nil }
            bytes += next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes bytes; returns false if the connection has ended.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let number = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, Int32(MSG_NOSIGNAL))
            }
            guard number > 0 else { return false }
            done += number
        }
        return true
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// Carries bytes between this connection and another one until either ends.
    func relay(to other: RawConnection) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var polls = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&polls, 2, 90_000) > 0 else { return }
            for (from, to) in [(0, other), (1, self)] where polls[from].revents != 0 {
                let number = recv(polls[from].fd, &buffer, buffer.count, 0)
                guard number > 0 else { return }
                to.write(Array(buffer[..<number]))
            }
        }
    }

    /// The port of this end, by `getsockname`, or of the other one, by `getpeername`.
    func port(_ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Connects to a port on loopback.
    static func connect(to port: UInt16) -> RawConnection? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return result == 0 ? RawConnection(descriptor) : nil
    }
}

private final class Job {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

func startThread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let job = Unmanaged.passRetained(Job(body))
    pthread_create(
        &thread,
        nil,
        { context in
            guard let context else { return nil }
            Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body()
            return nil
        },
        job.toOpaque()
    )
    pthread_detach(thread)
}
