// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// One line of a batch: a question as a JSON object.
struct BatchLine: Decodable {
    private let question: ExplainQuestion

    private enum Key: String, CodingKey {
        case method, status, error, headers, body, attempt, now, deadline, elapsed, policy, replay
        case budget, history, every
        case bytesSent = "bytes_sent"
        case idempotencyKey = "idempotency_key"
    }

    init(from decoder: any Decoder) throws {
        let members = BatchMembers(try decoder.container(keyedBy: Key.self))
        guard let name = try members.text(.method) else { throw BatchRefusal("method is missing") }
        let method = HTTPMethod(rawValue: name)
        guard method.isValid else { throw BatchRefusal("method is not a token (RFC 9110 §5.6.2)") }
        var context = RetryContext(
            method: method,
            outcome: try Self.outcome(members),
            now: try members.number(.now, in: ExplainLimits.now).map { WallClock.Instant(sinceEpoch: .seconds($0)) }
                ?? .now
        )
        context.headers = try members.headers(.headers)
        context.bytesSent = try members.integer(.bytesSent, in: 0...Int.max).map(Int64.init)
        context.body = try members.choice(.body) ?? .none
        context.replay = try members.choice(.replay) ?? .automatic
        context.hasIdempotencyKey = try members.text(.idempotencyKey).map { !$0.isEmpty } ?? false
        let timeout = try members.number(.deadline, in: 0...Double.greatestFiniteMagnitude)
        let elapsed = try members.number(.elapsed, in: 0...Double.greatestFiniteMagnitude) ?? 0
        context.remaining = timeout.map { ExplainTime.remaining(timeout: $0, elapsed: elapsed) }
        let number = try members.integer(.attempt, in: 1...Int.max) ?? 1
        context.attempt = Attempt(number: number, remaining: context.remaining)
        let policy: PolicyName = try members.choice(.policy) ?? .recommended
        question = ExplainQuestion(context: context, policy: policy.policy, budget: try Self.budget(members))
    }

    /// The answer of the policy.
    var answer: ExplainAnswer { question.answer }

    private static func budget(_ members: BatchMembers<Key>) throws -> ExplainBudget? {
        let name: ExplainBudget.Name? = try members.choice(.budget)
        let text = try members.text(.history)
        let every = try members.number(.every, in: 0...86_400)
        guard name != nil || text != nil || every != nil else { return nil }
        var budget = ExplainBudget(name: name ?? .standard)
        if let text {
            guard let history = ExplainBudget.history(text) else {
                throw BatchRefusal("history is not a list of statuses and failures, such as 200,503,timedOut")
            }
            budget.history = history
        }
        if let every { budget.interval = .seconds(every) }
        return budget
    }

    private static func outcome(_ members: BatchMembers<Key>) throws -> RetryContext.Outcome {
        let status = try members.integer(.status, in: ExplainLimits.status)
        let code: HTTPError.Code? = try members.choice(.error)
        switch (status, code) {
        case (let status?, nil): return .status(HTTPStatus(rawValue: status))
        case (nil, let code?): return .failure(code)
        case (nil, nil): throw BatchRefusal("give status or error")
        case (.some, .some): throw BatchRefusal("status and error exclude each other")
        }
    }
}

/// The policies, by name.
enum PolicyName: String, CaseIterable {
    case recommended
    case alamofire

    /// The policy.
    var policy: RetryPolicy {
        switch self {
        case .recommended: .recommended
        case .alamofire: RetryPolicy()
        }
    }
}

/// Times of a question.
private enum ExplainTime {
    /// Returns the rest of a timeout, in seconds; saturates.
    static func remaining(timeout: Double, elapsed: Double) -> Duration {
        let bound = 0x1p40
        return .seconds(min(max(min(timeout, bound) - min(elapsed, bound), -bound), bound))
    }
}
