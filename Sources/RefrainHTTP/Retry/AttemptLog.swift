/// The record that a call keeps of its attempts (rule R29).
struct AttemptLog {
    private(set) var attempts: [AttemptRecord] = []
    /// The budget that this call has made its deposit in, or nil.
    var creditedBudget: ObjectIdentifier?

    /// Writes down an attempt and what was decided, and takes over what stages further in have recorded of it.
    mutating func add(
        _ result: HTTPResult,
        start: Duration,
        duration: Duration,
        decision: AttemptRecord.Decision,
        reason: RetryReason,
        rules: Rules,
        delay: Duration = .zero,
        credit: RetryBudget.Credit? = nil
    ) {
        let inner = result.attempts
        guard let last = inner.last else {
            var record = AttemptRecord(
                number: attempts.count + 1,
                start: start,
                duration: duration,
                decision: decision,
                reason: reason,
                rules: rules,
                delay: delay,
                credit: credit
            )
            switch result {
            case .success(let response):
                record.status = response.status
                record.bytesSent = response.exchange.bytesSent
            case .failure(let error):
                record.error = error.code
                record.bytesSent = error.bytesSent
            }
            // For most calls the only one, which needs no room to grow.
            if attempts.isEmpty { attempts = [record] } else { attempts.append(record) }
            return
        }
        for record in inner.dropLast() { append(record, after: start) }
        var final = last
        final.decision = decision
        final.reason = reason == .succeeded || reason == .exhaustedWithin || reason == .nested ? last.reason : reason
        final.rules = last.rules.union(rules)
        final.delay = delay
        final.credit = credit ?? last.credit
        append(final, after: start)
    }

    /// Notes that the wait after the last attempt was not waited to its end.
    mutating func endLast(_ reason: RetryReason) {
        guard let last = attempts.indices.last else { return }
        attempts[last].decision = .finish
        attempts[last].reason = reason
        attempts[last].delay = .zero
        attempts[last].credit = nil
    }

    private mutating func append(_ record: AttemptRecord, after start: Duration) {
        var record = record
        record.number = attempts.count + 1
        record.start += start
        attempts.append(record)
    }
}

extension HTTPResult {
    /// The record on the response or on the error.
    public var attempts: [AttemptRecord] {
        switch self {
        case .success(let response): response.attempts
        case .failure(let error): error.attempts
        }
    }

    /// Returns the same result with another record.
    func recorded(_ log: AttemptLog) -> HTTPResult {
        switch self {
        case .success(var response):
            response.attempts = log.attempts
            if let budget = log.creditedBudget { response.creditedBudget = budget }
            return .success(response)
        case .failure(var error):
            error.attempts = log.attempts
            if let budget = log.creditedBudget { error.creditedBudget = budget }
            return .failure(error)
        }
    }

    /// The budget that a stage further in has made the deposit of the call in, or nil.
    var creditedBudget: ObjectIdentifier? {
        switch self {
        case .success(let response): response.creditedBudget
        case .failure(let error): error.creditedBudget
        }
    }

    /// Whether a retry loop further in has already spent its attempts on this outcome (rule R24).
    var retriesAreExhausted: Bool {
        switch self {
        case .success(let response): response.retriesAreExhausted
        case .failure(let error): error.retriesAreExhausted
        }
    }
}
