// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The retry budget of a question: its kind, and the outcomes of the calls before.
struct ExplainBudget {
    /// The budgets, by name.
    enum Name: String, CaseIterable {
        case standard
        case fleet
        case perProcess = "per-process"

        func budget(_ clock: some Clock<Duration>) -> RetryBudget {
            switch self {
            case .standard: .standard(clock: clock)
            case .fleet: .fleet(clock: clock)
            case .perProcess: RetryBudget(clock: clock)
            }
        }
    }

    var name = Name.standard
    /// The outcomes of the calls before this one, the last one last.
    var history: [RetryContext.Outcome] = []
    /// The time from one of them to the next, and from the last one to this call.
    var interval = Duration.seconds(1)

    /// Up to this many calls are taken: no budget remembers more.
    private static let longestHistory = 10_000

    /// Reads a list such as `200,503,timedOut`.
    static func history(_ text: String) -> [RetryContext.Outcome]? {
        var outcomes: [RetryContext.Outcome] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if let code = HTTPError.Code(rawValue: word) {
                outcomes.append(.failure(code))
            } else if let status = ASCIINumber.whole(word), ExplainLimits.status.contains(status) {
                outcomes.append(.status(HTTPStatus(rawValue: status)))
            } else {
                return nil
            }
        }
        return outcomes.count <= longestHistory ? outcomes : nil
    }

    /// What would cover the retry of a decision; nil if it is not a retry.
    ///
    /// Runs the calls before through the budget of production; each failure withdraws one retry.
    func credit(_ context: RetryContext, _ decision: RetryDecision) -> ExplainCredit? {
        let time = Locked(Duration.zero)
        let budget = name.budget(HistoryClock(time: time))
        for outcome in history {
            budget.deposit()
            if case .status(let status) = outcome, status.rawValue < 400 {
                budget.depositSuccess()
            } else {
                _ = budget.withdraw(for: .of(outcome))
            }
            time.withLock { $0 += interval }
        }
        budget.deposit()
        guard let (credit, chance) = budget.preview(of: decision, after: context.outcome) else { return nil }
        let isTimeout = context.outcome == .failure(.timedOut)
        return ExplainCredit(credit: credit, chance: chance, isRefusal: !isTimeout && name == .standard)
    }
}

/// What would cover a retry, and with which chance.
struct ExplainCredit {
    let credit: RetryBudget.Credit
    let chance: Double
    /// Whether the time that the origin has been failing decides, and not deposits.
    var isRefusal = false

    private var percentage: String { Decimals.text(chance * 100, places: 0) }

    /// In a few words.
    var words: String {
        switch credit {
        case .deposit: "deposit: first attempts of the last 10 s have deposited a whole retry"
        case .floor: "floor: the minimum of 10 retries a second covers it"
        case .chance where isRefusal:
            "chance: the origin has been failing for a while, so it is granted in \(percentage) % of cases"
        case .chance: "chance: the floor is closed, and deposits cover it in \(percentage) % of cases"
        case .tokens: "tokens"
        case .empty: "none: deposits and floor are used up"
        case .closed: "none: the floor is closed, and nothing is deposited"
        }
    }
}

/// A clock that shows the time that a history has reached.
private struct HistoryClock: Clock {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let time: Locked<Duration>

    var now: Instant { Instant(offset: time.withLock { $0 }) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
}
