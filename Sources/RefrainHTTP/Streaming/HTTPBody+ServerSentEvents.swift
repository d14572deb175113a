extension HTTPBody {
    /// The server-sent events of the body, which has the media type `text/event-stream` (HTML Standard §9.2).
    ///
    /// The events of one connection; ``HTTPLoader/events(for:retrying:budgets:clocks:random:upTo:)`` reconnects, too.
    /// An event that the body ends within is discarded, as the standard asks. The body is pulled as the events are.
    ///
    /// - Parameter limit: the largest number of bytes of one event's data and of one line, beyond which
    ///   ``LineTooLong`` is thrown. Defaults to 1 MiB.
    public func serverSentEvents(upTo limit: Int = Lines.defaultLimit) -> ServerSentEvents {
        ServerSentEvents(body: self, limit: Swift.max(1, limit))
    }

    /// The server-sent events of a body; see ``HTTPBody/serverSentEvents(upTo:)``.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = ServerSentEvent

        let body: HTTPBody
        let limit: Int

        /// Starts to read the body; a body that can be replayed starts from its beginning each time.
        public func makeAsyncIterator() -> Iterator {
            Iterator(body, ServerSentEventParser(limit: limit), limit: limit)
        }

        /// Reads a body event by event.
        public struct Iterator: AsyncIteratorProtocol {
            private var lines: ByteLines
            /// What the stream has set beside its events.
            private(set) var parser: ServerSentEventParser

            init(_ body: HTTPBody, _ parser: ServerSentEventParser, limit: Int) {
                lines = ByteLines(body, LineSplitter(.lineFeedOrCarriageReturn, limit: limit))
                self.parser = parser
            }

            /// The next event, or nil at the end.
            ///
            /// - Throws: ``LineTooLong``, or the error of the body.
            public mutating func next() async throws -> ServerSentEvent? {
                while let line = try await lines.next() {
                    if let event = try parser.take(line) { return event }
                }
                return nil
            }
        }
    }
}
