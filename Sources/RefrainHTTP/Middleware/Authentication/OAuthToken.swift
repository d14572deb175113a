/// An access token, and what is needed to have a new one (RFC 6749 §5.1, RFC 6750).
public struct OAuthToken: Hashable, Sendable, Codable {
    /// The token that requests are signed with.
    public var accessToken: String
    /// The token that a new access token is had for; nil: only a new log-in brings one.
    public var refreshToken: String?
    /// When the access token goes out of date; nil: not known.
    public var expiresAt: WallInstant?
    /// The scheme that stands before the token in `Authorization`.
    public var scheme: String

    /// Makes a token.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        expiresAt: WallInstant? = nil,
        scheme: String = "Bearer"
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.scheme = scheme
    }

    /// The value of `Authorization`.
    public var fieldValue: String { "\(scheme) \(accessToken)" }
}

extension OAuthToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// What kind of token it is; never the token.
    public var description: String {
        let expiry = expiresAt.map { "until \($0.sinceEpoch) since the epoch" } ?? "without a known end"
        return "\(scheme) token \(expiry), \(refreshToken == nil ? "not refreshable" : "refreshable")"
    }

    /// What kind of token it is; never the token.
    public var debugDescription: String { description }
}
