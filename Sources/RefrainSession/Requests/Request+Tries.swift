internal import RefrainCore

extension Request: Caller {
    /// A look at a response: a check, or the reading of its content.
    ///
    /// The answer is what is wrong with it.
    typealias Inspection = @Sendable (HTTPRequest, HTTPResponse) -> RefrainError?

    /// An inspection as a value of a type of its own, which lists hold as it is.
    struct Look: Sendable {
        let inspect: Inspection
    }

    /// Adds a check that each try's response must pass; `isLight` where it takes no time, and calls nobody.
    func addValidation(isLight: Bool, _ inspection: @escaping Inspection) {
        state.withLock { state in
            state.validations.append(Look(inspect: inspection))
            if !isLight { state.checksAreLight = false }
        }
    }

    /// Adds a reader that each try's acceptable response is handed to; `isLight` as for a check.
    func addSerialization(isLight: Bool, _ inspection: @escaping Inspection) {
        state.withLock { state in
            state.serializations.append(Look(inspect: inspection))
            if !isLight { state.checksAreLight = false }
        }
    }

    /// Notes that a try begins.
    func beginTry() {
        state.withLock { state in
            state.current = TryState()
            state.response = nil
            state.tries += 1
        }
    }

    /// Notes that the first try begins, with this request and without a task; false where it was cancelled before.
    func beginFirstTry(sending request: HTTPRequest) -> Bool {
        state.withLock { state in
            guard !state.isTaskCancelled else { return false }
            state.tries = 1
            state.requests.append(request)
            state.isWithTransport = true
            return true
        }
    }

    /// The number of the try that runs, from 1.
    var tryCount: Int { state.withLock { $0.tries } }

    /// Notes what the adapters made of the request.
    func note(sent request: HTTPRequest) { state.withLock { $0.requests.append(request) } }

    /// Hands a try's response to the checks until one fails, then to the readers; answers whether none has failed.
    func inspect(_ response: HTTPResponse) -> Bool {
        let kept = keepsBodies ? response : response.withoutBody
        let (validations, serializations, sent) = state.withLock { state in
            state.response = kept
            state.current.isInspected = true
            // Who has joined another request's exchange has sent nothing; its checks see what it asked for itself.
            let sent = state.requests.last ?? (try? original.get()) ?? response.request
            return (state.validations, state.serializations, sent)
        }
        if !validations.isEmpty {
            let error = validations.firstAnswer { $0.inspect(sent, response) }
            if let error { state.withLock { $0.current.validationError = error } }
            watcher?.request(self, didValidate: response, error: error)
            guard error == nil else { return false }
        }
        var hasFailed = false
        serializations.forEach { serialization in
            guard let error = serialization.inspect(sent, response) else { return }
            hasFailed = true
            state.withLock { state in
                if state.current.serializationError == nil { state.current.serializationError = error }
            }
        }
        return !hasFailed
    }

    /// A stream's result as it goes on from the checks: one that has not passed them is read by nobody (rule R28).
    @inline(never)
    func passedOn(_ result: HTTPResult) -> HTTPResult {
        if case .success = result, state.withLock({ $0.current.validationError == nil }) { return result }
        return result.withoutBody
    }

    /// Why a try has failed, in the eyes of the retriers; nil where it has not.
    func failure(of result: HTTPResult) -> RefrainError? {
        switch result {
        case .failure(let error):
            return RefrainError(of: error)
        case .success(let response):
            let known = state.withLock { $0.current.validationError ?? $0.current.serializationError }
            if let known { return known }
            guard response.status.rawValue >= 400 else { return nil }
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: response.status.rawValue))
        }
    }

    /// Notes a failed try before the retriers are asked.
    func note(failure: RefrainError?, facts: RetryFacts, of result: HTTPResult) {
        state.withLock { state in
            state.lastFacts = .known(facts)
            if case .failure(let error) = result {
                state.current.failure = failure
                state.response = error.response
            }
        }
    }

    /// Notes that a retrier ended the request.
    func note(retryFailure: RefrainError) { state.withLock { $0.withRare { $0.retryFailure = retryFailure } } }

    /// Notes what was decided after the last of these attempts, and tells the monitor.
    package func note(_ attempts: [AttemptRecord]) {
        guard let last = attempts.indices.last else { return }
        state.withLock { state in
            if attempts[last].decision == .retry { state.retryCount += 1 }
            // The stage's own list, while it is the same; after a redirect a new one has begun.
            guard !state.attempts.isEmpty || last > 0 else { return state.attempts = attempts }
            state.attempts.append(attempts[last])
            state.attempts[state.attempts.count - 1].number = state.attempts.count
        }
        guard let watcher else { return }
        let record = attempts[last]
        switch record.decision {
        case .retry: watcher.request(self, willRetryAfter: record.delay, reason: record.reason)
        case .finish:
            guard record.reason != .succeeded else { return }
            watcher.request(self, didGiveUp: record.reason)
        }
    }

    /// Lets the tries of an exchange that others have joined go on for them, also where this request is suspended.
    package func sharesExchange() {
        for waiter in state.withLock({ $0.shareExchange() }) { waiter.resume() }
    }

    /// Whether this is the first replay that an authenticator asks for (rule R27).
    func claimReplay(for authenticator: ObjectIdentifier) -> Bool {
        state.withLock { $0.withRare { $0.replays.insert(authenticator).inserted } }
    }
}

extension HTTPResult {
    /// The response, or what an error has of it.
    var response: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// This result with an empty body.
    var withoutBody: HTTPResult {
        switch self {
        case .success(let response):
            return .success(response.withoutBody)
        case .failure(var error):
            error.response = error.response?.withoutBody
            return .failure(error)
        }
    }
}

extension HTTPResponse {
    /// This response with an empty body.
    fileprivate var withoutBody: HTTPResponse {
        var copy = self
        copy.body = .empty
        return copy
    }
}
