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
