internal import CurlShim

/// For versions of libcurl without a callback before sending (``CurlVersion/announcesRequests``): the verbose log has
/// the choice of the connection, and the beginning of sending.
extension Transfer {
    /// Reads a line of the verbose log.
    func readUnannounced(_ line: UnsafeRawBufferPointer) {
        if line.begins(with: "Re-using existing connection") {
            noteReuse()
        } else if line.begins(with: "Using Stream ID: ") {
            noteBegin()
        }
    }

    /// Called when libcurl has sent a piece of a request's head.
    func readUnannouncedHead(_ head: UnsafeRawBufferPointer) {
        if !head.begins(with: "CONNECT ") { noteBegin() }
    }

    private func noteReuse() {
        // The local port is known only at this time.
        guard sends == 0, let handle, let (key, _) = handle.connectionKey else { return }
        connection = iteration.connections[key]
        // No byte has been sent.
        guard let connection, connection.isSpoiled(handle.easy) || connection.isExpiring(now: iteration.now) else {
            return
        }
        needsOtherConnection = true
        handle.requireFreshConnection()
        connection.end()
    }

    /// Records that libcurl has begun to send.
    ///
    /// It logs that twice over HTTP/2, and more often for a long head.
    private func noteBegin() {
        guard sends == 0 || !opened.isEmpty, let handle, let (key, port) = handle.connectionKey else { return }
        // libcurl cannot be prevented from sending again on an existing connection, so it must use a new one.
        if willSend(on: key, localPort: port) { handle.requireFreshConnection() }
    }
}
