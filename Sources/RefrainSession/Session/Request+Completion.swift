extension Request {
    /// Validates and decodes the response of an attempt.
    ///
    /// The body of an error is read only where it takes part in the decision on a retry.
    func inspect(_ response: HTTPResponse, to request: HTTPRequest) async -> AttemptOutcome {
        var response = response
        if response.status.rawValue >= 400, response.isDeferred(for: request) {
            // Where the head decides, the body is read only if no attempt follows.
            guard !interceptors.decidesByHead(request.retryStrategy) || accepts(response) else {
                return AttemptOutcome(.success(response))
            }
            switch await response.withBeginningOfBody() {
            case .success(let beginning): response = beginning
            case .failure(let error): return AttemptOutcome(.failure(error))
            }
        }
        let outcome = validate(response)
        if outcome.validationError != nil || outcome.serializationError != nil { await discardAttempt() }
        return outcome
    }

    /// Whether the outcome of a hop has its body.
    ///
    /// The body of an error is left unread until it is known that no attempt follows.
    @inline(never)
    func isComplete(_ outcome: AttemptOutcome, of hop: HTTPRequest) -> Bool {
        guard case .success(let response) = outcome.result, response.status.rawValue >= 400 else { return true }
        return !response.isDeferred(for: hop)
    }

    /// Returns the outcome of a hop with its body complete and validated.
    @inline(never)
    func completed(_ outcome: AttemptOutcome, of hop: HTTPRequest) async -> AttemptOutcome {
        guard case .success(let response) = outcome.result else { return outcome }
        var complete: AttemptOutcome
        switch await response.collected(for: hop) {
        case .success(let whole): complete = validate(whole)
        case .failure(let error): complete = AttemptOutcome(.failure(error))
        }
        complete.retryError = outcome.retryError
        return complete
    }
}
