internal import CurlShim

/// Where libcurl does not say that it is about to send a request (``CurlVersion/announcesRequests``), its notes tell
/// that it goes to a connection, and that it has begun to send.
extension Transfer {
    /// Takes a note of libcurl's.
    func noteUnannounced(_ note: UnsafeRawBufferPointer) {
        if note.begins(with: "Re-using existing connection") {
            noteReuse()
        } else if note.begins(with: "Using Stream ID: ") {
            noteBegin()
        }
    }

    /// Takes the head of a request of which libcurl has sent the first piece.
    func noteUnannouncedHead(_ head: UnsafeRawBufferPointer) {
        if !head.begins(with: "CONNECT ") { noteBegin() }
    }

    private func noteReuse() {
        // Here alone its local port is known.
        guard sends == 0, let slot, let (key, _) = slot.connectionKey else { return }
        connection = round.connections[key]
        // Nothing has left as yet.
        guard let connection, connection.isSpoiled else { return }
        needsOtherConnection = true
        slot.requireFreshConnection()
        connection.end()
    }

    /// Notes that libcurl has begun to send, which over HTTP/2 it says twice, and of a long head more often.
    private func noteBegin() {
        guard sends == 0 || !opened.isEmpty, let slot, let (key, port) = slot.connectionKey else { return }
        // It cannot be kept from sending again on a connection that there is, so there must be none for it.
        if willSend(on: key, localPort: port) { slot.requireFreshConnection() }
    }
}
