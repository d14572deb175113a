// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Accepts connections on one thread and starts a thread for each of them.
final class Listener: Sendable {
    private struct State {
        var lastNumber = 0
        /// The open descriptors by connection number, while they may be shut down from outside.
        var open: [Int: Int32] = [:]
        var acceptor: ServerThread?
        var isStopped = false
    }

    private let socket: ServerSocket
    private let mode: FaultServer.Mode
    private let server: ServerState
    private let state = Locked(State())
    private let connections = ServerThreadGroup()
    /// Connections that keep the queue full in the mode `neverAccept`.
    private let filling: [Int32]
    /// A byte in this pipe wakes the accepting thread.
    private let wake: (read: Int32, write: Int32)

    init(socket: ServerSocket, mode: FaultServer.Mode, server: ServerState) throws(FaultServer.Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            let code = errno
            socket.close()
            throw .outOfResources(call: "pipe", errno: code)
        }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        self.socket = socket
        self.mode = mode
        self.server = server
        wake = (ends[0], ends[1])
        // Before the port is published; otherwise a client's connection could fill the queue.
        filling = mode == .neverAccept ? socket.fillQueue() : []
        guard let acceptor = ServerThread.start({ [self] in accept() }) else {
            close(ends[0])
            close(ends[1])
            for descriptor in filling { close(descriptor) }
            socket.close()
            throw .outOfResources(call: "pthread_create", errno: EAGAIN)
        }
        state.withLock { $0.acceptor = acceptor }
    }

    var acceptedCount: Int { state.withLock { $0.lastNumber } }
    var openCount: Int { state.withLock { $0.open.count } }

    func stop() {
        let acceptor = state.withLock { state -> ServerThread? in
            if state.isStopped { return nil }
            state.isStopped = true
            for descriptor in state.open.values { shutdown(descriptor, Int32(SHUT_RDWR)) }
            return state.acceptor
        }
        guard let acceptor else { return }
        var byte: UInt8 = 0
        _ = write(wake.write, &byte, 1)
        acceptor.join()
        connections.wait()
        close(wake.read)
        close(wake.write)
    }

    private func accept() {
        let accepts = mode != .neverAccept && mode != .refuse
        defer {
            for descriptor in filling { close(descriptor) }
            socket.close()
        }
        var waits = [
            pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
            pollfd(fd: accepts ? socket.descriptor : -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&waits, 2, -1) >= 0 || errno == EINTR else { return }
            if waits[0].revents != 0 { return }
            guard waits[1].revents != 0 else { continue }
            let descriptor = socket.accept()
            if descriptor >= 0 {
                serve(descriptor)
            } else if errno == EMFILE || errno == ENFILE {
                // No descriptors left: the connection stays in the queue, and the loop must not spin.
                _ = poll(nil, 0, 10)
            }
        }
    }

    private func serve(_ descriptor: Int32) {
        let number = state.withLock { state -> Int? in
            if state.isStopped { return nil }
            state.lastNumber += 1
            state.open[state.lastNumber] = descriptor
            return state.lastNumber
        }
        guard let number else {
            close(descriptor)
            return
        }
        if mode == .resetOnAccept { return end(number, descriptor, by: .reset) }
        if mode == .closeOnAccept { return end(number, descriptor, by: .close) }
        let hasStarted = connections.start { [self] in
            let connection = Connection(descriptor: descriptor, number: number, server: server)
            end(number, descriptor, by: connection.run(mode))
        }
        if !hasStarted { end(number, descriptor, by: .reset) }
    }

    private func end(_ number: Int, _ descriptor: Int32, by ending: Connection.Ending) {
        // Before the descriptor is closed, because its number may be reused immediately.
        state.withLock { _ = $0.open.removeValue(forKey: number) }
        if ending == .reset {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
        close(descriptor)
    }
}

/// A listening socket on 127.0.0.1.
struct ServerSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    /// Binds the port; without a backlog it does not listen, so that connections are refused.
    init(port: UInt16, backlog: Int32?) throws(FaultServer.Failure) {
        let descriptor = Self.stream()
        guard descriptor >= 0 else { throw .outOfResources(call: "socket", errno: errno) }
        if backlog != nil || port != 0 {
            // Not set for any port that refuses connections, because another server could then be given it too. A port
            // that is named may have been another's a moment ago.
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = Self.loopback(port)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, backlog.map({ listen(descriptor, $0) }) ?? 0 == 0 else {
            let code = errno
            _ = Self.systemClose(descriptor)
            throw .cannotBind(port: port, errno: code)
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
    }

    func close() { _ = Self.systemClose(descriptor) }

    /// Accepts one connection; returns a negative number if there is none or no descriptor is left.
    func accept() -> Int32 {
        let accepted = Self.systemAccept(descriptor)
        guard accepted >= 0 else { return accepted }
        // glibc declares accept4 for GNU sources only, so the flag is set in a second step.
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        var yes: Int32 = 1
        #if canImport(Darwin)
        setsockopt(accepted, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
        setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return accepted
    }

    /// Connects to itself until the queue is full, so that the kernel leaves further connections unanswered.
    func fillQueue() -> [Int32] {
        (0..<4).compactMap { _ in
            let client = Self.stream()
            guard client >= 0 else { return nil }
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            var address = Self.loopback(port)
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            return client
        }
    }

    private static func stream() -> Int32 {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptor
        #else
        return socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return address
    }

    // The methods of this type shadow the functions of the same names.
    #if canImport(Glibc)
    private static func systemAccept(_ descriptor: Int32) -> Int32 { Glibc.accept(descriptor, nil, nil) }
    private static func systemClose(_ descriptor: Int32) -> Int32 { Glibc.close(descriptor) }
    #elseif canImport(Musl)
    private static func systemAccept(_ descriptor: Int32) -> Int32 { Musl.accept(descriptor, nil, nil) }
    private static func systemClose(_ descriptor: Int32) -> Int32 { Musl.close(descriptor) }
    #else
    private static func systemAccept(_ descriptor: Int32) -> Int32 { Darwin.accept(descriptor, nil, nil) }
    private static func systemClose(_ descriptor: Int32) -> Int32 { Darwin.close(descriptor) }
    #endif
}
