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
