#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The sending side of a connection, and waits on it that end with the connection.
struct Channel {
    let descriptor: Int32

    /// Sends FIN; what the peer still sends can be read.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits without reading; on Darwin only the end of both directions is seen.
    func waitForPeerToLeave() {
        #if canImport(Darwin)
        let events: Int16 = 0
        #else
        // POLLRDHUP, which glibc shows to GNU sources only.
        let events: Int16 = 0x2000
        #endif
        var wait = pollfd(fd: descriptor, events: events, revents: 0)
        while poll(&wait, 1, -1) < 0, errno == EINTR {}
    }

    /// `false` if the connection broke meanwhile.
    @discardableResult
    func wait(for duration: Duration) -> Bool {
        // No events asked for: only an error or a shutdown from both sides ends the wait early.
        var wait = pollfd(fd: descriptor, events: 0, revents: 0)
        let deadline = Moment.monotonic() + Double(duration.milliseconds) / 1000
        while true {
            let left = deadline - Moment.monotonic()
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
