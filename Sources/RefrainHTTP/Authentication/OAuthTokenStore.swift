extension OAuth {
    /// Stores an ``OAuth/Token`` beyond the lifetime of a chain, such as in a keychain.
    public protocol TokenStore: Sendable {
        /// Returns the stored token, or nil.
        ///
        /// It is called once, when the first request needs the token. An error fails all waiting requests, and the next
        /// request calls it again.
        func token() async throws -> Token?

        /// Stores a token in place of the previous one; nil erases it.
        ///
        /// The store handles its own failures: the token stays valid for the lifetime of the chain.
        func save(_ token: Token?) async
    }
}

extension OAuth {
    /// Stores a token in memory.
    public final class InMemoryTokenStore: TokenStore {
        private let contents: Locked<Token?>

        /// Makes a store.
        public init(_ token: Token? = nil) { contents = Locked(token) }

        /// Returns the stored token.
        public func token() async -> Token? { contents.withLock { $0 } }

        /// Stores a token in place of the previous one; nil erases it.
        public func save(_ token: Token?) async { contents.withLock { $0 = token } }
    }
}
