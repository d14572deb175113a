extension FaultServer {
    /// One thing that the server does with a request, in the order of the script.
    ///
    /// After the last step the connection is kept alive as the request and the response say.
    public enum Step: Sendable {
        /// Sends a whole response. `Date`, `Content-Length` and `Connection: close` are added where they are due.
        case respond(Response)
        /// Sends the status line and the headers of a response as they are, with `Date`, and no body.
        case head(Response)
        /// Sends bytes as they are.
        case send([UInt8])
        /// Sends bytes that are made while they are sent.
        case generate(Generator)
        /// Waits; ends early if the connection breaks or the server stops.
        case sleep(Duration)
        /// Reads the request's body, if that was not done yet.
        case readBody
        /// Ends the connection in good order (FIN).
        case close
        /// Breaks the connection (RST).
        case reset
        /// Does nothing until the client goes away or the server stops.
        case hang
        /// Does not even read until the client goes away or the server stops, so that the client's buffers fill up.
        case stall

        /// Sends a text as it is.
        public static func text(_ text: String) -> Step { .send(Array(text.utf8)) }
    }

    /// A response that a script sends.
    public struct Response: Sendable {
        /// The status code, sent as it is.
        public var status: Int
        /// Headers in the order in which they are sent.
        public var headers: [(name: String, value: String)]
        /// The body; not sent in answer to HEAD, nor with 1xx, 204 and 304.
        public var body: [UInt8]
        /// Whether a `Date` of now is added if there is none.
        public var addsDate = true

        /// Makes a response with a body of bytes.
        public init(_ status: Int, headers: [(String, String)] = [], bytes: [UInt8]) {
            self.status = status
            self.headers = headers.map { (name: $0.0, value: $0.1) }
            body = bytes
        }

        /// Makes a response with a body of text.
        public init(_ status: Int, headers: [(String, String)] = [], body: String = "") {
            self.init(status, headers: headers, bytes: Array(body.utf8))
        }

        /// 200 with `ok` and a line feed as plain text: what a path answers when its faults are used up.
        public static var ok: Response { Response(200, headers: [("Content-Type", "text/plain")], body: "ok\n") }

        func has(_ name: String) -> Bool { value(name) != nil }

        func value(_ name: String) -> String? {
            headers.first { $0.name.equalsIgnoringCase(name) }?.value
        }
    }

    /// Bytes that are made while they are sent, slice by slice.
    public struct Generator: Sendable {
        /// How the slices are framed.
        public enum Framing: Sendable {
            /// The slices as they are.
            case plain
            /// Each slice is a chunk (RFC 9112 §7.1); the last chunk follows unless it is held back.
            case chunked(sendsLastChunk: Bool)
        }

        /// How many bytes in all; `Int.max` goes on until the client leaves.
        public var count: Int
        /// How many bytes are sent at a time; more than 1 MiB in pieces of that size.
        public var slice = 65_536
        /// The wait between two slices.
        public var pause = Duration.zero
        /// How the slices are framed.
        public var framing = Framing.plain
        /// Whether this is a response body, which is not sent in answer to HEAD.
        public var isBody = true
        /// Makes `count` bytes from `offset` on.
        public var bytes: @Sendable (_ offset: Int, _ count: Int) -> [UInt8]

        /// Makes a generator of `count` bytes.
        public init(count: Int, bytes: @escaping @Sendable (_ offset: Int, _ count: Int) -> [UInt8]) {
            self.count = count
            self.bytes = bytes
        }
    }
}

/// A path that is scripted in Swift.
struct Script: Sendable {
    var readsBody: Bool
    var steps: @Sendable (FaultServer.Request) -> [FaultServer.Step]
}
