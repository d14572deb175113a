internal import CurlShim

/// What depends on the version of libcurl that is loaded, which can be newer than its headers were.
enum CurlVersion {
    /// What libcurl counts as the size of a request.
    enum RequestSize {
        /// The head, and a body that is sent along with it.
        case head
        /// Nothing: versions 8.7.0 and 8.7.1.
        case nothing
        /// All that was sent.
        case whole
    }

    static let requestSize: RequestSize =
        switch refrain_version() {
        case ..<0x080700: .head
        case ..<0x080800: .nothing
        default: .whole
        }

    /// Whether libcurl may leave the body of a 417 unread, and close the connection.
    ///
    /// From 8.7 on it does so where the answer comes before it has begun to wait for `100 Continue`.
    static let mayLeaveRefusalUnread = refrain_version() >= 0x080700

    /// Whether libcurl may count the time that a request waits for a stream of another one's connection as the time to
    /// connect, and end it (8.14 does).
    static let countsWaitAsConnecting = refrain_version() >= 0x080000

    /// Whether libcurl polls the sockets of transfers that are paused, and so returns at once while there is data.
    static let pollsPausedSockets = (0x080500..<0x080600).contains(refrain_version())
}
