// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

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
            let pairs = headers.map { "[" + $0.map(JSONText.quoted).joined(separator: ",") + "]" }
            return "{\"connection\":\(connection),\"number\":\(number),\"method\":\(JSONText.quoted(method)),"
                + "\"path\":\(JSONText.quoted(path)),\"headers\":[\(pairs.joined(separator: ","))],"
                + "\"body_length\":\(bodyLength),\"body_sha256\":\(bodySHA256.map(JSONText.quoted) ?? "null"),"
                + "\"complete\":\(complete),\"time\":\(time),\"unix_time\":\(unixTime),"
                + "\"ended\":\(ended.map { JSONText.quoted($0.rawValue) } ?? "null")}"
        }
    }
}

/// The requests received, in order.
final class RequestLog: Sendable {
    private struct State {
        var entries: [FaultServer.LogEntry] = []
        /// The number of the first remaining entry.
        var first = 0
    }

    private let state = Observed(State())
    private let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var entries: [FaultServer.LogEntry] { state.withLock { $0.entries } }

    func count(where matches: (FaultServer.LogEntry) -> Bool) -> Int {
        entries.reduce(0) { $0 + (matches($1) ? 1 : 0) }
    }

    /// Returns when this many entries match, or when the calling task is cancelled.
    func entries(atLeast count: Int, where matches: @escaping @Sendable (FaultServer.LogEntry) -> Bool) async {
        await state.wait { $0.entries.count { matches($0) } >= count }
    }

    /// Adds an entry and returns its number, for ``update(_:_:)``.
    func append(_ entry: FaultServer.LogEntry) -> Int {
        state.withLock { state in
            if state.entries.count >= limit {
                // Removes half of the entries at a time, so that the cost per entry is constant.
                let surplus = max(1, limit / 2)
                state.entries.removeFirst(surplus)
                state.first += surplus
            }
            state.entries.append(entry)
            return state.first + state.entries.count - 1
        }
    }

    func update(_ number: Int, _ change: (inout FaultServer.LogEntry) -> Void) {
        state.withLock { state in
            let index = number - state.first
            guard state.entries.indices.contains(index) else { return }
            change(&state.entries[index])
        }
    }

    func clear() {
        state.withLock { state in
            state.first += state.entries.count
            state.entries.removeAll()
        }
    }
}
