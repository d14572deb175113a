// SPDX-License-Identifier: Apache-2.0
extension HTTPBody {
    /// One event of a stream of server-sent events (HTML Standard §9.2).
    public struct ServerSentEvent: Hashable, Sendable {
        /// The type of the event.
        ///
        /// Defaults to "message".
        public var type: String
        /// The data; the lines of a multi-line event are joined by LF.
        public var data: String
        /// The identifier of the last event that had one, which a reconnection sends as `Last-Event-ID`; empty: none.
        public var lastEventID: String

        /// Makes an event.
        public init(type: String = "message", data: String, lastEventID: String = "") {
            self.type = type
            self.data = data
            self.lastEventID = lastEventID
        }
    }
}

/// Reads the lines of an event stream (HTML Standard §9.2.6): a value that takes a line and returns an event.
struct ServerSentEventParser {
    /// The identifier that the stream has set last, which outlives a connection.
    private(set) var lastEventID: String
    /// The wait before a reconnection that the stream has set last.
    private(set) var reconnectionDelay: Duration?

    private let limit: Int
    private var type = ""
    private var data: [UInt8] = []
    private var idBuffer: String
    /// Whether a field has come since the last empty line.
    private var isWithinEvent = false
    private var isFirstLine = true
    private var lines = 0

    /// - Parameters:
    ///   - lastEventID: the identifier that an earlier connection of the same stream has set last.
    ///   - limit: the largest number of bytes of one event's data.
    init(lastEventID: String = "", limit: Int) {
        self.lastEventID = lastEventID
        idBuffer = lastEventID
        self.limit = limit
    }

    /// Takes a line; returns the event that an empty line completes.
    mutating func take(_ line: [UInt8]) throws(HTTPBody.LineTooLong) -> HTTPBody.ServerSentEvent? {
        lines += 1
        var line = line[...]
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        }
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        // A line that begins with a colon is a comment.
        guard colon > line.startIndex else { return nil }
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        isWithinEvent = true
        try set(line[..<colon], to: value)
        return nil
    }

    /// The data of the event that a stream ends within, after the beginning of a line; nil: it ends between two.
    func unfinishedData(after incomplete: [UInt8]) -> String? {
        var parser = self
        // What is too long is left out: only a short text is looked for in it.
        if !incomplete.isEmpty { _ = try? parser.take(incomplete) }
        return parser.isWithinEvent ? String(decoding: parser.data.dropLast(), as: UTF8.self) : nil
    }

    private mutating func set(_ field: ArraySlice<UInt8>, to value: ArraySlice<UInt8>) throws(HTTPBody.LineTooLong) {
        switch String(decoding: field, as: UTF8.self) {
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "data":
            guard data.count <= limit - value.count else { throw HTTPBody.LineTooLong(limit: limit, line: lines) }
            data += value
            data.append(10)
        case "id" where !value.contains(0):
            idBuffer = String(decoding: value, as: UTF8.self)
        case "retry":
            reconnectionDelay = Self.milliseconds(value) ?? reconnectionDelay
        default:
            break
        }
    }

    private mutating func dispatch() -> HTTPBody.ServerSentEvent? {
        lastEventID = idBuffer
        defer {
            data = []
            type = ""
            isWithinEvent = false
        }
        guard !data.isEmpty else { return nil }
        return HTTPBody.ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            lastEventID: lastEventID
        )
    }

    /// A number of milliseconds in ASCII digits; nil where it is none.
    ///
    /// Numbers that are too large saturate.
    private static func milliseconds(_ digits: ArraySlice<UInt8>) -> Duration? {
        guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let most: Int64 = 1 << 53
        let value = digits.reduce(Int64(0)) { min(most, $0 * 10 + Int64($1 - 48)) }
        return .milliseconds(value)
    }
}
