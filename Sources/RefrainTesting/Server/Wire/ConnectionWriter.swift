#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The sending side of a connection, and waits that end with the connection.
struct ConnectionWriter {
    let descriptor: Int32

    /// Sends FIN; the peer's data can still be read.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits without reading; on Darwin only the end of both directions is detected.
    func waitForPeerToLeave() {
        #if canImport(Darwin)
        let events: Int16 = 0
        #else
        // POLLRDHUP, which glibc declares for GNU sources only.
        let events: Int16 = 0x2000
        #endif
        var wait = pollfd(fd: descriptor, events: events, revents: 0)
        while poll(&wait, 1, -1) < 0, errno == EINTR {}
    }

    /// Waits; returns `false` if the connection broke.
    @discardableResult
    func wait(for duration: Duration) -> Bool {
        // Without events, only an error or a shutdown of both directions ends the wait early.
        var wait = pollfd(fd: descriptor, events: 0, revents: 0)
        let deadline = ServerTime.monotonic() + Double(duration.milliseconds) / 1000
        while true {
            let left = deadline - ServerTime.monotonic()
            guard left > 0 else { return true }
            let result = poll(&wait, 1, Int32((left * 1000).rounded(.up)))
            if result > 0 { return false }
            if result < 0, errno != EINTR { return false }
        }
    }

    func send(_ bytes: [UInt8]) -> Bool {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        return bytes.withUnsafeBytes { raw in
            guard let base = raw.baseAddress else { return true }
            var sent = 0
            while sent < raw.count {
                let count = Self.systemSend(descriptor, base + sent, raw.count - sent, flags)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    private static func systemSend(_ descriptor: Int32, _ base: UnsafeRawPointer, _ count: Int, _ flags: Int32) -> Int {
        #if canImport(Glibc)
        Glibc.send(descriptor, base, count, flags)
        #elseif canImport(Musl)
        Musl.send(descriptor, base, count, flags)
        #else
        Darwin.send(descriptor, base, count, flags)
        #endif
    }
}
