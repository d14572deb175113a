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
