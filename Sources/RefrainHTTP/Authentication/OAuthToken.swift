extension OAuth {
    /// An access token with its refresh token (RFC 6749 §5.1, RFC 6750).
    public struct Token: Hashable, Sendable, Codable {
        /// The token that is sent with requests.
        public var accessToken: String
        /// The refresh token; nil: a new access token requires a log-in.
        public var refreshToken: String?
        /// When the access token expires; nil if unknown.
        public var expiresAt: WallClock.Instant?
        /// The scheme in `Authorization`.
        public var scheme: String

        /// Makes a token.
        public init(
            accessToken: String,
            refreshToken: String? = nil,
            expiresAt: WallClock.Instant? = nil,
            scheme: String = "Bearer"
        ) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.expiresAt = expiresAt
            self.scheme = scheme
        }

        /// This token, with the refresh token of the one that it replaces where it came without its own: a service that
        /// issues no new refresh token leaves the old one valid (RFC 6749 §6).
        func keepingRefreshToken(of old: Token) -> Token {
            guard refreshToken == nil else { return self }
            var token = self
            token.refreshToken = old.refreshToken
            return token
        }

        /// The value of `Authorization`.
        public var fieldValue: String { "\(scheme) \(accessToken)" }
    }
}

extension OAuth.Token: CustomStringConvertible, CustomDebugStringConvertible {
    /// The type of the token, without the token.
    public var description: String {
        let expiry = expiresAt.map { "until \($0.sinceEpoch) since the epoch" } ?? "without a known end"
        return "\(scheme) token \(expiry), \(refreshToken == nil ? "not refreshable" : "refreshable")"
    }

    /// The type of the token, without the token.
    public var debugDescription: String { description }
}

/// The lifetime of the last token when it was obtained.
///
/// Limits the leeway: a token with a lifetime shorter than the leeway would always count as expired, and be refreshed
/// for each request.
struct OAuthTokenExpiry: Sendable {
    private var end: WallClock.Instant?
    private var length = Duration.zero

    /// Records a new token.
    mutating func begin(_ token: OAuth.Token, now: WallClock.Instant) {
        end = token.expiresAt
        length = end.map { now.duration(to: $0) } ?? .zero
    }

    /// How long before its expiry a token counts as expired: at most half of its lifetime, if known.
    func leeway(of token: OAuth.Token, atMost leeway: Duration) -> Duration {
        guard let end, token.expiresAt == end else { return leeway }
        return min(leeway, max(.zero, length / 2))
    }
}

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
