// SPDX-License-Identifier: Apache-2.0
/// The outcome of one attempt: the result, and the errors of the caller's validation and decoding.
package struct AttemptOutcome: Sendable {
    private var contents: CopyOnWriteBox<Fields>

    /// Makes an outcome; `isStatusAccepted` is whether a status validation of the caller's accepted its status.
    package init(_ result: HTTPResult, isStatusAccepted: Bool = false) {
        contents = CopyOnWriteBox(Fields(result: result, isStatusAccepted: isStatusAccepted))
    }

    /// The result of the exchange.
    package var result: HTTPResult {
        get { contents.fields.result }
        _modify { yield &contents.fields.result }
    }

    /// The validation error; nil where the response passed, or was not validated.
    package var validationError: (any Error)? {
        get { contents.fields.validationError }
        _modify { yield &contents.fields.validationError }
    }

    /// The error of the first serializer that could not read the response, or nil.
    package var serializationError: (any Error)? {
        get { contents.fields.serializationError }
        _modify { yield &contents.fields.serializationError }
    }

    /// The error of a retrier that ended the call, or nil.
    package var retryError: (any Error)? {
        get { contents.fields.retryError }
        _modify { yield &contents.fields.retryError }
    }

    /// Whether a status validation of the caller accepted the response's status.
    package var isStatusAccepted: Bool { contents.fields.isStatusAccepted }

    /// Whether the response passed every check of the caller and has an acceptable status.
    ///
    /// A status that the caller's validation accepted is acceptable; without such a validation one below 400 is.
    package var isSuccess: Bool {
        guard case .success(let response) = result, validationError == nil, serializationError == nil else {
            return false
        }
        return isStatusAccepted || response.status.rawValue < 400
    }

    private struct Fields: Sendable {
        var result: HTTPResult
        let isStatusAccepted: Bool
        var validationError: (any Error)?
        var serializationError: (any Error)?
        var retryError: (any Error)?
    }
}

extension AttemptOutcome {
    /// This outcome of a call that began with `original`; its request can be sent again, as a call of its own.
    func ending(_ original: HTTPRequest) -> AttemptOutcome {
        let last = result.request
        let endsTime = last.deadline != nil && original.deadline == nil
        let endsKey = last.retainedKey != nil && original.retainedKey == nil
        guard endsTime || endsKey else { return self }
        func end(_ request: inout HTTPRequest) {
            if endsTime { request.deadline = nil }
            if endsKey { request.retainedKey = nil }
        }
        var copy = self
        switch result {
        case .success(var response):
            end(&response.request)
            copy.result = .success(response)
        case .failure(var error):
            end(&error.request)
            if var response = error.response {
                end(&response.request)
                error.response = response
            }
            copy.result = .failure(error)
        }
        return copy
    }
}

/// The record that a call keeps of its attempts (rule R29).
struct AttemptLog {
    private(set) var attempts: [AttemptRecord] = []
    /// The budget that this call has made its deposit in, or nil.
    var creditedBudget: ObjectIdentifier?

    /// Records an attempt and its decision, and takes over the records of stages further in.
    mutating func add(
        _ result: HTTPResult,
        start: Duration,
        duration: Duration,
        decision: AttemptRecord.Decision,
        reason: RetryReason,
        rules: Rules,
        delay: Duration = .zero,
        credit: RetryBudget.Credit? = nil,
        repetition: AttemptRecord.Repetition? = nil
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
            record.pacing = result.pacing
            if let repetition { record.repetition = repetition }
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
        // The call is repeated by this loop, whose rules have allowed it.
        if decision == .retry { final.repetition = AttemptRecord.Repetition() }
        if let repetition { final.repetition = repetition }
        append(final, after: start)
    }

    /// Records that the delay after the last attempt was ended early.
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

    /// Whether a retry loop further in has already used up its attempts on this outcome (rule R24).
    var retriesAreExhausted: Bool {
        switch self {
        case .success(let response): response.retriesAreExhausted
        case .failure(let error): error.code.endingReason != nil || error.attempts.retriesAreExhausted
        }
    }
}

private enum AttemptObserverOption: HTTPRequestOption {
    static var defaultValue: (@Sendable (AttemptRecord) -> Void)? { nil }
}

extension HTTPRequest {
    /// Called after each attempt, when the decision about a retry has been made.
    ///
    /// The record contains the reason and the delay. ``Retry`` calls the closure before it waits; the closure must not
    /// block. Defaults to nil.
    public var attemptObserver: (@Sendable (AttemptRecord) -> Void)? {
        get { self[option: AttemptObserverOption.self] }
        set { self[option: AttemptObserverOption.self] = newValue }
    }
}

private enum AttemptNumberFieldOption: HTTPRequestOption {
    static var defaultValue: String? { nil }
}

extension HTTPRequest {
    /// The name of the header field in which each attempt sends its number, from 1, such as `x-retry-count`.
    ///
    /// Defaults to nil: it is not sent.
    public var sendsAttemptNumber: String? {
        get { self[option: AttemptNumberFieldOption.self] }
        set { self[option: AttemptNumberFieldOption.self] = newValue }
    }
}

private enum AttemptNumberOption: HTTPRequestOption {
    static let defaultValue = 1
}

extension HTTPRequest {
    /// The number of the attempt that this request is sent for, from 1, as the ``Retry`` stage before it counts.
    package var attemptNumber: Int {
        get { self[option: AttemptNumberOption.self] }
        set { self[option: AttemptNumberOption.self] = newValue }
    }
}
