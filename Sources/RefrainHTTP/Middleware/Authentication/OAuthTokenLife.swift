/// How long the token that was obtained last had to live then.
///
/// Against tokens that live no longer than the leeway: each of them would be out of date from the beginning, and be
/// refreshed with each request.
struct OAuthTokenLife: Sendable {
    private var end: WallInstant?
    private var length = Duration.zero

    /// A token was obtained.
    mutating func begin(_ token: OAuthToken, now: WallInstant) {
        end = token.expiresAt
        length = end.map { now.duration(to: $0) } ?? .zero
    }

    /// How long before its end a token counts as out of date: at most half of its life, where that is known.
    func leeway(of token: OAuthToken, atMost leeway: Duration) -> Duration {
        guard let end, token.expiresAt == end else { return leeway }
        return min(leeway, max(.zero, length / 2))
    }
}
