// SPDX-License-Identifier: Apache-2.0
internal import CurlShim

/// The record of a connection that requests were sent on.
final class OpenConnection {
    /// Its socket.
    fileprivate let socket: Int32
    /// Whether libcurl has closed the socket; another file may have its number.
    fileprivate var isClosed = false
    /// Whether it carries one exchange at a time, according to its last response.
    var isSerial = false
    /// The last stream that the server has processed or will process; nil before a GOAWAY (RFC 9113 §6.8).
    var lastProcessed: Int?

    /// For how many nanoseconds after a response the server keeps it open, according to that response.
    var keepAlive: Int64?
    /// When the last response on it was complete.
    var idleSince = MonotonicTime.never

    init(socket: Int32) { self.socket = socket }

    /// Whether the server closes it before a request arrives, or may do so while it is being sent.
    ///
    /// The request would be lost, and one that must not be repeated would have failed. The margin is 2 s, or half of
    /// a shorter time: the server measures from when it sent the response to when the request arrives, and may check
    /// once a second.
    func isExpiring(now: MonotonicTime) -> Bool {
        guard let keepAlive, idleSince != .never else { return false }
        return now >= idleSince.after(keepAlive - min(Self.keepAliveMargin, keepAlive / 2))
    }

    private static let keepAliveMargin: Int64 = 2_000_000_000

    /// Whether unrequested data has arrived before the next request is sent (rule R39).
    ///
    /// libcurl (7.88) would take it for the response to that request. Over TLS it may be harmless, such as a late
    /// session ticket (RFC 8446 §4.6.1), but cannot be distinguished from a response. A TLS record that held the end of
    /// one response and more is decrypted completely, so its rest is no longer in the socket; a TLS library that does
    /// not tell whether there is such a rest counts as one that has it.
    ///
    /// - Parameter easy: the handle that libcurl has attached to this connection.
    func isSpoiled(_ easy: UnsafeMutableRawPointer) -> Bool {
        isSerial && (isClosed || refrain_has_arrived(socket) != 0 || refrain_tls_holds_data(easy) != 0)
    }

    /// Whether it is open and has no unread data.
    var isQuiet: Bool { !isClosed && refrain_is_quiet(socket) != 0 }

    /// Shuts it down, so that nothing can be sent on it.
    func end() { if !isClosed { refrain_end_connection(socket) } }

    /// Returns for how many milliseconds the peer has not acknowledged data that was sent; 0 if none is outstanding.
    ///
    /// At most the time since the last byte of a request was sent: before that nothing may have been outstanding.
    func silence(since lastActivity: MonotonicTime, now: MonotonicTime) -> Int {
        guard !isClosed, lastActivity < now else { return 0 }
        let age = Int((now &- lastActivity) / 1_000_000)
        return min(refrain_silence(socket, age), age)
    }

    /// Whether the server has closed it while it is in use.
    var hasEnded: Bool { isClosed || refrain_has_ended(socket) != 0 }
}

/// The connections of a loop, by their addresses.
///
/// Before libcurl (7.88) sends a request it identifies the connection only by its addresses, not by a number.
struct ConnectionTable {
    private var connections: [UInt64: OpenConnection] = [:]
    private var keys: [Int32: UInt64] = [:]

    /// Returns the key of a connection: a hash of its remote address and both ports.
    ///
    /// The local address follows from the remote one.
    static func key(remoteAddress: UnsafePointer<CChar>, remotePort: Int32, localPort: Int32) -> UInt64 {
        // FNV-1a, because it is computed for every request.
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

    /// Returns the key of a connection without ports, from its number in libcurl.
    static func key(number: Int64) -> UInt64 { 0x7fff_ffff_0000_0000 | UInt64(truncatingIfNeeded: number) }

    var isEmpty: Bool { connections.isEmpty }

    /// The connection with this key, if it was recorded.
    subscript(key: UInt64) -> OpenConnection? { connections[key] }

    /// Records a new connection.
    ///
    mutating func note(_ key: UInt64, socket: Int32) -> OpenConnection {
        // Another connection, with another socket, may have the former key by now.
        if let former = keys.updateValue(key, forKey: socket), former != key, connections[former]?.socket == socket {
            connections[former] = nil
        }
        let connection = OpenConnection(socket: socket)
        connections[key] = connection
        return connection
    }

    /// Removes the record of the connection with this socket, which is being closed; returns false if there is none.
    mutating func remove(socket: Int32) -> Bool {
        guard let key = keys.removeValue(forKey: socket) else { return false }
        if let connection = connections[key], connection.socket == socket {
            connection.isClosed = true
            connections[key] = nil
        }
        return true
    }

    /// Removes the record of an earlier connection with this key.
    mutating func forget(_ key: UInt64) { connections[key] = nil }
}
