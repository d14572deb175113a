/// A connection that requests were sent on, as far as this side keeps account of it.
final class OpenConnection {
    /// The last stream that the server has processed or will process, once it said so (GOAWAY, RFC 9113 §6.8).
    var lastProcessed: Int?
}

/// The connections of a loop, by their addresses.
///
/// libcurl (7.88) names the connection of a request only by those before it sends, and has no number for it.
struct OpenConnections {
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

    /// Notes a new connection.
    ///
    /// Nobody says when one is closed. Yet what was noted of its socket's number, and of its key, goes as soon as
    /// either is used again, so there are never more than the process has had open at a time.
    mutating func note(_ key: UInt64, socket: Int32) -> OpenConnection {
        if let former = keys.updateValue(key, forKey: socket), former != key { connections[former] = nil }
        let connection = OpenConnection()
        connections[key] = connection
        return connection
    }

    /// Forgets what was noted of an earlier connection with this key.
    mutating func forget(_ key: UInt64) { connections[key] = nil }
}
