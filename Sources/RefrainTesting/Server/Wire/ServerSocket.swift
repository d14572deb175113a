#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

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
