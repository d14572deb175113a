internal import CurlShim

/// What depends on the version of libcurl that is loaded, which can be newer than its headers were.
enum CurlVersion {
    /// What libcurl counts as the size of a request.
    enum RequestSize {
        /// The head, and a body that is sent along with it.
        case head
        /// Nothing, so that what was sent is to be taken from libcurl's notes.
        case notes
        /// All that was sent.
        case whole
    }

    static let requestSize: RequestSize =
        switch refrain_version() {
        case ..<0x080700: .head
        case ..<0x080800: .notes
        default: .whole
        }

    /// Why the version that is loaded cannot be used; nil where it can.
    static let refusal: String? = {
        func text(_ version: UInt32) -> String { "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)" }
        guard refrain_version() < refrain_oldest_version else { return nil }
        return "libcurl \(text(refrain_version())) is loaded, and \(text(refrain_oldest_version)) or newer is needed"
    }()

    /// Whether libcurl says that it is about to send a request, and can be kept from it.
    static let announcesRequests = refrain_version() >= 0x075000

    /// Whether libcurl sets what the whole process does at SIGPIPE to the default, and so ends programs that ignore it.
    static let resetsPipeAction = (0x080900..<0x080A00).contains(refrain_version())

    /// Whether libcurl notes the number of a request's stream in hexadecimal digits.
    static let notesStreamsInHex = refrain_version() < 0x075400

    /// Whether libcurl ends a request whose stream the server has refused with CURLE_SEND_ERROR, and neither a message
    /// nor a note, which no other failure of an open stream ends with.
    static let hidesRefusal = (0x080100..<0x080400).contains(refrain_version())

    /// Whether libcurl drops an answer behind which the server resets the stream, as it needs no more of the request
    /// (RFC 9113 §8.1), and says of no other stream that it was reset.
    static let dropsEarlyAnswers = (0x080100..<0x080300).contains(refrain_version())

    /// Whether libcurl undoes chunks twice where the head says twice that there are some, which it says by mistake: no
    /// sender may apply them twice (RFC 9112 §6.1).
    static let undoesRepeatedChunks = (0x080600..<0x080800).contains(refrain_version())

    /// Whether libcurl sends a request that is to go over HTTP/1.1 on a connection that speaks HTTP/2.
    static let mixesVersions = (0x080B00..<0x080D00).contains(refrain_version())

    /// Whether libcurl may leave the body of a 417 unread, and close the connection.
    ///
    /// From 8.7 on it does so where the answer comes before it has begun to wait for `100 Continue`.
    static let mayLeaveRefusalUnread = refrain_version() >= 0x080700

    /// Whether libcurl may count the time that a request waits for a stream of another one's connection as the time to
    /// connect, and end it (8.14 does).
    static let countsWaitAsConnecting = refrain_version() >= 0x080000

    /// Whether libcurl measures in milliseconds for how long a connection was unused, not in whole seconds, and takes 0
    /// for no limit.
    static let measuresIdleExactly = refrain_version() >= 0x080F00

    /// Whether libcurl may forget to hand over what has arrived for a transfer over HTTP/2 (7.88 does; it was written
    /// anew with 8.1).
    static let holdsBackAnswers = refrain_version() < 0x080100

    /// Whether libcurl polls the sockets of transfers that are paused, and so returns at once while there is data.
    static let pollsPausedSockets = (0x080500..<0x080600).contains(refrain_version())
}
