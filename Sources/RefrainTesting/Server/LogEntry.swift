extension FaultServer {
    /// A request that the server received.
    ///
    /// A request is logged when its head is complete, even if its body is not. The JSON names are `connection`,
    /// `number`, `method`, `path`, `headers`, `body_length`, `body_sha256`, `complete`, `time`, `unix_time` and
    /// `ended`.
    public struct LogEntry: Codable, Sendable, Equatable {
        /// The number of the connection, starting at 1.
        public var connection: Int
        /// The number of the request on its connection, starting at 1.
        public var number: Int
        /// The method as sent.
        public var method: String
        /// Path and query as sent.
        public var path: String
        /// Header fields as pairs of name and value, in order.
        public var headers: [[String]]
        /// The number of body bytes received, without chunk framing.
        public var bodyLength: Int
        /// The SHA-256 of a complete body, in hexadecimal.
        public var bodySHA256: String?
        /// Whether the whole request was read.
        public var complete: Bool
        /// Seconds since the server's start, on a monotonic clock.
        public var time: Double
        /// Seconds since 1970, on the wall clock.
        public var unixTime: Double
        /// How the exchange ended; `nil` while it is in progress.
        public var ended: Ending?

        /// How an exchange ended on the server's side.
        public enum Ending: String, Codable, Sendable {
            /// All steps were performed; the connection was kept or closed as the header fields say.
            case done
            /// The server closed the connection as a fault.
            case closed
            /// The server reset the connection.
            case reset
            /// The client closed the connection before the server was done.
            case clientLeft = "client_left"
        }

        enum CodingKeys: String, CodingKey {
            case connection, number, method, path, headers, complete, time, ended
            case bodyLength = "body_length"
            case bodySHA256 = "body_sha256"
            case unixTime = "unix_time"
        }

        /// The first value of a header field.
        public func header(_ name: String) -> String? {
            headers.first { $0.first?.equalsIgnoringCase(name) ?? false }?.last
        }

        func isFor(_ wanted: String) -> Bool {
            if path == wanted { return true }
            return !wanted.utf8.contains(UInt8(ascii: "?"))
                && path.prefix { $0 != "?" } == wanted
        }

        var json: String {
            let pairs = headers.map { "[" + $0.map(JSONText.string).joined(separator: ",") + "]" }
            return "{\"connection\":\(connection),\"number\":\(number),\"method\":\(JSONText.string(method)),"
                + "\"path\":\(JSONText.string(path)),\"headers\":[\(pairs.joined(separator: ","))],"
                + "\"body_length\":\(bodyLength),\"body_sha256\":\(bodySHA256.map(JSONText.string) ?? "null"),"
                + "\"complete\":\(complete),\"time\":\(time),\"unix_time\":\(unixTime),"
                + "\"ended\":\(ended.map { JSONText.string($0.rawValue) } ?? "null")}"
        }
    }
}

enum JSONText {
    /// A JSON string with its quotes (RFC 8259 §7).
    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..<"\u{20}":
                result += "\\u00" + Hex.text(of: [UInt8(truncatingIfNeeded: scalar.value)])
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
