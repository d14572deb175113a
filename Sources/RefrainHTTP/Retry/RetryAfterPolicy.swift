/// How far a server's own delays count (rules R15 and R18).
public struct RetryAfterPolicy: Hashable, Sendable {
    /// Whether `Retry-After` and rate-limit fields set the wait.
    public let isHonoured: Bool
    /// The longest wait that a server may ask for; a longer one ends the call at once.
    public let cap: Duration

    /// Honoured up to five minutes: long enough for a rate limit's window, too short for a maintenance window.
    public static let honoured = RetryAfterPolicy(isHonoured: true, cap: .seconds(300))

    /// Not looked at; the schedule alone sets the wait.
    public static let ignored = RetryAfterPolicy(isHonoured: false, cap: .longestDelay)

    /// Honoured up to a cap.
    ///
    /// A negative cap counts as zero, and one over `Duration.longestDelay` as that.
    public static func honoured(upTo cap: Duration) -> RetryAfterPolicy {
        RetryAfterPolicy(isHonoured: true, cap: cap.clampedToDelay)
    }

    /// Honoured up to a cap that comes from outside.
    ///
    /// - Throws: `InvalidArgument` for a negative cap.
    public static func validated(upTo cap: Duration) throws(InvalidArgument) -> RetryAfterPolicy {
        guard cap >= .zero else { throw InvalidArgument("cap", is: cap, expected: "zero or more") }
        return .honoured(upTo: cap)
    }

    private init(isHonoured: Bool, cap: Duration) {
        self.isHonoured = isHonoured
        self.cap = cap
    }
}

private enum ServerDelaysOption: HTTPRequestOption {
    static let defaultValue = RetryAfterPolicy.honoured
}

extension HTTPRequest {
    /// How far the server's own delays count for this request.
    public var retryAfterPolicy: RetryAfterPolicy {
        get { self[option: ServerDelaysOption.self] }
        set { self[option: ServerDelaysOption.self] = newValue }
    }
}
