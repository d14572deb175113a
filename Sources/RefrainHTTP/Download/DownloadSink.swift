extension Download {
    /// Receives the bytes of a download.
    public protocol Sink: Sendable {
        /// Appends bytes.
        ///
        /// An error ends the attempt. The number of bytes taken is unknown then, so the next attempt begins with
        /// ``startOver()``.
        func write(_ bytes: [UInt8]) async throws

        /// Discards all bytes; the download starts over.
        ///
        /// - Throws: ``Download/CannotStartOver`` if the sink has passed on bytes that it cannot take back.
        func startOver() async throws

        /// Whether ``startOver()`` would succeed now. Defaults to true.
        var canStartOver: Bool { get }
    }
}

extension Download.Sink {
    /// Returns true.
    public var canStartOver: Bool { true }
}

extension Download {
    /// Thrown by a sink that cannot discard the bytes it has received.
    public struct CannotStartOver: Error, Hashable, Sendable, CustomStringConvertible {
        /// Makes the error.
        public init() {}
        /// A sentence that describes the error.
        public var description: String {
            "the transfer cannot go on where it stopped, and what was delivered already cannot be taken back"
        }
    }
}
