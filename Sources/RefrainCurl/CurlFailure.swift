extension CurlLoader {
    /// What libcurl says of a failure.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The number of the error, a `CURLcode`.
        public let code: Int32
        /// What happened, in libcurl's words.
        public let message: String

        /// Describes a failure.
        public init(code: Int32, message: String) {
            self.code = code
            self.message = message
        }

        /// The words and the number.
        public var description: String { "\(message) (libcurl \(code))" }

        /// libcurl's message without user information.
        ///
        /// It may quote an invalid proxy URL of the environment, in which the end of a password is unknown.
        static func withoutUserinfo(_ words: String) -> String {
            guard let at = words.utf8.lastIndex(of: UInt8(ascii: "@")) else { return words }
            let quote = words[..<at].utf8.firstIndex(of: UInt8(ascii: "'"))
            let start = quote.map { words.utf8.index(after: $0) } ?? words.startIndex
            return words[..<start] + "…" + words[at...]
        }
    }
}
