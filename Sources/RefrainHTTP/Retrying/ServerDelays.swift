/// How far a server's own delays count (rules R15 and R18).
public struct ServerDelays: Hashable, Sendable {
    /// Whether `Retry-After` and rate-limit fields set the wait.
    public let isHonoured: Bool
    /// The longest wait that a server may ask for; a longer one ends the call at once.
    public let cap: Duration

    /// Honoured up to five minutes: long enough for a rate limit's window, too short for a maintenance window.
    public static let honoured = ServerDelays(isHonoured: true, cap: .seconds(300))

    /// Not looked at; the schedule alone sets the wait.
    public static let ignored = ServerDelays(isHonoured: false, cap: .longestDelay)

    /// Honoured up to a cap.
    ///
    /// - Throws: `InvalidArgument` for a negative cap.
    public static func honoured(upTo cap: Duration) throws(InvalidArgument) -> ServerDelays {
        guard cap >= .zero else { throw InvalidArgument("cap", is: cap, expected: "zero or more") }
        return ServerDelays(isHonoured: true, cap: cap.clampedToDelay)
    }

    private init(isHonoured: Bool, cap: Duration) {
        self.isHonoured = isHonoured
        self.cap = cap
    }
}

private enum ServerDelaysOption: HTTPRequestOption {
    static let defaultValue = ServerDelays.honoured
}

extension HTTPRequest {
    /// How far the server's own delays count for this request.
    public var serverDelays: ServerDelays {
        get { self[option: ServerDelaysOption.self] }
        set { self[option: ServerDelaysOption.self] = newValue }
    }
}
