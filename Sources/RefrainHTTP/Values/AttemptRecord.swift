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
    /// What held the attempt back before it was sent; nil: it went at once (rules R34 and R35).
    public var pacing: Pacing?

    /// What the call's error tells besides its attempts; not a part of the record's value.
    package var repetition = Repetition()

    /// What a loop around a call that failed keeps to if it repeats the call (rule R24), and what the error names.
    ///
    /// It is not encoded, and two of them are always equal.
    package struct Repetition: Hashable, Sendable {
        /// Why the request must not be sent again; nil: it may be (rules R2 and R4).
        package var refusal: RetryReason?
        /// The delay that the server requests; nil: none.
        package var delay: Duration?
        /// The key that was generated for the request, or nil.
        package var key: OuterRetry.Key?
        /// The method and URL of the last attempt, for an error that names no request itself; nil elsewhere.
        package var request: HTTPRequest?

        package static func == (left: Repetition, right: Repetition) -> Bool { true }
        package func hash(into hasher: inout Hasher) {}
    }

    private enum CodingKeys: CodingKey {
        case number, start, duration, status, error, bytesSent, decision, reason, rules, delay, credit
        case pacing
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
        credit: RetryBudget.Credit? = nil,
        pacing: Pacing? = nil
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
        self.pacing = pacing
    }
}

extension AttemptRecord {
    /// How long an attempt was held back before it was sent, and by what (rules R34 and R35).
    ///
    /// The times are parts of the attempt's ``AttemptRecord/duration``; a wait of less than a millisecond is not noted.
    public struct Pacing: Hashable, Sendable, Codable {
        /// Where a circuit breaker is that is not closed.
        public enum Circuit: String, Hashable, Sendable, Codable {
            /// Nothing is asked until the break is over.
            case open
            /// One request is under way as a probe.
            case halfOpen
            /// A growing share of the requests goes.
            case ramp
        }

        /// The time that a refusal named, of this request or of another one to the same place; nil: none did.
        public var heldUntil: WallClock.Instant?
        /// How long it waited until then, and for its turn among those that were held.
        public var heldFor = Duration.zero
        /// How long it waited for a limit on the number of requests.
        public var waitedForRate = Duration.zero
        /// How long it waited for a limit on their cost.
        public var waitedForCost = Duration.zero
        /// How long it waited for a ``Pacer`` with a maximum concurrency to have room.
        public var waitedForConcurrency = Duration.zero
        /// How long it waited for a slot or a turn of a ``Throttle``.
        public var waitedForThrottle = Duration.zero
        /// Where the circuit breaker was that refused the attempt, or would have if it did not only observe.
        ///
        /// Nil: it was let go.
        public var circuit: Circuit?

        /// Makes a record of an attempt that nothing has held back.
        public init() {}

        /// The sum of all waits.
        public var total: Duration {
            heldFor + waitedForRate + waitedForCost + waitedForConcurrency + waitedForThrottle
        }

        /// Adds a wait, if it is long enough to be noted.
        mutating func add(_ wait: Duration, to part: WritableKeyPath<Pacing, Duration>) {
            if wait >= .milliseconds(1) { self[keyPath: part] += wait }
        }

        static func + (outer: Pacing, inner: Pacing?) -> Pacing {
            guard let inner else { return outer }
            var sum = outer
            sum.heldUntil = inner.heldUntil ?? outer.heldUntil
            sum.heldFor += inner.heldFor
            sum.waitedForRate += inner.waitedForRate
            sum.waitedForCost += inner.waitedForCost
            sum.waitedForConcurrency += inner.waitedForConcurrency
            sum.waitedForThrottle += inner.waitedForThrottle
            sum.circuit = inner.circuit ?? outer.circuit
            return sum
        }
    }
}

extension HTTPResult {
    /// What held the request back before it was sent, or nil.
    package var pacing: AttemptRecord.Pacing? {
        switch self {
        case .success(let response): response.exchange.pacing
        case .failure(let error): error.pacing
        }
    }

    /// Returns the same result with a further wait before its request was sent.
    func heldBack(_ wait: AttemptRecord.Pacing) -> HTTPResult {
        switch self {
        case .success(var response):
            guard wait != AttemptRecord.Pacing() else { return self }
            response.exchange.pacing = wait + response.exchange.pacing
            return .success(response)
        case .failure(let error): return .failure(error.heldBack(wait))
        }
    }
}

extension HTTPError {
    /// Returns the same error with a further wait before its request was sent.
    func heldBack(_ wait: AttemptRecord.Pacing) -> HTTPError {
        guard wait != AttemptRecord.Pacing() else { return self }
        var error = self
        error.pacing = wait + pacing
        return error
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
