internal import Refrain

/// What `refrain explain` is asked: facts, and the policy that shall judge them.
struct ExplainQuestion {
    var facts: RetryContext
    var policy: RetryPolicy

    /// The answer of the very code that requests run.
    var answer: ExplainAnswer { ExplainAnswer(policy.decide(in: facts)) }
}

/// Bounds of what can be asked, so that no time can overflow.
enum ExplainLimits {
    /// Instants from the year 0 to the year 9999.
    static let now = -62_167_219_200.0...253_402_300_799.0
    /// Statuses have three digits (RFC 9110 §15).
    static let status = 100...999
}
