// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

/// The head of a response, as far as it was received.
struct ReceivedHead {
    enum Version { case http1, http2, http3, http10 }

    var status = 0
    var version = Version.http1
    /// Whether any line was received.
    var hasBegun = false
    /// Whether the empty line that ends the final head was received (guard 1).
    var isComplete = false
    var isChunked = false
    /// Whether it has a `Transfer-Encoding`, chunked or not; `Content-Length` is then ignored.
    var hasTransferCoding = false
    var headers = HTTPHeaders()
    /// The value of `Content-Length`, if it is the length of the body.
    var contentLength: Int64?
    var coding = ContentCoding.none
    /// For how many nanoseconds the server keeps the connection open for the next request, according to `Keep-Alive`.
    var keepAlive: Int64?

    /// Resets a head of which some lines may have been read.
    mutating func startOver() {
        status = 0
        version = .http1
        forgetFields()
    }

    /// Removes everything except the status line.
    mutating func forgetFields() {
        headers = HTTPHeaders()
        contentLength = nil
        isChunked = false
        hasTransferCoding = false
        coding = .none
        keepAlive = nil
    }

    /// Copies what is needed of another head before it is complete.
    mutating func note(_ other: ReceivedHead) {
        hasBegun = true
        version = other.version
    }

    /// The version of HTTP as text.
    var versionText: String {
        switch version {
        case .http10: "1.0"
        case .http1: "1.1"
        case .http2: "2"
        case .http3: "3"
        }
    }
}
