extension RetryReason {
    /// The status says that another try may succeed (rule R7).
    public static let transientStatus = RetryReason(rawValue: "transientStatus")
    /// The status is an answer that will not change (rule R7).
    public static let finalStatus = RetryReason(rawValue: "finalStatus")
    /// The transport failed in a way that may pass (rule R8).
    public static let transientFailure = RetryReason(rawValue: "transientFailure")
    /// The failure will not pass by itself (rule R8).
    public static let finalFailure = RetryReason(rawValue: "finalFailure")
    /// The request may have been processed, and must not be processed twice (rule R2).
    public static let notReplayable = RetryReason(rawValue: "notReplayable")
    /// The caller forbade to send the request again (rule R2).
    public static let replayForbidden = RetryReason(rawValue: "replayForbidden")
    /// The body can be read only once, and was (rule R4).
    public static let bodyNotReplayable = RetryReason(rawValue: "bodyNotReplayable")
    /// The retry budget of the origin is empty: a local limit, the server was not asked (rule R22).
    public static let budgetExhausted = RetryReason(rawValue: "budgetExhausted")
    /// The server wants a wait that is longer than allowed (rule R18).
    public static let comeBackLater = RetryReason(rawValue: "comeBackLater")
    /// A download that was cut short goes on where it stopped (rule R11).
    public static let resumed = RetryReason(rawValue: "resumed")
    /// The response points elsewhere (rule R26).
    public static let redirected = RetryReason(rawValue: "redirected")
    /// A retry stage further out makes the tries (rule R24).
    public static let nested = RetryReason(rawValue: "nested")
    /// No strategy was given for the request.
    public static let noStrategy = RetryReason(rawValue: "noStrategy")
    /// The request's strategy said no.
    public static let strategyDeclined = RetryReason(rawValue: "strategyDeclined")
    /// The request's strategy said yes.
    public static let strategyRetried = RetryReason(rawValue: "strategyRetried")
    /// A check of the caller's found the answer unacceptable.
    public static let validationFailed = RetryReason(rawValue: "validationFailed")
    /// The credentials were refreshed, and the request is sent once more (rule R27).
    public static let credentialsRefreshed = RetryReason(rawValue: "credentialsRefreshed")

    /// The request was held back, since a rate limit of its origin is used up (rule R19).
    public static let paced = RetryReason(rawValue: "paced")

    /// Whether a loop ended on this reason although another try might have succeeded (rule R24).
    public var endsAllRetries: Bool {
        self == .triesUsedUp || self == .budgetExhausted || self == .deadlineExceeded || self == .comeBackLater
            || self == .exhaustedWithin
    }
}

extension HTTPError.Code {
    /// The reason that this code stands for, where it says by itself that there is to be no further try.
    var endingReason: RetryReason? {
        switch self {
        case .comeBackLater: .comeBackLater
        case .budgetExhausted: .budgetExhausted
        case .deadlineExceeded: .deadlineExceeded
        default: nil
        }
    }
}
