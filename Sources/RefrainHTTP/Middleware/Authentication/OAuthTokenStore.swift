/// Keeps an ``OAuthToken`` beyond the life of a chain, such as in a keychain.
public protocol OAuthTokenStore: Sendable {
    /// The token that was saved last; nil where there is none.
    ///
    /// It is read once, when the first request needs it. An error fails all requests that wait, and the next one reads
    /// again.
    func token() async throws -> OAuthToken?

    /// Saves a token in place of the last one; nil erases it.
    ///
    /// A store that fails to keep it deals with that itself: the token is good, and used for the life of the chain.
    func save(_ token: OAuthToken?) async
}

/// Keeps a token in memory, for as long as the store lives.
public final class InMemoryTokenStore: OAuthTokenStore {
    private let contents: Locked<OAuthToken?>

    /// Makes a store.
    public init(_ token: OAuthToken? = nil) { contents = Locked(token) }

    /// The token that was saved last.
    public func token() async -> OAuthToken? { contents.withLock { $0 } }

    /// Saves a token in place of the last one; nil erases it.
    public func save(_ token: OAuthToken?) async { contents.withLock { $0 = token } }
}
