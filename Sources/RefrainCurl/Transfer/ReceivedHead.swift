internal import RefrainHTTP

/// What the head of a response says, as far as it has come.
struct ReceivedHead {
    enum Version { case http1, http2, http3, http10 }

    var status = 0
    var version = Version.http1
    /// Whether any line has arrived.
    var hasBegun = false
    /// Whether the blank line that ends the final head was seen (guard 1).
    var isComplete = false
    var isChunked = false
    /// Whether `Transfer-Encoding` was there, chunked or not; `Content-Length` does not count then.
    var hasTransferCoding = false
    var headers = HTTPHeaders()
    /// The value of `Content-Length`, where it says how long the body is.
    var contentLength: Int64?
    var coding = ContentCoding.none

    /// Goes back to the beginning of a head, of which some lines may have come before.
    mutating func startOver() {
        status = 0
        version = .http1
        forgetFields()
    }

    /// Forgets all but the first line.
    mutating func forgetFields() {
        headers = HTTPHeaders()
        contentLength = nil
        isChunked = false
        hasTransferCoding = false
        coding = .none
    }

    /// Takes over what is known of another head before it is complete.
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
