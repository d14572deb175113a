extension Request {
    /// Returns the outcome of a hop with its body complete and validated.
    ///
    /// The body of an error is left unread until it is known that no attempt follows.
    func completed(_ outcome: AttemptOutcome, of hop: HTTPRequest) async -> AttemptOutcome {
        guard case .success(let response) = outcome.result, response.status.rawValue >= 400,
            response.isDeferred(for: hop)
        else { return outcome }
        var complete: AttemptOutcome
        switch await response.collected(for: hop) {
        case .success(let whole): complete = validate(whole)
        case .failure(let error): complete = AttemptOutcome(.failure(error))
        }
        complete.retryError = outcome.retryError
        return complete
    }
}
