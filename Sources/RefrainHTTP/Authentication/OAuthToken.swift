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
    @_optimize(none)
    public var description: String {
        let expiry = expiresAt.map { "until \($0.sinceEpoch) since the epoch" } ?? "without a known end"
        return "\(scheme) token \(expiry), \(refreshToken == nil ? "not refreshable" : "refreshable")"
    }

    /// The type of the token, without the token.
    public var debugDescription: String { description }
}
