// SPDX-License-Identifier: Apache-2.0
/// The record of one attempt: its outcome, and the decision made after it.
public struct AttemptRecord: Hashable, Sendable, Codable {
    /// What an attempt led to.
    public enum Decision: String, Hashable, Sendable, Codable {
        /// The call ended with this attempt's outcome.
        case finish
        /// Another attempt followed.
        case retry
    }

    /// The position of the attempt in its call, from 1.
    public var number: Int
    /// When the attempt began, counted from the beginning of the call.
    public var start: Duration
    /// How long the attempt took.
    public var duration: Duration
    /// The status of the response, or nil.
    public var status: HTTPStatus?
    /// The code of the error, or nil.
    public var error: HTTPError.Code?
    /// The bytes of the request that may have been sent, or nil if the transport cannot tell.
    public var bytesSent: Int64?
    /// What was decided.
    public var decision: Decision
    /// Why it was decided.
    public var reason: RetryReason
    /// The rules that decided (see Documentation/Rules.md).
    public var rules: Rules
    /// The wait before the next attempt; zero after the last one.
    public var delay: Duration
    /// The credit of the retry budget that covered the next attempt, or why none did (rules R22 and R32).
    ///
    /// Nil where no budget was drawn on.
    public var credit: RetryBudget.Credit?

    /// What an outer loop keeps to if it repeats the call; not a part of the record's value.
    package var repetition = Repetition()

    /// What a loop around a call that failed keeps to if it repeats the call (rule R24).
    ///
    /// It is not encoded, and two of them are always equal.
    package struct Repetition: Hashable, Sendable {
        /// Why the request must not be sent again; nil: it may be (rules R2 and R4).
        package var refusal: RetryReason?
        /// The delay that the server requests; nil: none.
        package var delay: Duration?
        /// The key that was generated for the request, or nil.
        package var key: OuterRetry.Key?

        package static func == (left: Repetition, right: Repetition) -> Bool { true }
        package func hash(into hasher: inout Hasher) {}
    }

    private enum CodingKeys: CodingKey {
        case number, start, duration, status, error, bytesSent, decision, reason, rules, delay, credit
    }

    /// Makes a line of the record.
    public init(
        number: Int,
        start: Duration,
        duration: Duration,
        status: HTTPStatus? = nil,
        error: HTTPError.Code? = nil,
        bytesSent: Int64? = nil,
        decision: Decision,
        reason: RetryReason,
        rules: Rules = [],
        delay: Duration = .zero,
        credit: RetryBudget.Credit? = nil
    ) {
        self.number = number
        self.start = start
        self.duration = duration
        self.status = status
        self.error = error
        self.bytesSent = bytesSent
        self.decision = decision
        self.reason = reason
        self.rules = rules
        self.delay = delay
        self.credit = credit
    }
}

extension AttemptRecord: CustomStringConvertible {
    /// One line: number, outcome, duration, and what followed.
    public var description: String {
        let parts = [status.map { "status \($0)" }, error?.rawValue].compactMap(\.self)
        let outcome = parts.isEmpty ? "no outcome" : parts.joined(separator: ", then ")
        let next = decision == .retry ? "again after \(delay.inMilliseconds) ms" : "ended"
        return "\(number). \(outcome) in \(duration.inMilliseconds) ms, \(next): \(reason)"
    }
}

extension [AttemptRecord] {
    /// A sentence for a call that the retry budget ended; nil for any other call (rule R22).
    package var budgetNote: String? {
        guard let last, last.reason == .budgetExhausted else { return nil }
        let why = last.credit == .closed ? "refuses this retry, because the origin keeps failing" : "is used up"
        return "This limit is local: the retry budget of the origin \(why); the server was not asked again"
    }
}

extension Duration {
    /// The duration in whole milliseconds, saturating.
    package var inMilliseconds: Int64 {
        // `components` would trap if the seconds do not fit into an Int64, which a decoded record may contain.
        Int64(clamping: attoseconds / 1_000_000_000_000_000)
    }
}
