// SPDX-License-Identifier: Apache-2.0
internal import CurlShim

/// Differences between versions of libcurl, by the version that is loaded, which can be newer than the headers.
enum CurlVersion {
    /// The bytes that libcurl counts in the size of a request.
    enum RequestSize {
        /// The head, and a body that is sent along with the head.
        case head
        /// Too few, so that the bytes sent are counted from the verbose log.
        case verboseLog
        /// All bytes that were sent.
        case whole
    }

    static let requestSize: RequestSize =
        switch refrain_version() {
        case ..<0x080700: .head
        case ..<0x080800: .verboseLog
        default: .whole
        }

    /// Why the version that is loaded cannot be used; nil if it can.
    static let refusal: String? = {
        func text(_ version: UInt32) -> String { "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)" }
        guard refrain_version() < refrain_oldest_version else { return nil }
        return "libcurl \(text(refrain_version())) is loaded, and \(text(refrain_oldest_version)) or newer is needed"
    }()

    /// Whether libcurl calls a callback before it sends a request, which can prevent that.
    static let announcesRequests = refrain_version() >= 0x075000

    /// Whether only the verbose log has the number of a connection.
    static let logsConnectionNumbers = refrain_version() < 0x080200

    /// Whether libcurl resets the process's action for SIGPIPE to the default, which ends programs that ignore it.
    static let resetsPipeAction = (0x080900..<0x080A00).contains(refrain_version())

    /// Whether libcurl logs the number of a request's stream in hexadecimal digits.
    static let logsStreamsInHex = refrain_version() < 0x075400

    /// Whether libcurl returns CURLE_SEND_ERROR for a request whose stream the server has refused, without a message or
    /// a line in the log; no other failure of an open stream has this result.
    static let hidesRefusal = (0x080100..<0x080400).contains(refrain_version())

    /// Whether libcurl drops a response after which the server resets the stream, because it needs no more of the
    /// request (RFC 9113 §8.1), and logs a reset of such streams only.
    static let dropsEarlyAnswers = (0x080100..<0x080300).contains(refrain_version())

    /// Whether libcurl decodes chunks twice if the head names the coding twice.
    ///
    /// That is a mistake of the server: no sender may apply it twice (RFC 9112 §6.1).
    static let undoesRepeatedChunks = (0x080600..<0x080800).contains(refrain_version())

    /// Whether libcurl sends a request for HTTP/1.1 on an HTTP/2 connection.
    static let mixesVersions = (0x080B00..<0x080D00).contains(refrain_version())

    /// Whether libcurl may close the connection without reading the body of a 417.
    ///
    /// From 8.7 on it does so if the response arrives before it has begun to wait for `100 Continue`.
    static let mayLeaveRefusalUnread = refrain_version() >= 0x080700

    /// Whether libcurl may count the wait of a request for a stream of an existing connection as connect time, and end
    /// it (8.14 does).
    static let countsWaitAsConnecting = refrain_version() >= 0x080000

    /// Whether libcurl measures the idle time of a connection in milliseconds, not in whole seconds, and treats 0 as no
    /// limit.
    static let measuresIdleExactly = refrain_version() >= 0x080F00

    /// Whether libcurl may not deliver data that has arrived for a transfer over HTTP/2 (7.88 does not; rewritten in
    /// 8.1).
    static let holdsBackAnswers = refrain_version() < 0x080100

    /// Whether libcurl polls the sockets of paused transfers, so that the poll returns immediately while there is data.
    static let pollsPausedSockets = (0x080500..<0x080600).contains(refrain_version())
}

extension CurlLoader {
    /// The versions of libcurl and of the libraries that it uses: `libcurl/8.14.1 OpenSSL/3.5.1 …`.
    public static var libraryVersion: String { String(cString: curl_version()) }
}
