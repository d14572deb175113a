// SPDX-License-Identifier: Apache-2.0
/// Whether, and up to which delay, a server's delays are honoured (rules R15 and R18).
public struct RetryAfterPolicy: Hashable, Sendable {
    /// Whether `Retry-After` and rate-limit fields determine the delay.
    public let isHonoured: Bool
    /// The longest delay that a server may request; a longer one ends the call at once.
    public let cap: Duration

    /// Honoured up to five minutes: long enough for a rate limit's window, too short for a maintenance window.
    public static let honoured = RetryAfterPolicy(isHonoured: true, cap: .seconds(300))

    /// Ignored; the schedule alone determines the delay.
    public static let ignored = RetryAfterPolicy(isHonoured: false, cap: .longestDelay)

    /// Honoured up to a cap.
    ///
    /// A negative cap counts as zero, and one over `Duration.longestDelay` as that.
    public static func honoured(upTo cap: Duration) -> RetryAfterPolicy {
        RetryAfterPolicy(isHonoured: true, cap: cap.clampedToDelay)
    }

    /// Honoured up to a cap from outside the program.
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

private enum RetryAfterPolicyOption: HTTPRequestOption {
    static let defaultValue = RetryAfterPolicy.honoured
}

extension HTTPRequest {
    /// Whether, and up to which delay, the server's delays are honoured for this request.
    public var retryAfterPolicy: RetryAfterPolicy {
        get { self[option: RetryAfterPolicyOption.self] }
        set { self[option: RetryAfterPolicyOption.self] = newValue }
    }
}

/// The delay that the server requests (rules R15, R16 and R19): a pure function of the context.
struct ServerRetryDelay {
    /// The delay, from now.
    let delay: Duration
    /// The rules that determined it.
    let rules: Rules

    /// Reads `Retry-After`, and where there is none the rate-limit fields of a refusal.
    static func read(_ context: RetryContext, fields: RateLimitFields) -> ServerRetryDelay? {
        guard context.retryAfterPolicy.isHonoured else { return nil }
        if let retryAfter = retryAfter(in: context) {
            let delay = retryAfter.delay(
                date: context.headers[values: "Date"],
                age: context.headers[values: "Age"],
                wallClock: context.now
            )
            if case .date = retryAfter { return ServerRetryDelay(delay: delay, rules: [.retryAfter, .responseDate]) }
            return ServerRetryDelay(delay: delay, rules: [.retryAfter])
        }
        if let delay = context.details.advice?.delay { return ServerRetryDelay(delay: delay, rules: [.retryAfter]) }
        // Every response has the fields, a redirect, too; only a refusal means that the limit was reached.
        guard case .status(let status) = context.outcome, status.rawValue >= 400,
            let limit = fields.binding(wallClock: context.now, values: { context.headers[values: $0] }),
            // A 429 is about a limit by itself. Any other refusal is only if the limit is known to be used up.
            status == .tooManyRequests || limit.remaining == 0,
            let delay = limit.retryDelay
        else { return nil }
        return ServerRetryDelay(delay: delay, rules: [.rateLimit])
    }

    /// Whether a 403 is about a used-up rate limit that has a reset, as GitHub answers.
    static func isRateLimited(_ context: RetryContext, fields: RateLimitFields) -> Bool {
        context.outcome == .status(.forbidden) && read(context, fields: fields)?.rules == [.rateLimit]
    }

    /// The value of a well-formed `Retry-After`, or of its variant in milliseconds.
    static func retryAfter(in context: RetryContext) -> RetryAfter? {
        RetryAfter.read(context.headers, now: context.now)
    }
}
