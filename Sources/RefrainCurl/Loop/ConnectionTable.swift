internal import CurlShim

/// A connection that requests were sent on, as far as this side keeps account of it.
final class OpenConnection {
    /// Its socket; libcurl may have closed it since, and the number may be another one's.
    fileprivate let socket: Int32
    /// Whether it carries one exchange after the other, as far as its last answer tells.
    var isSerial = false
    /// The last stream that the server has processed or will process, once it said so (GOAWAY, RFC 9113 §6.8).
    var lastProcessed: Int?

    init(socket: Int32) { self.socket = socket }

    /// Whether unrequested data has arrived before the next request is sent.
    ///
    /// libcurl (7.88) would take it for the response to that request. Over TLS it may be harmless, such as a late
    /// session ticket (RFC 8446 §4.6.1), but cannot be distinguished from a response.
    var isSpoiled: Bool { isSerial && refrain_has_arrived(socket) != 0 }

    /// Whether it stands, and nothing has come that is unread.
    var isQuiet: Bool { refrain_is_quiet(socket) != 0 }

    /// Ends it, so that nothing can be sent on it.
    func end() { refrain_end_connection(socket) }

    /// For how many milliseconds the peer has acknowledged nothing although something is to be; 0 where all is well.
    ///
    /// Not longer than since the last byte of a request went: before that there may have been nothing to acknowledge.
    func silence(since lastActivity: MonotonicTime, now: MonotonicTime) -> Int {
        guard lastActivity < now else { return 0 }
        let age = Int((now &- lastActivity) / 1_000_000)
        return min(refrain_silence(socket, age), age)
    }

    /// Whether the server has ended it, while it is in use.
    var hasEnded: Bool { refrain_has_ended(socket) != 0 }
}

/// The connections of a loop, by their addresses.
///
/// libcurl (7.88) names the connection of a request only by those before it sends, and has no number for it.
struct ConnectionTable {
    private var connections: [UInt64: OpenConnection] = [:]
    private var keys: [Int32: UInt64] = [:]

    /// A number for the two ends of a connection; the address of this end follows from the other one.
    static func key(remoteAddress: UnsafePointer<CChar>, remotePort: Int32, localPort: Int32) -> UInt64 {
        // FNV-1a: it is made for every request.
        let prime: UInt64 = 0x100_0000_01b3
        var key: UInt64 = 0xcbf2_9ce4_8422_2325
        var character = remoteAddress
        while character.pointee != 0 {
            key = (key ^ UInt64(UInt8(bitPattern: character.pointee))) &* prime
            character += 1
        }
        key = (key ^ UInt64(UInt32(bitPattern: remotePort))) &* prime
        return (key ^ UInt64(UInt32(bitPattern: localPort))) &* prime
    }

    /// The connection with this key, if it was noted.
    subscript(key: UInt64) -> OpenConnection? { connections[key] }

    /// Records a new connection.
    ///
    /// libcurl does not report when a connection is closed. Records are removed when the number of their socket, or
    /// their key, is used again, so there are at most as many as the process has had open at a time.
    mutating func note(_ key: UInt64, socket: Int32) -> OpenConnection {
        // The former key may be another connection's by now, which has another socket.
        if let former = keys.updateValue(key, forKey: socket), former != key, connections[former]?.socket == socket {
            connections[former] = nil
        }
        let connection = OpenConnection(socket: socket)
        connections[key] = connection
        return connection
    }

    /// Forgets what was noted of an earlier connection with this key.
    mutating func forget(_ key: UInt64) { connections[key] = nil }
}
